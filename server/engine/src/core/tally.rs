//! Counts of the engine's objects, for metrics.

use std::collections::BTreeMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::state::InstanceState;

use super::Core;

/// The engine's unfinished runs, and what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs by state.
    pub runs: BTreeMap<&'static str, u64>,
    /// Instances of these runs by state, including instances whose upstream has not ended and that were not
    /// evaluated yet.
    pub instances: BTreeMap<&'static str, u64>,
    /// Unfinished attempts, by cluster and state.
    pub attempts: BTreeMap<(String, &'static str), u64>,
    /// Pending instances, by cluster and the rule that keeps them pending.
    pub waiting: BTreeMap<(String, &'static str), Queue>,
}

/// Instances that are pending for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    pub length: u64,
    /// Since when the first of them is pending.
    pub since: Timestamp,
}

impl Core {
    /// Counts everything now, visiting every instance in memory.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for run in self.runs.iter().flatten() {
            *tally.runs.entry(run.record.state.as_str()).or_default() += 1;
            for (task, cell) in (0u32..).map(cubeloom_domain::TaskIx).zip(&run.tasks) {
                let cluster = run.place_of(task);
                for instance in &cell.instances {
                    *tally.instances.entry(instance.state.as_str()).or_default() += 1;
                    if let Some(live) = &instance.live {
                        let state = live.record.state.as_str();
                        *tally.attempts.entry((cluster.to_owned(), state)).or_default() += 1;
                    }
                    if let InstanceState::Waiting { since, reason } = &instance.state {
                        let rule = reason.as_ref().map_or("unknown", |reason| reason.rule());
                        let queue = tally
                            .waiting
                            .entry((cluster.to_owned(), rule))
                            .or_insert(Queue { length: 0, since: *since });
                        queue.length += 1;
                        queue.since = queue.since.min(*since);
                    }
                }
            }
        }
        tally
    }
}
