//! `GET /ready`

use std::time::Duration;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::Json;
use crate::state::Web;

/// Minimum threshold for a scheduling cycle plus the pause after it. Beyond it, traffic should go to another
/// server.
const LONGEST_PASS: Duration = Duration::from_secs(60);

/// Readiness of the server.
#[derive(Debug, Serialize, ToSchema)]
pub struct Ready {
    /// Status of the server: `ready`.
    pub status: &'static str,
    /// Seconds since the last scheduling cycle of the server's engine ended.
    pub last_pass_seconds: f64,
}

/// Reports whether the server is ready to accept work.
///
/// A server is ready if its database is writable, its engine completes scheduling cycles, and it is not shutting
/// down. Otherwise, the response contains the reason.
#[utoipa::path(
    get,
    path = "/ready",
    tag = "server",
    responses((status = 200, body = Ready), (status = 503, body = ProblemDocument, content_type = "application/problem+json"))
)]
pub(crate) async fn ready(State(web): State<Web>) -> ApiResult<Json<Ready>> {
    if *web.stopping().borrow() {
        return Err(ApiError::unavailable("the server is shutting down"));
    }
    let last_pass = web.last_pass();
    if let Some(detail) = held_up(last_pass, web.settings().period) {
        return Err(ApiError::unavailable(detail));
    }
    web.store().check().await?;
    Ok(Json(Ready { status: "ready", last_pass_seconds: last_pass.unwrap_or_default().as_secs_f64() }))
}

/// Problem of the engine, by the time since its last cycle. An idle engine pauses for `period`.
fn held_up(last_pass: Option<Duration>, period: Duration) -> Option<String> {
    let longest = LONGEST_PASS.max(period.saturating_mul(2));
    match last_pass {
        None => Some("the engine has stopped".into()),
        Some(ago) if ago > longest => {
            Some(format!("the engine's last cycle ended {} seconds ago: it is stuck", ago.as_secs()))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_makes_no_passes_is_told_of() {
        let seconds = Duration::from_secs;
        assert_eq!(held_up(Some(LONGEST_PASS), seconds(5)), None);
        let why = held_up(Some(seconds(90)), seconds(5)).unwrap();
        assert!(why.contains("90 seconds ago"), "{why}");
        assert_eq!(held_up(None, seconds(5)).unwrap(), "the engine has stopped");
    }

    #[test]
    fn an_engine_that_rests_for_long_is_not_held_up() {
        let (seconds, period) = (Duration::from_secs, Duration::from_secs(120));
        assert_eq!(held_up(Some(seconds(130)), period), None);
        assert!(held_up(Some(seconds(241)), period).is_some());
    }
}
