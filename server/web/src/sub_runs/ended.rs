//! Converts the end of a sub-run to the end of its task's attempt.

use std::collections::BTreeMap;

use cubeloom_compiler::outputs_of;
use cubeloom_domain::JsonMap;
use cubeloom_domain::call::outputs;
use cubeloom_domain::executor::{Ended, Report};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{InstanceRecord, RunRecord};
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{RunId, TaskIx};
use cubeloom_store::{Store, StoreError};
use serde_json::{Value, json};

/// Maximum size of all tasks' outputs, in bytes of JSON: readers get them completely.
const LONGEST: usize = 256 << 10;

/// End of the attempt that a run belongs to. `stopped` says whether the attempt was cancelled.
pub(super) async fn of(store: &Store, run: &RunRecord, stopped: bool) -> Result<Ended, StoreError> {
    let mut report = Report::default();
    let outcome = match run.state {
        RunState::Succeeded => {
            report.outputs.insert(outputs::RUN.into(), json!(run.id));
            match reported(store, &run.id).await? {
                Some(tasks) => drop(report.outputs.insert(outputs::TASKS.into(), Value::Object(tasks))),
                None => report.warnings.push(format!(
                    "the outputs of its tasks are longer than {} KiB and are not passed on",
                    LONGEST >> 10
                )),
            }
            Outcome::Succeeded
        }
        RunState::Cancelled if stopped => Outcome::Cancelled,
        _ => Outcome::Failed(failure(store, run).await?),
    };
    let ended_at = run.ended_at.unwrap_or(run.created_at);
    let started_at = Some(run.created_at);
    Ok(Ended { outcome, started_at, ended_at, report, usage: UsageSummary::default(), roles: Vec::new() })
}

/// Outputs of a run's tasks, without tasks that reported none. `None` if they are too long.
async fn reported(store: &Store, run: &RunId) -> Result<Option<JsonMap>, StoreError> {
    let Some(plan) = store.plan(run).await? else { return Ok(Some(JsonMap::new())) };
    let expansions = store.expansions(run).await?;
    let items: BTreeMap<TaskIx, &[Value]> =
        expansions.iter().map(|expansion| (expansion.task, expansion.items.as_slice())).collect();
    let instances = store.instances(run).await?;
    let tasks = of_tasks(&plan, &items, &instances);
    let length = serde_json::to_vec(&tasks).map_or(usize::MAX, |text| text.len());
    Ok((length <= LONGEST).then_some(tasks))
}

fn of_tasks(plan: &RunPlan, items: &BTreeMap<TaskIx, &[Value]>, instances: &[InstanceRecord]) -> JsonMap {
    let mut tasks = JsonMap::new();
    // A loop without items has no instances. Its outputs are empty lists.
    for ix in items.iter().filter(|(_, items)| items.is_empty()).map(|(ix, _)| *ix) {
        let outputs = outputs_of(plan.task(ix), Some(&[]), &[]);
        if !outputs.is_empty() {
            tasks.insert(plan.task(ix).name.clone(), Value::Object(outputs));
        }
    }
    for of_task in instances.chunk_by(|one, next| one.task == next.task) {
        let Some(ix) = of_task.first().map(|first| first.task) else { continue };
        let task = plan.task(ix);
        let each: Vec<(&InstanceState, &Report)> =
            of_task.iter().map(|record| (&record.state, &record.report)).collect();
        let outputs = outputs_of(task, items.get(&ix).copied(), &each);
        if !outputs.is_empty() {
            tasks.insert(task.name.clone(), Value::Object(outputs));
        }
    }
    tasks
}

/// Why a run did not succeed: its first failure.
async fn failure(store: &Store, run: &RunRecord) -> Result<Failure, StoreError> {
    let (id, pipeline) = (&run.id, &run.pipeline);
    if run.state == RunState::Cancelled {
        return Ok(Failure::new(FailureKind::Run, format!("the run {id} of `{pipeline}` was cancelled")));
    }
    let first = store.first_failed(id).await?;
    let first = first.as_ref().and_then(|record| match &record.state {
        InstanceState::Failed { failure } => Some((record.task, failure)),
        _ => None,
    });
    let Some((task, failure)) = first else {
        let said = match &run.message {
            Some(why) => format!("the run {id} of `{pipeline}` failed: {why}"),
            None => format!("the run {id} of `{pipeline}` failed"),
        };
        return Ok(Failure::new(FailureKind::Run, said));
    };
    let name = store.planned_task(id, task).await?.map(|task| task.name).unwrap_or_default();
    let message = format!("in the run {id} of `{pipeline}`, the task `{name}` failed: {}", failure.message);
    Ok(Failure { last_lines: failure.last_lines.clone(), ..Failure::new(FailureKind::Run, message) })
}
