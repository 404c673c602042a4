//! What the server tells of its own work, for whoever counts it.
//!
//! Who has done something says so, with how long it took. `app` installs the hook that counts; without one, e.g. in
//! tests, a word costs one relaxed load. Nothing in it names a run or a person: what is counted stays few.

use std::sync::OnceLock;
use std::time::Duration;

use crate::outcome::Outcome;

/// Something that was done.
#[derive(Clone, Copy, Debug)]
pub enum Measure<'a> {
    /// A request was answered: its body may still be on its way.
    Request {
        /// The method.
        method: &'a str,
        /// The route that it matched, e.g. `/runs/{run}`; empty when none.
        route: &'a str,
        /// The status of the answer.
        status: u16,
        /// How long it took to the answer's head.
        took: Duration,
    },
    /// The engine has done a part of a pass.
    Pass {
        /// Which.
        part: PassPart,
        /// How long it took.
        took: Duration,
    },
    /// An executor has done what the engine wanted; what came of it is reported later.
    Call {
        /// Cluster.
        cluster: &'a str,
        /// What was wanted.
        call: Call,
        /// How long it took.
        took: Duration,
    },
    /// An attempt has ended, and its end is stored.
    Ended {
        /// Cluster.
        cluster: &'a str,
        /// How.
        outcome: &'a Outcome,
    },
    /// A cluster's API server was asked something.
    Asked {
        /// Cluster.
        cluster: &'a str,
        /// The method.
        method: &'a str,
        /// The status of its answer; none when there was no answer.
        status: Option<u16>,
        /// How long it took to the answer's head.
        took: Duration,
    },
    /// A transaction that writes has ended.
    Transaction {
        /// Whether it was kept.
        kept: bool,
        /// How long it took, with the wait for its turn.
        took: Duration,
    },
    /// A try to send an alert has ended.
    Alert {
        /// Whether its receiver took it.
        sent: bool,
    },
}

/// A part of the engine's pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PassPart {
    /// Looking at the clusters and the database for what is new; not in every pass.
    Look,
    /// Taking in what was reported, and deciding what follows.
    Decide,
    /// Storing it.
    Commit,
    /// Beginning what was decided.
    Apply,
}

impl PassPart {
    /// The word for it.
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

/// What the engine wants of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// To start a job.
    Submit,
    /// To take up a job of an earlier server.
    Adopt,
    /// To give a job workers, or to take some.
    Scale,
    /// To give workers that run more memory.
    Grow,
    /// To stop a job.
    Cancel,
}

impl Call {
    /// The word for it.
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

/// Installs the hook that is told everything from now on. The first call wins.
pub fn install(hook: fn(&Measure<'_>)) {
    let _ = HOOK.set(hook);
}

/// Tells of something that was done.
#[inline]
pub fn tell(measure: &Measure<'_>) {
    if let Some(hook) = HOOK.get() {
        hook(measure);
    }
}
