//! Hanging attempts: detected by a timer, recorded, inspected, and by policy restarted.

use cubeloom_domain::executor::StopCause;
use cubeloom_domain::hang::{self, Hang, HangAction, WorkerStack};
use cubeloom_domain::pace::Pace;
use cubeloom_domain::record::HangStacks;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{AttemptKey, Timestamp};

use super::observe::PACE_KEPT;
use super::{Action, At, Core, Timer};

impl Core {
    /// Records an attempt's step progress. It is measured again after a crash, so it is stored only from time
    /// to time.
    pub(super) fn paced(&mut self, at: At, pace: Pace) {
        let now = self.now;
        let Some(instance) = self.instance_mut(at) else { return };
        let known = instance.known;
        let Some(live) = instance.live.as_mut() else { return };
        let pace = match live.record.pace.as_deref() {
            Some(earlier) => pace.after(earlier),
            None => Pace { known, ..pace },
        };
        let mut went_on = false;
        if let Some(hang) = live.record.hang.as_mut().filter(|hang| hang.is_present())
            && hang.went_on(&pace)
        {
            hang.over = Some(now);
            live.looked = false;
            went_on = true;
        }
        // The server that detected it may have died before it had the stacks, or before it acted.
        let unseen = live.record.hang.as_ref().is_some_and(|hang| hang.is_present()) && !live.looked;
        live.record.pace = Some(Box::new(pace));
        live.dirty = true;
        let is_due = live.pace_due <= now;
        if is_due {
            live.pace_due = now.plus(PACE_KEPT);
        }
        if went_on {
            self.touch(at);
        } else if is_due {
            self.touch_later(at);
        }
        if unseen {
            self.look_at_hang(at);
        }
        self.watch_pace(at);
    }

    /// Sets the timer for when the attempt would hang by current knowledge. Until the timer fires no other is
    /// set: steps move that time, and there may be many.
    pub(super) fn watch_pace(&mut self, at: At) {
        let Some(due) = self.hang_due(at) else { return };
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        if live.record.hang.as_ref().is_some_and(|hang| hang.is_present())
            || std::mem::replace(&mut live.pace_watched, true)
        {
            return;
        }
        let n = live.record.key.n;
        self.timers.insert((due, Timer::Pace(at, n)));
    }

    fn hang_due(&self, at: At) -> Option<Timestamp> {
        let run = self.runs[at.slot].as_ref()?;
        let record = &run.live(at)?.record;
        let runs = matches!(record.state, AttemptState::Running { .. });
        hang::due(record.pace.as_deref().filter(|_| runs)?, &run.plan.task(at.task).hang)
    }

    /// The time at which an attempt hangs unless it has made progress.
    pub(super) fn judge_pace(&mut self, at: At, n: u32, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let policy = run.plan.task(at.task).hang;
        let Some(live) = run.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        if live.record.key.n != n {
            return;
        }
        live.pace_watched = false;
        // Its GPUs may have shown it before.
        if live.record.hang.as_ref().is_some_and(|hang| hang.is_present()) {
            return;
        }
        let runs = matches!(live.record.state, AttemptState::Running { .. });
        let pace = live.record.pace.as_deref().filter(|_| runs);
        let Some(found) = pace.and_then(|pace| hang::judge(pace, &policy, now)) else {
            return self.watch_pace(at);
        };
        self.hangs_now(at, found);
    }

    /// Records that an attempt hangs.
    pub(super) fn hangs_now(&mut self, at: At, found: Hang) {
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        tracing::warn!(key = %live.record.key, why = found.sentence(), "an attempt hangs");
        let before = live.record.hang.replace(Box::new(found));
        live.dirty = true;
        if before.is_some() {
            // The stacks of an earlier hang are not those of this one.
            let key = live.record.key.clone();
            self.output.stacks.push(HangStacks { key, task: at.task, stacks: Vec::new() });
        }
        self.touch(at);
        self.look_at_hang(at);
    }

    /// Requests the stacks of a hanging attempt's workers.
    pub(super) fn look_at_hang(&mut self, at: At) {
        let Some(live) = self.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        live.looked = true;
        let key = live.record.key.clone();
        if let Some(executor) = self.executor(at) {
            self.output.actions.push(Action::Look(executor, key));
        }
    }

    /// Stores the stacks of a hanging attempt's workers. Only then is the attempt stopped.
    pub fn looked_at(&mut self, key: &AttemptKey, stacks: Vec<WorkerStack>, now: Timestamp) {
        self.now = now;
        let Some(at) = self.live.get(key).copied() else { return };
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let policy = run.plan.task(at.task).hang;
        let Some(live) = run.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        if !live.record.hang.as_ref().is_some_and(|hang| hang.is_present()) {
            return;
        }
        if !stacks.is_empty() {
            self.output.stacks.push(HangStacks { key: key.clone(), task: at.task, stacks });
        }
        self.touch(at);
        if policy.action == HangAction::Restart {
            self.stop_attempt(at, Some(key.n), StopCause::Hung);
        }
    }

    /// Whether an attempt that was stopped because it hung is followed by a restart that does not count as a
    /// retry.
    pub(super) fn restarts(&self, at: At) -> bool {
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let known = run.tasks[at.task.index()].instances[at.instance as usize].known;
        known.restarts <= run.plan.task(at.task).hang.restarts
    }
}
