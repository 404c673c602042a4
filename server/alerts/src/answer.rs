//! Interprets a receiver's response: some reject a message in the body of a 200 response.

use cubeloom_domain::alert::ChannelKind;
use serde_json::Value;

use crate::message::cut;

/// Maximum stored size of a response, in bytes.
const KEPT: usize = 500;

/// The receiver's response as text.
///
/// # Errors
/// The response of a receiver that did not accept the message.
pub fn judged(kind: ChannelKind, status: u16, body: &str) -> Result<String, String> {
    let body = body.trim();
    let said = if body.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {body}") };
    let said = cut(&said.replace(char::is_control, " "), KEPT);
    if (200..300).contains(&status) && is_taken(kind, body) { Ok(said) } else { Err(said) }
}

fn is_taken(kind: ChannelKind, body: &str) -> bool {
    let field = |name: &str| serde_json::from_str::<Value>(body).ok()?.get(name)?.as_i64();
    match kind {
        ChannelKind::Webhook | ChannelKind::Slack | ChannelKind::Email => true,
        ChannelKind::Dingtalk | ChannelKind::Wecom => field("errcode") == Some(0),
        // Older bots answer with `StatusCode`.
        ChannelKind::Feishu => field("code").or_else(|| field("StatusCode")) == Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_with_status_200_is_one() {
        let taken = |kind, status, body| judged(kind, status, body).is_ok();
        assert!(taken(ChannelKind::Webhook, 204, "") && !taken(ChannelKind::Webhook, 302, ""));
        assert!(taken(ChannelKind::Slack, 200, "ok") && !taken(ChannelKind::Slack, 404, "no_service"));
        assert!(taken(ChannelKind::Feishu, 200, r#"{"code":0,"msg":"success"}"#));
        assert!(taken(ChannelKind::Feishu, 200, r#"{"StatusCode":0,"StatusMessage":"success"}"#));
        assert!(!taken(ChannelKind::Feishu, 200, r#"{"code":19021,"msg":"sign match fail"}"#));
        for kind in [ChannelKind::Dingtalk, ChannelKind::Wecom] {
            assert!(taken(kind, 200, r#"{"errcode":0,"errmsg":"ok"}"#));
            assert!(
                !taken(kind, 200, r#"{"errcode":310000,"errmsg":"sign not match"}"#)
                    && !taken(kind, 200, "ok")
            );
        }
    }

    #[test]
    fn what_was_said_is_kept_in_words_and_short() {
        assert_eq!(judged(ChannelKind::Webhook, 200, " fine\n"), Ok("HTTP 200: fine".into()));
        assert_eq!(judged(ChannelKind::Webhook, 500, ""), Err("HTTP 500".into()));
        let long = judged(ChannelKind::Webhook, 500, &"é\n".repeat(4000)).unwrap_err();
        assert!(long.len() <= 500 && !long.contains('\n') && long.ends_with('…'));
    }
}
