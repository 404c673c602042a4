//! `GET /runs/{run}/tasks/{task}/instances`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::list::position;
use super::view::InstanceView;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::page::{Page, PageQuery};
use crate::runs::{Reader, describe, items, task};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Filters of instances.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InstancesQuery {
    /// Only instances in this state.
    pub state: Option<String>,
}

impl InstancesQuery {
    /// State to filter by.
    ///
    /// # Errors
    /// It is no state of an instance.
    fn state(&self) -> ApiResult<Option<&str>> {
        let Some(state) = self.state.as_deref().filter(|state| !state.is_empty()) else { return Ok(None) };
        if task::STATES.contains(&state) {
            return Ok(Some(state));
        }
        let known = task::STATES.join(", ");
        Err(ApiError::field("/state", format!("`{state}` is not a state of an instance: use one of {known}")))
    }
}

/// Lists the instances of a task that no longer wait for dependencies, in order.
#[utoipa::path(
    get,
    path = "/runs/{run}/tasks/{task}/instances",
    tag = "tasks",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        InstancesQuery,
        PageQuery
    ),
    responses(
        (status = 200, body = Page<InstanceView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn instances(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((run, task)): Path<(RunId, String)>,
    Query(query): Query<InstancesQuery>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Json<Page<InstanceView>>> {
    let limit = page.limit()?;
    let after = position(&page)?.checked_sub(1);
    let reader = Reader::open(&web, &run).await?.with_starts(&caller).await?;
    let ix = reader.find(&task)?;
    let found = web.store().instances_in(&run, ix, query.state()?, after, limit + 1).await?;
    let found = Page::of(found, limit, |one| one.instance.to_string());
    let items = items::of(&web, &run, &reader.plan, ix).await?;
    let mut shown = Vec::with_capacity(found.items.len());
    for one in &found.items {
        let attempts = web.store().attempts_of(&run, ix, one.instance).await?;
        let note = web.runs().notes().of(&run, &task, one.instance, one.attempt);
        let item = items.get(one.instance as usize).cloned().unwrap_or_default();
        let wait = reader.waits().of(&task, one);
        shown.push(describe::instance(one, attempts.last(), item, &note, wait));
    }
    Ok(Json(told(lang, Page { items: shown, next_cursor: found.next_cursor })))
}
