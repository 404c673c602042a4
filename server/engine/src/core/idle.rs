//! Attempts with idle GPUs: usage is checked at intervals while they run. The cluster keeps the usage
//! samples, so a server that restores an attempt knows as much as the previous one.

use std::time::Duration;

use cubeloom_domain::idle;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::usage::WorkerUsage;
use cubeloom_domain::{AttemptKey, Timestamp};

use super::{Action, At, Core, Timer};

/// Minimum and maximum interval between checks of an attempt's GPUs.
const OFTEN: Duration = Duration::from_secs(10);
const SELDOM: Duration = Duration::from_secs(300);

impl Core {
    /// Schedules a check of a running attempt's GPUs before it could first count as hanging. It needs GPUs
    /// and a source of their usage.
    pub(super) fn watch_cards(&mut self, at: At) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let planned = run.plan.task(at.task);
        let Some(live) = run.live(at) else { return };
        let has_cards = planned.roles.iter().any(|role| role.resources.gpu.is_some());
        let runs = matches!(live.record.state, AttemptState::Running { .. });
        // A cluster that is unknown at the moment may be known again by then.
        if !has_cards || !runs || self.executor(at).is_some_and(|executor| executor.cards().is_none()) {
            return;
        }
        let every = (planned.hang.after.0 / 4).clamp(OFTEN, SELDOM);
        self.timers.insert((self.now.plus(every), Timer::Cards(at, live.record.key.n)));
    }

    /// Requests the GPU usage of an attempt.
    pub(super) fn look_at_cards(&mut self, at: At, n: u32) {
        let Some(live) = self.runs[at.slot].as_ref().and_then(|run| run.live(at)) else { return };
        if live.record.key.n != n || !matches!(live.record.state, AttemptState::Running { .. }) {
            return;
        }
        let key = live.record.key.clone();
        match self.executor(at) {
            Some(executor) => self.output.actions.push(Action::LookAtCards(executor, key)),
            None => self.watch_cards(at),
        }
    }

    /// Handles the GPU usage of an attempt: it hangs, makes progress, or is checked again later. `None` means
    /// that the usage could not be read; then nothing changes.
    pub fn cards_seen(&mut self, key: &AttemptKey, workers: Option<&[WorkerUsage]>, now: Timestamp) {
        self.now = now;
        let Some(at) = self.live.get(key).copied() else { return };
        let Some(workers) = workers else { return self.watch_cards(at) };
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let policy = run.plan.task(at.task).hang;
        let Some(live) = run.instance_mut(at).and_then(|instance| instance.live.as_mut()) else { return };
        let seen = idle::look(workers, live.record.workers, now);
        let hangs = live.record.hang.as_ref().is_some_and(|hang| hang.is_present());
        match (live.record.hang.as_deref_mut().filter(|hang| hang.is_present() && hang.by_cards), &seen) {
            (Some(hang), seen) if seen.is_none_or(|idle| idle.began_after(hang.since)) => {
                hang.over = Some(now);
                live.looked = false;
                live.dirty = true;
                self.touch(at);
                self.watch_pace(at);
            }
            (Some(_), _) => {
                // The server that detected it may have died before it had the stacks, or before it acted.
                if !live.looked {
                    self.look_at_hang(at);
                }
            }
            (None, Some(idle)) if !hangs => {
                if let Some(found) = idle::judge(idle, live.record.pace.as_deref(), &policy, now) {
                    self.hangs_now(at, found);
                }
            }
            (None, _) => {}
        }
        self.watch_cards(at);
    }
}
