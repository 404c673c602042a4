//! The items of a task's `for_each`.

use cubeloom_domain::plan::{ForEachItems, RunPlan};
use cubeloom_domain::{RunId, TaskIx};
use serde_json::Value;

use crate::error::ApiResult;
use crate::state::Web;

/// A task's items, as far as known. Empty for a task without `for_each`.
pub(crate) async fn of(web: &Web, run: &RunId, plan: &RunPlan, task: TaskIx) -> ApiResult<Vec<Value>> {
    match plan.task(task).for_each.as_ref().map(|each| &each.items) {
        None => Ok(Vec::new()),
        Some(ForEachItems::Known(items)) => Ok(items.clone()),
        Some(ForEachItems::Expression(_) | ForEachItems::Search(_)) => {
            Ok(web.store().items_of(run, task).await?.unwrap_or_default())
        }
    }
}
