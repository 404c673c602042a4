//! Running jobs that are close to their memory limit: in `auto` they get more memory before they are OOM
//! killed, if there is capacity.
//!
//! The new amount is stored and counted first and applied afterwards: if the server dies in between, its
//! successor restores the job with the stored amount.

use std::sync::Arc;

use cubeloom_admission::Scaler;
use cubeloom_domain::executor::{NearlyFull, NotGiven, Submission, largest};
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::sizing::{AttemptSizing, Grown, NoMore, Reason};
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{Bytes, Timestamp};
use cubeloom_sizing::keep_possible;

use super::active::ActiveRun;
use super::admit::{least_amount, submission};
use super::{Action, At, Core};
use crate::decide::{grow, retry};

/// Reverts a memory increase that was decided but not applied before a role was OOM killed. The workers had
/// the earlier amount, and nothing else is learned from it. `role` is the role of the killed worker; the
/// other roles did their work with what they had.
pub(super) fn take_back(record: &mut AttemptRecord, planned: &PlannedTask, role: &str) {
    let Some(sizing) = record.sizing.as_mut() else { return };
    // The kernel's peak covers all workers: it is a role's own only if there is one role.
    let peak = record.usage.kernel_peak_memory.filter(|_| sizing.roles.len() == 1);
    let mut taken = Vec::new();
    for sized in sizing.roles.iter_mut().filter(|sized| sized.role == role) {
        if grow::was_given(sized, peak) {
            continue;
        }
        let (Some(grown), Some(before)) = (sized.grown, sized.before) else { continue };
        taken.push((grown.at, Bytes(sized.gets.memory.0.saturating_sub(before.memory.0))));
        (sized.gets, sized.bounded, sized.risk) = (before, None, None);
        sized.grown = (grown.times > 1).then(|| Grown { times: grown.times - 1, ..grown });
    }
    let of_role = |workers| planned.workers_of(role, workers);
    for (since, more) in taken {
        match record.earlier.pop_if(|stretch| stretch.until == since) {
            Some(stretch) => record.amount = stretch.amount,
            // Its number of workers has changed since.
            None => {
                let of_all = more.0.saturating_mul(of_role(record.workers).into());
                record.amount.memory = Bytes(record.amount.memory.0.saturating_sub(of_all));
                record.never_had(more, since, of_role);
            }
        }
    }
}

impl Core {
    /// Whether workers of a task's attempts may get more memory while they run.
    pub(super) fn may_grow(&self, at: At) -> bool {
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let planned = run.plan.task(at.task);
        let can = || {
            self.executor(at).is_some_and(|executor| {
                executor.growth().is_some_and(|growth| growth.may_grow(&run.record.project))
            })
        };
        self.is_sized(run, planned) && planned.roles.iter().any(|role| role.kept.memory.is_none()) && can()
    }

    /// Whether a task's workers are right-sized by usage.
    pub(super) fn is_sized(&self, run: &ActiveRun, planned: &PlannedTask) -> bool {
        self.histories.of(run).is_some_and(|history| {
            history.mode_of(planned) == SizingMode::Auto && !history.reverted.contains(&planned.name)
        })
    }

    /// Handles a worker close to its memory limit: all workers of its role get more, if allowed and if there
    /// is capacity; otherwise the reason is recorded.
    pub(super) fn nearly_full(&mut self, at: At, full: &NearlyFull, now: Timestamp) {
        match self.wanted_memory(at, full, now) {
            Some(Ok(wanted)) => self.give_memory(at, full, wanted, now),
            Some(Err(why)) => self.note_no_more(at, &full.role, why),
            None => {}
        }
    }

    /// Sets the memory of a role's workers, if there is capacity. `bounded` says what limited it.
    fn give_memory(
        &mut self,
        at: At,
        full: &NearlyFull,
        (memory, bounded): (Bytes, Option<NoMore>),
        now: Timestamp,
    ) {
        let Some(executor) = self.executor(at) else { return };
        let risk = self.risk_after(at, &full.role, full.used, memory);
        let grow = |sizing: &mut AttemptSizing| {
            sizing.grow(&full.role, memory, now);
            for sized in sizing.roles.iter_mut().filter(|sized| sized.role == full.role) {
                sized.bounded = bounded;
            }
            sizing.set_risk(&full.role, risk);
            true
        };
        match self.with_memory(at, now, grow) {
            Some(Ok(submission)) => {
                let key = &submission.job.key;
                tracing::info!(%key, role = full.role, %memory, "workers get more memory while they run");
                self.output.actions.push(Action::Grow(executor, submission));
            }
            Some(Err(why)) => self.note_no_more(at, &full.role, why),
            None => {}
        }
    }

    /// Records why a role's workers get no more memory while they run: each reason once, however often they
    /// are close to the limit.
    fn note_no_more(&mut self, at: At, role: &str, why: NoMore) {
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        let Some(sizing) = live.record.sizing.as_mut() else { return };
        if !sizing.note_no_more(role, why) {
            return;
        }
        live.dirty = true;
        let key = &live.record.key;
        tracing::info!(%key, role, %why, "workers get no more memory while they run");
        self.touch(at);
    }

    /// Adds to the end of an OOM killed attempt why it got no more memory while it ran, and why it is not
    /// retried with more. Adds nothing if its memory is not managed.
    pub(super) fn tell_no_more(&mut self, at: At, record: &mut AttemptRecord, outcome: &mut Outcome) {
        let Outcome::Failed(failure) = outcome else { return };
        if failure.kind != FailureKind::OutOfMemory {
            return;
        }
        let role = failure.worker.as_ref().map(|worker| worker.role.as_str());
        if let Some(why) = record.sizing.as_deref().and_then(|sizing| sizing.why_no_more(role)) {
            failure.message = format!("{}; its memory was not raised while it ran: {why}", failure.message);
        }
        if let Some(why) = self.no_more_after(at) {
            let said = &failure.message;
            failure.message = format!("{said}; the server does not retry it with more memory: {why}");
        }
        if let AttemptState::Ended { outcome: told, .. } = &mut record.state {
            *told = outcome.clone();
        }
    }

    /// Why an OOM killed instance is not retried with more memory. `None` if it is retried.
    fn no_more_after(&mut self, at: At) -> Option<NoMore> {
        let kind = FailureKind::OutOfMemory;
        if self.is_stopping(at.slot) || self.grows(at, kind) {
            return None;
        }
        let run = self.runs[at.slot].as_ref()?;
        let tries = run.tasks[at.task.index()].instances[at.instance as usize].tries;
        let policy = run.plan.task(at.task).retry.as_ref();
        if retry::decide(policy, kind, tries).is_some() {
            return None;
        }
        self.not_grown_again(at)
    }

    /// Reverts the memory of a role's workers: not all of them could get more.
    pub(super) fn not_given(&mut self, at: At, not: &NotGiven, now: Timestamp) {
        let before = || {
            let record = &self.runs[at.slot].as_ref()?.live(at)?.record;
            record.sizing.as_deref()?.of(&not.role).cloned()
        };
        let Some(before) = before() else { return };
        let (Reason::NearlyFull { had }, Some(grown)) = (before.memory, before.grown) else { return };
        let risk = self.risk_after(at, &not.role, NearlyFull::least(had), had);
        let take_back = |sizing: &mut AttemptSizing| {
            let is_taken = sizing.not_given(&not.role, not.memory, now, &not.why);
            if is_taken {
                sizing.set_risk(&not.role, risk);
            }
            is_taken
        };
        let Some(Ok(_)) = self.with_memory(at, now, take_back) else { return };
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let plan = Arc::clone(&run.plan);
        let Some(live) = run.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        // Nor did they have it between the decision and now.
        let more = Bytes(not.memory.0.saturating_sub(had.0));
        let of_role = |workers| plan.task(at.task).workers_of(&not.role, workers);
        live.record.never_had(more, grown.at, of_role);
        let (key, role, why) = (&live.record.key, &not.role, &not.why);
        tracing::warn!(%key, role, memory = %not.memory, why, "the cluster did not provide more memory for workers");
    }

    /// Changes what an attempt's workers get, and the counted amount. `change` returns whether there is
    /// anything to change. Returns `None` if there is not. If there is no capacity, everything stays as it
    /// was.
    fn with_memory(
        &mut self,
        at: At,
        now: Timestamp,
        change: impl FnOnce(&mut AttemptSizing) -> bool,
    ) -> Option<Result<Submission, NoMore>> {
        let run = self.runs[at.slot].as_mut()?;
        let live = run.instance_mut(at)?.live.as_mut()?;
        let before = live.record.clone();
        if !change(live.record.sizing.as_mut()?) {
            return None;
        }
        let record = live.record.clone();
        let place = self.places.get_mut(run.place_of(at.task))?;
        let job =
            run.stored_job(&record).and_then(|job| Ok((job.clone(), submission(job, &record.bindings)?)));
        let given = match job {
            Ok(given) => place.enlarge(run, at, record.key.n, now).map(|()| given),
            Err(failure) => {
                tracing::error!(%failure.message, "a job cannot be built with more memory");
                Err(None)
            }
        };
        let amount = (place.scaling == Scaler::Cluster).then(|| least_amount(&run.sized_task(at)));
        let live = run.instance_mut(at)?.live.as_mut()?;
        let (job, submission) = match given {
            Ok(given) => given,
            Err(why) => {
                live.record = before;
                return why.map(Err);
            }
        };
        live.record.resize(&job, record.bindings, now);
        if let Some(amount) = amount {
            (live.record.amount, live.record.cards) = (amount, before.cards);
        }
        live.dirty = true;
        self.touch(at);
        Some(Ok(submission))
    }

    /// How much memory a role's workers are to get, and what bounds it: the nodes or the project's quota.
    /// Or why it is no more than they have. `None` if no increase was due, or if it is too early or too
    /// late.
    fn wanted_memory(
        &self,
        at: At,
        full: &NearlyFull,
        now: Timestamp,
    ) -> Option<Result<(Bytes, Option<NoMore>), NoMore>> {
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
        let mut wanted = match grow::wanted(sizing.of(&full.role)?, role.kept, full, now)? {
            Ok(wanted) => wanted,
            Err(why) => return Some(Err(why)),
        };
        let mut bounded = None;
        let place = self.places.get(run.place_of(at.task))?;
        let node_group = planned.placement.node_group.as_deref();
        if let Some(largest) = largest(place.nodes(), &role.resources, node_group)
            && largest.memory < wanted
        {
            (wanted, bounded) = (largest.memory, Some(NoMore::Node));
        }
        let mut roles = sizing.roles.clone();
        for sized in roles.iter_mut().filter(|sized| sized.role == full.role) {
            (sized.gets.memory, sized.bounded) = (wanted, bounded);
        }
        keep_possible(&mut roles, planned, place.nodes(), self.bound(run, planned));
        let possible = roles.iter().find(|sized| sized.role == full.role)?;
        if possible.gets.memory > had {
            Some(Ok((possible.gets.memory, possible.bounded)))
        } else {
            possible.bounded.map(Err)
        }
    }
}
