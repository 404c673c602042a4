//! Sending one message by its channel's way.

use std::time::Duration;

use cubeloom_alerts::answer::judged;
use cubeloom_alerts::{Message, call};
use cubeloom_domain::alert::{Channel, ChannelKind};

use super::{http, keys, smtp};
use crate::state::Web;

/// How long all of it may take: far shorter than a message is leased.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a message now. What the receiver answered; `Err` when it did not take it, and why.
pub(crate) async fn send(web: &Web, channel: &Channel, message: &Message) -> Result<String, String> {
    match tokio::time::timeout(PATIENCE, sent(web, channel, message)).await {
        Ok(said) => said,
        Err(_) => Err(format!("there was no answer within {} seconds", PATIENCE.as_secs())),
    }
}

async fn sent(web: &Web, channel: &Channel, message: &Message) -> Result<String, String> {
    let (address, secret) = keys::open(web, channel)?;
    let settings = &web.settings().alerts;
    if channel.kind == ChannelKind::Email {
        let smtp = settings.smtp.as_ref();
        let smtp = smtp.ok_or("the server has no [smtp] host any more, without which no e-mail is sent")?;
        return smtp::mail(smtp, &address, message, web.now()).await;
    }
    let call = call(channel.kind, &address, secret.as_deref(), message, web.now());
    let answer = http::post(&call.map_err(|error| error.to_string())?, settings.private_addresses).await?;
    judged(channel.kind, answer.status, &answer.body)
}
