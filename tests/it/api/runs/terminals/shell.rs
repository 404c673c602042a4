//! A terminal user: input and output over a WebSocket.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::handshake::HandshakeError;
use tungstenite::http::{HeaderName, HeaderValue};
use tungstenite::{Error, Message, WebSocket};

use crate::api::support::{Client, Server};
use crate::support::PATIENCE;

pub struct Shell {
    socket: WebSocket<TcpStream>,
    seen: Vec<u8>,
    events: Vec<Value>,
    /// Whether received output is acknowledged.
    pub acknowledges: bool,
    over: bool,
}

/// The headers of a request with a client's token.
pub fn bearer(client: &Client) -> Vec<(&'static str, String)> {
    vec![("authorization", format!("Bearer {}", client.token().expect("a token")))]
}

impl Shell {
    /// Connects to a terminal that the API has returned.
    #[track_caller]
    pub fn connect(server: &Server, client: &Client, terminal: &Value) -> Self {
        let path = terminal["socket"].as_str().unwrap_or_else(|| panic!("no socket: {terminal}"));
        Self::try_connect(server, path, &bearer(client)).unwrap_or_else(|status| panic!("{path}: {status}"))
    }

    /// Connects with any headers. Returns the status of a refusal as the error.
    pub fn try_connect(server: &Server, path: &str, headers: &[(&str, String)]) -> Result<Self, u16> {
        let address = server.url().trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&address).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut request = format!("ws://{address}{path}").into_client_request().expect("a request");
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a name");
            request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => {
                Ok(Self { socket, seen: Vec::new(), events: Vec::new(), acknowledges: true, over: false })
            }
            Err(HandshakeError::Failure(Error::Http(answer))) => Err(answer.status().as_u16()),
            Err(error) => panic!("{path}: {error}"),
        }
    }

    /// Sends key presses.
    pub fn keys(&mut self, text: &str) {
        assert!(self.try_keys(text), "it is taken");
    }

    /// Sends key presses. Returns whether that succeeded.
    pub fn try_keys(&mut self, text: &str) -> bool {
        self.socket.send(Message::binary(text.as_bytes().to_vec())).is_ok()
    }

    /// Types a line. Returns the output up to the word `<done>`, which is printed after it.
    #[track_caller]
    pub fn run(&mut self, line: &str) -> String {
        // The line is echoed, with quotes in the word.
        self.keys(&format!("{line}; echo '<do''ne>'\r"));
        // Strips the shell's bracketed-paste sequences, before and after each line.
        self.until("<done>").replace("\x1b[?2004h", "").replace("\x1b[?2004l\r", "")
    }

    /// Sends a control message.
    pub fn say(&mut self, message: &Value) {
        // The connection may close at any moment, which a read notices.
        let _ = self.socket.send(Message::text(message.to_string()));
    }

    /// The output up to and including a text. Later output is kept.
    #[track_caller]
    pub fn until(&mut self, text: &str) -> String {
        let (deadline, mut looked) = (Instant::now() + PATIENCE, 0);
        loop {
            let found = self.seen[looked..].windows(text.len()).position(|part| part == text.as_bytes());
            if let Some(at) = found {
                let part: Vec<u8> = self.seen.drain(..looked + at + text.len()).collect();
                return String::from_utf8_lossy(&part).into_owned();
            }
            looked = self.seen.len().saturating_sub(text.len());
            if !self.over && Instant::now() < deadline {
                self.hear();
                continue;
            }
            let seen = String::from_utf8_lossy(&self.seen);
            let last: String = seen.chars().skip(seen.chars().count().saturating_sub(2000)).collect();
            panic!("no {text:?} (over: {}) in {last:?}, {:?}", self.over, self.events);
        }
    }

    /// The last control message, once the connection is closed.
    #[track_caller]
    pub fn end(&mut self) -> Value {
        let deadline = Instant::now() + PATIENCE;
        while !self.over {
            assert!(Instant::now() < deadline, "it does not end");
            self.hear();
        }
        self.events.last().cloned().unwrap_or_default()
    }

    /// The control messages received so far.
    pub fn events(&self) -> &[Value] {
        &self.events
    }

    /// The number of bytes received until none arrive for this long.
    pub fn quiet_after(&mut self, pause: Duration) -> usize {
        self.socket.get_ref().set_read_timeout(Some(pause)).expect("a socket");
        let before = self.seen.len();
        while self.hear() {}
        self.socket.get_ref().set_read_timeout(Some(PATIENCE)).expect("a socket");
        self.seen.len() - before
    }

    /// Reads one message. Returns whether there was one.
    fn hear(&mut self) -> bool {
        match self.socket.read() {
            Ok(Message::Binary(bytes)) => {
                self.seen.extend_from_slice(&bytes);
                if self.acknowledges {
                    self.say(&json!({"kind": "shown", "bytes": bytes.len()}));
                }
            }
            Ok(Message::Text(text)) => self.events.push(serde_json::from_str(&text).expect("JSON")),
            Ok(Message::Close(frame)) => {
                self.over = true;
                self.events.extend(frame.filter(|frame| !frame.reason.is_empty()).map(|frame| {
                    json!({"kind": "closed", "code": u16::from(frame.code), "reason": frame.reason.as_str()})
                }));
            }
            Ok(_) => {}
            Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return false;
            }
            Err(_) => self.over = true,
        }
        !self.over
    }
}
