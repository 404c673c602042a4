//! The earlier run whose results a partial run reuses.

use std::collections::BTreeMap;
use std::path::Path;

use cubeloom_compiler::part::Part;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::record::{InstanceRecord, RunRecord};
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::{RunId, TaskIx};
use cubeloom_store::{RunFilter, Store, StoreError};
use serde_json::Value;

use super::{PartError, refused};

/// Maximum number of the pipeline's runs to check, newest first.
const LOOKED_AT: usize = 100;

/// An ended run with its stored state.
pub(super) struct Earlier {
    pub record: RunRecord,
    pub plan: RunPlan,
    /// Instances of each task that has started, in order.
    pub instances: BTreeMap<TaskIx, Vec<InstanceRecord>>,
    /// Items of its expanded tasks.
    pub items: BTreeMap<TaskIx, Vec<Value>>,
    /// Whether its folder exists.
    pub has_folder: bool,
}

impl Earlier {
    /// The run from the request, which must have all results that the part needs.
    pub async fn named(store: &Store, workspace: &Path, part: &Part, run: &RunId) -> Result<Self, PartError> {
        let earlier = Self::ended(store, workspace, &part.plan, run).await?;
        match earlier.obstacle(part) {
            None => Ok(earlier),
            Some(why) => Err(refused("/tasks/of", why)),
        }
    }

    /// The run from the request, which must have ended and be of the same pipeline.
    pub async fn ended(
        store: &Store,
        workspace: &Path,
        plan: &RunPlan,
        run: &RunId,
    ) -> Result<Self, PartError> {
        let record = store.run(run).await?.filter(|record| record.project == plan.context.project);
        let record = record.ok_or_else(|| refused("/tasks/of", format!("there is no run {run} here")))?;
        if record.pipeline != plan.pipeline {
            let (theirs, ours) = (&record.pipeline, &plan.pipeline);
            let message = format!("run {run} is of the pipeline `{theirs}`, not of `{ours}`");
            return Err(refused("/tasks/of", message));
        }
        if !record.state.is_final() {
            let message = format!("run {run} has not ended: wait for its end, or cancel it first");
            return Err(refused("/tasks/of", message));
        }
        Ok(Self::load(store, workspace, record).await?)
    }

    /// The newest run with all results that the part needs.
    pub async fn newest(store: &Store, workspace: &Path, part: &Part, task: &str) -> Result<Self, PartError> {
        let filter = RunFilter {
            projects: Some(vec![part.plan.context.project.clone()]),
            pipeline: Some(part.plan.pipeline.clone()),
            states: vec![RunState::Succeeded, RunState::Failed, RunState::Cancelled],
            limit: Some(LOOKED_AT),
            ..RunFilter::default()
        };
        let mut first_obstacle = None;
        for record in store.runs(&filter).await? {
            let earlier = Self::load(store, workspace, record).await?;
            match earlier.obstacle(part) {
                None => return Ok(earlier),
                Some(why) => first_obstacle.get_or_insert(why),
            };
        }
        let pipeline = &part.plan.pipeline;
        let message = match first_obstacle {
            None => format!(
                "no run of `{pipeline}` has ended yet, and `{task}` needs the results of upstream tasks: run the whole pipeline first"
            ),
            Some(why) => {
                format!("no run of `{pipeline}` has all upstream results of `{task}`; the newest: {why}")
            }
        };
        Err(refused("/tasks", message))
    }

    #[expect(clippy::disallowed_methods, reason = "only whether a folder is there; a link is none")]
    async fn load(store: &Store, workspace: &Path, record: RunRecord) -> Result<Self, StoreError> {
        let id = record.id.clone();
        let missing = || StoreError::Unreadable { what: "plan", reason: format!("run {id} has none") };
        let plan = store.plan(&record.id).await?.ok_or_else(missing)?;
        let mut instances: BTreeMap<TaskIx, Vec<InstanceRecord>> = BTreeMap::new();
        for instance in store.instances(&record.id).await? {
            instances.entry(instance.task).or_default().push(instance);
        }
        let expansions = store.expansions(&record.id).await?;
        let items = expansions.into_iter().map(|expansion| (expansion.task, expansion.items)).collect();
        let folder = workspace.join(&record.project).join("runs").join(record.id.as_str());
        let has_folder = tokio::fs::symlink_metadata(folder).await.is_ok_and(|found| found.is_dir());
        Ok(Self { record, plan, instances, items, has_folder })
    }

    /// The first reason why the part cannot reuse this run.
    fn obstacle(&self, part: &Part) -> Option<String> {
        let mut tasks = part.taken.iter().map(|ix| part.plan.task(*ix));
        tasks.find_map(|task| self.obstacle_of(task)).or_else(|| self.lost_folder(part))
    }

    /// The reason why a task cannot reuse results of this run.
    pub fn obstacle_of(&self, task: &PlannedTask) -> Option<String> {
        let (name, run) = (&task.name, &self.record.id);
        let Some(ix) = self.plan.find(name) else { return Some(format!("run {run} has no task `{name}`")) };
        let old = self.plan.task(ix);
        if old.for_each.is_some() != task.for_each.is_some() {
            return Some(format!(
                "`{name}` has `for_each` either now or in run {run}, not both: run from `{name}`"
            ));
        }
        let instances = self.of_task(ix);
        let expected = if old.for_each.is_none() { Some(1) } else { self.items.get(&ix).map(Vec::len) };
        if Some(instances.len()) != expected {
            return Some(format!("`{name}` has not finished in run {run}"));
        }
        if old.search().is_some_and(|search| search.has_succeeded(instances.iter().map(|each| &each.state))) {
            return None;
        }
        let bad = instances.iter().find(|each| !has_ended_well(&each.state))?;
        let state = bad.state.as_str().replace('_', " ");
        Some(format!("`{name}` has not succeeded in run {run} ({state}), and its result is needed"))
    }

    /// Instances of a task in its current expansion.
    pub fn of_task(&self, ix: TaskIx) -> &[InstanceRecord] {
        let all = self.instances.get(&ix).map(Vec::as_slice).unwrap_or_default();
        let expected = self.items.get(&ix).map_or(1, Vec::len);
        &all[..all.len().min(expected)]
    }

    /// Message if the run's folder is lost although it had files: tasks ran in it, or files were reused.
    pub fn lost_folder(&self, part: &Part) -> Option<String> {
        let run = &self.record.id;
        let names = part.taken.iter().filter_map(|ix| self.plan.find(&part.plan.task(*ix).name));
        let ran = names.flat_map(|ix| self.of_task(ix)).any(|each| each.attempt > 0);
        let had = ran || self.plan.part.as_ref().is_some_and(|part| part.folder);
        (had && !self.has_folder)
            .then(|| format!("the folder of run {run} with the files of its tasks no longer exists"))
    }
}

fn has_ended_well(state: &InstanceState) -> bool {
    matches!(state, InstanceState::Succeeded { .. } | InstanceState::Skipped { .. })
}
