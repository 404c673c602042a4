//! `GET /runs/{run}/logs/events`

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cubeloom_domain::RunId;

use super::text::{PartQuery, begin};
use super::view::{LogChunk, LogQuery};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::live::stream::{Events, ResumeQuery, answer};
use crate::logs::Follow;
use crate::state::Web;

/// Streams the logs of an attempt as server-sent events, while they are written.
///
/// Each `log` event contains a chunk. `end` is sent when the attempt has ended and all its logs were sent. The ID of
/// an event is a cursor: send it as `Last-Event-ID` to continue at the next byte.
#[utoipa::path(
    get,
    path = "/runs/{run}/logs/events",
    tag = "logs",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("Last-Event-ID" = Option<String>, Header, description = "Id of the last received event."),
        LogQuery,
        PartQuery,
        ResumeQuery
    ),
    responses(
        (status = 200, body = LogChunk, content_type = "text/event-stream"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn events(
    State(web): State<Web>,
    caller: Caller,
    Path(run): Path<RunId>,
    Query(query): Query<LogQuery>,
    Query(mut part): Query<PartQuery>,
    Query(resume): Query<ResumeQuery>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    if let Some(after) = resume.after(&headers) {
        part.cursor = Some(after.to_owned());
    }
    let (chosen, cursor) = begin(&web, &run, query, &part).await?;
    answer(&web, caller, Events::Logs(Box::new(Follow::new(chosen, cursor))))
}
