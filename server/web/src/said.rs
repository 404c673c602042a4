//! Translates the server's messages. The engine, the compiler and the clusters write English messages with
//! values in them. `texts/sentences/*.json` maps each message to Chinese. A message is recognized by the
//! words between its values.

#![allow(clippy::disallowed_methods, reason = "rust-embed reads our own files")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rust_embed::RustEmbed;

use crate::texts::{Lang, filled};

#[derive(RustEmbed)]
#[folder = "../../texts/sentences"]
struct Files;

/// Arguments that contain words of the server, which are translated, too. All other arguments, and those in
/// backticks, come from users or programs: a task called `notes` keeps its name.
const WORDS: [&str; 25] = [
    "all", "bounds", "error", "expected", "found", "free", "going", "has", "held", "limit", "message",
    "needed", "object", "only", "position", "reason", "refused", "resource", "rest", "rights", "sentence",
    "state", "what", "which", "why",
];

/// A known message.
struct Pattern {
    /// Text before, between and after the arguments.
    words: Vec<String>,
    /// The arguments, one fewer than `words`.
    arguments: Vec<Argument>,
    chinese: String,
}

struct Argument {
    name: String,
    /// Whether it contains words of the server.
    of_server: bool,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let files = Files::iter().filter_map(|name| Files::get(&name));
    // A test reads every file. Skip unreadable ones here.
    let read = |file: rust_embed::EmbeddedFile| {
        serde_json::from_slice::<BTreeMap<String, String>>(&file.data).unwrap_or_default()
    };
    let mut all: Vec<Pattern> =
        files.flat_map(read).map(|(english, chinese)| Pattern::new(&english, chinese)).collect();
    // Of two matches, the one with more words wins.
    all.sort_by_key(|pattern| std::cmp::Reverse(pattern.words.iter().map(String::len).sum::<usize>()));
    all
});

impl Pattern {
    fn new(english: &str, chinese: String) -> Self {
        let (mut words, mut arguments, mut rest) = (Vec::new(), Vec::new(), english);
        while let Some((before, (name, behind))) =
            rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            words.push(before.to_owned());
            let of_server = WORDS.contains(&name) && !before.ends_with('`');
            arguments.push(Argument { name: name.to_owned(), of_server });
            rest = behind;
        }
        words.push(rest.to_owned());
        Self { words, arguments, chinese }
    }

    /// The values of a sentence, if it matches this pattern.
    fn values<'s>(&self, sentence: &'s str) -> Option<Vec<&'s str>> {
        let (first, others) = self.words.split_first()?;
        let Some((last, between)) = others.split_last() else {
            return (sentence == first).then(Vec::new);
        };
        let mut rest = sentence.strip_prefix(first.as_str())?.strip_suffix(last.as_str())?;
        let mut values = Vec::with_capacity(self.arguments.len());
        for words in between {
            let (value, behind) = rest.split_once(words.as_str())?;
            values.push(value);
            rest = behind;
        }
        values.push(rest);
        values.iter().all(|value| !value.is_empty()).then_some(values)
    }
}

/// Translates a message. Unknown ones are returned unchanged.
#[must_use]
pub fn said(lang: Lang, sentence: &str) -> String {
    match lang {
        Lang::En => sentence.to_owned(),
        Lang::Zh => in_chinese(sentence).unwrap_or_else(|| sentence.to_owned()),
    }
}

/// The Chinese translation of a known message and its server words.
fn in_chinese(sentence: &str) -> Option<String> {
    let fitting = || PATTERNS.iter().filter_map(|pattern| Some((pattern, pattern.values(sentence)?)));
    // Names and numbers usually contain no spaces: a match with spaces is likely wrong.
    let is_likely = |(pattern, values): &(&Pattern, Vec<&str>)| {
        let mut all = pattern.arguments.iter().zip(values);
        all.all(|(argument, value)| argument.of_server || !value.contains(' '))
    };
    let (pattern, values) = fitting().find(is_likely).or_else(|| fitting().next())?;
    let values: Vec<(&str, String)> = pattern
        .arguments
        .iter()
        .zip(values)
        .map(|(argument, value)| {
            let known = argument.of_server.then(|| in_chinese(value)).flatten();
            (argument.name.as_str(), known.unwrap_or_else(|| value.to_owned()))
        })
        .collect();
    Some(filled(&pattern.chinese, &values))
}

/// Whether a message has a translation.
#[must_use]
pub fn is_known(sentence: &str) -> bool {
    in_chinese(sentence).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_known_by_its_words() {
        let of = |sentence: &str| said(Lang::Zh, sentence);
        assert_eq!(of("worker-1 ended with exit code 3 after 12s"), "worker-1 在 12s 后以退出码 3 结束");
        let both = of("worker-1 ended with exit code 3; 2 other workers were stopped because of it");
        assert_eq!(both, "worker-1 以退出码 3 结束；另外 2 个 worker 因此被停止");
        assert_eq!(of("requests 8 CPU, 4 are free"), "需要 8 CPU 核，空闲 4");
        assert_eq!(of("requests 8 CPU, 1 is free"), "需要 8 CPU 核，空闲 1");
        let waits = "the task's parallelism is 2: 2 of its instances are active";
        assert_eq!(of(waits), "任务的并行上限为 2：有 2 个实例正在进行");
        let behind = "the task's parallelism is 2: 2 of its instances are active, and 3 are queued ahead";
        assert_eq!(of(behind), "任务的并行上限为 2：有 2 个实例正在进行，前面还有 3 个在等待");
        assert_eq!(of("said by nobody"), "said by nobody");
        assert_eq!(said(Lang::En, "requests 8 CPU, 4 are free"), "requests 8 CPU, 4 are free");
    }

    /// The name of a task, a user or a file can equal one of the server's messages.
    #[test]
    fn what_others_wrote_is_never_put_into_chinese() {
        assert_eq!(
            said(Lang::Zh, "the task `notes` has no outputs: it was not run"),
            "任务 `notes` 没有输出：它没有运行"
        );
        let ours = "notes";
        for pattern in PATTERNS.iter() {
            for (n, argument) in pattern.arguments.iter().enumerate().filter(|(_, it)| !it.of_server) {
                let value = |m: usize| if m == n { ours } else { "‹x›" };
                let mut sentence = String::new();
                for (m, words) in pattern.words.iter().enumerate() {
                    sentence.push_str(words);
                    if m < pattern.arguments.len() {
                        sentence.push_str(value(m));
                    }
                }
                // The translation may omit an argument, and another message may match better.
                let once = pattern.arguments.iter().filter(|other| other.name == argument.name).count() == 1;
                let meant = once && pattern.chinese.contains(&format!("{{{}}}", argument.name));
                let first = PATTERNS.iter().find(|it| it.values(&sentence).is_some());
                if meant && first.is_some_and(|it| std::ptr::eq(it, pattern)) {
                    let chinese = said(Lang::Zh, &sentence);
                    assert!(chinese.contains(ours), "{sentence}: {chinese}");
                }
            }
        }
    }

    #[test]
    fn each_argument_with_words_of_the_server_occurs() {
        let named = |name: &str| {
            PATTERNS
                .iter()
                .any(|it| it.arguments.iter().any(|argument| argument.of_server && argument.name == name))
        };
        let missing: Vec<&str> = WORDS.into_iter().filter(|name| !named(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
