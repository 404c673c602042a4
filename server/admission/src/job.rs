//! Jobs as a desk sees them.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;

use crate::amounts::{Ask, NOTHING, Vector, plus, times};
use crate::desk::JobId;
use crate::nodes::Seat;
use crate::order::Age;
use crate::pass::Preemption;

/// What is known of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The name by which it is told, its attempt's key.
    pub key: String,
    /// What a person calls it: its task.
    pub name: String,
    /// Project.
    pub project: String,
    /// User that it runs for.
    pub person: String,
    /// Its run: jobs with the same number are of one run, and of jobs that have waited equally long those of the run with the
    /// smaller number go first, on every server.
    pub run: u128,
    /// The node group that it asks for; its quota is looked up there.
    pub node_group: Option<String>,
    /// Larger goes first.
    pub priority: i32,
    /// Whether jobs of a lower priority are preempted for it.
    pub preempts: bool,
    /// Whether no job of a higher priority preempts it. What it has borrowed is reclaimed all the same.
    pub protected: bool,
    /// What it holds in all, without its elastic workers.
    pub fixed: Ask,
    /// Its workers without the elastic ones, alike ones together: what each holds, and how many there are. Empty where that
    /// is not known.
    pub gang: Vec<(Ask, u32)>,
    /// Its elastic workers.
    pub elastic: Option<Elastic>,
    /// Named limits that it holds while it runs.
    pub named: Vec<String>,
    /// Where the cluster is one node: whether it must not share it with other jobs of its run, or they may have to be kept
    /// apart from it.
    pub apart: Option<Apart>,
    /// How long it takes, as its history has it.
    pub length: Option<Length>,
    /// How long it may take at the most.
    pub timeout: Option<Duration>,
    /// Whether it is another server's: it is counted, and nothing is asked of it.
    pub is_foreign: bool,
    /// The other server, where that is known of a job that waits.
    pub server: String,
}

/// Which jobs of a run must not share a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Whether it must be alone; else only those that must be keep away from it.
    pub required: bool,
}

/// Workers of which there may be more or fewer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elastic {
    /// What each holds.
    pub each: Ask,
    /// How few.
    pub min: u32,
    /// Count.
    pub max: u32,
    /// Whether single workers can be taken and given while it runs.
    pub scales: bool,
}

/// How long a job takes: the median, and how far others are from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    /// Half of them are shorter.
    pub median: Duration,
    /// The standard deviation of the lengths' logarithms.
    pub spread: f64,
}

impl Length {
    /// Nine of ten are shorter.
    #[must_use]
    pub fn p90(&self) -> Duration {
        let factor = (1.281_55 * self.spread).exp().min(1e6);
        Duration::try_from_secs_f64(self.median.as_secs_f64() * factor).unwrap_or(Duration::MAX)
    }
}

/// What is known of a job that was let in before the desk was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenUp {
    /// Its elastic workers.
    pub workers: u32,
    /// Since when it had waited.
    pub waited_since: Timestamp,
    /// Since when it holds something.
    pub since: Timestamp,
    /// When it gave workers back last.
    pub gave_at: Option<Timestamp>,
}

/// A job with its amounts counted and its names looked up.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) spec: Spec,
    pub(crate) leaf: u32,
    pub(crate) pool: u32,
    pub(crate) person: u32,
    pub(crate) named: Vec<u32>,
    pub(crate) fixed: Vector,
    pub(crate) gang: Vec<(Vector, u32)>,
    pub(crate) each: Vector,
}

impl Known {
    /// The elastic workers that it must have.
    pub(crate) fn min(&self) -> u32 {
        self.spec.elastic.as_ref().map_or(0, |elastic| elastic.min)
    }

    /// Whether it holds nothing here but its names: it runs on another cluster.
    pub(crate) fn holds_names_only(&self) -> bool {
        self.spec.is_foreign && self.fixed == NOTHING && self.each == NOTHING
    }

    /// The elastic workers that it may have.
    pub(crate) fn max(&self) -> u32 {
        self.spec.elastic.as_ref().map_or(0, |elastic| elastic.max)
    }

    /// Whether it gives and takes single workers while it runs.
    pub(crate) fn scales(&self) -> bool {
        self.spec.elastic.as_ref().is_some_and(|elastic| elastic.scales) && !self.spec.is_foreign
    }

    /// What it holds with this many elastic workers.
    pub(crate) fn with(&self, workers: u32) -> Vector {
        if workers == 0 { self.fixed } else { plus(&self.fixed, &times(&self.each, workers)) }
    }

    /// Its workers, alike ones together, with this many elastic ones.
    pub(crate) fn shapes(&self, workers: u32) -> impl Iterator<Item = (Vector, u32)> {
        self.gang.iter().copied().chain((workers > 0).then_some((self.each, workers)))
    }

    /// What it needs to start.
    pub(crate) fn least(&self) -> Vector {
        self.with(self.min())
    }

    /// How long it takes at the most, as far as anybody knows.
    pub(crate) fn at_most(&self) -> Option<Duration> {
        let usual = self.spec.length.map(|length| length.p90());
        match (usual, self.spec.timeout) {
            (Some(usual), Some(timeout)) => Some(usual.min(timeout)),
            (usual, timeout) => usual.or(timeout),
        }
    }
}

/// Where a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It waits.
    Waiting {
        /// Start time.
        since: Timestamp,
        /// Until when it does not borrow.
        cool_until: Option<Timestamp>,
    },
    /// It holds something.
    Held(Held),
}

/// What a job holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// Start time.
    pub(crate) since: Timestamp,
    /// Its priority with what waiting had added when it started. A job that has waited for days would otherwise be the
    /// newest, and the first to go, each time that it starts.
    pub(crate) class: i64,
    /// Its elastic workers.
    pub(crate) workers: u32,
    /// How many it is to have: fewer when some were told to go.
    pub(crate) keeps: u32,
    /// Since when it was told to stop.
    pub(crate) leaving: Option<Timestamp>,
    /// For which job it gives something back.
    pub(crate) gives_to: Option<Taker>,
    /// Not before this does it get more workers.
    pub(crate) grows_from: Timestamp,
}

/// A job for which another gives something back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taker {
    pub(crate) job: JobId,
    /// Its number: its id may be another job's by now.
    pub(crate) seq: u64,
    /// Why the other is preempted, where it is as a whole.
    pub(crate) why: Option<Preemption>,
}

impl Held {
    /// What starts.
    pub(crate) fn new(class: i64, workers: u32, since: Timestamp) -> Self {
        let grows_from = Timestamp::default();
        Self { since, class, workers, keeps: workers, leaving: None, gives_to: None, grows_from }
    }
}

/// A job of a desk.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) known: Arc<Known>,
    /// Counts the jobs of the desk: the order of those of one run that have waited equally long.
    pub(crate) seq: u64,
    pub(crate) state: State,
    /// Where it is, as far as that is known or guessed.
    pub(crate) seats: Vec<Seat>,
}

impl Entry {
    /// Its place among those of the same priority, when it has waited since then.
    pub(crate) fn age(&self, since: Timestamp) -> Age {
        (since, self.known.spec.run, self.seq)
    }

    pub(crate) fn held(&self) -> Option<&Held> {
        match &self.state {
            State::Held(held) => Some(held),
            State::Waiting { .. } => None,
        }
    }

    /// Until when what it holds is free again, at the latest, as far as anybody knows.
    pub(crate) fn ends_by(&self, now: Timestamp, grace: Duration) -> Option<Timestamp> {
        let held = self.held()?;
        if let Some(since) = held.leaving {
            return Some(since.plus(grace).max(now));
        }
        let usual =
            self.known.spec.length.map(|length| held.since.plus(length.p90())).filter(|end| *end > now);
        let last = self.known.spec.timeout.map(|timeout| held.since.plus(timeout).max(now));
        match (usual, last) {
            (Some(usual), Some(last)) => Some(usual.min(last)),
            (usual, last) => usual.or(last),
        }
    }
}
