//! A message, independent of the receiver's format.

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::{Alert, Language};

/// The name contained in every message: bots that require a keyword are configured with it.
pub const NAME: &str = "Cubeloom";

/// The content, in the channel's language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The same for every retry.
    pub id: String,
    pub at: Timestamp,
    pub language: Language,
    pub title: String,
    /// Further details, one per line.
    pub lines: Vec<String>,
    /// A link to details: its text and URL.
    pub link: Option<(String, String)>,
    /// The last line of an email to a user: why they get it, and how to unsubscribe.
    pub foot: Option<String>,
    /// The events as data; several if they are combined.
    pub alerts: Vec<Told>,
}

/// An event in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub id: String,
    pub alert: Alert,
    /// Its line.
    pub title: String,
    /// A link to details.
    pub url: Option<String>,
}

impl Message {
    /// The title, prefixed with the sender's name.
    #[must_use]
    pub fn headline(&self) -> String {
        format!("[{NAME}] {}", self.title)
    }

    /// The complete message, for plain-text receivers. If it is longer than `most` bytes, the middle part is
    /// truncated: the link and the last line are kept.
    #[must_use]
    pub fn plain(&self, most: usize) -> String {
        let mut end = self.link.as_ref().map(|(words, url)| format!("\n{words}: {url}")).unwrap_or_default();
        if let Some(foot) = &self.foot {
            end.push_str(&format!("\n\n{foot}"));
        }
        let mut text = self.headline();
        for line in &self.lines {
            text.push('\n');
            text.push_str(line);
        }
        let room = most.saturating_sub(end.len());
        format!("{}{end}", cut(&text, room))
    }
}

/// Truncates a text to this many bytes, with a mark where it was cut.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    const SIGN: &str = "…";
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most.saturating_sub(SIGN.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{SIGN}", &text[..end])
}

#[cfg(test)]
pub(crate) mod tests {
    use cubeloom_domain::RunId;
    use cubeloom_domain::alert::AlertKind;

    use super::*;

    /// A message with special characters of each format.
    pub(crate) fn message(language: Language) -> Message {
        let at = Timestamp(1_790_000_000_000_000);
        let run = RunId::new(Timestamp(1_789_999_000_000_000), 7);
        let url = format!("https://cubeloom.example.org/runs/{run}");
        let (title, line, words) = match language {
            Language::En => {
                ("Run of ctr in shop failed", "train: worker-0 ended with <exit> code 3 & said *no*", "Open")
            }
            Language::Zh => ("shop 中 ctr 的运行失败", "train：worker-0 以退出码 3 结束", "打开"),
        };
        let mut alert = Alert::new(AlertKind::RunFailed, at, "shop", "key".into(), "pipeline:ctr".into());
        alert.pipeline = Some("ctr".into());
        alert.run = Some(run);
        alert.user = Some("ada".into());
        let told = Told {
            id: "01k5mqwe00000000000000000a".into(),
            alert,
            title: title.into(),
            url: Some(url.clone()),
        };
        Message {
            id: told.id.clone(),
            at,
            language,
            title: title.into(),
            lines: vec![line.into()],
            link: Some((words.into(), url)),
            foot: None,
            alerts: vec![told],
        }
    }

    #[test]
    fn a_long_text_is_cut_between_characters_and_keeps_its_link() {
        let mut long = message(Language::Zh);
        long.lines = vec!["很长".repeat(400)];
        for most in 300..320 {
            let text = long.plain(most);
            assert!(text.len() <= most && text.len() > most - 4, "{} of {most}", text.len());
            assert!(text.contains('…') && text.ends_with(&long.link.as_ref().unwrap().1));
        }
        assert_eq!(message(Language::En).plain(2000).lines().count(), 3);
        long.foot = Some("why".into());
        let text = long.plain(300);
        assert!(text.len() <= 300 && text.ends_with("\n\nwhy"), "{text}");
    }
}
