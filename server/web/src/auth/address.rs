//! IP addresses of clients.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use crate::state::Web;

/// The client's IP address, as text. Each trusted proxy appends the address of its peer to `X-Forwarded-For`.
/// Clients can forge the entries before those.
pub(crate) fn of_client(web: &Web, parts: &Parts) -> String {
    let peer =
        parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_canonical().to_string());
    behind(&parts.headers, web.settings().proxies).or(peer).unwrap_or_default()
}

/// Key for counting requests of an address. For IPv6 it is the /64 network: a client controls all of its 2^64
/// addresses.
pub(crate) fn network(address: &str) -> String {
    match address.parse() {
        Ok(IpAddr::V6(long)) => {
            let [one, two, three, four, ..] = long.segments();
            format!("{one:x}:{two:x}:{three:x}:{four:x}::/64")
        }
        _ => address.to_owned(),
    }
}

fn behind(headers: &HeaderMap, proxies: usize) -> Option<String> {
    let lines = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok());
    let hops: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    // With fewer proxies than configured, a request counts as one from the proxies' own network.
    let at = hops.len().checked_sub(proxies.clamp(1, hops.len().max(1)))?;
    let hop = hops.get(at).filter(|_| proxies > 0)?;
    hop.parse::<IpAddr>().ok().map(|address| address.to_canonical().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(text: &'static str) -> HeaderMap {
        HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), text.parse().unwrap())])
    }

    #[test]
    fn a_network_of_version_six_counts_as_one() {
        assert_eq!(network("2001:db8:1:2:aaaa::1"), network("2001:db8:1:2:bbbb::2"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network(""), "");
    }

    #[test]
    fn only_what_trusted_proxies_wrote_counts() {
        let headers = forwarded("6.6.6.6, 10.0.0.7,10.0.0.8");
        assert_eq!(behind(&headers, 0), None);
        assert_eq!(behind(&headers, 1).as_deref(), Some("10.0.0.8"));
        assert_eq!(behind(&headers, 2).as_deref(), Some("10.0.0.7"));
        assert_eq!(behind(&headers, 9).as_deref(), Some("6.6.6.6"));
        assert_eq!(behind(&forwarded("nonsense"), 1), None);
        assert_eq!(behind(&HeaderMap::new(), 2), None);
    }
}
