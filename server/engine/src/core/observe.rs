//! Handles reports of executors, timers and the cache.

use std::time::Duration;

use cubeloom_domain::executor::{Ended, Event, Observation, StopCause};
use cubeloom_domain::hang::Known;
use cubeloom_domain::model::{NewModelVersion, Origin};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::record::{AttemptRecord, CacheEntry};
use cubeloom_domain::state::{AttemptState, InstanceState, ReusedFrom};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, InstanceIx, RunId, TaskIx, Timestamp};
use serde_json::Value;

use super::admit::submission;
use super::preflight::bounded;
use super::{Action, At, Core, Timer, grow};
use crate::decide::{preflight, retry, stop};

/// Interval at which a running attempt's step progress is stored.
pub(super) const PACE_KEPT: Duration = Duration::from_secs(60);

/// The result of a [`super::LookUp`].
pub struct Answer {
    pub run: RunId,
    pub task: TaskIx,
    pub instance: InstanceIx,
    /// The key and its parts. `None` if it could not be computed.
    pub key: Option<(String, Value)>,
    pub hit: Option<CacheEntry>,
    /// Why there is no hit.
    pub note: Option<String>,
}

impl Core {
    /// Handles a report of an executor. A report about an attempt that is not live is late, and is ignored.
    pub fn observe(&mut self, observation: Observation, now: Timestamp) {
        self.now = now;
        let Some(at) = self.live.get(&observation.key).copied() else { return };
        match observation.event {
            Event::Preparing(_) | Event::Progress(_) => {}
            Event::Paced(pace) => self.paced(at, *pace),
            Event::Tested(tested) => self.tested(at, *tested),
            Event::Measured(metric) => self.measured(at, observation.key.n, &metric),
            Event::Started { at: started } => self.started(at, started),
            Event::NearlyFull(full) => self.nearly_full(at, &full, now),
            Event::NotGiven(not) => self.not_given(at, &not, now),
            Event::Resized { workers } => self.resized(at, workers, now),
            Event::Running { workers } => self.runs_with(at, workers, now),
            Event::Ended(ended) => self.ended(&observation.key, at, *ended, now),
            Event::NotFound => self.not_found(&observation.key, at, now),
        }
    }

    fn started(&mut self, at: At, started: Timestamp) {
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        let started = started.max(live.record.created_at);
        let Ok(state) = live.record.state.clone().start(started) else { return };
        live.record.state = state;
        live.dirty = true;
        let record = live.record.clone();
        self.watch_timeout(at, &record);
        self.watch_cards(at);
        self.scale_as_owed(at);
        // Not worth its own write, which would delay the end of a short job.
        self.touch_later(at);
    }

    /// The cluster does not know the attempt. If it was only stored, it is submitted; otherwise it is lost.
    fn not_found(&mut self, key: &AttemptKey, at: At, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let Some(live) = run.tasks[at.task.index()].instances[at.instance as usize].live.as_ref() else {
            return;
        };
        let outcome = match &live.record.state {
            AttemptState::Submitting => return self.resubmit(at),
            AttemptState::Stopping { .. } => Outcome::Cancelled,
            _ => Outcome::Failed(Failure::new(FailureKind::Lost, "the cluster no longer knows this job")),
        };
        let started_at = live.record.state.started_at();
        let usage = UsageSummary::default();
        self.ended(
            key,
            at,
            Ended {
                outcome,
                started_at,
                ended_at: now,
                report: Default::default(),
                usage,
                roles: Vec::new(),
            },
            now,
        );
    }

    fn resubmit(&mut self, at: At) {
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_ref()) else { return };
        let record = live.record.clone();
        let Some(job) = self.runs[at.slot].as_ref().map(|run| run.stored_job(&record)) else { return };
        let submission = job.and_then(|job| submission(job, &record.bindings));
        if let (Ok(submission), Some(executor)) = (submission, self.executor(at)) {
            self.output.actions.push(Action::Submit(executor, submission));
        }
    }

    /// An attempt has ended: its instance has a result, or is retried.
    fn ended(&mut self, key: &AttemptKey, at: At, mut ended: Ended, now: Timestamp) {
        let preempted = self.preempted_for(at);
        let Some(live) = self.free(key) else { return };
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let mut record = live.record;
        ended.follow(record.created_at);
        if let Some(preflight) = &mut record.preflight
            && preflight.tested.is_none()
        {
            preflight.tested = ended.report.preflight.take().map(|tested| bounded(*tested, record.workers));
        }
        let mut outcome = self.outcome_of(at, &record, &ended, preempted);
        let cause = match record.state {
            AttemptState::Stopping { cause, .. } => Some(cause),
            _ => None,
        };
        close(&mut record, run.plan.task(at.task), &outcome, &ended);
        self.learn(at, &record);
        self.tell_no_more(at, &mut record, &mut outcome);
        let failed = failed_of(&outcome);
        let known = Known::after(record.pace.as_deref(), record.preflight.as_deref(), failed);
        if failed == Some(FailureKind::Preflight) {
            self.swap_node(&record);
        }
        self.output.attempts.push(record);
        if let Some(executor) = self.executor(at) {
            self.output.actions.push(Action::Release(executor, key.clone()));
        }
        let Some(instance) = self.instance_mut(at) else { return };
        if let Some(known) = known {
            instance.known = known;
        }
        self.go_on_after(key, at, Ended { outcome, ..ended }, cause, now);
        self.let_in(at.slot, at.task);
    }

    /// The job that preempts an attempt, as text. `None` if it is no longer known.
    fn preempted_for(&self, at: At) -> Option<String> {
        let run = self.runs[at.slot].as_ref()?;
        let (why, other) = self.places.get(run.place_of(at.task))?.preempted(at)?;
        Some(stop::preempted(why, other, &run.record.project))
    }

    /// The outcome of an attempt: from its cluster's report, the cause of a stop, and the requirements of its
    /// search.
    fn outcome_of(
        &self,
        at: At,
        record: &AttemptRecord,
        ended: &Ended,
        preempted: Option<String>,
    ) -> Outcome {
        let reported = ended.outcome.clone();
        let outcome = match record.state {
            AttemptState::Stopping { cause, .. } => {
                let timeout = self.runs[at.slot].as_ref().and_then(|run| run.plan.task(at.task).timeout);
                stop::outcome(cause, reported, timeout, record.hang.as_deref(), preempted)
            }
            _ => preflight::outcome(reported, record.preflight.as_deref()),
        };
        match outcome {
            Outcome::Succeeded => {
                self.without_value(at, &ended.report).map_or(Outcome::Succeeded, Outcome::Failed)
            }
            other => other,
        }
    }

    /// Ends or retries the instance of an attempt that has ended. `cause` is why the attempt was asked to
    /// stop, if it was.
    fn go_on_after(
        &mut self,
        key: &AttemptKey,
        at: At,
        ended: Ended,
        cause: Option<StopCause>,
        now: Timestamp,
    ) {
        let failed = failed_of(&ended.outcome);
        let (hung, is_swapped) = (failed == Some(FailureKind::Hung), failed == Some(FailureKind::Preflight));
        let policy = self.runs[at.slot].as_ref().and_then(|run| run.plan.task(at.task).retry.clone());
        let Some(instance) = self.instance_mut(at) else { return };
        let tries = instance.tries;
        if let InstanceState::Active { marked: Some(mark) } = &instance.state {
            let mark = mark.clone();
            instance.report = ended.report;
            return self.end_marked(at, &mark, ended.ended_at);
        }
        match ended.outcome {
            Outcome::Succeeded => {
                instance.report = ended.report;
                self.keep_result(at, now);
                self.register_models(key, at, now);
                self.end_instance(at, InstanceState::Succeeded { reused: None }, ended.ended_at);
            }
            Outcome::Cancelled if cause == Some(StopCause::Outdone) => {
                let state = self.stopped_early(at, ended.report);
                self.end_instance(at, state, ended.ended_at);
            }
            Outcome::Cancelled => self.end_instance(at, InstanceState::Cancelled, ended.ended_at),
            // It stopped as requested: this is neither a failure nor an attempt that counts.
            Outcome::Failed(_) if cause == Some(StopCause::Preempted) && !self.is_stopping(at.slot) => {
                self.give_way(at, now);
            }
            Outcome::Failed(_) if hung && self.restarts(at) && !self.is_stopping(at.slot) => {
                self.try_uncounted(at, now);
            }
            Outcome::Failed(_) if is_swapped && self.swaps(at) && !self.is_stopping(at.slot) => {
                self.try_uncounted(at, now);
            }
            Outcome::Failed(failure) if self.grows(at, failure.kind) && !self.is_stopping(at.slot) => {
                self.try_uncounted(at, now);
            }
            Outcome::Failed(failure) => match retry::decide(policy.as_ref(), failure.kind, tries) {
                Some(wait) if !self.is_stopping(at.slot) => self.try_again(at, now.plus(wait), now),
                _ => {
                    instance_report(self, at, ended.report);
                    self.end_instance(at, InstanceState::Failed { failure }, ended.ended_at);
                }
            },
        }
    }

    /// A preempted attempt has ended: its instance is pending again, and does not borrow during a cool-down.
    fn give_way(&mut self, at: At, now: Timestamp) {
        let cool_down = self.settings.cool_down;
        if let Some(instance) = self.instance_mut(at) {
            instance.cool_until = Some(now.plus(cool_down));
        }
        self.try_uncounted(at, now);
    }

    /// Makes another attempt at once, which does not count towards the task's attempts.
    fn try_uncounted(&mut self, at: At, now: Timestamp) {
        if let Some(instance) = self.instance_mut(at) {
            instance.tries = instance.tries.saturating_sub(1);
        }
        self.try_again(at, now, now);
    }

    fn try_again(&mut self, at: At, until: Timestamp, now: Timestamp) {
        let Some(instance) = self.instance_mut(at) else { return };
        if until > now {
            instance.state = InstanceState::Backoff { until };
            self.timers.insert((until, Timer::Retry(at)));
        } else {
            instance.state = InstanceState::Waiting { since: now, reason: None };
            self.queue_up(at);
        }
        self.touch(at);
    }

    /// Offers a result to equal later tasks.
    fn keep_result(&mut self, at: At, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let instance = &run.tasks[at.task.index()].instances[at.instance as usize];
        let Some((key, parts)) = instance.cache.as_deref().cloned() else { return };
        let entry = CacheEntry {
            key,
            parts,
            project: run.record.project.clone(),
            pipeline: run.record.pipeline.clone(),
            task: run.plan.task(at.task).name.clone(),
            run: run.record.id.clone(),
            created_at: now,
            report: instance.report.clone(),
        };
        self.output.cache.push(entry);
    }

    /// Registers the models that its program reported as versions, together with its success.
    fn register_models(&mut self, key: &AttemptKey, at: At, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let record = &run.record;
        let origin = || Origin {
            attempt: key.clone(),
            pipeline: record.pipeline.clone(),
            pipeline_version: record.version,
            code: run.plan.context.code.clone(),
            user: record.person().to_owned(),
        };
        let made = run.tasks[at.task.index()].instances[at.instance as usize].report.models.iter();
        let made = made.map(|reported| NewModelVersion {
            project: record.project.clone(),
            reported: reported.clone(),
            origin: origin(),
            created_at: now,
        });
        self.output.models.extend(made);
    }

    /// Handles due timers: delays that are over, attempts past their timeout.
    pub fn tick(&mut self, now: Timestamp) {
        self.now = now;
        while let Some((due, timer)) = self.timers.first().copied() {
            if due > now {
                return;
            }
            self.timers.pop_first();
            match timer {
                Timer::Retry(at) => self.retry(at, now),
                Timer::Timeout(at, n) => self.stop_attempt(at, Some(n), StopCause::Timeout),
                Timer::Undecided(at) => self.undecided(at, now),
                Timer::Pace(at, n) => self.judge_pace(at, n, now),
                Timer::Cards(at, n) => self.look_at_cards(at, n),
            }
        }
    }

    fn retry(&mut self, at: At, now: Timestamp) {
        let Some(instance) = self.instance_mut(at) else { return };
        if matches!(instance.state, InstanceState::Backoff { until } if until <= now) {
            instance.state = InstanceState::Waiting { since: now, reason: None };
            self.touch(at);
            self.queue_up(at);
        }
    }

    /// Stops an instance's live attempt. With `n`, only if it has that number.
    pub(super) fn stop_attempt(&mut self, at: At, n: Option<u32>, cause: StopCause) {
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        if n.is_some_and(|n| n != live.record.key.n) {
            return;
        }
        let Ok(state) = live.record.state.clone().stop(cause) else { return };
        live.record.state = state;
        live.dirty = true;
        let key = live.record.key.clone();
        if let Some(executor) = self.executor(at) {
            self.output.actions.push(Action::Cancel(executor, key, cause));
        }
        let now = self.now;
        if let Some(run) = self.runs[at.slot].as_ref()
            && let Some(place) = self.places.get_mut(run.place_of(at.task))
        {
            place.leave(at, now);
        }
        self.touch(at);
    }

    /// Handles the cache's answer: uses the earlier result, or queues the instance.
    pub fn answer(&mut self, answer: Answer, now: Timestamp) {
        let Some(slot) = self.slots.get(&answer.run).copied() else { return };
        let at = At { slot, task: answer.task, instance: answer.instance };
        let Some(instance) = self.instance_mut(at) else { return };
        // The answer to a look-up from before the run was last loaded would be a duplicate.
        let is_asked = std::mem::take(&mut instance.is_asked);
        if !is_asked || !matches!(instance.state, InstanceState::Waiting { .. }) {
            return;
        }
        instance.cache = answer.key.map(Box::new);
        instance.note = answer.note;
        self.touch(at);
        match answer.hit {
            Some(entry) => {
                let Some(instance) = self.instance_mut(at) else { return };
                instance.report = entry.report;
                let reused = ReusedFrom { run: entry.run, task: entry.task, ended_at: entry.created_at };
                self.end_instance(at, InstanceState::Succeeded { reused: Some(reused) }, now);
            }
            None => self.queue_up(at),
        }
    }
}

/// The kind of an attempt's failure, if it failed.
fn failed_of(outcome: &Outcome) -> Option<FailureKind> {
    match outcome {
        Outcome::Failed(failure) => Some(failure.kind),
        Outcome::Succeeded | Outcome::Cancelled => None,
    }
}

/// Stores in an attempt's record how it ended, and its usage.
fn close(record: &mut AttemptRecord, planned: &PlannedTask, outcome: &Outcome, ended: &Ended) {
    if let (AttemptState::Submitting, Some(started)) = (&record.state, ended.started_at) {
        record.state = AttemptState::Running { started_at: started };
    }
    record.usage = ended.usage;
    if let Some(sizing) = &mut record.sizing {
        sizing.used(&ended.roles);
    }
    if let Outcome::Failed(Failure { kind: FailureKind::OutOfMemory, worker: Some(worker), .. }) = outcome {
        grow::take_back(record, planned, &worker.role);
    }
    if let Ok(state) = record.state.clone().end(ended.ended_at, outcome.clone()) {
        record.state = state;
    }
}

fn instance_report(core: &mut Core, at: At, report: cubeloom_domain::executor::Report) {
    if let Some(instance) = core.instance_mut(at) {
        instance.report = report;
    }
}
