//! HTTP client of a server's REST API.

use std::time::Duration;

use anyhow::Context as _;
use cubeloom_web::error::{ProblemDocument, ProblemView};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_MATCH, RETRY_AFTER};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;
use tokio::time::sleep;

use crate::exit::Invalid;
use crate::machine;

/// Timeout of a connection, and of a request without a stream.
const CONNECT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(60);
/// Maximum number of tries of a request while the server is busy or away.
const TRIES: u32 = 4;
/// Maximum wait for a busy server.
const WAIT: Duration = Duration::from_secs(30);

/// The API of one server, with one token.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    /// URL of the server, without a trailing slash.
    pub server: String,
    base: Url,
    token: Option<String>,
}

/// An error response.
#[derive(Debug, Error)]
#[error("{detail}")]
pub struct Refused {
    pub status: StatusCode,
    /// Stable word for programs, where a problem has one.
    pub code: Option<String>,
    pub detail: String,
    pub problems: Vec<ProblemView>,
}

/// A page of a list.
#[derive(Debug, Deserialize)]
struct Page<T> {
    items: Vec<T>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Query of a request.
pub type Query<'q> = &'q [(&'q str, &'q str)];

impl Client {
    /// # Errors
    /// The URL is not one of a server.
    pub fn new(server: &str, token: Option<String>) -> anyhow::Result<Self> {
        crate::web::choose_tls();
        let server = url(server)?;
        let base = Url::parse(&format!("{server}/api/v1/")).map_err(|_| wrong_url(&server))?;
        let agent = concat!("cubeloom/", env!("CARGO_PKG_VERSION"));
        let http = reqwest::Client::builder().connect_timeout(CONNECT).user_agent(agent).build();
        Ok(Self { http: http.context("no HTTP client")?, server, base, token })
    }

    /// Reads something.
    pub async fn get<T: DeserializeOwned>(&self, path: &[&str], query: Query<'_>) -> anyhow::Result<T> {
        self.parsed(self.sent(|| self.request(Method::GET, path, query).timeout(ANSWER)).await?).await
    }

    /// Reads something with its ETag; `None` if it does not exist.
    pub async fn find<T: DeserializeOwned>(&self, path: &[&str]) -> anyhow::Result<Option<(T, String)>> {
        let response = match self.sent(|| self.request(Method::GET, path, &[]).timeout(ANSWER)).await {
            Ok(response) => response,
            Err(error) if status(&error) == Some(StatusCode::NOT_FOUND) => return Ok(None),
            Err(error) => return Err(error),
        };
        let tag = response.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).unwrap_or_default();
        // A proxy that compresses makes a tag weak, which would never match.
        let tag = tag.strip_prefix("W/").unwrap_or(tag).to_owned();
        Ok(Some((self.parsed(response).await?, tag)))
    }

    /// Reads all items of a list, up to a limit.
    pub async fn list<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: Query<'_>,
        limit: usize,
    ) -> anyhow::Result<Vec<T>> {
        let mut items = Vec::new();
        let mut cursor: Option<String> = None;
        while items.len() < limit {
            let size = (limit - items.len()).min(200).to_string();
            let mut query = [query, &[("limit", size.as_str())]].concat();
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page: Page<T> = self.get(path, &query).await?;
            items.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(items)
    }

    /// Sends a command. An `Idempotency-Key` makes repetitions safe.
    pub async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &Value) -> anyhow::Result<T> {
        let key = format!("{:032x}", machine::entropy()?);
        let request = || {
            let request = self.request(Method::POST, path, &[]).timeout(ANSWER);
            request
                .header("idempotency-key", &key)
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string())
        };
        self.parsed(self.sent(request).await?).await
    }

    /// Replaces something that has this ETag.
    pub async fn put<T: DeserializeOwned>(
        &self,
        path: &[&str],
        tag: &str,
        body: &Value,
    ) -> anyhow::Result<T> {
        let request = || {
            let request = self.request(Method::PUT, path, &[]).timeout(ANSWER);
            request.header(IF_MATCH, tag).header(CONTENT_TYPE, "application/json").body(body.to_string())
        };
        self.parsed(self.sent(request).await?).await
    }

    /// Uploads a file.
    pub async fn upload<T: DeserializeOwned>(
        &self,
        path: &[&str],
        kind: &str,
        content: Vec<u8>,
    ) -> anyhow::Result<T> {
        let content = bytes::Bytes::from(content);
        let request = || {
            let request = self.request(Method::PUT, path, &[]).header(CONTENT_TYPE, kind);
            request.body(content.clone())
        };
        self.parsed(self.sent(request).await?).await
    }

    /// Opens an event stream once, after an event.
    pub async fn stream(
        &self,
        path: &[&str],
        query: Query<'_>,
        after: Option<&str>,
    ) -> anyhow::Result<Response> {
        let mut request = self.request(Method::GET, path, query).header("accept", "text/event-stream");
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        self.answered(request.send().await.map_err(|error| self.away(&error))?).await
    }

    fn request(&self, method: Method, path: &[&str], query: Query<'_>) -> RequestBuilder {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.http.request(method, url);
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        }
    }

    /// Sends a request, again while the server is busy or away.
    async fn sent(&self, request: impl Fn() -> RequestBuilder) -> anyhow::Result<Response> {
        let mut tries = 1;
        loop {
            let last = tries == TRIES;
            let pause = Duration::from_millis(200) * 2_u32.pow(tries);
            let pause = match request().send().await {
                Ok(response) if is_busy(response.status()) && !last => asked(&response).unwrap_or(pause),
                Ok(response) => return self.answered(response).await,
                Err(error) if last || error.is_builder() => return Err(self.away(&error)),
                Err(_) => pause,
            };
            tries += 1;
            sleep(pause).await;
        }
    }

    /// The response, unless it is an error.
    async fn answered(&self, response: Response) -> anyhow::Result<Response> {
        let status = response.status();
        if !status.is_client_error() && !status.is_server_error() {
            return Ok(response);
        }
        let body = response.bytes().await.unwrap_or_default();
        Err(self.refused(status, &body))
    }

    fn refused(&self, status: StatusCode, body: &[u8]) -> anyhow::Error {
        let Ok(problem) = serde_json::from_slice::<ProblemDocument>(body) else {
            let server = &self.server;
            return anyhow::anyhow!(
                "{server} answered {status}, and not as a Cubeloom server: check the URL"
            );
        };
        let mut detail = problem.detail;
        for problem in &problem.problems {
            if !detail.contains(&problem.message) {
                detail.push_str(&format!("\n  {}: {}", problem.path, problem.message));
            }
        }
        if status == StatusCode::UNAUTHORIZED {
            detail = format!("{detail}\nSign in with `cubeloom login {}`", self.server);
        }
        let code = problem.more.get("code").and_then(Value::as_str).map(ToOwned::to_owned);
        Refused { status, code, detail, problems: problem.problems }.into()
    }

    async fn parsed<T: DeserializeOwned>(&self, response: Response) -> anyhow::Result<T> {
        let body = response.bytes().await.map_err(|error| self.away(&error))?;
        // An answer without a body.
        let body = if body.is_empty() { &b"null"[..] } else { &body[..] };
        serde_json::from_slice(body).with_context(|| {
            format!("{} answered in an unknown form: is its version another one?", self.server)
        })
    }

    fn away(&self, error: &reqwest::Error) -> anyhow::Error {
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        anyhow::anyhow!("the server {} cannot be reached: {cause}", self.server)
    }
}

/// The HTTP status of an error response.
pub fn status(error: &anyhow::Error) -> Option<StatusCode> {
    error.downcast_ref::<Refused>().map(|refused| refused.status)
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// The wait that a busy server requests.
fn asked(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(WAIT))
}

/// A server's URL as it is stored.
///
/// # Errors
/// It is not an HTTP URL.
pub fn url(text: &str) -> anyhow::Result<String> {
    let text = text.trim();
    let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let parsed = Url::parse(&full).map_err(|_| wrong_url(text))?;
    let is_server = matches!(parsed.scheme(), "http" | "https") && parsed.host().is_some();
    if !is_server || parsed.query().is_some() || parsed.fragment().is_some() {
        return Err(wrong_url(text));
    }
    Ok(full.trim_end_matches('/').to_owned())
}

fn wrong_url(text: &str) -> anyhow::Error {
    Invalid::error(format!("`{text}` is not a server's URL, such as https://cubeloom.example.com"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_stored_in_one_form() {
        assert_eq!(url("https://a.example/").unwrap(), "https://a.example");
        assert_eq!(url("a.example:8443").unwrap(), "https://a.example:8443");
        assert_eq!(url("http://127.0.0.1:8080/base/").unwrap(), "http://127.0.0.1:8080/base");
        for wrong in ["", "ftp://a", "https://", "https://a?x=1", "file:///etc"] {
            assert!(url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_in_paths_cannot_leave_them() {
        let client = Client::new("http://127.0.0.1:1/base", None).unwrap();
        let request =
            client.request(Method::GET, &["projects", "../a b?"], &[("text", "x&y")]).build().unwrap();
        assert_eq!(
            request.url().as_str(),
            "http://127.0.0.1:1/base/api/v1/projects/..%2Fa%20b%3F?text=x%26y"
        );
    }
}
