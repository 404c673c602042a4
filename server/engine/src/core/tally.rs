//! How many of what there are, for whoever looks at the server from outside.

use std::collections::BTreeMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::state::InstanceState;

use super::Core;

/// What the engine holds: its runs that have not ended, and what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs by state.
    pub runs: BTreeMap<&'static str, u64>,
    /// Instances of these runs by state. One that waits for what it needs and was not looked at yet is among them.
    pub instances: BTreeMap<&'static str, u64>,
    /// Attempts that have not ended, by cluster and state.
    pub attempts: BTreeMap<(String, &'static str), u64>,
    /// Instances that wait for a place, by cluster and the rule that keeps them waiting.
    pub waiting: BTreeMap<(String, &'static str), Queue>,
}

/// Instances that wait for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Count.
    pub length: u64,
    /// Since when the first of them waits.
    pub since: Timestamp,
}

impl Core {
    /// How many of what there are now. It looks at every instance in memory.
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
