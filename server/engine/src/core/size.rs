//! Right-sizing: how much the workers of an attempt get. It is decided for all roles together when the
//! attempt starts, from the history of earlier attempts. While its instance is pending, it requests what it
//! would get now.
//!
//! The history is kept per pipeline as long as a run of it is in memory. It is read again with each run that
//! is loaded, and extended as attempts end, with what the store keeps of them in the same cycle.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use cubeloom_domain::executor::largest;
use cubeloom_domain::outcome::FailureKind;
use cubeloom_domain::pipeline::SizingMode;
use cubeloom_domain::plan::{PlannedRole, PlannedTask};
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::sizing::{
    AttemptSizing, MOST_TIMES, NoMore, Past, PastEnd, Reason, Size, SizedRole, SizingHistory,
};
use cubeloom_domain::{Bytes, TaskIx, Timestamp};
use cubeloom_sizing::{ENOUGH, MANY, Question, Taught, keep_possible, recommend_by};

use super::active::{ActiveRun, RanOut};
use super::{At, Core, Slot};

/// Maximum number of remembered decisions: inputs may have as many sizes as there are instances.
const REMEMBERED: usize = 1024;

/// The attempts' history by pipeline, and the number of its runs in memory.
#[derive(Default)]
pub struct Histories(HashMap<(String, String), (usize, SizingHistory)>);

impl Histories {
    /// A run was loaded, with the current history.
    pub fn enter(&mut self, run: &ActiveRun, history: SizingHistory) {
        match self.0.entry(key(run)) {
            Entry::Occupied(mut known) => {
                let (runs, known) = known.get_mut();
                *runs += 1;
                // For a run without automatic sizing, only the project's policy was read.
                if history.is_empty() {
                    known.mode = history.mode;
                } else {
                    *known = history;
                }
            }
            Entry::Vacant(new) => {
                new.insert((1, history));
            }
        }
    }

    /// A run has left memory.
    pub fn leave(&mut self, run: &ActiveRun) {
        if let Entry::Occupied(mut known) = self.0.entry(key(run)) {
            known.get_mut().0 -= 1;
            if known.get().0 == 0 {
                known.remove();
            }
        }
    }

    pub fn of(&self, run: &ActiveRun) -> Option<&SizingHistory> {
        self.0.get(&key(run)).map(|(_, history)| history)
    }
}

fn key(run: &ActiveRun) -> (String, String) {
    (run.record.project.clone(), run.record.pipeline.clone())
}

/// Decisions for a task's instances, reused for others of the task until the history changes. Many may become
/// ready at once.
#[derive(Default)]
pub struct Memo {
    /// By role.
    taught: HashMap<(Slot, TaskIx), Vec<Taught>>,
    sized: HashMap<Decided, Vec<SizedRole>>,
    /// Version of the history: it grows with each change.
    learned: u64,
}

/// The inputs of a decision.
#[derive(PartialEq, Eq, Hash)]
struct Decided {
    slot: Slot,
    task: TaskIx,
    input: Option<u64>,
    /// By role: the memory that was not enough.
    ran_out: Vec<Option<Bytes>>,
    running: usize,
}

impl Memo {
    /// Invalidates all decisions.
    pub fn forget(&mut self) {
        self.taught.clear();
        self.sized.clear();
    }

    /// Invalidates the decisions for the tasks of these runs.
    fn learn_of(&mut self, is_of: impl Fn(Slot) -> bool) {
        self.learned += 1;
        self.taught.retain(|(slot, _), _| !is_of(*slot));
        self.sized.retain(|decided, _| !is_of(decided.slot));
    }
}

impl Core {
    /// Decides the resources of an instance's next attempt; returns `true` when they have changed. They are
    /// recorded only if they differ from the request or from the previous attempt, or if they are bounded:
    /// there may be many pending instances.
    pub(super) fn size(&mut self, at: At) -> bool {
        let says = |sizing: &AttemptSizing| {
            let is_bounded = sizing.roles.iter().any(|sized| sized.bounded.is_some());
            is_bounded || !sizing.is_asked() || sizing.changes().next().is_some()
        };
        let sizing = self.by_use(at).filter(says);
        let Some(instance) = self.instance_mut(at) else { return false };
        let gets = |sizing: Option<&AttemptSizing>| -> Option<Vec<Size>> {
            Some(sizing?.roles.iter().map(|role| role.gets).collect())
        };
        let before = gets(instance.sizing.as_deref());
        let changed = before != gets(sizing.as_ref());
        instance.sizing = sizing.map(Box::new);
        changed
    }

    /// Decides again the resources of jobs that the next cycle visits first, if the history has changed since
    /// they became pending.
    pub(super) fn size_next(&mut self, cluster: &str) {
        let learned = self.memo.learned;
        let Some(place) = self.places.get_mut(cluster) else { return };
        if place.sized_at.replace(learned) == Some(learned) {
            return;
        }
        for at in place.next() {
            if self.size(at)
                && let Some(run) = self.runs[at.slot].as_ref()
                && let Some(place) = self.places.get_mut(cluster)
            {
                place.ask_for(run, at);
            }
        }
    }

    /// Decides the resources of an admitted instance. Returns `false` if there is no capacity for them, which
    /// may be more than it requested.
    pub(super) fn settles(&mut self, at: At, now: Timestamp) -> bool {
        if !self.size(at) {
            return true;
        }
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let n = run.tasks[at.task.index()].instances[at.instance as usize].attempt + 1;
        let place = self.places.get_mut(run.place_of(at.task));
        place.is_some_and(|place| place.enlarge(run, at, n, now).is_ok())
    }

    /// The sizing stored with an attempt that starts now: as decided, or as requested.
    pub(super) fn decided_size(&mut self, at: At) -> Option<Box<AttemptSizing>> {
        let decided = self.instance_mut(at).and_then(|instance| instance.sizing.take());
        decided.or_else(|| self.as_asked(at).map(Box::new))
    }

    /// A sizing as requested. `None` if nothing is sized or learned.
    fn as_asked(&self, at: At) -> Option<AttemptSizing> {
        let run = self.runs[at.slot].as_ref()?;
        let planned = run.plan.task(at.task);
        if planned.roles.is_empty() || self.histories.of(run)?.mode_of(planned) == SizingMode::Off {
            return None;
        }
        let roles = planned.roles.iter().map(as_asked).collect();
        let (make, input) = (run.make(at.task).to_owned(), run.input(at));
        Some(AttemptSizing { make, input, roles, grows: false })
    }

    /// The resources of an instance's next attempt by its history. `None` if it gets what it requests.
    fn by_use(&mut self, at: At) -> Option<AttemptSizing> {
        let mut memo = std::mem::take(&mut self.memo);
        let sizing = self.recalled(at, &mut memo);
        self.memo = memo;
        sizing
    }

    fn recalled(&self, at: At, memo: &mut Memo) -> Option<AttemptSizing> {
        let run = self.runs[at.slot].as_ref()?;
        let history = self.histories.of(run)?;
        let planned = run.plan.task(at.task);
        if !self.is_sized(run, planned) || planned.roles.is_empty() {
            return None;
        }
        let template = &run.plan.template_of(planned).name;
        let ran_out = |role: &PlannedRole| {
            let past = history.of_task(&planned.name, template, &role.name);
            last_ran_out(run, at, &role.name, past)
        };
        let decided = Decided {
            slot: at.slot,
            task: at.task,
            input: run.input(at),
            ran_out: planned.roles.iter().map(ran_out).collect(),
            running: (run.tasks[at.task.index()].active as usize).min(MANY),
        };
        // A task that never ran has no history, whatever its template has, unless other tasks have enough.
        let is_new = |role: &PlannedRole| history.of_task(&planned.name, template, &role.name).is_empty();
        let is_alone = || history.of_others(&planned.name).len() < ENOUGH;
        if planned.roles.iter().all(is_new) && decided.ran_out.iter().all(Option::is_none) && is_alone() {
            return None;
        }
        let (make, input) = (run.make(at.task).to_owned(), decided.input);
        if let Some(roles) = memo.sized.get(&decided) {
            return Some(AttemptSizing { make, input, roles: roles.clone(), grows: false });
        }
        let teach = |role: &PlannedRole| Taught::of(&self.question(run, role, (&decided, None), history));
        let taught = memo
            .taught
            .entry((at.slot, at.task))
            .or_insert_with(|| planned.roles.iter().map(teach).collect::<Vec<_>>());
        let roles = self.roles_of(run, taught, &decided, history);
        if memo.sized.len() >= REMEMBERED {
            memo.sized.clear();
        }
        memo.sized.insert(decided, roles.clone());
        Some(AttemptSizing { make, input, roles, grows: false })
    }

    /// The resources of each role of a task, by its history and within the bounds of nodes and project.
    fn roles_of(
        &self,
        run: &ActiveRun,
        taught: &[Taught],
        decided: &Decided,
        history: &SizingHistory,
    ) -> Vec<SizedRole> {
        let planned = run.plan.task(decided.task);
        let each = planned.roles.iter().zip(taught).zip(&decided.ran_out);
        let known: Vec<(&Taught, Question<'_>)> = each
            .map(|((role, taught), ran_out)| (taught, self.question(run, role, (decided, *ran_out), history)))
            .collect();
        let each = planned.roles.iter().zip(&known);
        let recommended = each.map(|(role, (taught, question))| match role.replicas {
            0 => as_asked(role),
            _ => recommend_by(taught, question),
        });
        let mut roles: Vec<SizedRole> = recommended.collect();
        let place = self.places.get(run.place_of(decided.task));
        keep_possible(
            &mut roles,
            planned,
            place.map_or(&[], |place| place.nodes()),
            self.bound(run, planned),
        );
        // Lowered memory is insufficient more often.
        for ((sized, role), (taught, question)) in roles.iter_mut().zip(&planned.roles).zip(&known) {
            if role.replicas > 0 {
                sized.risk = taught.risk(question, sized.gets.memory);
            }
        }
        roles
    }

    fn question<'q>(
        &self,
        run: &'q ActiveRun,
        role: &'q PlannedRole,
        (decided, ran_out): (&Decided, Option<Bytes>),
        history: &'q SizingHistory,
    ) -> Question<'q> {
        let planned = run.plan.task(decided.task);
        let template = &run.plan.template_of(planned).name;
        let asked = Size::of(&role.resources);
        let node_group = planned.placement.node_group.as_deref();
        let place = self.places.get(run.place_of(decided.task));
        let largest = place.and_then(|place| largest(place.nodes(), &role.resources, node_group));
        Question {
            role: &role.name,
            asked,
            kept: role.kept,
            make: run.make(decided.task),
            input: decided.input,
            past: history.of_task(&planned.name, template, &role.name),
            kin: history.of_template(template, &role.name),
            others: history.of_others(&planned.name),
            most: largest.unwrap_or(asked),
            beside: role.resources.shm.unwrap_or_default(),
            ran_out,
            running: decided.running,
        }
    }

    /// The probability that this much memory is not enough for running workers of a role that are known to
    /// need more than `had`.
    pub(super) fn risk_after(&self, at: At, role: &str, had: Bytes, gets: Bytes) -> Option<f64> {
        let run = self.runs[at.slot].as_ref()?;
        let history = self.histories.of(run)?;
        let planned = run.plan.task(at.task);
        let template = &run.plan.template_of(planned).name;
        let past = history.of_task(&planned.name, template, role);
        let taught = Taught::new(run.make(at.task), past, history.of_template(template, role));
        Some(taught.risk_after(had, gets))
    }

    /// What jobs of a run's project can hold together on a task's target.
    pub(super) fn bound(&self, run: &ActiveRun, planned: &PlannedTask) -> Option<Size> {
        let place = self.places.get(&run.plan.cluster)?;
        Some(place.desk.most(&run.record.project, planned.placement.node_group.as_deref()))
    }

    /// Learns from the usage of an attempt that has ended.
    pub(super) fn learn(&mut self, at: At, record: &AttemptRecord) {
        let Some(run) = self.runs[at.slot].as_mut() else { return };
        let of = key(run);
        let Some((_, history)) = self.histories.0.get_mut(&of) else { return };
        if history.mode_of(run.plan.task(at.task)) != SizingMode::Auto {
            return;
        }
        history.learn(record);
        let of_role = |(role, past): (&str, Past)| {
            let template = &record.account.template;
            let known = history.of_task(&record.key.task, template, role);
            let count = ran_out(run, at, role, known);
            RanOut { role: role.to_owned(), n: record.key.n, had: past.had().memory, count }
        };
        let new = Past::of(record).filter(|(_, past)| past.end == PastEnd::OutOfMemory).map(of_role);
        let new: Vec<RanOut> = new.collect();
        if !new.is_empty()
            && let Some(instance) = run.instance_mut(at)
        {
            instance.note_ran_out(new);
        }
        let mut memo = std::mem::take(&mut self.memo);
        memo.learn_of(|slot| {
            let run = self.runs[slot].as_ref();
            run.is_some_and(|run| (&run.record.project, &run.record.pipeline) == (&of.0, &of.1))
        });
        self.memo = memo;
    }

    /// Whether an OOM killed instance is retried with more memory. Such a retry does not count towards the
    /// task's retries.
    pub(super) fn grows(&mut self, at: At, kind: FailureKind) -> bool {
        if kind != FailureKind::OutOfMemory {
            return false;
        }
        let Some(next) = self.by_use(at).or_else(|| self.as_asked(at)) else { return false };
        let Some(run) = self.runs[at.slot].as_ref() else { return false };
        let Some(history) = self.histories.of(run) else { return false };
        let planned = run.plan.task(at.task);
        let template = &run.plan.template_of(planned).name;
        next.roles.iter().any(|sized| {
            let past = history.of_task(&planned.name, template, &sized.role);
            // In addition to the task's retries.
            let has_room = ran_out(run, at, &sized.role, past) <= MOST_TIMES as usize;
            has_room && last_ran_out(run, at, &sized.role, past).is_some_and(|had| sized.gets.memory > had)
        })
    }

    /// Why an OOM killed instance that does not [grow](Self::grows) gets no more memory. `None` if no
    /// increase was due.
    pub(super) fn not_grown_again(&mut self, at: At) -> Option<NoMore> {
        let next = self.by_use(at)?;
        let run = self.runs[at.slot].as_ref()?;
        let planned = run.plan.task(at.task);
        let (history, template) = (self.histories.of(run)?, &run.plan.template_of(planned).name);
        next.roles.iter().find_map(|sized| {
            let past = history.of_task(&planned.name, template, &sized.role);
            let had = last_ran_out(run, at, &sized.role, past)?;
            // More would be available, but there were enough tries.
            if sized.gets.memory > had { Some(NoMore::Times) } else { sized.bounded }
        })
    }
}

/// A role with its requested resources.
fn as_asked(role: &PlannedRole) -> SizedRole {
    let why = |kept: Option<_>| kept.map_or(Reason::Asked, |by| Reason::Kept { by });
    let (memory, cpu) = (why(role.kept.memory), why(role.kept.cpu));
    SizedRole::asked(&role.name, Size::of(&role.resources), memory, cpu)
}

/// The memory of an instance's last OOM killed attempt. It is recorded with the instance, because that
/// attempt may have dropped out of the limited history. After a restart it is in the history.
fn last_ran_out(run: &ActiveRun, at: At, role: &str, past: &[Past]) -> Option<Bytes> {
    let instance = &run.tasks[at.task.index()].instances[at.instance as usize];
    if instance.attempt == 0 {
        return None;
    }
    if let Some(noted) = instance.ran_out_of(role).filter(|noted| noted.n == instance.attempt) {
        return Some(noted.had);
    }
    let last = format!("{}.{}", instance_of(run, at), instance.attempt);
    let last = past.iter().rev().find(|past| past.attempt == last && past.end == PastEnd::OutOfMemory)?;
    Some(last.had().memory)
}

/// How many attempts of an instance had this role OOM killed.
fn ran_out(run: &ActiveRun, at: At, role: &str, past: &[Past]) -> usize {
    let instance = &run.tasks[at.task.index()].instances[at.instance as usize];
    let of_instance = format!("{}.", instance_of(run, at));
    let kept = past
        .iter()
        .filter(|past| past.end == PastEnd::OutOfMemory && past.attempt.starts_with(&of_instance))
        .count();
    instance.ran_out_of(role).map_or(kept, |noted| noted.count.max(kept))
}

/// Prefix of the keys of an instance's attempts.
fn instance_of(run: &ActiveRun, at: At) -> String {
    format!("{}.{}.{}", run.record.id, run.plan.task(at.task).name, at.instance)
}
