//! `POST /runs/{run}/tasks/{task}/instances/{instance}/terminals`

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_compiler::lower;
use cubeloom_domain::RunId;
use cubeloom_domain::terminal::{TerminalOrder, TerminalSize};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::view::TerminalView;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::Reader;
use crate::state::Web;
use crate::terminals::place::Place;
use crate::terminals::{Opened, Session};
use crate::texts::{Lang, text_with};
use crate::time::Time;

/// Terminal to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalWish {
    /// Worker that the terminal represents, e.g. `worker-0`. Defaults to the worker that failed first.
    #[serde(default)]
    pub worker: Option<String>,
    /// Characters per line, from 1. Defaults to 80.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub columns: Option<u16>,
    /// Number of lines, from 1. Defaults to 24.
    #[serde(default)]
    #[schema(minimum = 1)]
    pub rows: Option<u16>,
}

/// Opens a terminal for a failed or cancelled task.
///
/// The terminal is a shell with the template, code, inputs, variables and limits of the last attempt's worker, in its
/// own scratch folder. Its secrets are those that the person who opened it may use. It ends when its time limit is
/// reached, when that person stays disconnected, or when it is closed.
#[utoipa::path(
    post,
    path = "/runs/{run}/tasks/{task}/instances/{instance}/terminals",
    tag = "terminals",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("task" = String, Path, description = "The task's name."),
        ("instance" = u32, Path, description = "The instance; 0 of a task without `for_each`.")
    ),
    request_body = TerminalWish,
    responses(
        (status = 201, body = TerminalView),
        (status = 403, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 429, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn open(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((run, task, instance)): Path<(RunId, String, u32)>,
    Json(wish): Json<TerminalWish>,
) -> ApiResult<Response> {
    let size = size(&wish)?;
    let reader = Reader::open(&web, &run).await?;
    let at = (reader.find(&task)?, instance);
    let place = Place::find(&web, &caller, &reader, at, wish.worker.as_deref()).await?;
    // In a separate task, so that it completes if the client disconnects: an open shell must have an owner.
    let opening = tokio::spawn(begin(web, caller, lang, place, size));
    let view = opening.await.map_err(ApiError::internal)??;
    Ok((StatusCode::CREATED, [(header::LOCATION, view.socket.clone())], Json(view)).into_response())
}

fn size(wish: &TerminalWish) -> ApiResult<TerminalSize> {
    let size = TerminalSize { columns: wish.columns.unwrap_or(80), rows: wish.rows.unwrap_or(24) };
    match size {
        TerminalSize { columns: 0, .. } => Err(ApiError::field("/columns", "must be at least 1")),
        TerminalSize { rows: 0, .. } => Err(ApiError::field("/rows", "must be at least 1")),
        size => Ok(size),
    }
}

async fn begin(
    web: Web,
    caller: Caller,
    lang: Lang,
    place: Place,
    size: TerminalSize,
) -> ApiResult<TerminalView> {
    let (id, key) = (web.new_id(), place.job.key.clone());
    let seat = web.terminals().seat(&id, &caller.user.id)?;
    let greeting = [
        ("worker", place.worker.to_string()),
        ("task", key.task.clone()),
        ("n", key.n.to_string()),
        ("minutes", (web.terminals().settings().limit.as_secs().div_ceil(60)).to_string()),
    ];
    let order = TerminalOrder {
        id: id.clone(),
        job: Arc::new(place.job),
        rank: place.rank,
        size,
        greeting: text_with(lang, "terminals.greeting", &greeting),
        lower: Arc::new(lower::lower),
    };
    let none = || ApiError::conflict("terminals cannot be opened on this cluster");
    let opening = place.executor.terminals().ok_or_else(none)?.open(order).await;
    let shell = opening.map_err(|failure| ApiError::conflict(failure.message))?;
    let worker = place.worker.to_string();
    let entry = audit::entry(&web, &caller, "terminal.open", key.to_string());
    let entry = entry.after(json!({"terminal": id, "worker": worker}));
    if let Err(error) = web.store().audit(&entry).await {
        shell.end().await;
        return Err(error.into());
    }
    let opened = Opened { shell, run: key.run.clone(), subject: key.to_string() };
    let session = web.terminals().keep(&web, &caller, seat, opened);
    Ok(view(&session, key.n, worker))
}

fn view(session: &Session, attempt: u32, worker: String) -> TerminalView {
    TerminalView {
        id: session.id().to_owned(),
        attempt,
        worker,
        socket: format!("/api/v1/runs/{}/terminals/{}", session.run(), session.id()),
        ends_at: Time(session.ends_at()),
    }
}
