//! A message as email: plain text, RFC 5322 and MIME, in ASCII for every language.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cubeloom_domain::Timestamp;

use crate::message::Message;

/// Maximum text size, in bytes.
const MOST: usize = 60_000;
/// Maximum bytes per encoded word in a header: with its base64 framing it has at most 75 characters (RFC
/// 2047).
const WORD: usize = 42;

/// The complete message, with SMTP line endings.
#[must_use]
pub fn email(message: &Message, from: &str, to: &[String], now: Timestamp) -> String {
    let host = from.rsplit('@').next().unwrap_or("localhost").trim_end_matches('>');
    let date = jiff::Timestamp::from_microsecond(now.0).unwrap_or_default();
    let date = jiff::fmt::rfc2822::to_string(&date.to_zoned(jiff::tz::TimeZone::UTC)).unwrap_or_default();
    let head = [
        format!("From: {from}"),
        format!("To: {}", to.join(",\r\n ")),
        format!("Subject: {}", encoded(&message.headline())),
        format!("Date: {date}"),
        format!("Message-ID: <{}@{host}>", message.id),
        // Prevents automatic replies (RFC 3834).
        "Auto-Submitted: auto-generated".into(),
        "MIME-Version: 1.0".into(),
        "Content-Type: text/plain; charset=utf-8".into(),
        "Content-Transfer-Encoding: base64".into(),
    ];
    let text = STANDARD.encode(message.plain(MOST).replace('\n', "\r\n"));
    format!("{}\r\n\r\n{}\r\n", head.join("\r\n"), lines(&text).join("\r\n"))
}

/// Base64 in lines of 76.
fn lines(text: &str) -> Vec<String> {
    text.as_bytes().chunks(76).map(|chunk| String::from_utf8_lossy(chunk).into_owned()).collect()
}

/// A header's text encoded per RFC 2047, in words that end between characters. Short plain text is unchanged.
fn encoded(text: &str) -> String {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    if plain && text.len() <= 68 && !text.contains("=?") {
        return text.to_owned();
    }
    let (mut words, mut word) = (Vec::new(), String::new());
    for c in text.chars().filter(|c| !c.is_control()) {
        if word.len() + c.len_utf8() > WORD {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let words: Vec<String> =
        words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word))).collect();
    words.join("\r\n ")
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::alert::Language;

    use super::*;
    use crate::message::tests::message;

    fn made(message: &Message) -> String {
        let to = ["ops@example.org".to_owned(), "ada@example.org".to_owned()];
        email(message, "Cubeloom <cubeloom@example.org>", &to, Timestamp(1_790_000_001_234_567))
    }

    #[test]
    fn it_is_mime() {
        insta::assert_snapshot!("email", made(&message(Language::En)).replace('\r', ""));
        insta::assert_snapshot!("email-zh", made(&message(Language::Zh)).replace('\r', ""));
    }

    #[test]
    fn its_lines_are_short_ascii_and_a_title_adds_no_header() {
        let mut nasty = message(Language::Zh);
        nasty.title = format!("x\r\nBcc: eve@example.org\r\n\r\n{}", "很".repeat(90));
        let text = made(&nasty);
        assert!(text.is_ascii() && !text.contains("Bcc"));
        assert!(text.split("\r\n").all(|line| line.len() <= 78 && !line.contains(['\r', '\n'])), "{text}");
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        let decoded = STANDARD.decode(body.replace("\r\n", "")).unwrap();
        assert!(String::from_utf8(decoded).unwrap().contains("worker-0"));
    }
}
