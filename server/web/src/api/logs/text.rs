//! `GET /runs/{run}/logs/text`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::{LogQuery, LogText};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::logs::{Chosen, Cursor, Read};
use crate::state::Web;

/// Default and maximum number of returned bytes.
const USUAL: usize = 256 << 10;
const MOST: usize = 4 << 20;

/// Requested part of the logs.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PartQuery {
    /// Cursor to continue from: the `cursor` of an earlier response, or of a match of a search.
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

/// Reads backwards.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BackQuery {
    /// Cursor to read backwards from: the `start` of an earlier response or the `cursor` of a match, or `end` for
    /// the last part of the logs.
    pub before: Option<String>,
}

/// Returns part of the logs of an attempt, of one worker or all workers.
#[utoipa::path(
    get,
    path = "/runs/{run}/logs/text",
    tag = "logs",
    params(("run" = String, Path, description = "The run's id."), LogQuery, PartQuery, BackQuery),
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
    Query(back): Query<BackQuery>,
) -> ApiResult<Json<LogText>> {
    let limit = limit(&part)?;
    if let Some(before) = back.before.filter(|text| !text.is_empty()) {
        if part.cursor.is_some() || part.offset.is_some() || part.tail.is_some() {
            return Err(ApiError::field("/before", "send it without cursor, offset and tail"));
        }
        return earlier(&web, &run, query, &before, limit).await.map(Json);
    }
    let (chosen, mut cursor) = begin(&web, &run, query, &part).await?;
    let over = chosen.has_ended().await?;
    let start = cursor.has_before(&chosen).await?.then(|| cursor.encode());
    let read = chosen.read_on(&mut cursor, limit, |_| true).await?;
    let ended = over && !read.full;
    Ok(Json(view(&chosen, read, &cursor, start, ended)))
}

fn limit(part: &PartQuery) -> ApiResult<usize> {
    match part.limit {
        None => Ok(USUAL),
        Some(limit) if (1024..=MOST).contains(&limit) => Ok(limit),
        Some(limit) => {
            Err(ApiError::field("/limit", format!("limit is {limit}: it must be from 1024 to {MOST}")))
        }
    }
}

/// The part before a cursor.
async fn earlier(web: &Web, run: &RunId, query: LogQuery, before: &str, limit: usize) -> ApiResult<LogText> {
    let (chosen, end) = if before == "end" {
        let chosen = Chosen::of(web, run, &query).await?;
        let end = Cursor::end(&chosen).await?;
        (chosen, end)
    } else {
        resume(web, run, query, Cursor::decode("/before", before)?).await?
    };
    let over = chosen.has_ended().await?;
    let ended = over && chosen.list().await?.iter().all(|log| end.offset(&log.name) >= log.length);
    let (read, start) = chosen.read_back(&end, limit).await?;
    let start = start.has_before(&chosen).await?.then(|| start.encode());
    Ok(view(&chosen, read, &end, start, ended))
}

fn view(chosen: &Chosen, read: Read, cursor: &Cursor, start: Option<String>, ended: bool) -> LogText {
    let chunks = read.told.into_iter().map(|told| told.chunk).collect();
    LogText { attempt: chosen.key.n, chunks, cursor: cursor.encode(), start, ended }
}

/// The requested attempt, and the start position in its logs. A cursor contains its attempt.
pub(super) async fn begin(
    web: &Web,
    run: &RunId,
    query: LogQuery,
    part: &PartQuery,
) -> ApiResult<(Chosen, Cursor)> {
    let given = part.cursor.as_deref().filter(|text| !text.is_empty());
    let given = given.map(|text| Cursor::decode("/cursor", text)).transpose()?;
    if let Some(cursor) = given.filter(|cursor| cursor.attempt > 0) {
        return resume(web, run, query, cursor).await;
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

/// The attempt of a cursor, and its position in the logs.
async fn resume(web: &Web, run: &RunId, mut query: LogQuery, cursor: Cursor) -> ApiResult<(Chosen, Cursor)> {
    query.attempt = Some(cursor.attempt);
    let chosen = Chosen::of(web, run, &query).await?;
    let cursor = cursor.placed(&chosen).await?;
    Ok((chosen, cursor))
}
