//! HTTP receivers. Project members choose the addresses. Host names are resolved once and refused if they
//! point inside. The connection goes to the checked address.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use cubeloom_alerts::Call;
use cubeloom_storage::transfer::wall;
use reqwest::header::CONTENT_TYPE;
use url::{Host, Url};

/// Request timeout.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum bytes of a response to read.
const MOST: usize = 16 << 10;

const REFUSED: &str = "the address belongs to the server's machine or a private network: an administrator can \
                       allow these with [alerts] private_addresses";

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// Sends a request. `Err` says why there is no response. It never contains the URL's path, which is often a
/// secret.
pub(super) async fn post(call: &Call, inner: bool) -> Result<Answer, String> {
    let url = Url::parse(&call.url).map_err(|_| "the channel's address is not a URL".to_owned())?;
    let (host, addresses) = resolved(&url).await?;
    if !inner && addresses.iter().any(|address| wall::is_private(address.ip())) {
        return Err(REFUSED.into());
    }
    let client = client(&host, &addresses).map_err(|error| in_words(&error))?;
    let mut request = client.post(url).header(CONTENT_TYPE, "application/json").body(call.body.clone());
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let mut response = request.send().await.map_err(|error| in_words(&error.without_url()))?;
    let (status, mut body) = (response.status().as_u16(), Vec::new());
    // The request was accepted, even if the rest of the response is lost.
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk[..chunk.len().min(MOST - body.len())]);
        if body.len() == MOST {
            break;
        }
    }
    Ok(Answer { status, body: String::from_utf8_lossy(&body).into_owned() })
}

/// The host of a URL, and all its addresses.
async fn resolved(url: &Url) -> Result<(String, Vec<SocketAddr>), String> {
    let port = url.port_or_known_default().unwrap_or(443);
    let host = match url.host() {
        Some(Host::Ipv4(address)) => return Ok((address.to_string(), vec![(address, port).into()])),
        Some(Host::Ipv6(address)) => return Ok((address.to_string(), vec![(address, port).into()])),
        Some(Host::Domain(name)) => name.to_owned(),
        None => return Err("the channel's address has no host".into()),
    };
    let looked = async { tokio::net::lookup_host((host.as_str(), port)).await.map(Vec::from_iter) };
    let found: Vec<SocketAddr> = match tokio::time::timeout(PATIENCE, looked).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return Err(format!("`{host}` has no address: {error}")),
        Err(_) => return Err(format!("`{host}` has no address: DNS does not respond")),
    };
    if found.is_empty() { Err(format!("`{host}` has no address")) } else { Ok((host, found)) }
}

/// A client for these addresses only, without redirects.
fn client(host: &str, addresses: &[SocketAddr]) -> reqwest::Result<reqwest::Client> {
    // A second call fails because the first one installed the provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let begin = || {
        reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .user_agent(concat!("Cubeloom/", env!("CARGO_PKG_VERSION")))
            .resolve_to_addrs(host, addresses)
    };
    // Minimal machines have no CA certificates. Plain HTTP must still work there.
    begin().build().or_else(|_| begin().tls_certs_only([]).build())
}

/// An error with its causes, as one line.
pub(crate) fn in_words(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !said.contains(&more) {
            said = format!("{said}: {more}");
        }
        cause = error.source();
    }
    said
}
