//! Sends e-mail through the configured server.

use std::time::Duration;

use cubeloom_alerts::Message;
use cubeloom_alerts::address::receivers;
use cubeloom_alerts::email::email;
use cubeloom_domain::Timestamp;

use super::session::Session;
use super::{SmtpSettings, SmtpTls};

/// Timeout of a delivery.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends a message to a list of addresses. Returns the server's response, or why it was not accepted.
pub(super) async fn mail(
    settings: &SmtpSettings,
    to: &str,
    message: &Message,
    now: Timestamp,
) -> Result<String, String> {
    let to = receivers(to);
    let text = email(message, &settings.from, &to, now);
    let sent = tokio::time::timeout(PATIENCE, hand_over(settings, &to, &text)).await;
    match sent {
        Ok(said) => said,
        Err(_) => Err(format!("no response within {} seconds", PATIENCE.as_secs())),
    }
}

async fn hand_over(settings: &SmtpSettings, to: &[String], text: &str) -> Result<String, String> {
    let mut session = Session::open(&settings.host, settings.port, settings.tls == SmtpTls::Always).await?;
    let mut offered = session.greet().await?;
    if settings.tls == SmtpTls::StartTls {
        session = session.encrypt(&settings.host, &offered).await?;
        offered = session.greet().await?;
    }
    if let Some((user, password)) = &settings.account {
        session.sign_in(&offered, user, password).await?;
    }
    let from = settings.from.rsplit_once('<').map_or(settings.from.as_str(), |(_, rest)| rest);
    session.say(&format!("MAIL FROM:<{}>", from.trim_end_matches('>').trim()), 250).await?;
    for one in to {
        session.say(&format!("RCPT TO:<{one}>"), 25).await?;
    }
    session.say("DATA", 354).await?;
    let said = session.body(text).await?;
    // The message was accepted: the response to QUIT does not matter.
    let _ = session.say("QUIT", 221).await;
    Ok(format!("SMTP {said}"))
}
