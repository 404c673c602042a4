//! Field validation. All problems are collected before any is returned.

use cubeloom_domain::ids::is_label;
use cubeloom_domain::{Code, Problem};

use crate::error::{ApiError, ApiResult};

/// Problems found so far.
#[derive(Debug, Default)]
pub(crate) struct Found(Vec<Problem>);

impl Found {
    /// Adds a problem of a field.
    pub fn wrong(&mut self, path: &str, message: impl Into<String>) {
        self.0.push(Problem::error(Code::InvalidValue, path, message));
    }

    /// Checks a name: a DNS-1123 label of at most `most` characters.
    pub fn name(&mut self, path: &str, text: &str, most: usize) {
        if !is_label(text) || text.len() > most {
            let message = format!(
                "`{text}` is not a valid name: use lower-case letters, digits and `-`, beginning and ending with a letter or digit, at most \
                 {most} characters"
            );
            self.0.push(Problem::error(Code::InvalidName, path, message));
        }
    }

    /// Checks a name of a Kubernetes object: a DNS-1123 subdomain of at most `most` characters.
    pub fn dotted_name(&mut self, path: &str, text: &str, most: usize) {
        if !text.split('.').all(is_label) || text.len() > most {
            let message = format!(
                "`{text}` is not a valid name: use lower-case letters, digits, `-` and `.`, beginning and ending with a letter or digit, at most {most} characters"
            );
            self.0.push(Problem::error(Code::InvalidName, path, message));
        }
    }

    /// Checks one non-empty line of text.
    pub fn line(&mut self, path: &str, text: &str, most: usize) {
        if text.trim().is_empty() || text.contains(char::is_control) {
            self.wrong(path, "write one line, not empty");
        } else {
            self.text(path, text, most);
        }
    }

    /// Checks any text.
    pub fn text(&mut self, path: &str, text: &str, most: usize) {
        let count = text.chars().count();
        if count > most {
            self.wrong(path, format!("it has {count} characters: write at most {most}"));
        }
        if text.contains('\0') {
            self.wrong(path, "it contains a NUL character: remove it");
        }
    }

    /// Fails if there are problems.
    ///
    /// # Errors
    /// The problems.
    pub fn refuse(self) -> ApiResult<()> {
        if self.0.is_empty() { Ok(()) } else { Err(self.refusal()) }
    }

    /// An error with all problems.
    pub fn refusal(self) -> ApiError {
        ApiError::invalid(self.0)
    }
}
