//! The report of a run, from its views in the API.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::Bytes;
use cubeloom_web::api::artifacts::view::ArtifactView;
use cubeloom_web::api::runs::view::RunView;
use cubeloom_web::api::tasks::view::{FailureView, InstanceView, SearchView, TaskView};

use super::status::board;
use super::{Remote, now};
use crate::progress::{FAILURES, Failed, OUTPUTS, Report, Results, Row};

/// Maximum number of shown artifacts, and of tasks whose outputs are shown.
const FEW: usize = 60;

/// The report, with what else it needs from the server.
pub async fn of(remote: &Remote, run: &RunView, tasks: &BTreeMap<u32, TaskView>) -> anyhow::Result<Report> {
    let board = board(run, tasks, now());
    let rows = board.tasks.iter().zip(tasks.values()).map(|(line, task)| {
        // Failures have their details below.
        let detail = if line.status.word == "failed" { String::new() } else { line.status.detail.clone() };
        let usage = task.usage.map(|usage| (Bytes(usage.peak_memory), (usage.cpu_seconds * 1e6) as u64));
        Row { usage, remark: detail }
    });
    let rows = rows.collect();
    let failures = failures(remote, run, tasks).await?;
    let failed: u64 =
        tasks.values().map(|task| task.instances.states.get("failed").copied().unwrap_or(0)).sum();
    Ok(Report {
        run: run.id.clone(),
        message: run.message.clone(),
        board,
        rows,
        more_failures: usize::try_from(failed).unwrap_or(usize::MAX).saturating_sub(failures.len()),
        failures,
        results: results(remote, run, tasks).await?,
    })
}

async fn failures(
    remote: &Remote,
    run: &RunView,
    tasks: &BTreeMap<u32, TaskView>,
) -> anyhow::Result<Vec<Failed>> {
    let mut found = Vec::new();
    for task in tasks.values().filter(|task| task.instances.states.contains_key("failed")) {
        let room = FAILURES - found.len();
        if room == 0 {
            break;
        }
        if task.for_each {
            let path = ["runs", run.id.as_str(), "tasks", task.name.as_str(), "instances"];
            let failed: Vec<InstanceView> = remote.client.list(&path, &[("state", "failed")], room).await?;
            found.extend(
                failed.iter().filter_map(|one| Some(shown(task, Some(one.instance), one.failure.as_ref()?))),
            );
        } else {
            found.extend(task.failure.as_ref().map(|failure| shown(task, None, failure)));
        }
    }
    Ok(found)
}

fn shown(task: &TaskView, instance: Option<u32>, failure: &FailureView) -> Failed {
    Failed {
        task: task.name.clone(),
        instance,
        kind: failure.kind.replace('_', " "),
        message: failure.message.clone(),
        last_lines: failure.last_lines.clone(),
    }
}

/// The run's page, the best trials, the outputs of the last tasks, and the files worth showing.
async fn results(remote: &Remote, run: &RunView, tasks: &BTreeMap<u32, TaskView>) -> anyhow::Result<Results> {
    let id = run.id.as_str();
    let mut results = Results { place: Some(remote.page(id)), lines: Vec::new() };
    let needed: BTreeSet<&str> = tasks.values().flat_map(|task| &task.needs).map(String::as_str).collect();
    let last = tasks.values().filter(|task| !needed.contains(task.name.as_str()));
    for task in last.clone().filter(|task| task.for_each).take(FEW) {
        // A task without a search has none.
        let search = remote.client.find::<SearchView>(&["runs", id, "tasks", &task.name, "search"]).await?;
        let Some((search, best)) =
            search.and_then(|(search, _)| search.best.clone().map(|best| (search, best)))
        else {
            continue;
        };
        let value = best.value.map(|value| format!(" {value}")).unwrap_or_default();
        let text = format!("{}{value}: {}", search.of, best.parameters);
        results.output(format!("{}.best", task.name), &text.into());
    }
    for task in last.filter(|task| !task.for_each).take(FEW) {
        for (name, value) in task.outputs.iter().take(OUTPUTS) {
            results.output(format!("{}.{name}", task.name), value);
        }
        if task.outputs.len() > OUTPUTS {
            let rest = format!("… and {} more outputs", task.outputs.len() - OUTPUTS);
            results.lines.push((task.name.clone(), rest));
        }
    }
    let artifacts: Vec<ArtifactView> = remote.client.list(&["runs", id, "artifacts"], &[], FEW).await?;
    results.lines.extend(artifacts.into_iter().map(|artifact| (artifact.name, artifact.path)));
    Ok(results)
}
