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

/// The logs of an attempt while they are written, as server-sent events: `log` with a piece each, and `end` when the
/// attempt has ended and all of it was told. An event's id is a cursor: sent back as `Last-Event-ID`, the stream goes on
/// at the very next byte.
#[utoipa::path(
    get,
    path = "/runs/{run}/logs/events",
    tag = "logs",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was read."),
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
