//! A task's view, from its records or, with many instances, from aggregates.

use cubeloom_domain::plan::{ForEachItems, PlannedTask, RunPlan};
use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::search::PlannedSearch;
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_store::TaskFigures;

use super::counts::{States, unbegun};
use super::describe;
use super::notes::Notes;
use super::waits::Waits;
use crate::api::runs::view::TaskCounts;
use crate::api::tasks::hang::HangView;
use crate::api::tasks::view::{ProgressView, TaskView};
use crate::time::{maybe, seconds};

/// All states of instances, the most important for users first.
pub(crate) const STATES: [&str; 11] = [
    "failed",
    "running",
    "backoff",
    "waiting",
    "pending",
    "upstream_failed",
    "cancelled",
    "succeeded",
    "reused",
    "stopped_early",
    "skipped",
];
/// States of instances that have not ended, the most important first.
pub(super) const OPEN: [&str; 4] = ["running", "backoff", "waiting", "pending"];
/// States of ended instances, the most important first.
const ENDED: [&str; 7] =
    ["failed", "cancelled", "upstream_failed", "succeeded", "reused", "stopped_early", "skipped"];

/// State of a task with instances in these states. In a search, some may have failed.
pub(super) fn state_of(states: &States, run: RunState, search: Option<&PlannedSearch>) -> &'static str {
    let counts = states.iter().map(|(word, count)| (*word, *count));
    if search.is_some_and(|search| search.has_succeeded_by(counts)) {
        return "succeeded";
    }
    let found = OPEN.iter().chain(&ENDED).find(|word| states.get(**word).is_some_and(|count| *count > 0));
    match found {
        Some(&"pending") if run.is_final() => unbegun(run),
        Some(word) => word,
        None => unbegun(run),
    }
}

/// Data that a task's view is made from.
pub(super) struct Material<'r> {
    pub(super) plan: &'r RunPlan,
    pub(super) index: u32,
    pub(super) run: RunState,
    pub(super) states: &'r States,
    /// Its instances. With many, only the most important ones.
    pub(super) instances: &'r [InstanceRecord],
    /// All of its attempts. Empty with many instances.
    pub(super) attempts: &'r [AttemptRecord],
    pub(super) figures: TaskFigures,
    pub(super) notes: &'r Notes,
    pub(super) waits: Waits<'r>,
}

/// Aggregates of a task whose records were read.
pub(super) fn figures(instances: &[InstanceRecord], attempts: &[AttemptRecord]) -> TaskFigures {
    let begun = || instances.iter().filter(|each| each.state != InstanceState::Pending);
    let ready_at = begun().map(|each| each.ready_at).min();
    let over = instances.iter().all(|each| each.state.is_final());
    let present = attempts.iter().filter(|attempt| Some(attempt.created_at) >= ready_at);
    TaskFigures {
        ready_at,
        ended_at: instances.iter().filter_map(|each| each.ended_at).max().filter(|_| over),
        attempts: attempts.len() as u64,
        began_at: present.filter_map(|attempt| attempt.state.started_at()).min(),
        usage: attempts.iter().map(|attempt| attempt.usage).reduce(UsageSummary::join).unwrap_or_default(),
    }
}

impl Material<'_> {
    pub(super) fn view(&self) -> TaskView {
        let planned = &self.plan.tasks[self.index as usize];
        let plain = planned.for_each.is_none();
        let TaskFigures { ready_at, ended_at, attempts, began_at, usage } = self.figures;
        let name = |task: &cubeloom_domain::TaskIx| self.plan.task(*task).name.clone();
        let one = self.leading();
        let last = one.and_then(|one| self.last_attempt(one));
        let note = one
            .map(|one| self.notes.of(&one.run, &planned.name, one.instance, one.attempt))
            .unwrap_or_default();
        let alone = one.filter(|_| plain);
        TaskView {
            name: planned.name.clone(),
            index: self.index,
            template: describe::template(self.plan, planned),
            framework: self.plan.template_of(planned).framework.clone(),
            needs: planned.needs.iter().map(name).collect(),
            state: self.state(planned).into(),
            wait: one.and_then(|one| self.waits.of(&planned.name, one)),
            preparing: note.preparing.clone(),
            progress: if plain { describe::progress(&note) } else { self.ended_of_all() },
            for_each: !plain,
            instances: self.counts(planned),
            ready_at: maybe(ready_at),
            started_at: maybe(began_at),
            ended_at: maybe(ended_at),
            wait_seconds: seconds(ready_at, began_at),
            run_seconds: seconds(began_at, ended_at),
            attempts,
            next_try_at: maybe(one.and_then(|one| describe::next_try(&one.state))),
            roles: planned.roles.iter().map(describe::role).collect(),
            usage: (usage != UsageSummary::default()).then(|| describe::usage(&usage)),
            hang: self.hang(),
            effective: None,
            failure: self.failure(last),
            outputs: alone.map(|one| one.report.outputs.clone()).unwrap_or_default(),
            reused: alone.and_then(|one| describe::reused(&one.state)),
            note: one.and_then(|one| one.note.clone()),
        }
    }

    fn state(&self, planned: &PlannedTask) -> &'static str {
        let empty = matches!(
            planned.for_each.as_ref().map(|each| &each.items),
            Some(ForEachItems::Known(items)) if items.is_empty()
        );
        if self.states.is_empty() && empty {
            "skipped"
        } else {
            state_of(self.states, self.run, planned.search())
        }
    }

    /// The instance that represents the task.
    fn leading(&self) -> Option<&InstanceRecord> {
        let in_state = |word: &&str| self.instances.iter().find(|one| one.state.as_str() == *word);
        OPEN.iter().chain(&ENDED).find_map(in_state)
    }

    fn last_attempt(&self, of: &InstanceRecord) -> Option<&AttemptRecord> {
        let mine =
            |attempt: &&AttemptRecord| (attempt.key.instance, attempt.key.n) == (of.instance, of.attempt);
        self.attempts.iter().find(mine)
    }

    /// Hang of an attempt of any instance.
    fn hang(&self) -> Option<HangView> {
        let live = self.attempts.iter().filter(|attempt| attempt.state.is_live());
        let mut hangs = live.filter_map(|attempt| attempt.hang.as_deref()).filter(|hang| hang.is_present());
        hangs.next().map(HangView::brief)
    }

    /// Why an instance failed or is retried.
    fn failure(&self, last: Option<&AttemptRecord>) -> Option<crate::api::tasks::view::FailureView> {
        let failed = self.instances.iter().find(|one| matches!(one.state, InstanceState::Failed { .. }));
        match failed {
            Some(one) => describe::failure_of(one, None),
            None => self.leading().and_then(|one| describe::failure_of(one, last)),
        }
    }

    fn counts(&self, planned: &PlannedTask) -> TaskCounts {
        let stored: u64 = self.states.values().sum();
        let planned = match planned.for_each.as_ref().map(|each| &each.items) {
            None => 1,
            Some(ForEachItems::Known(items)) => items.len() as u64,
            Some(ForEachItems::Expression(_)) => 0,
            Some(ForEachItems::Search(search)) => u64::from(search.trials),
        };
        let total = stored.max(planned);
        let mut states: std::collections::BTreeMap<String, u64> =
            self.states.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
        if total > stored {
            *states.entry(unbegun(self.run).into()).or_default() += total - stored;
        }
        TaskCounts { total, states }
    }

    /// Progress: ended instances of all.
    fn ended_of_all(&self) -> Option<ProgressView> {
        let total: u64 = self.states.values().sum();
        let open: u64 = OPEN.iter().filter_map(|word| self.states.get(word)).sum();
        (open > 0).then(|| ProgressView { step: (total - open) as f64, total: Some(total as f64) })
    }
}

/// Groups records by task.
pub(super) fn split<R>(records: Vec<R>, task: impl Fn(&R) -> u32) -> std::collections::BTreeMap<u32, Vec<R>> {
    let mut tasks: std::collections::BTreeMap<u32, Vec<R>> = std::collections::BTreeMap::new();
    for record in records {
        tasks.entry(task(&record)).or_default().push(record);
    }
    tasks
}

/// States of which one instance is read, for a task with very many.
pub(super) fn worth_a_look(states: &States) -> impl Iterator<Item = &'static str> {
    let there: Vec<&'static str> = ["waiting", "backoff", "failed", "running"]
        .into_iter()
        .filter(|word| states.contains_key(word))
        .collect();
    // A running instance is stored as `active`.
    there.into_iter().map(|word| if word == "running" { "active" } else { word })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_what_a_task_shows_and_then_what_went_wrong() {
        let of = |states: &[&'static str], run| {
            let states: States = states.iter().map(|word| (*word, 1)).collect();
            state_of(&states, run, None)
        };
        let running = RunState::Running;
        assert_eq!(of(&["succeeded", "failed", "running", "waiting"], running), "running");
        assert_eq!(of(&["succeeded", "failed", "backoff"], running), "backoff");
        assert_eq!(of(&["succeeded", "failed", "skipped"], running), "failed");
        assert_eq!(of(&["reused", "skipped"], running), "reused");
        assert_eq!(of(&["succeeded", "reused"], running), "succeeded");
        assert_eq!(of(&["pending"], running), "pending");
        assert_eq!(of(&["pending"], RunState::Cancelled), "cancelled");
        assert_eq!(of(&[], RunState::Queued), "pending");
        assert_eq!(of(&[], RunState::Cancelled), "cancelled");
        assert_eq!(of(&[], RunState::Succeeded), "skipped");
    }
}
