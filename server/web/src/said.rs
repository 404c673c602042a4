//! The server's own sentences in the reader's language. The engine, the compiler and the clusters say in English what
//! goes on, with values in it; `texts/sentences/*.json` has each sentence with its Chinese, and a sentence is known by
//! the words between its values.

#![allow(clippy::disallowed_methods, reason = "rust-embed reads our own files")]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rust_embed::RustEmbed;

use crate::texts::{Lang, filled};

#[derive(RustEmbed)]
#[folder = "../../texts/sentences"]
struct Files;

/// A sentence as it is known.
struct Pattern {
    /// What stands before, between and after the values.
    words: Vec<String>,
    /// The values' names, one fewer than there are pieces of `words`.
    names: Vec<String>,
    chinese: String,
}

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let files = Files::iter().filter_map(|name| Files::get(&name));
    // A test reads every file; one that cannot be read has no sentences here.
    let read = |file: rust_embed::EmbeddedFile| {
        serde_json::from_slice::<BTreeMap<String, String>>(&file.data).unwrap_or_default()
    };
    let mut all: Vec<Pattern> =
        files.flat_map(read).map(|(english, chinese)| Pattern::new(&english, chinese)).collect();
    // Of two that fit, the one with more words is meant.
    all.sort_by_key(|pattern| std::cmp::Reverse(pattern.words.iter().map(String::len).sum::<usize>()));
    all
});

impl Pattern {
    fn new(english: &str, chinese: String) -> Self {
        let (mut words, mut names, mut rest) = (Vec::new(), Vec::new(), english);
        while let Some((before, (name, behind))) =
            rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
        {
            words.push(before.to_owned());
            names.push(name.to_owned());
            rest = behind;
        }
        words.push(rest.to_owned());
        Self { words, names, chinese }
    }

    /// The values of a sentence that has these words.
    fn values<'s>(&self, sentence: &'s str) -> Option<Vec<&'s str>> {
        let (first, others) = self.words.split_first()?;
        let Some((last, between)) = others.split_last() else {
            return (sentence == first).then(Vec::new);
        };
        let mut rest = sentence.strip_prefix(first.as_str())?.strip_suffix(last.as_str())?;
        let mut values = Vec::with_capacity(self.names.len());
        for words in between {
            let (value, behind) = rest.split_once(words.as_str())?;
            values.push(value);
            rest = behind;
        }
        values.push(rest);
        values.iter().all(|value| !value.is_empty()).then_some(values)
    }
}

/// A sentence in the reader's language; as it is, when nobody has put it into that language.
#[must_use]
pub fn said(lang: Lang, sentence: &str) -> String {
    match lang {
        Lang::En => sentence.to_owned(),
        Lang::Zh => in_chinese(sentence).unwrap_or_else(|| sentence.to_owned()),
    }
}

/// The sentence in Chinese, if it is known. What is a sentence in it is put into Chinese, too.
fn in_chinese(sentence: &str) -> Option<String> {
    let found = PATTERNS.iter().find_map(|pattern| Some((pattern, pattern.values(sentence)?)));
    let (pattern, values) = found?;
    let values: Vec<(&str, String)> = pattern
        .names
        .iter()
        .zip(values)
        .map(|(name, value)| (name.as_str(), in_chinese(value).unwrap_or_else(|| value.to_owned())))
        .collect();
    Some(filled(&pattern.chinese, &values))
}

/// Whether a sentence has its Chinese.
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
        assert_eq!(of("asks for 8 CPU, 4 are free"), "需要 8 CPU 核，空闲 4");
        assert_eq!(of("asks for 8 CPU, 1 is free"), "需要 8 CPU 核，空闲 1");
        assert_eq!(of("said by nobody"), "said by nobody");
        assert_eq!(said(Lang::En, "asks for 8 CPU, 4 are free"), "asks for 8 CPU, 4 are free");
    }
}
