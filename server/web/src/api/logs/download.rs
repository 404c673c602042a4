//! `GET /runs/{run}/logs/download`

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::RunId;
use futures::{StreamExt, stream};

use super::view::LogQuery;
use crate::api::logs::view::LogChunk;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Path, Query};
use crate::logs::{Chosen, Cursor};
use crate::state::Web;

/// Maximum size of one read, in bytes.
const BLOCK: usize = 1 << 20;

/// Downloads the logs of an attempt as one text.
///
/// For several workers, each line is prefixed with its worker: `worker-0 | ...`.
#[utoipa::path(
    get,
    path = "/runs/{run}/logs/download",
    tag = "logs",
    params(("run" = String, Path, description = "The run's id."), LogQuery),
    responses(
        (status = 200, body = String, content_type = "text/plain"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn download(
    State(web): State<Web>,
    Path(run): Path<RunId>,
    Query(query): Query<LogQuery>,
) -> ApiResult<Response> {
    let chosen = Chosen::of(&web, &run, &query).await?;
    let several = chosen.list().await?.windows(2).any(|two| two[0].name.worker != two[1].name.worker);
    let name = format!("{}-{}.{}.{}.log", run, chosen.key.task, chosen.key.instance, chosen.key.n);
    let cursor = Cursor::start(chosen.key.n);
    let pieces = stream::unfold(Some((chosen, cursor)), move |state| async move {
        let (chosen, mut cursor) = state?;
        match chosen.read_on(&mut cursor, BLOCK, |_| true).await {
            Ok(read) => {
                let text: String = read.told.iter().map(|told| shown(&told.chunk, several)).collect();
                Some((Ok(Bytes::from(text)), read.full.then_some((chosen, cursor))))
            }
            Err(error) => Some((Err(std::io::Error::other(error.detail().to_owned())), None)),
        }
    });
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
    ];
    Ok((headers, Body::from_stream(pieces.fuse())).into_response())
}

/// A chunk, with the worker's name before each line if there are several workers.
fn shown(chunk: &LogChunk, several: bool) -> String {
    if !several {
        return chunk.text.clone();
    }
    let mut text = String::with_capacity(chunk.text.len() * 5 / 4);
    for line in chunk.text.split_inclusive('\n') {
        text.push_str(&chunk.worker);
        text.push_str(" | ");
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push('\n');
        }
    }
    text
}
