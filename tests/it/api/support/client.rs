//! An API client of one person, and its responses.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::Method;
use reqwest::blocking::{RequestBuilder, Response};
use serde_json::Value;

/// Sends requests with one token, or with none. Paths are relative to `/api/v1`; pages begin with `page:`.
#[derive(Clone)]
pub struct Client {
    http: reqwest::blocking::Client,
    url: String,
    token: Option<String>,
}

/// A response with its complete body.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The request, for failure messages.
    pub asked: String,
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Vec<u8>,
}

impl Client {
    /// A client of the server at `url`, without a trailing slash.
    pub fn new(url: String, token: Option<String>) -> Self {
        Self { http: http(), url, token }
    }

    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The URL of a path: `/runs` is `<server>/api/v1/runs`, `page:/runs` is `<server>/runs`.
    pub fn address(&self, path: &str) -> String {
        match path.strip_prefix("page:") {
            Some(page) => format!("{}{page}", self.url),
            None => format!("{}/api/v1{path}", self.url),
        }
    }

    /// A request for the test to complete.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, self.address(path));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path))
    }

    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        send(self.request(Method::POST, path).json(body))
    }

    /// Sends a `PUT`; an empty `etag` sends no `If-Match`.
    #[track_caller]
    pub fn put(&self, path: &str, etag: &str, body: &Value) -> Answer {
        send(if_match(self.request(Method::PUT, path), etag).json(body))
    }

    /// Sends a `PATCH`, with `etag` as for [`Self::put`].
    #[track_caller]
    pub fn patch(&self, path: &str, etag: &str, body: &Value) -> Answer {
        send(if_match(self.request(Method::PATCH, path), etag).json(body))
    }

    /// Sends a `DELETE`, with `etag` as for [`Self::put`].
    #[track_caller]
    pub fn delete(&self, path: &str, etag: &str) -> Answer {
        send(if_match(self.request(Method::DELETE, path), etag))
    }
}

/// The HTTP client that all clients share: creating one reads the machine's certificates, which takes longer
/// than most requests. It keeps no connections alive, so that none is left to a killed server.
fn http() -> reqwest::blocking::Client {
    static HTTP: OnceLock<reqwest::blocking::Client> = OnceLock::new();
    let made = HTTP.get_or_init(|| {
        // Loopback without TLS, but the client requires a provider. A second call finds the first one's.
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

/// Sends a request that the test has built, and reads the whole response.
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
    /// Asserts the status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.text());
        self
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.asked, self.text()))
    }

    /// A header; empty if absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The ETag, for `If-Match`.
    #[track_caller]
    pub fn etag(&self) -> String {
        let etag = self.header("etag");
        assert!(!etag.is_empty(), "{}: no ETag: {:?}", self.asked, self.headers);
        etag.to_owned()
    }

    /// Asserts a problem document of this kind (the last segment of its `type`), consistent with the
    /// response.
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
