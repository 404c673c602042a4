//! A client for the used part of Prometheus' HTTP API: instant and range queries.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::time::Duration;

use cubeloom_domain::monitoring::MonitoringSettings;
use thiserror::Error as ThisError;
use url::Url;

use crate::answer::{Sample, Series, instant, range};

/// Timeout of a query.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of a response, in bytes: for 10,000 GPUs, one metric is 1 MB.
const MOST: usize = 64 << 20;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum SourceError {
    /// The address is invalid.
    #[error("`{0}` is not the address of a Prometheus: write one like http://prometheus.monitoring:9090")]
    NoAddress(String),
    /// It is unreachable, or does not respond in time.
    #[error("Prometheus is unreachable: {0}")]
    Away(String),
    /// It responds, but not to all queries within this many seconds.
    #[error("Prometheus is too slow: a query takes more than {0} s")]
    Slow(u64),
    /// It requires credentials, or rejects these.
    #[error(
        "Prometheus requires a password or a token, or rejects this one (status {0}): correct it in the cluster's settings"
    )]
    Unknown(u16),
    /// It rejects the query.
    #[error("Prometheus refuses: {0}")]
    Refused(String),
    /// The response is not one of a Prometheus.
    #[error("the server at this address is not a Prometheus: {0}")]
    NotUnderstood(String),
    /// The response is too large.
    #[error(
        "the response of Prometheus exceeds 64 MiB: set the cluster's labels, so that queries match less"
    )]
    TooMuch,
}

/// A Prometheus, or a compatible server.
#[derive(Clone, Debug)]
pub struct Prometheus {
    client: reqwest::Client,
    /// With a trailing slash.
    base: Url,
    /// Matchers for every selector, e.g. `cluster="east",`.
    matchers: String,
    /// Credentials, if it requires them.
    login: Login,
}

/// Credentials for a Prometheus.
#[derive(Clone)]
enum Login {
    /// None required.
    Anybody,
    /// A bearer token.
    Bearer(String),
    /// User name and password.
    Basic(String, String),
}

/// Never shows tokens or passwords.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anybody => "Anybody",
            Self::Bearer(_) => "Bearer",
            Self::Basic(..) => "Basic",
        })
    }
}

/// A time range by Prometheus' clock, in seconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    /// Start of the time range.
    pub(crate) start: f64,
    /// End of the time range.
    pub(crate) end: f64,
    /// Interval between two timestamps.
    pub(crate) step: f64,
}

impl Prometheus {
    /// The Prometheus in a cluster's settings, with its stored password or token. `None` if they have none.
    /// It is not contacted yet.
    ///
    /// # Errors
    /// The address is invalid.
    pub fn of(settings: &MonitoringSettings, secret: Option<String>) -> Result<Option<Self>, SourceError> {
        let Some(address) = &settings.prometheus else { return Ok(None) };
        let wrong = || SourceError::NoAddress(address.clone());
        let mut base = Url::parse(address).map_err(|_| wrong())?;
        let plain = base.query().is_none() && base.fragment().is_none() && base.password().is_none();
        if !matches!(base.scheme(), "http" | "https")
            || !base.has_host()
            || !plain
            || !base.username().is_empty()
        {
            return Err(wrong());
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let client = client().map_err(|error| SourceError::Away(in_words(&error)))?;
        let login = match (settings.user.clone(), secret) {
            (_, None) => Login::Anybody,
            (None, Some(token)) => Login::Bearer(token),
            (Some(user), Some(password)) => Login::Basic(user, password),
        };
        Ok(Some(Self { client, base, matchers: matchers(&settings.labels), login }))
    }

    /// The address, for display.
    #[must_use]
    pub fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Matchers for every selector.
    pub(crate) fn matchers(&self) -> &str {
        &self.matchers
    }

    /// The value of an expression now, by Prometheus' clock.
    pub(crate) async fn instant(&self, query: &str) -> Result<Vec<Sample>, SourceError> {
        let body = self.ask("api/v1/query", &[("query", query.to_owned())]).await?;
        instant(&body).map_err(SourceError::NotUnderstood)
    }

    /// The values of an expression over time.
    pub(crate) async fn range(&self, query: &str, over: Stretch) -> Result<Vec<Series>, SourceError> {
        let words = [
            ("query", query.to_owned()),
            ("start", over.start.to_string()),
            ("end", over.end.to_string()),
            ("step", over.step.to_string()),
        ];
        let body = self.ask("api/v1/query_range", &words).await?;
        range(&body).map_err(SourceError::NotUnderstood)
    }

    /// Expressions are too long for a URL: they are sent as a form.
    async fn ask(&self, path: &str, words: &[(&str, String)]) -> Result<Vec<u8>, SourceError> {
        let url = self.base.join(path).map_err(|_| SourceError::NoAddress(self.base.to_string()))?;
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(words).finish();
        let request =
            self.client.post(url).header("content-type", "application/x-www-form-urlencoded").body(form);
        let request = match &self.login {
            Login::Anybody => request,
            Login::Bearer(token) => request.bearer_auth(token),
            Login::Basic(user, password) => request.basic_auth(user, Some(password)),
        };
        let away = |error: reqwest::Error| SourceError::Away(in_words(&error.without_url()));
        let mut response = request.send().await.map_err(away)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(away)? {
            if body.len() + chunk.len() > MOST {
                return Err(SourceError::TooMuch);
            }
            body.extend_from_slice(&chunk);
        }
        if status.is_success() { Ok(body) } else { Err(refusal(status.as_u16(), &body)) }
    }
}

/// Prometheus has the reason in `error`; a proxy in front of it may send anything.
fn refusal(status: u16, body: &[u8]) -> SourceError {
    if matches!(status, 401 | 403) {
        return SourceError::Unknown(status);
    }
    let said: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let why = said.as_ref().and_then(|said| said["error"].as_str());
    SourceError::Refused(
        why.map_or_else(|| format!("status {status}"), |why| format!("{why} (status {status})")),
    )
}

/// A client without redirects and proxies.
fn client() -> reqwest::Result<reqwest::Client> {
    // A second call fails because the first one's provider is installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let begin = || {
        reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .connect_timeout(PATIENCE / 3)
            .user_agent(concat!("Cubeloom/", env!("CARGO_PKG_VERSION")))
    };
    // Minimal machines have no CA certificates; plain HTTP must work there anyway.
    begin().build().or_else(|_| begin().tls_certs_only([]).build())
}

/// Label matchers of a selector, each followed by a comma.
fn matchers(labels: &BTreeMap<String, String>) -> String {
    labels.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, "{name}={},", quoted(value));
        text
    })
}

/// A text as a PromQL string.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// An error with its causes, in one line.
fn in_words(error: &dyn Error) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Result<Option<Prometheus>, SourceError> {
        Prometheus::of(
            &MonitoringSettings { prometheus: Some(address.into()), ..MonitoringSettings::default() },
            None,
        )
    }

    #[test]
    fn an_address_may_have_a_path_and_no_password() {
        for (given, expected) in [
            ("http://prometheus:9090", "http://prometheus:9090"),
            ("https://metrics.example.org/prometheus/", "https://metrics.example.org/prometheus"),
        ] {
            assert_eq!(at(given).unwrap().unwrap().address(), expected);
        }
        for wrong in
            ["prometheus:9090", "file:///etc/passwd", "http://u:p@prometheus", "http://p/?query=1", ""]
        {
            assert_eq!(at(wrong).unwrap_err(), SourceError::NoAddress(wrong.into()), "{wrong}");
        }
        assert!(Prometheus::of(&MonitoringSettings::default(), None).unwrap().is_none());
    }

    #[test]
    fn labels_cannot_end_their_selector() {
        let labels = BTreeMap::from([("cluster".to_owned(), "a\"} or vector(1) #\\".to_owned())]);
        assert_eq!(matchers(&labels), "cluster=\"a\\\"} or vector(1) #\\\\\",");
    }

    #[test]
    fn a_refusal_says_why() {
        let told = refusal(400, br#"{"status":"error","errorType":"bad_data","error":"parse error"}"#);
        assert_eq!(told.to_string(), "Prometheus refuses: parse error (status 400)");
        assert_eq!(refusal(401, b"Unauthorized"), SourceError::Unknown(401));
        assert_eq!(refusal(502, b"<html>").to_string(), "Prometheus refuses: status 502");
    }
}
