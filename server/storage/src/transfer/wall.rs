//! Allowed addresses of stores that a user has named. Blocks the server's own machine, and addresses with a
//! meaning only on this network, such as a cloud's metadata service. The client resolves a name once and
//! connects to the result. So a name that resolves differently the second time gains nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use http::{Request, Response};
use opendal::{Buffer, Error, ErrorKind, HttpBody, HttpRedirect, HttpTransport};
use opendal_http_transport_reqwest::ReqwestTransport;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The error for a blocked store.
pub const REFUSED: &str = "the address belongs to the server's own machine or network: an administrator can allow it with [server] private_endpoints";

/// Metadata services of clouds outside the link-local range.
const METADATA: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// Whether an address belongs to this machine, or has a meaning only on this network.
#[must_use]
pub fn is_inner(address: IpAddr) -> bool {
    let address = plain(address);
    let special = match address {
        IpAddr::V4(short) => short.is_link_local() || short.is_broadcast() || short.octets()[0] == 0,
        IpAddr::V6(long) => long.is_unicast_link_local(),
    };
    special
        || address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || METADATA.contains(&address)
}

/// Whether an address is one of these, or of a private network, where programs trust their neighbours.
#[must_use]
pub fn is_private(address: IpAddr) -> bool {
    let private = match plain(address) {
        IpAddr::V4(short) => {
            let shared = short.octets()[0] == 100 && short.octets()[1] & 0xc0 == 64;
            short.is_private() || shared
        }
        IpAddr::V6(long) => long.is_unique_local(),
    };
    private || is_inner(address)
}

/// Whether a URL contains such an address itself.
#[must_use]
pub fn names_inner(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let bare = host.trim_matches(['[', ']']).trim_end_matches('.');
    let own_name =
        bare.eq_ignore_ascii_case("localhost") || bare.to_ascii_lowercase().ends_with(".localhost");
    own_name || bare.parse().is_ok_and(is_inner)
}

/// The IPv4 address embedded in an IPv6 address, if any.
fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(long) = address.to_canonical() else { return address.to_canonical() };
    let bits = long.to_bits();
    let last = || Ipv4Addr::from_bits((bits & u128::from(u32::MAX)) as u32).into();
    match long.segments() {
        // NAT64, and deprecated IPv4-compatible addresses, except special ones.
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => last(),
        [0, 0, 0, 0, 0, 0, high, _] if high != 0 => last(),
        // 6to4
        [0x2002, high, low, ..] => Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)).into(),
        _ => long.into(),
    }
}

/// Resolves names, and rejects blocked addresses.
pub(super) struct Outside;

impl Resolve for Outside {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let (inner, outer): (Vec<SocketAddr>, Vec<_>) = found.partition(|found| is_inner(found.ip()));
            // A single blocked address is enough to reject: the owner of the name could make the others fail.
            if outer.is_empty() || !inner.is_empty() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, REFUSED).into());
            }
            Ok(Box::new(outer.into_iter()) as Addrs)
        })
    }
}

/// Sends requests, except to blocked literal addresses, which bypass the resolver.
pub(super) struct Walled(pub(super) ReqwestTransport);

impl HttpTransport for Walled {
    async fn fetch(&self, request: Request<Buffer>) -> opendal::Result<Response<HttpBody>> {
        let redirect = request.extensions().get::<HttpRedirect>();
        let redirect = redirect.is_some_and(|redirect| names_inner(redirect.uri().original_uri()));
        if redirect || names_inner(&request.uri().to_string()) {
            return Err(Error::new(ErrorKind::PermissionDenied, REFUSED));
        }
        self.0.fetch(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_form() {
        for private in [
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "100.64.0.1",
            "fd12::1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "127.0.0.1",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:4860:4860::8888"] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn inner_addresses_are_known_in_every_form() {
        for inner in [
            "127.0.0.1",
            "127.8.9.10",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "255.255.255.255",
            "224.0.0.1",
            "100.100.100.200",
            "::1",
            "::",
            "fe80::1",
            "fd00:ec2::254",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "::a9fe:a9fe",
            "2002:7f00:1::",
        ] {
            assert!(is_inner(inner.parse().unwrap()), "{inner}");
        }
        for outer in
            ["10.0.0.1", "192.168.1.1", "93.184.216.34", "2001:db8::1", "64:ff9b::808:808", "fd00::1"]
        {
            assert!(!is_inner(outer.parse().unwrap()), "{outer}");
        }
    }

    #[test]
    fn a_url_is_read_as_clients_read_it() {
        for inner in [
            "http://127.0.0.1:9000",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://017700000001/",
            "http://[::1]:9000",
            "http://[::ffff:7f00:1]/",
            "http://LocalHost:9000/",
            "http://a.localhost",
            "http://localhost./",
            "http://169.254.169.254/latest",
            "http://user@169.254.169.254/",
        ] {
            assert!(names_inner(inner), "{inner}");
        }
        for outer in ["https://s3.example.org", "http://10.0.0.7:9000", "http://localhost.example.org"] {
            assert!(!names_inner(outer), "{outer}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_not_followed() {
        let refused = Outside.resolve("localhost".parse().unwrap()).await;
        assert!(refused.is_err_and(|error| error.to_string() == REFUSED));
    }
}
