//! `GET /runs/{run}/terminals/{terminal}`

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::response::Response;
use cubeloom_domain::RunId;

use super::view::{TerminalEvent, TerminalMessage};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, Kind, ProblemDocument};
use crate::extract::Path;
use crate::state::Web;
use crate::terminals::{MESSAGE, attend};

/// Connects to a terminal with a WebSocket.
///
/// Only the person who opened the terminal may connect. Binary messages carry bytes: the input that is typed, and the
/// output. The output begins with the latest part of the earlier output. Text messages are JSON: a `TerminalEvent`
/// from the terminal, a `TerminalMessage` to it. A new connection replaces the existing one.
#[utoipa::path(
    get,
    path = "/runs/{run}/terminals/{terminal}",
    tag = "terminals",
    params(
        ("run" = String, Path, description = "The run's id."),
        ("terminal" = String, Path, description = "The terminal.")
    ),
    responses(
        (status = 101, description = "The connection is a WebSocket from now on.", content(
            (TerminalEvent = "application/json"), (TerminalMessage = "application/json")
        )),
        (status = 400, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 403, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn connect(
    State(web): State<Web>,
    caller: Caller,
    Path((run, terminal)): Path<(RunId, String)>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> ApiResult<Response> {
    let session = web.terminals().find(&run, &terminal)?;
    if !session.is_of(&caller) {
        return Err(ApiError::forbidden("this terminal belongs to another user: open your own"));
    }
    let refused = |_| ApiError::new(Kind::Malformed, "connect to a terminal with a WebSocket of version 13");
    let upgrade = upgrade.map_err(refused)?;
    Ok(upgrade.max_message_size(MESSAGE).on_upgrade(move |socket| attend(session, socket)))
}
