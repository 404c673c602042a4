//! Signatures, each by its receiver's published algorithm.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Webhooks: HMAC-SHA256 of `<timestamp>.<body>` with the channel's secret, in hexadecimal. `docs/alerts.md`
/// describes it for receivers.
#[must_use]
pub fn webhook(secret: &str, timestamp: i64, body: &[u8]) -> String {
    let text = format!("{timestamp}.");
    let digest = mac(secret.as_bytes(), &[text.as_bytes(), body]);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Feishu: `<timestamp>\n<secret>` is the key, the text is empty; base64. Seconds.
/// <https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot>
#[must_use]
pub fn feishu(secret: &str, seconds: i64) -> String {
    STANDARD.encode(mac(format!("{seconds}\n{secret}").as_bytes(), &[]))
}

/// DingTalk: the secret is the key, `<timestamp>\n<secret>` the text; base64. Milliseconds.
/// <https://open.dingtalk.com/document/robots/customize-robot-security-settings>
#[must_use]
pub fn dingtalk(secret: &str, millis: i64) -> String {
    STANDARD.encode(mac(secret.as_bytes(), &[format!("{millis}\n{secret}").as_bytes()]))
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length will do");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::*;

    /// HMAC as defined in RFC 2104, from the hash alone.
    fn by_hand(key: &[u8], text: &[u8]) -> Vec<u8> {
        let mut block = [0u8; 64];
        match key.len() {
            0..=64 => block[..key.len()].copy_from_slice(key),
            _ => block[..32].copy_from_slice(&Sha256::digest(key)),
        }
        let pad = |with: u8| block.map(|byte| byte ^ with).to_vec();
        let inner = Sha256::digest([pad(0x36), text.to_vec()].concat());
        Sha256::digest([pad(0x5c), inner.to_vec()].concat()).to_vec()
    }

    #[test]
    fn the_hand_made_hmac_is_the_one_of_rfc_4231() {
        let hex: String = by_hand(b"Jefe", b"what do ya want for nothing?")
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn each_is_what_its_receiver_computes() {
        let long = "s".repeat(100);
        for secret in ["SEC000", "", long.as_str()] {
            let expected = by_hand(format!("1599360473\n{secret}").as_bytes(), b"");
            assert_eq!(feishu(secret, 1_599_360_473), STANDARD.encode(expected));
            let expected = by_hand(secret.as_bytes(), format!("1599360473000\n{secret}").as_bytes());
            assert_eq!(dingtalk(secret, 1_599_360_473_000), STANDARD.encode(expected));
            let expected = by_hand(secret.as_bytes(), b"1599360473.{\"a\":1}");
            let hex: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(webhook(secret, 1_599_360_473, b"{\"a\":1}"), hex);
        }
    }

    // Expected values from Python's hmac, base64 and hashlib, which the vendors' own examples use.
    #[test]
    fn they_are_what_the_vendors_examples_in_python_give() {
        assert_eq!(feishu("demo", 1_599_360_473), "l1N0gAcBjdwBvGm1xMjOF0XSyaLRpR7tuO5dHfhAYc8=");
        assert_eq!(dingtalk("SECdemo", 1_599_360_473_000), "tGWkA5eQOQNCNPDgphtxIoNLO+/gD8Lcb705KQoRzeY=");
        assert_eq!(
            webhook("demo", 1_599_360_473, b"{}"),
            "ffc173f991cff63dd647c08324a82e9a83458996723aafab5cd7cb555210f10f"
        );
    }
}
