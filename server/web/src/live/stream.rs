//! Event streams as responses. They end when the server stops, or when the caller loses access.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use utoipa::IntoParams;

use super::frame;
use super::listener::{OfRun, OfRuns};
use super::seats::Seat;
use crate::api::events::view::LiveEvent;
use crate::auth::{self, Caller};
use crate::error::ApiResult;
use crate::logs::Follow;
use crate::state::Web;

pub(crate) use frame::named;

/// Interval at which the caller's access is checked.
const CHECK: Duration = Duration::from_secs(5);
/// Maximum silence before a keep-alive.
const SILENCE: Duration = Duration::from_secs(15);
/// Delay after a failed read.
const AGAIN: Duration = Duration::from_secs(1);

/// Source of events. Cancelling a read loses no event.
pub(crate) enum Events {
    Run(OfRun),
    Runs(OfRuns),
    Logs(Box<Follow>),
}

impl Events {
    async fn next(&mut self) -> ApiResult<Option<Bytes>> {
        match self {
            Self::Run(run) => run.next().await,
            Self::Runs(runs) => runs.next().await,
            Self::Logs(logs) => logs.next().await,
        }
    }
}

/// Position of a reader that reconnects.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ResumeQuery {
    /// Id of the last event that was read, for clients that cannot send the header `Last-Event-ID`.
    pub last_event_id: Option<String>,
}

impl ResumeQuery {
    /// Id of the last event that the client has read, from the header or the query.
    pub(crate) fn after<'a>(&'a self, headers: &'a HeaderMap) -> Option<&'a str> {
        let sent = headers.get("last-event-id").and_then(|id| id.to_str().ok());
        sent.or(self.last_event_id.as_deref()).filter(|id| !id.is_empty())
    }
}

/// The streaming response.
///
/// # Errors
/// The caller has too many open streams.
pub(crate) fn answer(web: &Web, caller: Caller, events: Events) -> ApiResult<Response> {
    let now = Instant::now();
    let listening = Listening {
        _seat: web.seats().take(&caller.user.id)?,
        web: web.clone(),
        caller,
        events,
        stopping: web.stopping(),
        check: now + CHECK,
        silent: now + SILENCE,
        over: false,
    };
    let frames = stream::unfold(listening, |mut listening| async move {
        let frame = listening.next().await?;
        Some((Ok::<Bytes, Infallible>(frame), listening))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies that buffer responses would delay events.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    Ok((headers, Body::from_stream(frames)).into_response())
}

struct Listening {
    _seat: Seat,
    web: Web,
    caller: Caller,
    events: Events,
    stopping: watch::Receiver<bool>,
    check: Instant,
    silent: Instant,
    over: bool,
}

impl Listening {
    /// The next bytes to send. `None` at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.over || *self.stopping.borrow() {
                return None;
            }
            let timer = self.check.min(self.silent);
            tokio::select! {
                biased;
                _ = self.stopping.changed() => return None,
                () = sleep_until(timer) => {
                    if let Some(frame) = self.due().await {
                        return Some(frame);
                    }
                }
                event = self.events.next() => match event {
                    Ok(Some(frame)) => {
                        self.silent = Instant::now() + SILENCE;
                        return Some(frame);
                    }
                    Ok(None) => return None,
                    Err(error) => {
                        tracing::debug!(detail = error.detail(), "an event stream waits for data that cannot be read yet");
                        tokio::time::sleep(AGAIN).await;
                    }
                },
            }
        }
    }

    /// Sends keep-alives and checks access when they are due.
    async fn due(&mut self) -> Option<Bytes> {
        let now = Instant::now();
        if now >= self.check {
            self.check = now + CHECK;
            // Only a definite denial ends the stream: a database error says nothing about access.
            if let Ok(false) = auth::still_valid(&self.web, &self.caller).await {
                self.over = true;
                return Some(frame::of(&LiveEvent::Revoked {}, ""));
            }
        }
        if now >= self.silent {
            self.silent = now + SILENCE;
            return Some(frame::ALIVE);
        }
        None
    }
}
