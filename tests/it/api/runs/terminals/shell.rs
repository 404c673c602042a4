//! A person at a terminal: what they type, and what they see, over a WebSocket as programs open one.

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

/// A connection to a terminal.
pub struct Shell {
    socket: WebSocket<TcpStream>,
    seen: Vec<u8>,
    events: Vec<Value>,
    /// Whether what was seen is acknowledged.
    pub acknowledges: bool,
    over: bool,
}

/// The headers of a request that has a client's token.
pub fn bearer(client: &Client) -> Vec<(&'static str, String)> {
    vec![("authorization", format!("Bearer {}", client.token().expect("a token")))]
}

impl Shell {
    /// Connects to a terminal as the API has answered it.
    #[track_caller]
    pub fn connect(server: &Server, client: &Client, terminal: &Value) -> Self {
        let path = terminal["socket"].as_str().unwrap_or_else(|| panic!("no socket: {terminal}"));
        Self::try_connect(server, path, &bearer(client)).unwrap_or_else(|status| panic!("{path}: {status}"))
    }

    /// The same with any headers; the status of a refusal.
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

    /// Types.
    pub fn keys(&mut self, text: &str) {
        assert!(self.try_keys(text), "it is taken");
    }

    /// The same; whether it could be sent.
    pub fn try_keys(&mut self, text: &str) -> bool {
        self.socket.send(Message::binary(text.as_bytes().to_vec())).is_ok()
    }

    /// Types a line, and gives what is seen until the word `<done>` that is printed behind it.
    #[track_caller]
    pub fn run(&mut self, line: &str) -> String {
        // The line is echoed, with quotes in the word.
        self.keys(&format!("{line}; echo '<do''ne>'\r"));
        // What the shell says of how it wants pasted text, before and after each line.
        self.until("<done>").replace("\x1b[?2004h", "").replace("\x1b[?2004l\r", "")
    }

    /// Says something beside what is typed.
    pub fn say(&mut self, message: &Value) {
        // It may end at any moment, which is seen when it is heard.
        let _ = self.socket.send(Message::text(message.to_string()));
    }

    /// What is seen until a text, which belongs to it; what comes later is seen later.
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

    /// What it said last, when it is over.
    #[track_caller]
    pub fn end(&mut self) -> Value {
        let deadline = Instant::now() + PATIENCE;
        while !self.over {
            assert!(Instant::now() < deadline, "it does not end");
            self.hear();
        }
        self.events.last().cloned().unwrap_or_default()
    }

    /// What it has said beside bytes.
    pub fn events(&self) -> &[Value] {
        &self.events
    }

    /// How much comes until nothing does for this long, in bytes.
    pub fn quiet_after(&mut self, pause: Duration) -> usize {
        self.socket.get_ref().set_read_timeout(Some(pause)).expect("a socket");
        let before = self.seen.len();
        while self.hear() {}
        self.socket.get_ref().set_read_timeout(Some(PATIENCE)).expect("a socket");
        self.seen.len() - before
    }

    /// One message; whether there was one.
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
