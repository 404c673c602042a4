//! Requests that other sites make browsers send. The cookie is SameSite=Lax; this is the second wall, and the only one
//! where there is no cookie yet, as at signing in. Browsers say where a request comes from: `Sec-Fetch-Site`, and older
//! ones `Origin`. Programs say neither, and need no wall: nobody can make them send their token.

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use url::Url;

use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Refuses a request that changes something and comes from another site's page. One that becomes another protocol, as a
/// WebSocket does, may change what it likes, and no browser keeps a page from opening it.
pub(crate) fn check(web: &Web, parts: &Parts) -> ApiResult<()> {
    let only_reads = parts.method.is_safe() && !parts.headers.contains_key(header::UPGRADE);
    let harmless = only_reads || parts.headers.contains_key(header::AUTHORIZATION);
    if harmless || is_ours(&parts.headers, &web.settings().url) {
        return Ok(());
    }
    Err(ApiError::forbidden(
        "this comes from another site's page: do it on a page of this server, or send an API token",
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
        // Through a proxy that browsers do not see.
        assert!(ours(&[("sec-fetch-site", "cross-site"), ("origin", "https://cubeloom.example.org")]));
        assert!(ours(&[("origin", "http://10.0.0.1:8080"), ("host", "10.0.0.1:8080")]));
    }

    #[test]
    fn what_other_pages_send_does_not() {
        assert!(!ours(&[("sec-fetch-site", "cross-site")]));
        assert!(!ours(&[("sec-fetch-site", "same-site"), ("origin", "https://other.example.org")]));
        assert!(!ours(&[("origin", "https://evil.example"), ("host", "cubeloom.example.org")]));
        assert!(!ours(&[("origin", "null"), ("host", "cubeloom.example.org")]));
        // What claims to be from here by its host alone says so too late.
        let said = [("sec-fetch-site", "cross-site"), ("origin", "http://10.0.0.1"), ("host", "10.0.0.1")];
        assert!(!ours(&said));
    }
}
