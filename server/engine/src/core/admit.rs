//! From the queue to a starting attempt.

use std::sync::Arc;

use cubeloom_admission::{JobId, Scaler, Victim};
use cubeloom_domain::Timestamp;
use cubeloom_domain::accounting::Account;
use cubeloom_domain::executor::{Executor, StopCause, Submission};
use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::preflight::Preflight;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::resources::{Amount, cards};
use cubeloom_domain::sizing::AttemptSizing;
use cubeloom_domain::state::{AttemptState, InstanceState, WaitReason};
use cubeloom_domain::usage::UsageSummary;

use super::active::tested;
use super::place::Place;
use super::{Action, At, Core};

/// How many pending instances are informed in one cycle that nothing starts at all: the reason is stored for
/// each.
const TOLD: usize = 1000;

impl Core {
    /// Starts what can start now on every cluster, and stops what is preempted. Returns true when another
    /// cycle could start more.
    #[must_use]
    pub fn admit(&mut self, now: Timestamp) -> bool {
        self.now = now;
        let mut more = false;
        let is_due = |place: &Place| place.changed || place.again.is_some_and(|again| again <= now);
        let due = self.places.iter().filter(|(_, place)| is_due(place)).map(|(cluster, _)| cluster.clone());
        for cluster in due.collect::<Vec<_>>() {
            more |= self.admit_to(&cluster, now);
        }
        more
    }

    fn admit_to(&mut self, cluster: &str, now: Timestamp) -> bool {
        let Some(place) = self.places.get_mut(cluster) else { return false };
        if let Some(failure) = place.given_up() {
            for at in place.waiting(usize::MAX) {
                self.leave_queue(at);
                self.cannot_start(at, failure.clone(), now);
            }
            return false;
        }
        if let Some(message) = place.held_up(now) {
            for at in place.waiting(TOLD) {
                self.explain(at, WaitReason::Capacity { message: message.clone(), why: None });
            }
            return false;
        }
        self.size_next(cluster);
        let Some(place) = self.places.get_mut(cluster) else { return false };
        let pass = place.pass(now);
        if !pass.starts.is_empty() {
            place.sized_at = None;
        }
        let at = |id: JobId| place.at(id);
        let starts: Vec<(At, u32)> =
            pass.starts.iter().filter_map(|start| Some((at(start.job)?, start.workers))).collect();
        let grows: Vec<(At, u32)> =
            pass.grows.iter().filter_map(|grown| Some((at(grown.job)?, grown.workers))).collect();
        let victims: Vec<(At, Victim)> =
            pass.victims.iter().filter_map(|victim| Some((at(victim.job())?, *victim))).collect();
        for (at, _) in &starts {
            place.started(*at);
        }
        let mut again = false;
        for (at, workers) in starts {
            again |= self.start(at, workers, now);
        }
        for (at, workers) in grows {
            self.grow(at, workers, now);
        }
        for (at, victim) in victims {
            match victim {
                Victim::Workers { keeps, .. } => self.scale(at, keeps),
                Victim::Whole { .. } => self.stop_attempt(at, None, StopCause::Preempted),
            }
        }
        self.explain_waits(cluster, &pass.waits, now);
        let held = self.places.get(cluster).map(|place| place.held_waiting(TOLD)).unwrap_or_default();
        for (at, message) in held {
            self.explain_anew(at, WaitReason::Capacity { message, why: None });
        }
        pass.more || again
    }

    /// Records why an instance is pending. The reason is stored only when it differs in more than amounts.
    pub(super) fn explain(&mut self, at: At, new: WaitReason) {
        let Some(instance) = self.instance_mut(at) else { return };
        let InstanceState::Waiting { reason, .. } = &mut instance.state else { return };
        let tells_the_same = |old: &WaitReason| {
            std::mem::discriminant(old) == std::mem::discriminant(&new)
                && match (old.explanation(), new.explanation()) {
                    // A user has changed the limit: update the numbers.
                    (Some(_), Some(why)) if why.named.is_some() && old.message() != new.message() => false,
                    (Some(old), Some(new)) => old.tells_the_same(new),
                    (old, new) => old.is_some() == new.is_some(),
                }
        };
        if !reason.as_ref().is_some_and(tells_the_same) {
            *reason = Some(new);
            self.touch(at);
        }
    }

    /// The same for a reason that is some time old: also when only amounts have changed.
    pub(super) fn explain_anew(&mut self, at: At, new: WaitReason) {
        let Some(instance) = self.instance_mut(at) else { return };
        let InstanceState::Waiting { reason, .. } = &mut instance.state else { return };
        if reason.as_ref() != Some(&new) {
            *reason = Some(new);
            self.touch(at);
        }
    }

    /// Stores an attempt as submitting and requests its submission. If its cluster cannot provide what it
    /// requests, the attempt fails. Returns true when it is pending again.
    fn start(&mut self, at: At, workers: u32, now: Timestamp) -> bool {
        let Some(run) = self.runs[at.slot].as_mut() else { return false };
        run.queued -= 1;
        run.tasks[at.task.index()].queued -= 1;
        if !self.settles(at, now) {
            return self.wait_again(at, Retry::AtOnce);
        }
        let Some((executor, bound)) = self.bind_next(at, workers) else { return false };
        let bound = match bound {
            Ok(bound) => bound,
            Err(failure) => {
                if let Some(retry) = self.lacks_cards_for_now(at, &executor, now) {
                    return self.wait_again(at, retry);
                }
                self.cannot_start(at, failure, now);
                return false;
            }
        };
        let sizing = self.decided_size(at).map(|mut sizing| {
            sizing.grows = bound.grows;
            sizing
        });
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let (submission, record) = bound.written(at, run.plan.task(at.task), sizing, now);
        self.output.actions.push(Action::Submit(executor, submission));
        self.set_off(at, record);
        false
    }

    /// A pending instance fails: its cluster cannot provide what it requests.
    fn cannot_start(&mut self, at: At, failure: Failure, now: Timestamp) {
        self.leave_place(at);
        self.end_instance(at, InstanceState::Failed { failure }, now);
        self.let_in(at.slot, at.task);
    }

    /// Whether an instance was admitted for GPUs that its cluster does not have yet, or no longer has, and
    /// when to retry it. GPUs become free when the end of their attempt is stored, and one may have become
    /// unhealthy since the last look. GPU fractions are not counted by the scheduler: jobs that request one
    /// stay pending while GPUs are unhealthy.
    fn lacks_cards_for_now(&mut self, at: At, executor: &Arc<dyn Executor>, now: Timestamp) -> Option<Retry> {
        let run = self.runs[at.slot].as_ref()?;
        let roles = run.plan.task(at.task).roles.iter();
        let mut asked = roles.filter_map(|role| role.resources.gpu.as_ref()).peekable();
        asked.peek()?;
        let gives_back =
            |action: &Action| matches!(action, Action::Release(of, _) if Arc::ptr_eq(of, executor));
        let place = self.places.get_mut(run.place_of(at.task))?;
        if self.output.actions.iter().any(gives_back) || place.has_other_cards(now) {
            return Some(Retry::AtOnce);
        }
        let asks_for_part = asked.any(|gpu| gpu.count.is_none());
        (asks_for_part && place.has_faulty_cards()).then_some(Retry::AtTheNextLook)
    }

    /// An admitted instance is pending again. The start does not count towards its concurrency limits.
    fn wait_again(&mut self, at: At, retry: Retry) -> bool {
        let Some(run) = self.runs[at.slot].as_mut() else { return false };
        if let Some(place) = self.places.get_mut(run.place_of(at.task)) {
            place.take_back(at, self.now);
        }
        run.queued += 1;
        run.tasks[at.task.index()].queued += 1;
        let waits = self.wait_for_place(at);
        if retry == Retry::AtTheNextLook
            && let Some(run) = self.runs[at.slot].as_ref()
            && let Some(place) = self.places.get_mut(run.place_of(at.task))
        {
            place.put_off(at);
        }
        waits
    }

    /// Binds the next attempt to its cluster.
    fn bind_next(&self, at: At, workers: u32) -> Option<(Arc<dyn Executor>, Result<Bound, Failure>)> {
        let run = self.runs[at.slot].as_ref()?;
        let place = self.places.get(run.place_of(at.task))?;
        let workers = run.plan.task(at.task).elastic.map(|range| match place.scaling {
            Scaler::Cluster => place.may_have(at, &run.sized_task(at), range),
            Scaler::AtStart | Scaler::Always => workers,
        });
        let grows = self.may_grow(at);
        let pool = run.pool_of(at.task);
        let preflight = run.next_preflight(at, self.bounds_of(&pool));
        // Workers that the cluster's own scheduler adds above an elastic job's minimum are not relied on
        // here. They are stored, and counted as used, once they run.
        let is_scaled = place.scaling == Scaler::Cluster;
        let least = is_scaled.then(|| least_amount(&run.sized_task(at)));
        let bound = run.next_job(at, workers).and_then(|job| {
            let job = tested(Job { grows, ..job }, preflight.as_deref());
            let bindings = place.executor.bind(&job)?;
            Ok(Bound { submission: submission(job, &bindings)?, bindings, pool, least, grows, preflight })
        });
        Some((Arc::clone(&place.executor), bound))
    }

    /// Records an instance's attempt, which now holds its resources.
    fn set_off(&mut self, at: At, record: AttemptRecord) {
        if let Some(run) = self.run_mut(at.slot) {
            run.tasks[at.task.index()].rungs.forget(at.instance);
        }
        if let Some(instance) = self.instance_mut(at) {
            instance.measured = 0;
            instance.state = InstanceState::ACTIVE;
            instance.attempt = record.key.n;
            instance.tries += 1;
        }
        self.hold(at, record, true);
        self.touch(at);
    }
}

/// When an admitted instance that found no GPUs is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    /// In the next cycle.
    AtOnce,
    /// After the next look at the cluster's facts.
    AtTheNextLook,
}

/// An attempt with resources that its cluster can provide.
struct Bound {
    submission: Submission,
    bindings: Bindings,
    pool: Pool,
    /// What is counted for it at first, if that is not the total.
    least: Option<Amount>,
    /// Whether its workers may get more memory while they run.
    grows: bool,
    preflight: Option<Box<Preflight>>,
}

impl Bound {
    /// The submission, and the record that is stored before it.
    fn written(
        self,
        at: At,
        planned: &PlannedTask,
        sizing: Option<Box<AttemptSizing>>,
        now: Timestamp,
    ) -> (Submission, AttemptRecord) {
        let job = &self.submission.job;
        let record = AttemptRecord {
            key: job.key.clone(),
            task: at.task,
            state: AttemptState::Submitting,
            created_at: now,
            cards: match self.least {
                Some(_) => cards(planned.least()),
                None => job.cards(),
            },
            amount: self.least.unwrap_or_else(|| job.amount()),
            pool: self.pool,
            limits: planned.limits.clone(),
            workers: job.workers(),
            earlier: Vec::new(),
            bindings: self.bindings,
            usage: UsageSummary::default(),
            account: Account::of(job),
            sizing,
            pace: None,
            hang: None,
            preflight: self.preflight,
        };
        (self.submission, record)
    }
}

/// A job's submission to the cluster that it is bound to.
///
/// # Errors
/// The cluster cannot provide what the job requests.
pub(super) fn submission(job: Job, bindings: &Bindings) -> Result<Submission, Failure> {
    let lowered = cubeloom_compiler::lower::lower(&job, bindings)?;
    Ok(Submission { job: Arc::new(job), lowered: Arc::new(lowered) })
}

/// A task's minimum to start: every role in full, but the elastic one with `min` workers.
pub(super) fn least_amount(planned: &PlannedTask) -> Amount {
    planned.least().fold(Amount::default(), |sum, (each, count)| sum.plus(Amount::of(each, count)))
}
