//! Several runs for one table: parameters, last values of metrics, outputs that are numbers, tasks.

use cubeloom_domain::record::RunRecord;

use super::grid::{self, Cell};
use super::reader;
use super::results::{self, RunResults, TaskValue};
use crate::api::runs::comparison_view::{ComparedRunView, ComparedTaskView, TaskValueView};
use crate::api::runs::view::RunView;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// These runs, in the same order.
pub(crate) async fn views(web: &Web, runs: &[RunRecord]) -> ApiResult<Vec<ComparedRunView>> {
    let stored = results::stored(web, runs).await?;
    let columns = grid::columns(web, runs).await?;
    let mut views = Vec::with_capacity(runs.len());
    for ((run, stored), tasks) in runs.iter().zip(&stored).zip(&columns) {
        views.push(view(web, run, stored, tasks).await?);
    }
    Ok(views)
}

async fn view(web: &Web, run: &RunRecord, stored: &RunResults, tasks: &[Cell]) -> ApiResult<ComparedRunView> {
    let missing = || ApiError::not_found("run", &run.id);
    let head = web.store().plan_head(&run.id).await?.ok_or_else(missing)?;
    let results = results::with_running(web, run, &head.cluster, stored).await?;
    let shown = reader::shown(web, run).await?;
    Ok(ComparedRunView {
        run: RunView { cluster: Some(head.cluster), ..shown },
        parameters: head.parameters,
        metrics: results.metrics.into_iter().map(value).collect(),
        outputs: results.outputs.into_iter().map(value).collect(),
        tasks: tasks.iter().map(task).collect(),
    })
}

fn value(one: TaskValue) -> TaskValueView {
    TaskValueView { task: one.task.to_string(), name: one.name, value: one.value }
}

fn task(cell: &Cell) -> ComparedTaskView {
    ComparedTaskView { name: cell.task.to_string(), state: cell.state.into(), run_seconds: cell.run_seconds }
}
