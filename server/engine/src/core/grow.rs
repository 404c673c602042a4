//! Jobs that run and have nearly used up their memory: in `auto` they get more where there is room, before it runs out.
//!
//! What they get is written first, with the amounts that are counted from then on, and given then: a server that dies in between
//! takes the job up with what is written.

use std::sync::Arc;

use cubeloom_admission::Scaler;
use cubeloom_domain::executor::{NearlyFull, largest};
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::sizing::Grown;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{Bytes, Timestamp};
use cubeloom_sizing::keep_possible;

use super::active::ActiveRun;
use super::admit::{least_amount, submission};
use super::{Action, At, Core};
use crate::decide::grow;

/// Of an attempt whose memory ran out before the workers of a role were given what was decided: they had what they had before,
/// and nothing else is learned from it. `role` is that of the worker whose memory ran out; the others did what they did with
/// what they had.
pub(super) fn take_back(record: &mut AttemptRecord, role: &str) {
    let AttemptRecord { sizing, earlier, amount, usage, .. } = record;
    let Some(sizing) = sizing.as_mut() else { return };
    // The kernel's peak is of all workers: of a role alone it is known where there is no other.
    let peak = usage.kernel_peak_memory.filter(|_| sizing.roles.len() == 1);
    for sized in sizing.roles.iter_mut().filter(|sized| sized.role == role) {
        if grow::was_given(sized, peak) {
            continue;
        }
        let (Some(grown), Some(before)) = (sized.grown, sized.before) else { continue };
        sized.gets = before;
        sized.grown = (grown.times > 1).then(|| Grown { times: grown.times - 1, ..grown });
        if let Some(stretch) = earlier.pop_if(|stretch| stretch.until == grown.at) {
            *amount = stretch.amount;
        }
    }
}

impl Core {
    /// Whether the workers of attempts at a task may get more memory while they run.
    pub(super) fn may_grow(&self, at: At) -> bool {
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let planned = run.plan.task(at.task);
        let can = || self.executor(at).is_some_and(|executor| executor.growth().is_some());
        self.is_sized(run, planned) && planned.roles.iter().any(|role| role.kept.memory.is_none()) && can()
    }

    /// Whether what a task's workers get is decided by what was used.
    pub(super) fn is_sized(&self, run: &ActiveRun, planned: &PlannedTask) -> bool {
        self.histories.of(run).is_some_and(|history| {
            history.mode_of(planned) == SizingMode::Auto && !history.reverted.contains(&planned.name)
        })
    }

    /// A worker has nearly used up its memory: all of its role get more, where they may and there is room.
    pub(super) fn nearly_full(&mut self, at: At, full: &NearlyFull, now: Timestamp) {
        let Some(memory) = self.wanted_memory(at, full) else { return };
        let Some(executor) = self.executor(at) else { return };
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let Some(live) = run.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        let before = live.record.clone();
        if let Some(sizing) = &mut live.record.sizing {
            sizing.grow(&full.role, memory, now);
        }
        let record = live.record.clone();
        let Some(place) = self.places.get_mut(run.place_of(at.task)) else { return };
        let job =
            run.stored_job(&record).and_then(|job| Ok((job.clone(), submission(job, &record.bindings)?)));
        let given = match job {
            Ok(given) if place.enlarge(run, at, now) => Some(given),
            Ok(_) => None,
            Err(failure) => {
                tracing::error!(%failure.message, "a job cannot be told with more memory");
                None
            }
        };
        let amount = (place.scaling == Scaler::Cluster).then(|| least_amount(&run.sized_task(at)));
        let Some(live) = run.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        let Some((job, submission)) = given else {
            live.record = before;
            return;
        };
        live.record.resize(&job, record.bindings, now);
        if let Some(amount) = amount {
            (live.record.amount, live.record.cards) = (amount, before.cards);
        }
        live.dirty = true;
        tracing::info!(key = %live.record.key, role = full.role, %memory, "workers get more memory while they run");
        self.output.actions.push(Action::Grow(Arc::clone(&executor), submission));
        self.touch(at);
    }

    /// How much the workers of a role are to get, as far as nodes and the project's quota can hold it.
    fn wanted_memory(&self, at: At, full: &NearlyFull) -> Option<Bytes> {
        let run = self.runs[at.slot].as_ref()?;
        let planned = run.plan.task(at.task);
        let record = &run.live(at)?.record;
        if !matches!(record.state, AttemptState::Running { .. })
            || !self.is_sized(run, planned)
            || self.executor(at)?.growth().is_none()
        {
            return None;
        }
        let sizing = record.sizing.as_deref()?;
        let role = planned.roles.iter().find(|role| role.name == full.role)?;
        let had = sizing.of(&full.role)?.gets.memory;
        let mut wanted = grow::wanted(sizing.of(&full.role)?, role.kept, full)?;
        let place = self.places.get(run.place_of(at.task))?;
        let node_group = planned.placement.node_group.as_deref();
        if let Some(largest) = largest(place.nodes(), &role.resources, node_group) {
            wanted = wanted.min(largest.memory);
        }
        let mut roles = sizing.roles.clone();
        for sized in roles.iter_mut().filter(|sized| sized.role == full.role) {
            sized.gets.memory = wanted;
        }
        keep_possible(&mut roles, planned, place.nodes(), self.bound(run, planned));
        let possible = roles.iter().find(|sized| sized.role == full.role)?.gets.memory;
        Some(possible).filter(|possible| *possible > had)
    }
}
