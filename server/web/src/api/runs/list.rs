//! `GET /runs` and `GET /projects/{project}/runs`

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::state::RunState;
use cubeloom_store::RunFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::RunView;
use crate::auth::{self, Caller};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::page::{Page, PageQuery};
use crate::runs::listed::{self, Listed};
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::told;

/// Filters and order of runs.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RunsQuery {
    /// Filters by state. Separate several states with commas. `live` includes all runs that have not ended.
    pub state: Option<String>,
    /// Only runs of this pipeline.
    pub pipeline: Option<String>,
    /// Filters by the name of the user who started the run.
    pub user: Option<String>,
    /// Only runs whose pipeline name or run ID contains this text.
    pub text: Option<String>,
    /// Only runs requested at or after this time.
    pub since: Option<Time>,
    /// Only runs requested before this time.
    pub until: Option<Time>,
    /// Filters by the run whose tasks started the run. `none` selects runs that were not started by a task.
    pub parent: Option<String>,
    /// Sort order: `-created` (newest first) or `created`.
    pub sort: Option<String>,
}

/// Lists the runs of all projects that are visible to the caller.
#[utoipa::path(
    get,
    path = "/runs",
    tag = "runs",
    params(RunsQuery, PageQuery),
    responses(
        (status = 200, body = Page<RunView>),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list_all(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Query(query): Query<RunsQuery>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Page<Listed>> {
    let projects = auth::projects_of(&web, &caller).await?;
    Ok(told(lang, find(&web, projects, &query, &page).await?))
}

/// Lists the runs of a project.
#[utoipa::path(
    get,
    path = "/projects/{project}/runs",
    tag = "runs",
    params(("project" = String, Path, description = "The project."), RunsQuery, PageQuery),
    responses(
        (status = 200, body = Page<RunView>),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn list(
    State(web): State<Web>,
    lang: Lang,
    Path(project): Path<String>,
    Query(query): Query<RunsQuery>,
    Query(page): Query<PageQuery>,
) -> ApiResult<Page<Listed>> {
    Ok(told(lang, find(&web, Some(vec![project]), &query, &page).await?))
}

impl IntoResponse for Page<Listed> {
    fn into_response(self) -> Response {
        match joined(&self) {
            Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
            Err(error) => ApiError::internal(error).into_response(),
        }
    }
}

/// The page as JSON, assembled from the cached runs.
fn joined(page: &Page<Listed>) -> serde_json::Result<Vec<u8>> {
    let items = page.items.iter().map(Listed::json).collect::<Result<Vec<_>, _>>()?;
    let mut body = [b"{\"items\":[", items.join(&b","[..]).as_slice(), b"]"].concat();
    if let Some(cursor) = &page.next_cursor {
        body.extend_from_slice(b",\"next_cursor\":");
        serde_json::to_writer(&mut body, cursor)?;
    }
    body.push(b'}');
    Ok(body)
}

/// One page of the runs of these projects. Also used by pages.
pub(crate) async fn find(
    web: &Web,
    projects: Option<Vec<String>>,
    query: &RunsQuery,
    page: &PageQuery,
) -> ApiResult<Page<Listed>> {
    let limit = page.limit()?;
    let mut filter = filter(projects, query)?;
    let unknown = |_| ApiError::field("/cursor", "the cursor is not from this list: start without one");
    let last = page.after()?.map(|id| id.parse().map_err(unknown)).transpose()?;
    if filter.oldest_first {
        filter.after = last;
    } else {
        filter.before = last;
    }
    filter.limit = Some(limit + 1);
    let found = Page::of(web.store().run_marks(&filter).await?, limit, |run| run.id.to_string());
    Ok(Page { items: listed::views(web, &found.items).await?, next_cursor: found.next_cursor })
}

/// Converts the query for the store.
pub(crate) fn filter(projects: Option<Vec<String>>, query: &RunsQuery) -> ApiResult<RunFilter> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let oldest_first = match query.sort.as_deref() {
        None | Some("-created" | "") => false,
        Some("created") => true,
        Some(other) => {
            return Err(ApiError::field(
                "/sort",
                format!("sort is `{other}`: it must be created or -created"),
            ));
        }
    };
    let (top, of) = match given(&query.parent).as_deref() {
        None => (false, None),
        Some("none") => (true, None),
        Some(run) => {
            let unknown =
                |_| ApiError::field("/parent", format!("parent is `{run}`: it must be a run's id, or none"));
            (false, Some(run.parse().map_err(unknown)?))
        }
    };
    Ok(RunFilter {
        projects,
        top,
        of,
        pipeline: given(&query.pipeline),
        states: states(query.state.as_deref().unwrap_or_default())?,
        user: given(&query.user),
        text: given(&query.text),
        since: query.since.map(|time| time.0),
        until: query.until.map(|time| time.0),
        oldest_first,
        ..RunFilter::default()
    })
}

fn states(text: &str) -> ApiResult<Vec<RunState>> {
    let mut states = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        let meant: Vec<RunState> = RunState::ALL
            .into_iter()
            .filter(|state| state.as_str() == word || (word == "live" && !state.is_final()))
            .collect();
        if meant.is_empty() {
            let all = RunState::ALL.map(RunState::as_str).join(", ");
            let message = format!("state is `{word}`: it must be live or one of {all}");
            return Err(ApiError::field("/state", message));
        }
        states.extend(meant);
    }
    Ok(states)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_together_is_what_would_be_written() {
        let view: RunView = serde_json::from_value(serde_json::json!({
            "id": "01hzzzzzzzzzzzzzzzzzzzzzzz", "project": "default", "pipeline": "a \"b\"", "state": "succeeded",
            "user": "ada", "trigger": "person", "created_at": "2026-01-01T00:00:00Z",
            "tasks": {"total": 1, "states": {"succeeded": 1}},
            "cluster": "local", "parameters": {},
        }))
        .unwrap();
        for (count, next_cursor) in [(0, None), (1, None), (2, Some("n\"ext".to_owned()))] {
            let written = Page { items: vec![view.clone(); count], next_cursor: next_cursor.clone() };
            let items = written.items.iter().cloned().map(Listed::from).collect();
            let joined = joined(&Page { items, next_cursor }).unwrap();
            assert_eq!(String::from_utf8(joined).unwrap(), serde_json::to_string(&written).unwrap());
        }
    }
}
