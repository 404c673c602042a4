//! Preflight tests of workers: the bounds, the results, and what follows from a failure.

use cubeloom_domain::nodes::NodeFailure;
use cubeloom_domain::preflight::{Bounds, Norm, Tested};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;

use super::{At, Core};

/// Maximum number of characters per sentence, and of sentences per worker. Programs of the job could have
/// written them.
const LONGEST: usize = 300;
const MOST: usize = 8;

/// The stored part of a test result for this many workers.
pub(super) fn bounded(mut tested: Tested, workers: u32) -> Tested {
    let cut = |text: &mut String| text.truncate(text.floor_char_boundary(LONGEST));
    tested.workers.truncate(workers as usize);
    for worker in &mut tested.workers {
        cut(&mut worker.worker);
        worker.wrong.truncate(MOST);
        worker.wrong.iter_mut().for_each(cut);
    }
    if let Some(blamed) = &mut tested.blamed {
        cut(&mut blamed.worker);
        cut(&mut blamed.why);
    }
    tested
}

impl Core {
    /// Updates the normal results of each pool's nodes.
    pub fn set_norms(&mut self, norms: Vec<(Pool, Norm)>) {
        let bounds = |(pool, norm): (Pool, Norm)| ((pool.cluster, pool.node_group), norm.bounds());
        self.norms = norms.into_iter().map(bounds).collect();
    }

    /// The bounds for workers in a pool.
    pub(super) fn bounds_of(&self, pool: &Pool) -> Bounds {
        self.norms.get(&(pool.cluster.clone(), pool.node_group.clone())).copied().unwrap_or_default()
    }

    /// Records the test of an attempt's workers. Only the first report counts: later ones come from its
    /// program.
    pub(super) fn tested(&mut self, at: At, tested: Tested) {
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        let Some(preflight) = live.record.preflight.as_mut().filter(|preflight| preflight.tested.is_none())
        else {
            return;
        };
        preflight.tested = Some(bounded(tested, live.record.workers));
        live.dirty = true;
        self.touch_later(at);
    }

    /// Cordons the node on which a worker failed its tests, if the results show that the node is at fault.
    /// This happens before the next attempt, which would get the same node. The store derives it from the
    /// attempt.
    pub(super) fn swap_node(&mut self, record: &AttemptRecord) {
        let Some(failure) = NodeFailure::of(record).filter(|failure| failure.sure) else { return };
        let Some(aside) = &self.aside else { return };
        let found = self.node_rule.judge(&[failure], aside, &self.node_counts(), self.now);
        if !found.is_empty() {
            self.set_aside(aside.iter().cloned().chain(found).collect());
        }
    }

    /// Whether an attempt with a failed preflight test is followed by another that does not count as a retry.
    pub(super) fn swaps(&self, at: At) -> bool {
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let known = run.tasks[at.task.index()].instances[at.instance as usize].known;
        run.plan.task(at.task).preflight.is_some_and(|policy| known.preflights <= policy.restarts)
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::preflight::{Blamed, Measured};

    use super::*;

    #[test]
    fn no_more_is_kept_than_a_test_has_to_say() {
        let long = "é".repeat(1000);
        let worker = Measured { worker: "a-0".into(), wrong: vec![long.clone(); 50], ..Measured::default() };
        let blamed = Some(Blamed { worker: long.clone(), why: long, sure: true });
        let kept = bounded(Tested { workers: vec![worker; 20], blamed }, 3);
        assert_eq!((kept.workers.len(), kept.workers[0].wrong.len()), (3, MOST));
        let blamed = kept.blamed.unwrap();
        assert_eq!((blamed.why.len(), kept.workers[0].wrong[0].len(), blamed.worker.len()), (300, 300, 300));
    }
}
