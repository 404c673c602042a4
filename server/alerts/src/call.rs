//! The request for each kind of HTTP receiver, in the format that its vendor documents.

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::{ChannelKind, Language};
use serde_json::{Value, json};
use thiserror::Error;
use url::Url;

use crate::message::{Message, cut};
use crate::sign;

/// Maximum text size of WeCom, in bytes. <https://developer.work.weixin.qq.com/document/path/91770>
const WECOM_MOST: usize = 2048;
/// Maximum text size for DingTalk and Feishu, which accept 20 kB in total.
const TEXT_MOST: usize = 8_000;
/// Maximum size of a Slack block, in characters.
/// <https://docs.slack.dev/reference/block-kit/blocks/section-block>
const SLACK_MOST: usize = 2_900;

/// A `POST` request with a JSON body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub url: String,
    /// Headers besides `content-type`.
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// Why there is no request for a message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// Email is not sent by HTTP.
    #[error("e-mail is not sent by HTTP")]
    Email,
    /// The stored address is invalid.
    #[error("the address is not a URL")]
    Address(#[from] url::ParseError),
}

/// The request that delivers a message to a receiver at `address`, signed with `secret` at this time.
///
/// # Errors
/// The kind is email, or the address is not a URL.
pub fn call(
    kind: ChannelKind,
    address: &str,
    secret: Option<&str>,
    message: &Message,
    now: Timestamp,
) -> Result<Call, CallError> {
    let url = Url::parse(address)?;
    let plain = |url: Url, body: Value| Call { url: url.into(), headers: Vec::new(), body: body.to_string() };
    Ok(match kind {
        ChannelKind::Webhook => webhook(url, secret, message, now),
        ChannelKind::Slack => plain(url, slack(message)),
        ChannelKind::Feishu => plain(url, feishu(secret, message, now)),
        ChannelKind::Dingtalk => {
            let signed = secret.map_or(url.clone(), |secret| signed(url, secret, now));
            plain(signed, json!({"msgtype": "text", "text": {"content": message.plain(TEXT_MOST)}}))
        }
        ChannelKind::Wecom => {
            plain(url, json!({"msgtype": "text", "text": {"content": message.plain(WECOM_MOST)}}))
        }
        ChannelKind::Email => return Err(CallError::Email),
    })
}

fn webhook(url: Url, secret: Option<&str>, message: &Message, now: Timestamp) -> Call {
    let seconds = now.0.div_euclid(1_000_000);
    let body = document(message).to_string();
    let mut headers =
        vec![("cubeloom-delivery", message.id.clone()), ("cubeloom-timestamp", seconds.to_string())];
    if let Some(secret) = secret {
        headers
            .push(("cubeloom-signature", format!("v1={}", sign::webhook(secret, seconds, body.as_bytes()))));
    }
    Call { url: url.into(), headers, body }
}

/// The body for webhooks. docs/alerts.md documents its fields.
fn document(message: &Message) -> Value {
    let alerts: Vec<Value> = message
        .alerts
        .iter()
        .map(|told| {
            let alert = &told.alert;
            let fields = json!({
                "id": told.id,
                "kind": alert.kind.as_str(),
                "at": moment(alert.at),
                "project": alert.project,
                "pipeline": alert.pipeline,
                "run": alert.run,
                "task": alert.task,
                "count": alert.count,
                "since": alert.since.map(moment),
                "user": alert.user,
                "title": told.title,
                "url": told.url,
            });
            without_null(fields)
        })
        .collect();
    json!({
        "id": message.id,
        "title": message.title,
        "text": message.lines.join("\n"),
        "alerts": alerts,
    })
}

fn without_null(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        other => other,
    }
}

/// RFC 3339, in UTC, with microseconds, as in the REST API.
fn moment(at: Timestamp) -> String {
    let time = jiff::Timestamp::from_microsecond(at.0).unwrap_or_default();
    format!("{time:.6}")
}

/// <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>: notifications show `text`.
fn slack(message: &Message) -> Value {
    let mut text = format!("*{}*", escaped(&message.headline()));
    for line in &message.lines {
        text.push('\n');
        text.push_str(&escaped(line));
    }
    let mut text = cut(&text, SLACK_MOST);
    if let Some((words, url)) = &message.link {
        text.push_str(&format!("\n<{}|{}>", escaped(url), escaped(words)));
    }
    json!({
        "text": escaped(&message.headline()),
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": text}}],
    })
}

/// Escapes the three special characters of Slack's texts.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// <https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot>: rich text, a list of parts per
/// line.
fn feishu(secret: Option<&str>, message: &Message, now: Timestamp) -> Value {
    let text = cut(&message.lines.join("\n"), TEXT_MOST);
    let mut lines: Vec<Value> = text.lines().map(|line| json!([{"tag": "text", "text": line}])).collect();
    if let Some((words, url)) = &message.link {
        lines.push(json!([{"tag": "a", "text": words, "href": url}]));
    }
    let language = match message.language {
        Language::En => "en_us",
        Language::Zh => "zh_cn",
    };
    let mut body = json!({
        "msg_type": "post",
        "content": {"post": {language: {"title": message.headline(), "content": lines}}},
    });
    if let Some(secret) = secret {
        let seconds = now.0.div_euclid(1_000_000);
        body["timestamp"] = seconds.to_string().into();
        body["sign"] = sign::feishu(secret, seconds).into();
    }
    body
}

/// Adds the timestamp and the signature to the query.
fn signed(mut url: Url, secret: &str, now: Timestamp) -> Url {
    let millis = now.0.div_euclid(1_000);
    let sign = sign::dingtalk(secret, millis);
    url.query_pairs_mut().append_pair("timestamp", &millis.to_string()).append_pair("sign", &sign);
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::tests::message;

    const NOW: Timestamp = Timestamp(1_790_000_001_234_567);

    fn shown(kind: ChannelKind, secret: Option<&str>, language: Language) -> Value {
        let call =
            call(kind, "https://hooks.example.org/in?key=abc", secret, &message(language), NOW).unwrap();
        let body: Value = serde_json::from_str(&call.body).unwrap();
        json!({"url": call.url, "headers": call.headers, "body": body})
    }

    #[test]
    fn each_kind_has_the_form_of_its_vendor() {
        for kind in [
            ChannelKind::Webhook,
            ChannelKind::Slack,
            ChannelKind::Feishu,
            ChannelKind::Dingtalk,
            ChannelKind::Wecom,
        ] {
            insta::assert_json_snapshot!(
                kind.as_str(),
                shown(kind, Some("s3cret").filter(|_| kind.signs()), Language::En)
            );
            insta::assert_json_snapshot!(format!("{kind}-zh"), shown(kind, None, Language::Zh));
        }
    }

    #[test]
    fn a_webhook_is_signed_over_the_bytes_that_are_sent() {
        let call =
            call(ChannelKind::Webhook, "https://a.example", Some("k"), &message(Language::En), NOW).unwrap();
        let signature = &call.headers.iter().find(|(name, _)| *name == "cubeloom-signature").unwrap().1;
        assert_eq!(*signature, format!("v1={}", sign::webhook("k", 1_790_000_001, call.body.as_bytes())));
    }

    #[test]
    fn no_text_is_longer_than_its_receiver_takes() {
        let mut long = message(Language::Zh);
        long.lines = vec!["字".repeat(20_000)];
        let body = |kind| {
            let call = call(kind, "https://a.example", None, &long, NOW).unwrap();
            (serde_json::from_str::<Value>(&call.body).unwrap(), call.body.len())
        };
        let (wecom, _) = body(ChannelKind::Wecom);
        assert!(wecom["text"]["content"].as_str().unwrap().len() <= 2048);
        let (slack, _) = body(ChannelKind::Slack);
        assert!(slack["blocks"][0]["text"]["text"].as_str().unwrap().chars().count() <= 3000);
        assert!(body(ChannelKind::Feishu).1 < 20_000 && body(ChannelKind::Dingtalk).1 < 20_000);
    }
}
