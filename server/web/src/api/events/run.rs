//! `GET /runs/{run}/events`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cubeloom_domain::RunId;

use super::view::LiveEvent;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::live::OfRun;
use crate::live::stream::{Events, ResumeQuery, answer};
use crate::state::Web;
use crate::texts::Lang;

/// Streams the events of a run as server-sent events.
///
/// Events are `snapshot`, `run`, `task`, `deleted`, `revoked` and `end`. After a lost connection, send
/// `Last-Event-ID` to continue. If that is not possible, a snapshot is sent first.
#[utoipa::path(
    get,
    path = "/runs/{run}/events",
    tag = "events",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("Last-Event-ID" = Option<String>, Header, description = "Id of the last received event."),
        ResumeQuery
    ),
    responses(
        (status = 200, body = LiveEvent, content_type = "text/event-stream"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn of_run(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
    Query(resume): Query<ResumeQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let events = OfRun::new(&web, lang, &run, resume.after(&headers)).await?;
    answer(&web, caller, Events::Run(events))
}
