//! Searches logs, within limits of lines, bytes and time.

use std::time::Duration;

use cubeloom_domain::logs::LogName;
use regex::bytes::{Regex, RegexBuilder};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::Chosen;
use super::cut::LONGEST;
use crate::api::logs::view::{LogMatch, LogMatches};
use crate::error::{ApiError, ApiResult};

/// Maximum number of bytes that one search reads.
const BYTES: u64 = 512 << 20;
/// Time limit of a search.
const TIME: Duration = Duration::from_secs(5);
/// Maximum size of one read, in bytes.
const BLOCK: usize = 1 << 20;
/// Maximum length of a returned line, in characters.
const SHOWN: usize = 2_000;
/// Maximum length of the regular expression, in characters.
const EXPRESSION: usize = 1_000;

pub(crate) struct Pattern(Regex);

impl Pattern {
    /// From a text or a regular expression.
    pub(crate) fn new(text: &str, expression: bool, same_case: bool) -> ApiResult<Self> {
        if text.is_empty() || text.chars().count() > EXPRESSION {
            return Err(ApiError::field(
                "/q",
                format!("enter a search text of 1 to {EXPRESSION} characters"),
            ));
        }
        let source = if expression { text.to_owned() } else { regex::escape(text) };
        let built = RegexBuilder::new(&source).case_insensitive(!same_case).size_limit(1 << 20).build();
        let refused = |error: regex::Error| match error {
            regex::Error::CompiledTooBig(_) => {
                ApiError::field("/q", "the expression is too large: make it simpler")
            }
            other => ApiError::field("/q", format!("the expression cannot be read: {other}")),
        };
        built.map(Self).map_err(refused)
    }
}

/// Matching lines, at most `limit`.
pub(crate) async fn search(chosen: &Chosen, pattern: &Pattern, limit: usize) -> ApiResult<LogMatches> {
    let until = Instant::now() + TIME;
    let mut found = LogMatches { matches: Vec::new(), complete: true, searched: 0 };
    for log in chosen.list().await? {
        let mut lines = Lines { offset: 0, number: 1, rest: Vec::new() };
        let mut next = 0;
        loop {
            if found.matches.len() >= limit || found.searched >= BYTES || Instant::now() >= until {
                found.complete = false;
                return Ok(found);
            }
            let piece = chosen.read(&log.name, next, BLOCK).await?;
            let last = piece.bytes.is_empty();
            next = piece.next;
            let wanted = Wanted { pattern: pattern.0.clone(), limit, until, log: log.name.clone() };
            let work = move || {
                wanted.in_block(&mut lines, &piece.bytes, &mut found);
                (lines, found)
            };
            // A regular expression can be slow on a block: do not block other requests.
            (lines, found) = spawn_blocking(work).await.map_err(ApiError::internal)?;
            if last {
                break;
            }
        }
    }
    Ok(found)
}

/// What to search in one log.
struct Wanted {
    pattern: Regex,
    limit: usize,
    until: Instant,
    log: LogName,
}

impl Wanted {
    /// Searches the next block. An empty one marks the end.
    fn in_block(&self, lines: &mut Lines, block: &[u8], found: &mut LogMatches) {
        found.searched += block.len() as u64;
        lines.rest.extend_from_slice(block);
        lines.each(block.is_empty(), |offset, line, text| {
            if found.matches.len() >= self.limit {
                return;
            }
            if Instant::now() >= self.until {
                found.complete = false;
            } else if self.pattern.is_match(text) {
                found.matches.push(LogMatch {
                    worker: self.log.worker.to_string(),
                    stream: self.log.stream.as_str().into(),
                    offset,
                    line,
                    text: String::from_utf8_lossy(text).chars().take(SHOWN).collect(),
                });
            }
        });
    }
}

/// Splits bytes into lines.
struct Lines {
    offset: u64,
    number: u64,
    rest: Vec<u8>,
}

impl Lines {
    /// Takes the complete lines, and the last one at the end of the log. A line that is longer than a block
    /// counts as several.
    fn each(&mut self, last: bool, mut tell: impl FnMut(u64, u64, &[u8])) {
        let mut begin = 0;
        while let Some(length) = self.rest[begin..].iter().position(|byte| *byte == b'\n') {
            tell(self.offset, self.number, &self.rest[begin..begin + length]);
            begin += length + 1;
            self.offset += length as u64 + 1;
            self.number += 1;
        }
        self.rest.drain(..begin);
        if !self.rest.is_empty() && (last || self.rest.len() > BLOCK + LONGEST) {
            tell(self.offset, self.number, &self.rest);
            self.offset += self.rest.len() as u64;
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_placed_across_blocks() {
        let mut lines = Lines { offset: 0, number: 1, rest: Vec::new() };
        let mut told = Vec::new();
        for (block, last) in [("one\ntw", false), ("o\n\nfour", false), ("", true)] {
            lines.rest.extend_from_slice(block.as_bytes());
            lines.each(last, |offset, line, text| {
                told.push((offset, line, String::from_utf8_lossy(text).into_owned()));
            });
        }
        let expected = [(0, 1, "one"), (4, 2, "two"), (8, 3, ""), (9, 4, "four")];
        assert_eq!(told, expected.map(|(offset, line, text)| (offset, line, text.to_owned())));
    }

    #[test]
    fn expressions_that_cannot_be_used_are_refused_with_a_sentence() {
        assert!(Pattern::new("loss=(", true, false).is_err_and(|error| error.detail().contains("/q")));
        assert!(Pattern::new("loss=(", false, false).is_ok());
        assert!(Pattern::new("", false, false).is_err());
        assert!(Pattern::new(r"\w{1000}{1000}", true, false).is_err());
        assert!(Pattern::new("LOSS", false, false).unwrap().0.is_match(b"loss 0.1"));
        assert!(!Pattern::new("LOSS", false, true).unwrap().0.is_match(b"loss 0.1"));
    }
}
