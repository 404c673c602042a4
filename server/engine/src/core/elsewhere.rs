//! Running and pending jobs of other replicas on a cluster.

use std::collections::HashMap;
use std::sync::Arc;

use cubeloom_admission::{Ask, Desk, JobId, Length, Scaler, Spec};
use cubeloom_domain::plan::PlannedTask;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_store::Holding;

/// A pending job of a run that another replica leads.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// The attempt that is pending.
    pub key: AttemptKey,
    pub server: String,
    pub project: String,
    /// The user that its run acts for.
    pub person: String,
    pub cluster: String,
    /// Its task as planned. Only its own replica knows its right-sized resources.
    pub task: Arc<PlannedTask>,
    /// Its expected duration, from history.
    pub length: Option<Length>,
    /// Since when it is pending.
    pub since: Timestamp,
    /// It does not borrow before this.
    pub cool_until: Option<Timestamp>,
}

/// What an attempt of another replica holds.
#[derive(Clone, Debug)]
pub struct ForeignHold {
    /// The attempt, and its owner.
    pub holding: Holding,
    /// Its expected duration, from history.
    pub length: Option<Length>,
}

/// The jobs of other replicas that a scheduler has, by the keys of their attempts.
#[derive(Default)]
pub struct Elsewhere {
    /// Running jobs, with the state that was given to the scheduler.
    held: HashMap<AttemptKey, (JobId, Holds)>,
    /// Pending jobs: since when, and until when they do not borrow.
    waiting: HashMap<AttemptKey, (JobId, Waits)>,
}

/// Number of workers, amount held, whether it was asked to stop, and expected duration.
type Holds = (u32, Amount, bool, Option<Length>);

/// The replica of a pending job, since when it is pending, and until when it does not borrow.
type Waits = (String, Timestamp, Option<Timestamp>);

impl Elsewhere {
    /// Whether any job is pending.
    pub fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Replaces the running jobs. Returns true when they have changed.
    pub fn set_held(
        &mut self,
        desk: &mut Desk,
        cluster: &str,
        held: Vec<&ForeignHold>,
        now: Timestamp,
    ) -> bool {
        let is = |held: &ForeignHold| {
            let attempt = &held.holding.attempt;
            let stops = matches!(attempt.state, AttemptState::Stopping { .. });
            (attempt.workers, attempt.amount, stops, held.length)
        };
        let known = held.iter().map(|held| (&held.holding.attempt.key, is(held))).collect();
        let mut changed = drop_others(&mut self.held, desk, &known, now);
        for held in held {
            let attempt = &held.holding.attempt;
            if self.held.contains_key(&attempt.key) {
                continue;
            }
            let is_here = attempt.pool.cluster == cluster;
            let spec = if is_here { foreign(held) } else { names_only(&held.holding) };
            let id = desk.hold(spec, 0, attempt.created_at, now);
            if is(held).2 {
                desk.leave(id, now);
            }
            self.held.insert(attempt.key.clone(), (id, is(held)));
            changed = true;
        }
        changed
    }

    /// Replaces the pending jobs. Returns true when they have changed.
    pub fn set_waiting(
        &mut self,
        desk: &mut Desk,
        waiting: Vec<&Foreign>,
        scaling: Scaler,
        now: Timestamp,
    ) -> bool {
        let is = |waits: &Foreign| (waits.server.clone(), waits.since, waits.cool_until);
        let known = waiting.iter().map(|waits| (&waits.key, is(waits))).collect();
        let mut changed = drop_others(&mut self.waiting, desk, &known, now);
        for waits in waiting {
            if self.waiting.contains_key(&waits.key) {
                continue;
            }
            let spec = Spec {
                key: waits.key.to_string(),
                project: waits.project.clone(),
                person: waits.person.clone(),
                run: waits.key.run.number(),
                length: waits.length,
                is_foreign: true,
                server: waits.server.clone(),
                ..Spec::planned(&waits.task, scaling)
            };
            let id = desk.wait(spec, waits.since, waits.cool_until);
            self.waiting.insert(waits.key.clone(), (id, is(waits)));
            changed = true;
        }
        changed
    }
}

/// Removes jobs from a scheduler that are gone or have changed. Returns true when there were any.
fn drop_others<T: PartialEq>(
    before: &mut HashMap<AttemptKey, (JobId, T)>,
    desk: &mut Desk,
    known: &HashMap<&AttemptKey, T>,
    now: Timestamp,
) -> bool {
    let count = before.len();
    before.retain(|key, (id, was)| {
        let stays = known.get(key).is_some_and(|is| is == was);
        if !stays {
            desk.remove(*id, now);
        }
        stays
    });
    before.len() < count
}

/// The spec of an attempt on another cluster, which only holds concurrency limits.
pub fn names_only(held: &Holding) -> Spec {
    Spec {
        key: held.attempt.key.to_string(),
        name: held.attempt.key.task.clone(),
        project: held.project.clone(),
        person: held.user.clone(),
        named: held.attempt.limits.clone(),
        is_foreign: true,
        ..Spec::default()
    }
}

/// The spec of another replica's attempt.
fn foreign(held: &ForeignHold) -> Spec {
    let (holding, attempt) = (&held.holding, &held.holding.attempt);
    let (amount, workers) = attempt.counted_on();
    let mut fixed = Ask { cpu: amount.cpu.0, memory: amount.memory.0, ..Ask::default() };
    fixed.pods = u64::from(workers);
    // Workers beyond those have GPUs of the same types.
    let of_those =
        |count: u32| u64::from(count) * u64::from(amount.gpus) / u64::from(attempt.amount.gpus.max(1));
    fixed.cards =
        attempt.cards.iter().map(|(kind, count)| (Some(kind.as_str().into()), of_those(*count))).collect();
    let typed: u64 = fixed.cards.iter().map(|(_, count)| count).sum();
    let untyped = u64::from(amount.gpus).saturating_sub(typed);
    fixed.cards.extend((untyped > 0).then_some((None, untyped)));
    Spec {
        key: attempt.key.to_string(),
        name: attempt.key.task.clone(),
        project: holding.project.clone(),
        person: holding.user.clone(),
        run: attempt.key.run.number(),
        node_group: attempt.pool.node_group.clone(),
        fixed,
        named: attempt.limits.clone(),
        length: held.length,
        is_foreign: true,
        ..Spec::default()
    }
}
