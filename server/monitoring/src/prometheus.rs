//! Prometheus' HTTP API, as far as it is needed: an expression now, and over a stretch of time.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::time::Duration;

use cubeloom_domain::monitoring::MonitoringSettings;
use thiserror::Error as ThisError;
use url::Url;

use crate::answer::{Sample, Series, instant, range};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of an answer is taken, in bytes: of 10,000 cards, one measure is 1 MB.
const MOST: usize = 64 << 20;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum SourceError {
    /// The address is none.
    #[error("`{0}` is no address of a Prometheus: write one like http://prometheus.monitoring:9090")]
    NoAddress(String),
    /// Nobody is there, or the answer did not come in time.
    #[error("Prometheus does not answer: {0}")]
    Away(String),
    /// It answers, but not all that was asked in so many seconds.
    #[error("Prometheus is too slow: what was asked of it needs more than {0} s")]
    Slow(u64),
    /// It wants to know who asks, or another one.
    #[error(
        "Prometheus lets nobody in without a password or a token, or not with this one (status {0}): give the right one in the cluster's settings"
    )]
    Unknown(u16),
    /// It answers that it cannot do that.
    #[error("Prometheus refuses: {0}")]
    Refused(String),
    /// What it answers is not what a Prometheus answers.
    #[error("what answers is no Prometheus: {0}")]
    NotUnderstood(String),
    /// It answers more than is taken.
    #[error("Prometheus answers more than 64 MiB: give the cluster's own labels, so that less is asked for")]
    TooMuch,
}

/// A Prometheus, or what speaks like it.
#[derive(Clone, Debug)]
pub struct Prometheus {
    client: reqwest::Client,
    /// With a slash at the end.
    base: Url,
    /// What stands in every selector, e.g. `cluster="east",`.
    matchers: String,
    /// Who asks, where it wants to know.
    login: Login,
}

/// Who asks a Prometheus.
#[derive(Clone)]
enum Login {
    /// It does not want to know.
    Anybody,
    /// Whoever has this token.
    Bearer(String),
    /// A name and its password.
    Basic(String, String),
}

/// Neither tokens nor passwords are shown.
impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anybody => "Anybody",
            Self::Bearer(_) => "Bearer",
            Self::Basic(..) => "Basic",
        })
    }
}

/// A stretch of Prometheus' own time, in seconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stretch {
    /// Start of the time range.
    pub(crate) start: f64,
    /// The last.
    pub(crate) end: f64,
    /// Between two moments.
    pub(crate) step: f64,
}

impl Prometheus {
    /// The one that a cluster's settings name, with the password or the token that is kept for it; `None` where they name none.
    /// Nothing is asked of it yet.
    ///
    /// # Errors
    /// The address is none.
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

    /// The address, for people.
    #[must_use]
    pub fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// What stands in every selector.
    pub(crate) fn matchers(&self) -> &str {
        &self.matchers
    }

    /// The value of an expression now, by its own clock.
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

    /// Expressions are too long for an address: they are sent as a form.
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

/// Prometheus says why in `error`; what stands before it, a proxy, says anything.
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

/// A client that goes where it is told and nowhere else.
fn client() -> reqwest::Result<reqwest::Client> {
    // A second call fails because the first one's provider is in place, which is what is wanted.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let begin = || {
        reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(PATIENCE)
            .connect_timeout(PATIENCE / 3)
            .user_agent(concat!("Cubeloom/", env!("CARGO_PKG_VERSION")))
    };
    // Minimal machines have no certificates of authorities; plain HTTP must work there all the same.
    begin().build().or_else(|_| begin().tls_certs_only([]).build())
}

/// Labels as they stand in a selector, with a comma behind each.
fn matchers(labels: &BTreeMap<String, String>) -> String {
    labels.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, "{name}={},", quoted(value));
        text
    })
}

/// A text as PromQL has it.
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
