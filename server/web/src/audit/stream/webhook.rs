//! Sends batches as JSON lines by HTTP. A 2xx response acknowledges the batch.

use std::fmt;
use std::time::Duration;

use cubeloom_domain::identity::AuditEntry;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use url::Url;

use crate::alerts::in_words;
use crate::api::audit::json_line;

/// Request timeout.
const TIMEOUT: Duration = Duration::from_secs(20);

/// HTTP receiver of JSON lines.
#[derive(Clone)]
pub struct Webhook {
    url: Url,
    authorization: Option<HeaderValue>,
}

/// Omits the path, which is often a secret, and the header.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

impl Webhook {
    /// Receiver at this URL. `authorization` is the value of that header.
    ///
    /// # Errors
    /// The URL or the header is invalid.
    pub fn new(url: &str, authorization: Option<&str>) -> Result<Self, String> {
        let url =
            Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or("it is not a URL: use https://HOST/PATH or http://HOST/PATH")?;
        let header =
            |text| HeaderValue::from_str(text).map_err(|_| "authorization is not a valid header value");
        let mut authorization = authorization.map(header).transpose()?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        Ok(Self { url, authorization })
    }

    /// Sends entries. `Err` says why the receiver did not accept them.
    pub(super) async fn send(&self, entries: &[AuditEntry]) -> Result<(), String> {
        let body: String = entries.iter().map(|entry| json_line(entry.clone())).collect();
        let client = client().map_err(|error| in_words(&error))?;
        let mut request =
            client.post(self.url.clone()).header(CONTENT_TYPE, "application/x-ndjson").body(body);
        if let Some(value) = &self.authorization {
            request = request.header(AUTHORIZATION, value.clone());
        }
        let response = request.send().await.map_err(|error| in_words(&error.without_url()))?;
        let status = response.status();
        if status.is_success() { Ok(()) } else { Err(format!("the receiver responded {status}")) }
    }
}

/// A client without redirects.
fn client() -> reqwest::Result<reqwest::Client> {
    // A second call fails because the first one installed the provider, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let begin = || {
        reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(TIMEOUT)
            .user_agent(concat!("Cubeloom/", env!("CARGO_PKG_VERSION")))
    };
    // Minimal machines have no CA certificates. Plain HTTP must still work there.
    begin().build().or_else(|_| begin().tls_certs_only([]).build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_secrets_are_not_shown() {
        let hook = Webhook::new("https://logs.example.org/in?key=hidden", Some("Bearer s3cret")).unwrap();
        assert_eq!(format!("{hook:?}"), "Webhook { host: Some(\"logs.example.org\"), .. }");
        assert!(!format!("{:?}", hook.authorization).contains("s3cret"));
        for wrong in ["logs.example.org", "ftp://logs.example.org", ""] {
            assert!(Webhook::new(wrong, None).is_err(), "{wrong}");
        }
        assert!(Webhook::new("https://logs.example.org", Some("a\nb")).is_err());
    }
}
