//! Channel addresses from users: validation, and the part that may be shown.

use cubeloom_domain::alert::ChannelKind;
use url::Url;

/// Maximum number of receivers of an email channel.
const RECEIVERS: usize = 20;

/// The problem with an address. `None` if it is valid.
#[must_use]
pub fn mistake(kind: ChannelKind, address: &str) -> Option<String> {
    if kind == ChannelKind::Email {
        return mistaken_mails(address);
    }
    let Ok(url) = Url::parse(address) else {
        return Some("write a whole URL, such as https://hooks.example.org/in".into());
    };
    let web = matches!(url.scheme(), "http" | "https") && url.has_host();
    if !web {
        return Some("write a URL that begins with https:// or http://".into());
    }
    let named = !url.username().is_empty() || url.password().is_some();
    named.then(|| "write the URL without a name and a password in it".into())
}

fn mistaken_mails(address: &str) -> Option<String> {
    let mails = receivers(address);
    if mails.is_empty() || mails.len() > RECEIVERS {
        return Some(format!("write from 1 to {RECEIVERS} e-mail addresses, separated by commas"));
    }
    mails.iter().find_map(|mail| mistaken_mail(mail))
}

/// The problem with one email address. `None` if it is valid.
#[must_use]
pub fn mistaken_mail(mail: &str) -> Option<String> {
    (!is_mail(mail)).then(|| format!("`{mail}` is not an e-mail address"))
}

/// The email addresses of a list.
#[must_use]
pub fn receivers(address: &str) -> Vec<String> {
    let parts = address.split([',', ';', '\n']).map(str::trim);
    parts.filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect()
}

/// Whether a text is a plain ASCII `name@host`. Anything with another meaning in an envelope or a header is
/// rejected.
fn is_mail(text: &str) -> bool {
    let fits = |text: &str, others: &str| {
        !text.is_empty()
            && !text.starts_with('.')
            && !text.ends_with('.')
            && !text.contains("..")
            && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    text.len() <= 254
        && text.split_once('@').is_some_and(|(name, host)| {
            name.len() <= 64 && fits(name, ".!#$%&'*+/=?^_`{|}~-") && fits(host, ".-")
        })
}

/// The part of an address that members may see. The path and the query of a URL are often enough to send.
#[must_use]
pub fn shown(kind: ChannelKind, address: &str) -> String {
    if kind == ChannelKind::Email {
        return receivers(address).join(", ");
    }
    let Ok(url) = Url::parse(address) else { return String::new() };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let rest = if url.path().len() > 1 || url.query().is_some() { "/…" } else { "" };
    format!("{}://{}{port}{rest}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_told() {
        let fine = |kind, address| mistake(kind, address).is_none();
        for address in ["https://hooks.slack.com/services/T/B/x", "http://10.0.0.1:8080/in?key=1"] {
            assert!(fine(ChannelKind::Webhook, address), "{address}");
        }
        for address in [
            "",
            "hooks.example.org",
            "ftp://a/b",
            "file:///etc/passwd",
            "https://ada:pw@example.org/",
            "https://",
        ] {
            assert!(!fine(ChannelKind::Slack, address), "{address}");
        }
        assert!(fine(ChannelKind::Email, "ops@example.org, ada+x@mail.example.org"));
        for address in [
            "",
            "ops",
            "a b@example.org",
            "a@b@c",
            "a@example.org\r\nBcc: b@c.de",
            "<a@b.de>",
            "a@.de",
            "@x.de",
        ] {
            assert!(!fine(ChannelKind::Email, address), "{address}");
        }
        assert!(!fine(ChannelKind::Email, &vec!["a@b.de"; 21].join(",")));
        assert_eq!(mistaken_mail("ada@example.org"), None);
        assert!(mistaken_mail("ada@example.org,emil@example.org").is_some(), "of one person there is one");
    }

    #[test]
    fn what_lets_others_send_is_not_shown() {
        let url = "https://oapi.dingtalk.com/robot/send?access_token=abc";
        assert_eq!(shown(ChannelKind::Dingtalk, url), "https://oapi.dingtalk.com/…");
        assert_eq!(shown(ChannelKind::Webhook, "http://localhost:99/"), "http://localhost:99");
        assert_eq!(shown(ChannelKind::Email, "a@b.de,c@d.de"), "a@b.de, c@d.de");
    }
}
