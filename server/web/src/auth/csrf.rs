//! Protection against cross-site requests. The cookie is SameSite=Lax. This is the second defense, and the
//! only one without a cookie, as at sign-in. Browsers send the origin in `Sec-Fetch-Site`, older ones in
//! `Origin`. Other clients send neither and are safe: no website can make them send their token.

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use url::Url;

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Refuses a modifying request from another site. A protocol upgrade (WebSocket) counts as modifying:
/// browsers allow cross-site WebSockets.
pub(crate) fn check(web: &Web, parts: &Parts) -> ApiResult<()> {
    let only_reads = parts.method.is_safe() && !parts.headers.contains_key(header::UPGRADE);
    let harmless = only_reads || parts.headers.contains_key(header::AUTHORIZATION);
    if harmless || is_ours(&parts.headers, &web.settings().url) {
        return Ok(());
    }
    Err(ApiError::forbidden(
        "this request comes from another site: use a page of this server, or send an API token",
    ))
}

fn is_ours(headers: &HeaderMap, url: &str) -> bool {
    let said = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    let (site, origin) = (said("sec-fetch-site"), said("origin"));
    if matches!(site, Some("same-origin" | "none")) {
        return true;
    }
    let Some(origin) = origin else { return site.is_none() };
    if Url::parse(url).is_ok_and(|url| url.origin().ascii_serialization() == origin) {
        return true;
    }
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    site.is_none() && authority.is_some() && authority == said("host")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(said: &[(&'static str, &'static str)]) -> bool {
        let headers = said.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        is_ours(&HeaderMap::from_iter(headers), "https://cubeloom.example.org")
    }

    #[test]
    fn what_our_pages_and_programs_send_passes() {
        assert!(ours(&[]));
        assert!(ours(&[("sec-fetch-site", "same-origin"), ("origin", "http://localhost:8080")]));
        assert!(ours(&[("sec-fetch-site", "none")]));
        assert!(ours(&[("origin", "https://cubeloom.example.org")]));
        // Behind a proxy that browsers do not see.
        assert!(ours(&[("sec-fetch-site", "cross-site"), ("origin", "https://cubeloom.example.org")]));
        assert!(ours(&[("origin", "http://10.0.0.1:8080"), ("host", "10.0.0.1:8080")]));
    }

    #[test]
    fn what_other_pages_send_does_not() {
        assert!(!ours(&[("sec-fetch-site", "cross-site")]));
        assert!(!ours(&[("sec-fetch-site", "same-site"), ("origin", "https://other.example.org")]));
        assert!(!ours(&[("origin", "https://evil.example"), ("host", "cubeloom.example.org")]));
        assert!(!ours(&[("origin", "null"), ("host", "cubeloom.example.org")]));
        // `Sec-Fetch-Site` overrides a matching host.
        let said = [("sec-fetch-site", "cross-site"), ("origin", "http://10.0.0.1"), ("host", "10.0.0.1")];
        assert!(!ours(&said));
    }
}
