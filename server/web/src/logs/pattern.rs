//! What a search finds: a text, a regular expression, or lines that look like errors.

use regex::bytes::{Regex, RegexBuilder};

use super::errors::Errors;
use super::visible::{after_returns, plain};
use crate::error::{ApiError, ApiResult};

/// Maximum length of the regular expression, in characters.
const EXPRESSION: usize = 1_000;

pub(crate) enum Pattern {
    Text(Regex),
    Errors(Errors),
}

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
        built.map(Self::Text).map_err(refused)
    }

    /// Lines that look like errors.
    pub(crate) fn errors() -> ApiResult<Self> {
        Errors::new().map(Self::Errors).map_err(ApiError::internal)
    }

    /// Whether the readable part of a line matches.
    pub(super) fn is_match(&self, line: &[u8]) -> bool {
        let text = plain(after_returns(line));
        match self {
            Self::Text(wanted) => wanted.is_match(&text),
            Self::Errors(errors) => errors.is_match(&text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_that_cannot_be_used_are_refused_with_a_sentence() {
        assert!(Pattern::new("loss=(", true, false).is_err_and(|error| error.detail().contains("/q")));
        assert!(Pattern::new("loss=(", false, false).is_ok());
        assert!(Pattern::new("", false, false).is_err());
        assert!(Pattern::new(r"\w{1000}{1000}", true, false).is_err());
        assert!(Pattern::new("LOSS", false, false).unwrap().is_match(b"loss 0.1"));
        assert!(!Pattern::new("LOSS", false, true).unwrap().is_match(b"loss 0.1"));
    }

    #[test]
    fn colours_and_overwritten_text_are_not_searched() {
        let found = |text: &str, line: &[u8]| Pattern::new(text, false, false).unwrap().is_match(line);
        assert!(found("error: a", b"\x1b[31merror\x1b[0m: a"));
        assert!(!found("31m", b"\x1b[31merror\x1b[0m"));
        assert!(found("30%", b"10%\r20%\r30%\r"));
        assert!(!found("20%", b"10%\r20%\r30%\r"));
        assert!(Pattern::errors().unwrap().is_match(b"50%\rValueError\x1b[0m: a"));
    }
}
