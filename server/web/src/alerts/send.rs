//! Sends one message, through its channel or to a user by mail.

use std::time::Duration;

use cubeloom_alerts::address::mistaken_mail;
use cubeloom_alerts::answer::judged;
use cubeloom_alerts::{Message, call};
use cubeloom_domain::alert::{Channel, ChannelKind};
use cubeloom_domain::identity::User;

use super::{SmtpSettings, http, keys, smtp};
use crate::state::Web;

/// Timeout of a delivery, far shorter than a message's lease.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a message now. Returns the receiver's response, or why it was not accepted.
pub(crate) async fn send(web: &Web, channel: &Channel, message: &Message) -> Result<String, String> {
    match tokio::time::timeout(PATIENCE, sent(web, channel, message)).await {
        Ok(said) => said,
        Err(_) => Err(format!("no response within {} seconds", PATIENCE.as_secs())),
    }
}

async fn sent(web: &Web, channel: &Channel, message: &Message) -> Result<String, String> {
    let (address, secret) = keys::open(web, channel)?;
    if channel.kind == ChannelKind::Email {
        return smtp::mail(mail_server(web)?, &address, message, web.now()).await;
    }
    let call = call(channel.kind, &address, secret.as_deref(), message, web.now());
    let private_addresses = web.settings().alerts.private_addresses;
    let answer = http::post(&call.map_err(|error| error.to_string())?, private_addresses).await?;
    judged(channel.kind, answer.status, &answer.body)
}

/// Mails a message to a user now. Returns the mail server's response, or why it was not accepted.
pub(super) async fn mail(web: &Web, person: &User, message: &Message) -> Result<String, String> {
    // Addresses of accounts are validated less strictly than those of channels.
    let address = person.email.as_deref().unwrap_or_default();
    if let Some(wrong) = mistaken_mail(address) {
        return Err(wrong);
    }
    smtp::mail(mail_server(web)?, address, message, web.now()).await
}

fn mail_server(web: &Web) -> Result<&SmtpSettings, String> {
    let missing = || "the server no longer has an [smtp] host: it cannot send e-mail".to_owned();
    web.settings().alerts.smtp.as_ref().ok_or_else(missing)
}
