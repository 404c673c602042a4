//! Server-sent events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), with resumption.

use std::time::{Duration, Instant};

use reqwest::{Response, StatusCode};
use tokio::time::sleep;

use super::client::{Client, status};

/// Pause before a new connection, doubled each time up to the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long the server may be away.
const PATIENCE: Duration = Duration::from_secs(300);

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub data: String,
}

/// A stream of events, over any number of lost connections.
pub struct Events<'c> {
    client: &'c Client,
    path: Vec<String>,
    open: Option<Response>,
    lines: Lines,
    /// Id of the last event.
    last: Option<String>,
    pause: Duration,
    lost: Option<Instant>,
}

impl<'c> Events<'c> {
    pub fn new(client: &'c Client, path: &[&str]) -> Self {
        Self {
            client,
            path: path.iter().map(|part| (*part).to_owned()).collect(),
            open: None,
            lines: Lines::default(),
            last: None,
            pause: FIRST_PAUSE,
            lost: None,
        }
    }

    /// The next event. `None` when the server has ended the stream for good. Cancelling a call loses no event.
    pub async fn next(&mut self) -> anyhow::Result<Option<Event>> {
        loop {
            if let Some((event, id)) = self.lines.next() {
                self.last = id.or(self.last.take());
                (self.pause, self.lost) = (FIRST_PAUSE, None);
                return Ok(Some(event));
            }
            let Some(open) = &mut self.open else {
                if !self.connect().await? {
                    return Ok(None);
                }
                continue;
            };
            match open.chunk().await {
                Ok(Some(bytes)) => self.lines.push(&bytes),
                // A server that stops ends its streams, and another one continues them.
                Ok(None) | Err(_) => {
                    self.open = None;
                    self.lines = Lines::default();
                    sleep(self.pause).await;
                }
            }
        }
    }

    /// Connects; `false` if there is nothing more to read.
    async fn connect(&mut self) -> anyhow::Result<bool> {
        loop {
            let path: Vec<&str> = self.path.iter().map(String::as_str).collect();
            match self.client.stream(&path, &[], self.last.as_deref()).await {
                Ok(response) if response.status() == StatusCode::NO_CONTENT => return Ok(false),
                Ok(response) => {
                    self.open = Some(response);
                    return Ok(true);
                }
                Err(error) => {
                    let refused = status(&error).is_some_and(|status| {
                        status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS
                    });
                    let lost = *self.lost.get_or_insert_with(Instant::now);
                    if refused || lost.elapsed() > PATIENCE {
                        return Err(error);
                    }
                    sleep(self.pause).await;
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }
}

/// Splits a stream into events.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    /// How much of `bytes` has no line end.
    searched: usize,
    name: String,
    data: Option<String>,
    id: Option<String>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete event, and its id.
    fn next(&mut self) -> Option<(Event, Option<String>)> {
        while let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') {
            let rest = self.bytes.split_off(self.searched + end + 1);
            self.searched = 0;
            let line = std::mem::replace(&mut self.bytes, rest);
            let line = String::from_utf8_lossy(&line);
            if let Some(event) = self.line(line.trim_end_matches(['\n', '\r'])) {
                return Some((event, self.id.clone()));
            }
        }
        self.searched = self.bytes.len();
        None
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            return self.data.take().map(|data| Event { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "id" => self.id = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_from_any_pieces() {
        let text = ": hello\nid: 1\nevent: run\ndata: {\"a\":\ndata: 1}\n\nretry: 5\n\nevent: end\r\ndata: {}\r\n\r\n";
        for size in [1, 3, 7, 200] {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                lines.push(piece);
                found.extend(std::iter::from_fn(|| lines.next()));
            }
            let event = |name: &str, data: &str| Event { name: name.into(), data: data.into() };
            let id = Some("1".to_owned());
            assert_eq!(found, [(event("run", "{\"a\":\n1}"), id.clone()), (event("end", "{}"), id)]);
        }
    }
}
