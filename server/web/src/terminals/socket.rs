//! One connection of a browser or another client to a terminal.
//!
//! Binary messages are the terminal's bytes, in both directions. Text messages are JSON control messages with
//! a `kind`.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use bytes::Bytes;
use cubeloom_domain::terminal::TerminalSize;
use futures::{Sink, SinkExt, Stream, StreamExt};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::Session;
use super::session::{Guest, Said, Typed};
use super::window::Window;
use crate::api::terminals::view::{TerminalEvent, TerminalMessage};

/// Ping interval, and timeout without a sign of life.
const PING: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(60);
/// Timeout of the closing handshake.
const FAREWELL: Duration = Duration::from_secs(2);
/// Maximum size of a message, in bytes, and number of messages queued for the shell.
pub(crate) const MESSAGE: usize = 64 << 10;
const WAITING: usize = 64;

/// Connects a terminal to a socket, until either ends.
pub(crate) async fn attend(session: Arc<Session>, socket: WebSocket) {
    let (mut sink, mut stream) = socket.split();
    let ((said, mut heard), (typed, typing)) = (mpsc::channel(4), mpsc::channel(WAITING));
    let window = Arc::new(Window::new());
    let guest = Guest { said, typed: typing, window: Arc::clone(&window) };
    let farewell = if session.admit(guest).await {
        tokio::select! {
            farewell = speak(&mut heard, &mut sink) => farewell,
            farewell = listen(&mut stream, &typed, &window) => farewell,
        }
    } else {
        Some(frame(close_code::NORMAL, "the terminal has ended"))
    };
    if let Some(farewell) = farewell {
        let _ = timeout(FAREWELL, sink.send(Message::Close(Some(farewell)))).await;
        // Closing with unread data would reset the connection before the client has read the last message.
        let _ = timeout(FAREWELL, async { while let Some(Ok(_)) = stream.next().await {} }).await;
    }
}

fn frame(code: u16, reason: &'static str) -> CloseFrame {
    CloseFrame { code, reason: reason.into() }
}

/// Sends the messages. Returns the close frame, or nothing if the connection is lost.
async fn speak(
    heard: &mut mpsc::Receiver<Said>,
    sink: &mut (impl Sink<Message, Error = axum::Error> + Unpin),
) -> Option<CloseFrame> {
    let mut ping = interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            said = heard.recv() => match said {
                Some(said) => message(said),
                None => return Some(frame(close_code::NORMAL, "")),
            },
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        sink.send(message).await.ok()?;
    }
}

fn message(said: Said) -> Message {
    let event = match said {
        Said::Shown(bytes) => return Message::Binary(bytes),
        Said::Warning(seconds) => TerminalEvent::Warning { seconds },
        Said::Ended(why) => TerminalEvent::Ended { why },
        Said::Replaced => TerminalEvent::Replaced {},
    };
    Message::Text(serde_json::to_string(&event).unwrap_or_default().into())
}

/// Handles incoming messages. Never waits for the shell: acknowledgements of output must arrive while the
/// shell takes no input. Otherwise, both would wait for each other.
async fn listen(
    stream: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
    typed: &mpsc::Sender<Typed>,
    window: &Window,
) -> Option<CloseFrame> {
    while let Ok(Some(Ok(message))) = timeout(SILENCE, stream.next()).await {
        let typing = match message {
            Message::Binary(keys) => Typed::Keys(keys),
            Message::Text(text) => match serde_json::from_str(&text) {
                Ok(TerminalMessage::Shown { bytes }) => {
                    window.shown(bytes);
                    continue;
                }
                Ok(TerminalMessage::Resize { columns, rows }) if columns > 0 && rows > 0 => {
                    Typed::Resize(TerminalSize { columns, rows })
                }
                _ => return Some(frame(close_code::POLICY, "a text must be JSON: `resize`, or `shown`")),
            },
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return None,
        };
        match typed.try_send(typing) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                return Some(frame(
                    close_code::POLICY,
                    "the input is too long: the program does not read it",
                ));
            }
            Err(TrySendError::Closed(_)) => return std::future::pending().await,
        }
    }
    None
}
