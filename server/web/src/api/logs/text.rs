//! `GET /runs/{run}/logs/text`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::{LogQuery, LogText};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::logs::{Chosen, Cursor};
use crate::state::Web;

/// Default and maximum number of returned bytes.
const USUAL: usize = 256 << 10;
const MOST: usize = 4 << 20;

/// Requested part of the logs.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PartQuery {
    /// Cursor to continue from: the `cursor` of an earlier response.
    pub cursor: Option<String>,
    /// Start position for one stream of one worker, in bytes.
    pub offset: Option<u64>,
    /// Number of last lines to return for each stream.
    #[param(maximum = 100_000)]
    pub tail: Option<usize>,
    /// Approximate number of bytes, from 1024 to 4 MiB. Defaults to 256 KiB.
    #[param(minimum = 1024, maximum = 4194304)]
    pub limit: Option<usize>,
}

/// Returns part of the logs of an attempt, of one worker or all workers.
#[utoipa::path(
    get,
    path = "/runs/{run}/logs/text",
    tag = "logs",
    params(("run" = String, Path, description = "The run's id."), LogQuery, PartQuery),
    responses(
        (status = 200, body = LogText),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn text(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<LogQuery>,
    Query(part): Query<PartQuery>,
) -> ApiResult<Json<LogText>> {
    let limit = match part.limit {
        None => USUAL,
        Some(limit) if (1024..=MOST).contains(&limit) => limit,
        Some(limit) => {
            return Err(ApiError::field(
                "/limit",
                format!("limit is {limit}: it must be from 1024 to {MOST}"),
            ));
        }
    };
    let (chosen, mut cursor) = begin(&web, &run, query, &part).await?;
    let over = chosen.has_ended().await?;
    let read = chosen.read_on(&mut cursor, limit, |_| true).await?;
    Ok(Json(LogText {
        attempt: chosen.key.n,
        chunks: read.told.into_iter().map(|told| told.chunk).collect(),
        cursor: cursor.encode(),
        ended: over && !read.full,
    }))
}

/// The requested attempt, and the start position in its logs. A cursor contains its attempt.
pub(super) async fn begin(
    web: &Web,
    run: &RunId,
    mut query: LogQuery,
    part: &PartQuery,
) -> ApiResult<(Chosen, Cursor)> {
    let given = part.cursor.as_deref().filter(|text| !text.is_empty()).map(Cursor::decode).transpose()?;
    if let Some(cursor) = given.filter(|cursor| cursor.attempt > 0) {
        query.attempt = Some(cursor.attempt);
        return Ok((Chosen::of(web, run, &query).await?, cursor));
    }
    let chosen = Chosen::of(web, run, &query).await?;
    let mut cursor = match part.tail {
        Some(lines) => Cursor::before_last(&chosen, lines.min(100_000)).await?,
        None => Cursor::start(chosen.key.n),
    };
    if let Some(offset) = part.offset {
        match chosen.list().await?.as_slice() {
            [] => {}
            [one] => {
                cursor.offsets.insert(one.name.clone(), offset.min(one.length));
            }
            _ => return Err(ApiError::field("/offset", "it needs one worker and one stream: name both")),
        }
    }
    Ok((chosen, cursor))
}
