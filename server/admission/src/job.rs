//! Jobs as the scheduler sees them.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;

use crate::amounts::{Ask, NOTHING, Vector, plus, times};
use crate::desk::JobId;
use crate::nodes::Seat;
use crate::order::Age;
use crate::pass::Preemption;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The key of its attempt.
    pub key: String,
    /// Display name: its task.
    pub name: String,
    pub project: String,
    /// The user that it runs as.
    pub person: String,
    /// Its run. Jobs of equal age are ordered by this number, which is the same on every replica.
    pub run: u128,
    /// The requested node group, whose quota applies.
    pub node_group: Option<String>,
    /// Larger goes first.
    pub priority: i32,
    /// Whether it preempts jobs of a lower priority.
    pub preempts: bool,
    /// Whether jobs of a higher priority may not preempt it. What it has borrowed is reclaimed anyway.
    pub protected: bool,
    /// Its total, without elastic workers.
    pub fixed: Ask,
    /// Its workers without the elastic ones, grouped by shape: the size of each, and the count. Empty if
    /// unknown.
    pub gang: Vec<(Ask, u32)>,
    pub elastic: Option<Elastic>,
    /// Concurrency limits that it holds while it runs.
    pub named: Vec<String>,
    /// For a single-node cluster: whether the job must not share the node with jobs of its run, or they may
    /// not share it with this job.
    pub apart: Option<Apart>,
    /// Its duration, from history.
    pub length: Option<Length>,
    /// Its timeout.
    pub timeout: Option<Duration>,
    /// Whether it belongs to another replica: it is counted, but never preempted or resized.
    pub is_foreign: bool,
    /// The other replica, if known. Set for pending jobs.
    pub server: String,
}

/// Anti-affinity between the jobs of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Whether it must be alone. Otherwise it only keeps away from jobs that must be.
    pub required: bool,
}

/// Workers whose number may vary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elastic {
    /// Size of each.
    pub each: Ask,
    pub min: u32,
    pub max: u32,
    /// Whether single workers can be added and removed while it runs.
    pub scales: bool,
}

/// How long a job takes: log-normal, by median and spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    pub median: Duration,
    /// Standard deviation of the durations' logarithms.
    pub spread: f64,
}

impl Length {
    /// 90th percentile.
    #[must_use]
    pub fn p90(&self) -> Duration {
        let factor = (1.281_55 * self.spread).exp().min(1e6);
        Duration::try_from_secs_f64(self.median.as_secs_f64() * factor).unwrap_or(Duration::MAX)
    }
}

/// The state of a job that a previous scheduler admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenUp {
    pub workers: u32,
    /// Since when it had been pending.
    pub waited_since: Timestamp,
    /// Since when it runs.
    pub since: Timestamp,
    /// When it last gave up workers.
    pub gave_at: Option<Timestamp>,
}

/// A job with its amounts converted and its names resolved.
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
    /// Minimum number of elastic workers.
    pub(crate) fn min(&self) -> u32 {
        self.spec.elastic.as_ref().map_or(0, |elastic| elastic.min)
    }

    /// Whether it takes only concurrency limits here, because it runs on another cluster.
    pub(crate) fn holds_names_only(&self) -> bool {
        self.spec.is_foreign && self.fixed == NOTHING && self.each == NOTHING
    }

    /// Maximum number of elastic workers.
    pub(crate) fn max(&self) -> u32 {
        self.spec.elastic.as_ref().map_or(0, |elastic| elastic.max)
    }

    /// Whether single workers can be added and removed while it runs.
    pub(crate) fn scales(&self) -> bool {
        self.spec.elastic.as_ref().is_some_and(|elastic| elastic.scales) && !self.spec.is_foreign
    }

    /// Its amounts with this many elastic workers.
    pub(crate) fn with(&self, workers: u32) -> Vector {
        if workers == 0 { self.fixed } else { plus(&self.fixed, &times(&self.each, workers)) }
    }

    /// Its workers by shape, with this many elastic ones.
    pub(crate) fn shapes(&self, workers: u32) -> impl Iterator<Item = (Vector, u32)> {
        self.gang.iter().copied().chain((workers > 0).then_some((self.each, workers)))
    }

    /// Its minimum amounts, which it needs to start.
    pub(crate) fn least(&self) -> Vector {
        self.with(self.min())
    }

    /// The longest that it takes, if known.
    pub(crate) fn at_most(&self) -> Option<Duration> {
        let usual = self.spec.length.map(|length| length.p90());
        match (usual, self.spec.timeout) {
            (Some(usual), Some(timeout)) => Some(usual.min(timeout)),
            (usual, timeout) => usual.or(timeout),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Waiting {
        since: Timestamp,
        /// It does not borrow before this.
        cool_until: Option<Timestamp>,
    },
    /// Running.
    Held(Held),
}

/// What a running job holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) since: Timestamp,
    /// Its priority, including aging, at start. Without it, a job that waited for days would count as the
    /// newest and be preempted first after each start.
    pub(crate) class: i64,
    pub(crate) workers: u32,
    /// Its target number of elastic workers: lower when some were asked to stop.
    pub(crate) keeps: u32,
    /// When it was asked to stop.
    pub(crate) leaving: Option<Timestamp>,
    /// The job for which it is preempted or shrunk.
    pub(crate) gives_to: Option<Taker>,
    /// It gets no more workers before this.
    pub(crate) grows_from: Timestamp,
}

/// A job for which another is preempted or shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taker {
    pub(crate) job: JobId,
    /// Its sequence number: its id may have been reused.
    pub(crate) seq: u64,
    /// Why the other job is preempted. `None` if it only shrinks.
    pub(crate) why: Option<Preemption>,
}

impl Held {
    pub(crate) fn new(class: i64, workers: u32, since: Timestamp) -> Self {
        let grows_from = Timestamp::default();
        Self { since, class, workers, keeps: workers, leaving: None, gives_to: None, grows_from }
    }
}

/// A job of a scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) known: Arc<Known>,
    /// Sequence number in the scheduler. It orders jobs of one run that are of equal age.
    pub(crate) seq: u64,
    pub(crate) state: State,
    /// The nodes that it runs on, reported or assumed.
    pub(crate) seats: Vec<Seat>,
}

impl Entry {
    /// Its rank within its priority, if it has been pending since then.
    pub(crate) fn age(&self, since: Timestamp) -> Age {
        (since, self.known.spec.run, self.seq)
    }

    pub(crate) fn held(&self) -> Option<&Held> {
        match &self.state {
            State::Held(held) => Some(held),
            State::Waiting { .. } => None,
        }
    }

    /// The latest time at which its resources are free, if known.
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
