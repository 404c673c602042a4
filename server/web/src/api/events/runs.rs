//! `GET /events` and `GET /projects/{project}/events`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::view::LiveEvent;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::live::OfRuns;
use crate::live::stream::{Events, ResumeQuery, answer};
use crate::state::Web;
use crate::texts::Lang;

/// Streams the events of all projects that the caller can see, as server-sent events.
///
/// Events are `snapshot` (of the runs), `run`, `deleted`, `pipeline` (a user saved a pipeline) and `revoked`.
#[utoipa::path(
    get,
    path = "/events",
    tag = "events",
    params(
        ("Last-Event-ID" = Option<String>, Header, description = "Id of the last received event."),
        ResumeQuery
    ),
    responses((status = 200, body = LiveEvent, content_type = "text/event-stream"))
)]
pub(crate) async fn of_all(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Query(resume): Query<ResumeQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let events = OfRuns::new(&web, lang, caller.clone(), None, resume.after(&headers)).await?;
    answer(&web, caller, Events::Runs(events))
}

/// Streams the events of a project as server-sent events.
///
/// Events are `snapshot` (of its runs), `run`, `deleted`, `pipeline` (a user saved a pipeline) and `revoked`.
#[utoipa::path(
    get,
    path = "/projects/{project}/events",
    tag = "events",
    params(
        ("project" = String, Path, description = "The project."),
        ("Last-Event-ID" = Option<String>, Header, description = "Id of the last received event."),
        ResumeQuery
    ),
    responses(
        (status = 200, body = LiveEvent, content_type = "text/event-stream"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn of_project(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Query(resume): Query<ResumeQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let events = OfRuns::new(&web, lang, caller.clone(), Some(project), resume.after(&headers)).await?;
    answer(&web, caller, Events::Runs(events))
}
