//! A task's search, from its plan and its stored trials.

use cubeloom_domain::record::InstanceRecord;
use cubeloom_domain::search::{Axis, PlannedSearch, Scale, Trial};
use cubeloom_domain::{RunId, TaskIx};
use serde_json::Value;

use super::{Reader, describe, items};
use crate::api::tasks::view::{AxisView, SearchView, TrialView};
use crate::error::ApiResult;
use crate::state::Web;

/// Trials read at a time: each may have reported thousands of values.
const AT_A_TIME: usize = 200;

/// The search of a task. `None` if it has none.
pub(crate) async fn of(web: &Web, reader: &Reader<'_>, task: TaskIx) -> ApiResult<Option<SearchView>> {
    let Some(search) = reader.plan.task(task).search() else { return Ok(None) };
    let run: &RunId = &reader.record.id;
    let items = items::of(web, run, &reader.plan, task).await?;
    let mut view = empty(search);
    let mut after = None;
    loop {
        let page = web.store().instances_of(run, task, after, AT_A_TIME).await?;
        view.trials.extend(page.iter().filter_map(|one| trial(search, &items, one)));
        after = page.last().map(|one| one.instance);
        // Find the best page by page, so that not all reports are in memory at once.
        let found = search.best(page.iter().filter_map(|one| {
            let item = items.get(one.instance as usize)?;
            Some(Trial { instance: one.instance, item, state: &one.state, report: &one.report })
        }));
        let found = found.and_then(|best| view.trials.iter().find(|one| one.instance == best.trial.instance));
        let better = |new: &&TrialView| match (view.best.as_ref().and_then(|best| best.value), new.value) {
            (Some(best), Some(new)) => search.goal.prefers(new, best),
            _ => true,
        };
        if let Some(found) = found.filter(better).cloned() {
            view.best = Some(found);
        }
        if page.len() < AT_A_TIME {
            return Ok(Some(view));
        }
    }
}

/// A search without trials.
fn empty(search: &PlannedSearch) -> SearchView {
    SearchView {
        goal: search.goal.as_str().into(),
        of: search.of.clone(),
        method: describe::word(&search.method),
        over: search.over.iter().map(axis).collect(),
        planned: search.trials,
        max_failures: search.max_failures,
        best: None,
        trials: Vec::new(),
    }
}

fn axis((name, axis): (&String, &Axis)) -> AxisView {
    let name = name.clone();
    match axis {
        Axis::Values(values) => {
            AxisView { name, values: Some(values.clone()), minimum: None, maximum: None, log: false }
        }
        Axis::Range(range) => AxisView {
            name,
            values: None,
            minimum: Some(range.minimum),
            maximum: Some(range.maximum),
            log: range.scale == Some(Scale::Log),
        },
    }
}

fn trial(search: &PlannedSearch, items: &[Value], one: &InstanceRecord) -> Option<TrialView> {
    // Trials left from an earlier, longer expansion have no item.
    let parameters = items.get(one.instance as usize)?.clone();
    let value = one.state.is_done_with().then(|| search.value(&one.report)).flatten();
    Some(TrialView { instance: one.instance, state: one.state.as_str().into(), parameters, value })
}
