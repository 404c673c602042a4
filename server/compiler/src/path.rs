//! A position in a document, as a JSON pointer (RFC 6901).

use std::fmt::Write;

/// A JSON pointer that grows and shrinks as a reader descends and returns.
#[derive(Clone, Debug, Default)]
pub struct Path {
    text: String,
    starts: Vec<usize>,
}

impl Path {
    /// A path that begins with this pointer.
    pub fn at(pointer: impl Into<String>) -> Self {
        Self { text: pointer.into(), starts: Vec::new() }
    }

    pub fn push_key(&mut self, key: &str) {
        self.starts.push(self.text.len());
        self.text.push('/');
        for character in key.chars() {
            match character {
                '~' => self.text.push_str("~0"),
                '/' => self.text.push_str("~1"),
                other => self.text.push(other),
            }
        }
    }

    pub fn push_index(&mut self, index: usize) {
        self.starts.push(self.text.len());
        // Writing to a String cannot fail.
        let _ = write!(self.text, "/{index}");
    }

    pub fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.text.truncate(start);
        }
    }

    pub fn pointer(&self) -> String {
        self.text.clone()
    }
}
