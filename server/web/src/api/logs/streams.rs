//! `GET /runs/{run}/logs`

use axum::extract::State;
use cubeloom_domain::RunId;

use super::view::{LogQuery, LogStreamView, LogStreams};
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::logs::Chosen;
use crate::state::Web;

/// Lists the log streams of an attempt.
#[utoipa::path(
    get,
    path = "/runs/{run}/logs",
    tag = "logs",
    params(("run" = String, Path, description = "The run's id."), LogQuery),
    responses(
        (status = 200, body = LogStreams),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn streams(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<LogQuery>,
) -> ApiResult<Json<LogStreams>> {
    let chosen = Chosen::of(&web, &run, &query).await?;
    let ended = chosen.has_ended().await?;
    let streams = chosen.list().await?.into_iter().map(|log| LogStreamView {
        worker: log.name.worker.to_string(),
        stream: log.name.stream.as_str().into(),
        length: log.length,
    });
    Ok(Json(LogStreams { attempt: chosen.key.n, ended, streams: streams.collect() }))
}
