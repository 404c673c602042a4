//! Checks of single fields that many requests have: all mistakes are found before any is told.

use cubeloom_domain::ids::is_label;
use cubeloom_domain::{Code, Problem};

use crate::error::{ApiError, ApiResult};

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Found(Vec<Problem>);

impl Found {
    /// Something else that is wrong with a field.
    pub fn wrong(&mut self, path: &str, message: impl Into<String>) {
        self.0.push(Problem::error(Code::InvalidValue, path, message));
    }

    /// A name: a DNS-1123 label of at most this many characters.
    pub fn name(&mut self, path: &str, text: &str, most: usize) {
        if !is_label(text) || text.len() > most {
            let message = format!(
                "`{text}` is no name: write lower-case letters, digits and `-`, a letter or digit first and last, at most \
                 {most} characters"
            );
            self.0.push(Problem::error(Code::InvalidName, path, message));
        }
    }

    /// A name of an object of Kubernetes: a DNS-1123 subdomain of at most this many characters.
    pub fn dotted_name(&mut self, path: &str, text: &str, most: usize) {
        if !text.split('.').all(is_label) || text.len() > most {
            let message = format!(
                "`{text}` is no name: write lower-case letters, digits, `-` and `.`, a letter or digit first and last, at \
                 most {most} characters"
            );
            self.0.push(Problem::error(Code::InvalidName, path, message));
        }
    }

    /// One line of text, not empty.
    pub fn line(&mut self, path: &str, text: &str, most: usize) {
        if text.trim().is_empty() || text.contains(char::is_control) {
            self.wrong(path, "write one line, not empty");
        } else {
            self.text(path, text, most);
        }
    }

    /// Any text.
    pub fn text(&mut self, path: &str, text: &str, most: usize) {
        let count = text.chars().count();
        if count > most {
            self.wrong(path, format!("it has {count} characters: write at most {most}"));
        }
        if text.contains('\0') {
            self.wrong(path, "it holds a NUL character, which no text needs");
        }
    }

    /// All of them, if there are any.
    ///
    /// # Errors
    /// The mistakes.
    pub fn refuse(self) -> ApiResult<()> {
        if self.0.is_empty() { Ok(()) } else { Err(self.refusal()) }
    }

    /// All of them, where there are some.
    pub fn refusal(self) -> ApiError {
        ApiError::invalid(self.0)
    }
}
