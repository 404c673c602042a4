//! One person's client, and what it is answered.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::Method;
use reqwest::blocking::{RequestBuilder, Response};
use serde_json::Value;

/// Sends requests with one token, or with none. Paths are those below `/api/v1`; pages begin with `page:`.
#[derive(Clone)]
pub struct Client {
    http: reqwest::blocking::Client,
    url: String,
    token: Option<String>,
}

/// What came back, read whole.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What was asked, for messages of failures.
    pub asked: String,
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: reqwest::header::HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl Client {
    /// One of the server at `url`, which ends without a slash.
    pub fn new(url: String, token: Option<String>) -> Self {
        Self { http: http(), url, token }
    }

    /// The token that it shows.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The address of a path: `/runs` is `<server>/api/v1/runs`, `page:/runs` is `<server>/runs`.
    pub fn address(&self, path: &str) -> String {
        match path.strip_prefix("page:") {
            Some(page) => format!("{}{page}", self.url),
            None => format!("{}/api/v1{path}", self.url),
        }
    }

    /// A request to be finished by the test.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, self.address(path));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Reads.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path))
    }

    /// Makes something.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        send(self.request(Method::POST, path).json(body))
    }

    /// Changes something; an empty `etag` sends no `If-Match`.
    #[track_caller]
    pub fn put(&self, path: &str, etag: &str, body: &Value) -> Answer {
        send(if_match(self.request(Method::PUT, path), etag).json(body))
    }

    /// Changes a part of something.
    #[track_caller]
    pub fn patch(&self, path: &str, etag: &str, body: &Value) -> Answer {
        send(if_match(self.request(Method::PATCH, path), etag).json(body))
    }

    /// Deletes something.
    #[track_caller]
    pub fn delete(&self, path: &str, etag: &str) -> Answer {
        send(if_match(self.request(Method::DELETE, path), etag))
    }
}

/// The client below those of all people: to make one reads the certificates of the machine, which takes longer than most
/// requests. It keeps no connections, so that none is left of a server that was killed.
fn http() -> reqwest::blocking::Client {
    static HTTP: OnceLock<reqwest::blocking::Client> = OnceLock::new();
    let made = HTTP.get_or_init(|| {
        // Loopback without TLS; the client wants a provider all the same. The second call finds the first one's.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::blocking::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .pool_max_idle_per_host(0)
            .timeout(Duration::from_secs(60))
            .build()
            .expect("a client")
    });
    made.clone()
}

fn if_match(request: RequestBuilder, etag: &str) -> RequestBuilder {
    if etag.is_empty() { request } else { request.header("if-match", etag) }
}

/// Sends a request that the test has made itself, and reads the whole answer.
#[track_caller]
pub fn send(request: RequestBuilder) -> Answer {
    let (client, request) = request.build_split();
    let request = request.expect("a request");
    let asked = format!("{} {}", request.method(), request.url());
    match client.execute(request) {
        Ok(response) => read(asked, response),
        Err(error) => panic!("{asked}: {error:?}"),
    }
}

#[track_caller]
fn read(asked: String, response: Response) -> Answer {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let body = response.bytes().unwrap_or_else(|error| panic!("{asked}: {error:?}")).to_vec();
    Answer { asked, status, headers, body }
}

impl Answer {
    /// The status is this.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text());
        self
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.asked, self.text()))
    }

    /// A header; empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The ETag, to be sent as `If-Match`.
    #[track_caller]
    pub fn etag(&self) -> String {
        let etag = self.header("etag");
        assert!(!etag.is_empty(), "{}: no ETag: {:?}", self.asked, self.headers);
        etag.to_owned()
    }

    /// It is a problem document of this kind (the last word of its `type`), whose parts agree with the answer.
    #[track_caller]
    pub fn problem(&self, kind: &str) -> Value {
        assert_eq!(
            self.header("content-type"),
            "application/problem+json",
            "{}: {}",
            self.asked,
            self.text()
        );
        let document = self.json();
        assert_eq!(document["type"], format!("urn:cubeloom:problem:{kind}"), "{}: {document}", self.asked);
        assert_eq!(document["status"], self.status, "{}: {document}", self.asked);
        assert_eq!(document["instance"], self.header("x-request-id"), "{}: {document}", self.asked);
        assert!(document["detail"].as_str().is_some_and(|text| !text.is_empty()), "{document}");
        document
    }
}
