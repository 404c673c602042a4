//! Serves a file: ranges, validators, a safe name, and headers that keep it from acting in the browser.

use std::io::{Seek, SeekFrom};
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_storage::browse::{BrowseError, Folder};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::io::AsyncReadExt;
use tokio_util::io::ReaderStream;

use super::blocking;
use crate::error::ApiResult;

/// How the browser handles a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// As a download.
    Download,
    /// In an `img` or a frame with `sandbox`.
    Inline,
}

/// CSP for pages written by tasks: they may only render themselves. They have no origin, so they reach
/// neither the session nor the API.
const PAGE_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; \
     style-src 'unsafe-inline'; img-src data: blob:; font-src data:; frame-ancestors 'self'";

/// Metadata of the served file.
pub(super) struct Sent<'a> {
    pub(super) name: &'a str,
    /// Size, in bytes.
    pub(super) size: u64,
    /// Modification time, in microseconds since the epoch.
    pub(super) modified_us: i64,
}

/// Sends a file, or the requested range.
///
/// # Errors
/// The path is not a file.
pub(crate) async fn serve(
    folder: Arc<Folder>,
    path: &str,
    request: &HeaderMap,
    show: Show,
) -> ApiResult<Response> {
    let inside = path.to_owned();
    let opened = blocking(move || folder.file(&inside)).await?;
    let name = path.rsplit('/').next().unwrap_or_default();
    let sent = Sent { name, size: opened.size, modified_us: opened.modified_us };
    let (mut response, part) = answer(&sent, request, show);
    if let Some((from, length)) = part {
        let (mut file, failed) = (opened.file, path.to_owned());
        let file = blocking(move || match file.seek(SeekFrom::Start(from)) {
            Ok(_) => Ok(file),
            Err(source) => Err(BrowseError::Io { path: failed, source }),
        });
        let content = tokio::fs::File::from_std(file.await?).take(length);
        *response.body_mut() = Body::from_stream(ReaderStream::with_capacity(content, 64 << 10));
    }
    Ok(response)
}

/// ETag from the size and the modification time in microseconds since the epoch.
pub(super) fn tag(size: u64, modified_us: i64) -> String {
    format!("\"{size:x}-{modified_us:x}\"")
}

/// The response head, and the range of the file to send: start and length.
pub(super) fn answer(sent: &Sent<'_>, request: &HeaderMap, show: Show) -> (Response, Option<(u64, u64)>) {
    let tag = tag(sent.size, sent.modified_us);
    let mut headers = headers(sent.name, show);
    insert(&mut headers, header::ETAG, &tag);
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let has = |name| request.get(name).map(HeaderValue::as_bytes);
    if has(header::IF_NONE_MATCH) == Some(tag.as_bytes()) {
        return ((StatusCode::NOT_MODIFIED, headers).into_response(), None);
    }
    let same = has(header::IF_RANGE).is_none_or(|seen| seen == tag.as_bytes());
    let asked = request.get(header::RANGE).filter(|_| same).and_then(|range| range.to_str().ok());
    let (status, from, length) = match asked.map_or(Asked::All, |text| range(text, sent.size)) {
        Asked::All => (StatusCode::OK, 0, sent.size),
        Asked::Part(range) => {
            let value = format!("bytes {}-{}/{}", range.start(), range.end(), sent.size);
            insert(&mut headers, header::CONTENT_RANGE, &value);
            (StatusCode::PARTIAL_CONTENT, *range.start(), range.end() - range.start() + 1)
        }
        Asked::Beyond => {
            insert(&mut headers, header::CONTENT_RANGE, &format!("bytes */{}", sent.size));
            return ((StatusCode::RANGE_NOT_SATISFIABLE, headers).into_response(), None);
        }
    };
    insert(&mut headers, header::CONTENT_LENGTH, &length.to_string());
    ((status, headers).into_response(), Some((from, length)))
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Media type, guessed from the name.
pub(crate) fn media_type(name: &str) -> String {
    let lower = name.to_lowercase();
    let known = match lower.rsplit_once('.').map(|(_, extension)| extension) {
        // Types that pipelines write and that the list lacks or gets wrong.
        Some("jsonl" | "ndjson" | "log" | "out" | "err" | "rs" | "ts" | "toml" | "cfg" | "conf" | "ini") => {
            "text/plain"
        }
        _ => match mime_guess::from_path(&lower).first_raw().unwrap_or("application/octet-stream") {
            // Our pages may load scripts from this server: files written by tasks must never be served as
            // scripts.
            script if script.ends_with("/javascript") => "text/plain",
            other => other,
        },
    };
    known.to_owned()
}

/// Headers for a file of this name.
pub(crate) fn headers(name: &str, show: Show) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let media_type = media_type(name);
    let text = media_type.starts_with("text/") || media_type == "application/json";
    let content_type = if text { format!("{media_type}; charset=utf-8") } else { media_type };
    insert(&mut headers, header::CONTENT_TYPE, &content_type);
    insert(&mut headers, header::CONTENT_DISPOSITION, &disposition(name, show));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    headers
}

/// The name in both forms (RFC 6266): ASCII for old clients, and the full name.
fn disposition(name: &str, show: Show) -> String {
    let word = if show == Show::Inline { "inline" } else { "attachment" };
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._- ".contains(c) { c } else { '_' }).collect();
    let whole = utf8_percent_encode(name, NON_ALPHANUMERIC);
    format!("{word}; filename=\"{plain}\"; filename*=UTF-8''{whole}")
}

/// Requested part of a file.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    All,
    Part(RangeInclusive<u64>),
    /// Beyond the end of the file.
    Beyond,
}

/// Parses `bytes=a-b`. Multiple or invalid ranges select the whole file, as RFC 9110 allows.
fn range(text: &str, size: u64) -> Asked {
    let Some((from, to)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Asked::All;
    };
    let (from, to) = (from.trim(), to.trim());
    let last = size.saturating_sub(1);
    let range = match (from.parse::<u64>(), to.parse::<u64>()) {
        (Ok(from), Ok(to)) if from <= to => from..=to.min(last),
        (Ok(from), Err(_)) if to.is_empty() => from..=last,
        (Err(_), Ok(count)) if from.is_empty() => {
            if count == 0 {
                return Asked::Beyond;
            }
            size.saturating_sub(count)..=last
        }
        _ => return Asked::All,
    };
    if *range.start() >= size { Asked::Beyond } else { Asked::Part(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_has_it() {
        for (text, asked) in [
            ("bytes=0-0", Asked::Part(0..=0)),
            ("bytes=2-", Asked::Part(2..=9)),
            ("bytes=-3", Asked::Part(7..=9)),
            ("bytes=-30", Asked::Part(0..=9)),
            ("bytes=5-100", Asked::Part(5..=9)),
            ("bytes=10-", Asked::Beyond),
            ("bytes=-0", Asked::Beyond),
            ("bytes=3-2", Asked::All),
            ("bytes=0-1,3-4", Asked::All),
            ("lines=1-2", Asked::All),
            ("bytes=x-", Asked::All),
        ] {
            assert_eq!(range(text, 10), asked, "{text}");
        }
        assert_eq!(range("bytes=0-", 0), Asked::Beyond);
    }

    #[test]
    fn what_tasks_write_is_no_script_of_ours() {
        for name in ["a.js", "A.MJS", "a.es", "a.ecma", "a.jsm", "a.jsx", "a.ts", "a.cjs"] {
            assert!(!media_type(name).contains("script"), "{name}: {}", media_type(name));
        }
        assert_eq!((media_type("a.html"), media_type("a.png")), ("text/html".into(), "image/png".into()));
    }

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let value = disposition("a\"; x=\r\n日.txt", Show::Download);
        assert_eq!(
            value,
            "attachment; filename=\"a__ x____.txt\"; filename*=UTF-8''a%22%3B%20x%3D%0D%0A%E6%97%A5%2Etxt"
        );
        assert!(HeaderValue::from_str(&value).is_ok());
    }
}
