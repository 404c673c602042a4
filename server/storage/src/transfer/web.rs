//! Plain web servers as sources.
//!
//! Does not use OpenDAL's HTTP service. That one encodes queries away, and mistakes a whole file for the
//! requested range. Servers that ignore `Range`, refuse `HEAD` or do not know their length are common.

use futures::{StreamExt, TryStreamExt};
use reqwest::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, LAST_MODIFIED, RANGE,
};
use reqwest::{Client, Method, Response, StatusCode, Url};

use super::error::TransferError;
use super::input::{Content, Identity};
use super::location::Location;

/// One address of a web server.
#[derive(Clone)]
pub struct Page {
    client: Client,
    url: Url,
    shown: String,
}

/// The server's information about it.
pub struct Facts {
    /// The address is left empty.
    pub identity: Identity,
    /// Whether the server supports ranges.
    pub ranges: bool,
}

impl Page {
    /// Requests size and identity: by HEAD, or by the first byte if HEAD is insufficient.
    pub async fn open(client: &Client, url: &Url) -> Result<(Self, Facts), TransferError> {
        let page =
            Self { client: client.clone(), url: url.clone(), shown: Location::Http(url.clone()).to_string() };
        let head = page.send(Method::HEAD, None).await?;
        if head.status().is_success() && head.headers().get(ACCEPT_RANGES).is_some_and(|unit| unit == "bytes")
        {
            let size = number(head.headers().get(CONTENT_LENGTH));
            if size.is_some() {
                let facts = Facts { identity: identity(head.headers(), size), ranges: true };
                return Ok((page, facts));
            }
        }
        let facts = page.probe().await?;
        Ok((page, facts))
    }

    async fn probe(&self) -> Result<Facts, TransferError> {
        let answer = self.send(Method::GET, Some("bytes=0-0".to_owned())).await?;
        let headers = answer.headers();
        match answer.status() {
            StatusCode::PARTIAL_CONTENT => {
                let total = content_range(headers).and_then(|(_, total)| total);
                Ok(Facts { identity: identity(headers, total), ranges: total.is_some() })
            }
            // The only possible answer of an empty file to a request for its first byte.
            StatusCode::RANGE_NOT_SATISFIABLE if content_range_total(headers) == Some(0) => {
                Ok(Facts { identity: identity(headers, Some(0)), ranges: false })
            }
            status if status.is_success() => {
                Ok(Facts { identity: identity(headers, number(headers.get(CONTENT_LENGTH))), ranges: false })
            }
            _ => Err(self.refused(answer).await),
        }
    }

    /// The bytes of a range; the response must have the same content as `expected`.
    pub async fn read(
        &self,
        expected: &Identity,
        ranges: bool,
        start: u64,
        end: Option<u64>,
    ) -> Result<Content, TransferError> {
        let whole = start == 0 && end == expected.size;
        let range = match end {
            Some(end) if ranges && !whole => Some(format!("bytes={start}-{}", end - 1)),
            _ => None,
        };
        let ranged = range.is_some();
        let answer = self.send(Method::GET, range).await?;
        if !answer.status().is_success() {
            return Err(self.refused(answer).await);
        }
        let total = content_range(answer.headers());
        let now = identity(answer.headers(), total.map_or(expected.size, |(_, total)| total));
        if now.etag != expected.etag || now.modified != expected.modified || now.size != expected.size {
            return Err(TransferError::Changed { url: self.shown.clone() });
        }
        if ranged && total.map(|(first, _)| first) != Some(start) {
            return Err(self.failed("the server announced ranges, but sent a different one", false));
        }
        let shown = self.shown.clone();
        Ok(answer.bytes_stream().map_err(move |error| TransferError::http(&shown, error)).boxed())
    }

    async fn send(&self, method: Method, range: Option<String>) -> Result<Response, TransferError> {
        // Ranges refer to the stored bytes; a compressed response would have other offsets.
        let mut request = self.client.request(method, self.url.clone()).header(ACCEPT_ENCODING, "identity");
        if let Some(range) = range {
            request = request.header(RANGE, range);
        }
        request.send().await.map_err(|error| TransferError::http(&self.shown, error))
    }

    async fn refused(&self, answer: Response) -> TransferError {
        let url = self.shown.clone();
        let status = answer.status();
        match status {
            StatusCode::NOT_FOUND | StatusCode::GONE => TransferError::Missing { url },
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                TransferError::Denied { url, why: status.to_string() }
            }
            _ => {
                let passing = status.is_server_error()
                    || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
                self.failed(&format!("the server responded with {status}"), passing)
            }
        }
    }

    fn failed(&self, why: &str, passing: bool) -> TransferError {
        TransferError::Failed { url: self.shown.clone(), why: why.to_owned(), passing }
    }
}

/// The URL without its signature, so that a new signature continues an old transfer.
pub(crate) fn without_signature(url: &Url) -> String {
    let mut plain = url.clone();
    let _ = plain.set_username("");
    let _ = plain.set_password(None);
    let passing = |key: &str| {
        let key = key.to_ascii_lowercase();
        key.starts_with("x-amz-") || key.starts_with("q-") || key == "signature" || key == "expires"
    };
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| !passing(key))
        .map(|(k, v)| (k.into_owned(), v.into_owned()))
        .collect();
    plain.set_query(None);
    if !kept.is_empty() {
        plain.query_pairs_mut().extend_pairs(kept);
    }
    plain.into()
}

fn identity(headers: &HeaderMap, size: Option<u64>) -> Identity {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Identity { address: String::new(), size, etag: text(ETAG), modified: text(LAST_MODIFIED) }
}

fn number(value: Option<&reqwest::header::HeaderValue>) -> Option<u64> {
    value?.to_str().ok()?.trim().parse().ok()
}

/// First byte and total of `bytes 0-99/1234`.
fn content_range(headers: &HeaderMap) -> Option<(u64, Option<u64>)> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.trim().strip_prefix("bytes ")?;
    let (span, total) = text.split_once('/')?;
    Some((span.split_once('-')?.0.trim().parse().ok()?, total.trim().parse().ok()))
}

/// Total of `bytes */0`.
fn content_range_total(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_RANGE)?.to_str().ok()?.rsplit_once('/')?.1.trim().parse().ok()
}
