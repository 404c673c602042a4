//! Metrics of the server's own work.
//!
//! Code reports what it has done, with the duration. `app` installs the hook that counts; without one, e.g.
//! in tests, a report costs one relaxed load. No label names a run or a person, so that cardinality stays
//! low.

use std::sync::OnceLock;
use std::time::Duration;

use crate::outcome::Outcome;

/// An event that is counted.
#[derive(Clone, Copy, Debug)]
pub enum Measure<'a> {
    /// A request was answered; its body may still be in transit.
    Request {
        method: &'a str,
        /// The matched route, e.g. `/runs/{run}`. Empty if none.
        route: &'a str,
        /// Status code.
        status: u16,
        /// Time to the response's head.
        took: Duration,
    },
    /// A part of an engine cycle has ended.
    Pass {
        part: PassPart,
        /// How long it took.
        took: Duration,
    },
    /// An executor call has ended. Its result is reported later.
    Call {
        cluster: &'a str,
        call: Call,
        /// How long it took.
        took: Duration,
    },
    /// An attempt has ended, and its end is stored.
    Ended {
        /// The cluster that it ran on.
        cluster: &'a str,
        outcome: &'a Outcome,
    },
    /// A request to a cluster's API server.
    Asked {
        cluster: &'a str,
        method: &'a str,
        /// Status code. `None` without a response.
        status: Option<u16>,
        /// Time to the response's head.
        took: Duration,
    },
    /// A write transaction has ended.
    Transaction {
        /// Whether it was committed.
        kept: bool,
        /// Duration, including the wait for its turn.
        took: Duration,
    },
    /// An attempt to send an alert has ended.
    Alert {
        /// Whether its receiver accepted it.
        sent: bool,
    },
}

/// A part of the engine's cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassPart {
    /// Checking the clusters and the database for news; not in every cycle.
    Look,
    /// Handling reports, and deciding what follows.
    Decide,
    /// Storing the changes.
    Commit,
    /// Starting the actions.
    Apply,
}

impl PassPart {
    /// The label value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Decide => "decide",
            Self::Commit => "commit",
            Self::Apply => "apply",
        }
    }
}

/// An executor call of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Start a job.
    Submit,
    /// Restore a job of an earlier server.
    Adopt,
    /// Scale a job.
    Scale,
    /// Give running workers more memory.
    Grow,
    /// Stop a job.
    Cancel,
}

impl Call {
    /// The label value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Adopt => "adopt",
            Self::Scale => "scale",
            Self::Grow => "grow",
            Self::Cancel => "cancel",
        }
    }
}

static HOOK: OnceLock<fn(&Measure<'_>)> = OnceLock::new();

/// Installs the hook that receives all events from now on. The first call wins.
pub fn install(hook: fn(&Measure<'_>)) {
    let _ = HOOK.set(hook);
}

/// Reports an event.
#[inline]
pub fn tell(measure: &Measure<'_>) {
    if let Some(hook) = HOOK.get() {
        hook(measure);
    }
}
