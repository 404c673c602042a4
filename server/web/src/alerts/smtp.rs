//! E-mail, by the server that the configuration names.

use std::time::Duration;

use cubeloom_alerts::Message;
use cubeloom_alerts::address::receivers;
use cubeloom_alerts::email::email;
use cubeloom_domain::Timestamp;
use lettre::address::Envelope;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};

use super::http::in_words;
use super::{SmtpSettings, SmtpTls};

/// How long each answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sends a message to a list of addresses; what the server said. `Err` says why it did not take it.
pub(super) async fn mail(
    settings: &SmtpSettings,
    to: &str,
    message: &Message,
    now: Timestamp,
) -> Result<String, String> {
    let to = receivers(to);
    let envelope = envelope(&settings.from, &to)?;
    let text = email(message, &settings.from, &to, now);
    let transport = transport(settings).map_err(|error| in_words(&error))?;
    let answer = transport.send_raw(&envelope, text.as_bytes()).await.map_err(|error| in_words(&error))?;
    let said: Vec<&str> = answer.message().collect();
    Ok(format!("SMTP {}: {}", answer.code(), said.join(" ")))
}

fn transport(
    settings: &SmtpSettings,
) -> Result<AsyncSmtpTransport<Tokio1Executor>, lettre::transport::smtp::Error> {
    let parameters = || TlsParameters::new(settings.host.clone());
    let tls = match settings.tls {
        SmtpTls::Never => Tls::None,
        SmtpTls::StartTls => Tls::Required(parameters()?),
        SmtpTls::Always => Tls::Wrapper(parameters()?),
    };
    let builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host);
    let builder = builder.port(settings.port).tls(tls).timeout(Some(PATIENCE));
    let builder = match &settings.account {
        Some((user, password)) => builder.credentials(Credentials::new(user.clone(), password.clone())),
        None => builder,
    };
    Ok(builder.build())
}

fn envelope(from: &str, to: &[String]) -> Result<Envelope, String> {
    let bare = from.rsplit_once('<').map_or(from, |(_, rest)| rest.trim_end_matches('>'));
    let address = |text: &str| {
        text.trim().parse::<Address>().map_err(|error| format!("`{text}` is no e-mail address: {error}"))
    };
    let to = to.iter().map(|one| address(one)).collect::<Result<_, _>>()?;
    Envelope::new(Some(address(bare)?), to).map_err(|error| in_words(&error))
}
