//! Parses JSON into a tree: faster than the YAML parser, and strict.

use std::borrow::Cow;
use std::collections::HashSet;

use cubeloom_domain::{Code, Problem};

use super::node::{Entry, Kind, MAX_DEPTH, Mark, Node};
use crate::path::Path;

/// Parses one JSON document. Duplicate keys are pushed to `problems`.
///
/// # Errors
/// The first syntax error, or too deep nesting.
pub fn parse<'t>(text: &'t str, problems: &mut Vec<Problem>) -> Result<Node<'t>, Problem> {
    let mut reader = Reader { text, at: 0, line: 1, line_start: 0, path: Path::default(), problems };
    reader.space();
    let node = reader.value(0)?;
    reader.space();
    if reader.at < text.len() { Err(reader.wrong("the end of the document")) } else { Ok(node) }
}

struct Reader<'t, 'p> {
    text: &'t str,
    at: usize,
    line: u32,
    line_start: usize,
    path: Path,
    problems: &'p mut Vec<Problem>,
}

impl<'t> Reader<'t, '_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.line_start = self.at + 1;
                }
                b' ' | b'\t' | b'\r' => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    fn mark(&self) -> Mark {
        Mark { line: self.line, column: u32::try_from(self.at - self.line_start + 1).unwrap_or(u32::MAX) }
    }

    fn problem(&self, mark: Mark, code: Code, message: String) -> Problem {
        Problem { line: Some(mark.line), column: Some(mark.column), ..Problem::error(code, "", message) }
    }

    fn wrong(&self, expected: &str) -> Problem {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(character) => format!("`{character}`"),
            None => "the end of the document".into(),
        };
        let message = format!("this is not JSON: found {found}, expected {expected}");
        self.problem(self.mark(), Code::Syntax, message)
    }

    fn take(&mut self, byte: u8, expected: &str) -> Result<(), Problem> {
        if self.peek() != Some(byte) {
            return Err(self.wrong(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node<'t>, Problem> {
        let mark = self.mark();
        let kind = match self.peek() {
            Some(b'{') => self.map(depth, mark)?,
            Some(b'[') => self.list(depth, mark)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { mark, kind })
    }

    fn deeper(&self, depth: usize, mark: Mark) -> Result<(), Problem> {
        if depth < MAX_DEPTH {
            return Ok(());
        }
        Err(self.problem(mark, Code::TooLarge, format!("nested more than {MAX_DEPTH} deep; flatten it")))
    }

    fn list(&mut self, depth: usize, mark: Mark) -> Result<Kind<'t>, Problem> {
        self.deeper(depth, mark)?;
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        while self.peek() != Some(b']') {
            if !items.is_empty() {
                self.take(b',', "`,` or `]`")?;
                self.space();
            }
            self.path.push_index(items.len());
            items.push(self.value(depth + 1)?);
            self.path.pop();
            self.space();
        }
        self.at += 1;
        items.shrink_to_fit();
        Ok(Kind::List(items))
    }

    fn map(&mut self, depth: usize, mark: Mark) -> Result<Kind<'t>, Problem> {
        self.deeper(depth, mark)?;
        self.at += 1;
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        self.space();
        while self.peek() != Some(b'}') {
            if !entries.is_empty() {
                self.take(b',', "`,` or `}`")?;
                self.space();
            }
            let mark = self.mark();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a key in double quotes"));
            }
            let key = self.string()?;
            self.path.push_key(&key);
            if !seen.insert(key.clone()) {
                let message = format!("the key `{key}` is used twice; keep one");
                let problem = self.problem(mark, Code::DuplicateKey, message);
                self.problems.push(Problem { path: self.path.pointer(), ..problem });
            }
            self.space();
            self.take(b':', "`:`")?;
            self.space();
            let value = self.value(depth + 1)?;
            self.path.pop();
            entries.push(Entry { key, mark, value });
            self.space();
        }
        self.at += 1;
        // Most mappings have few entries, and a document has hundreds of thousands of them.
        entries.shrink_to_fit();
        Ok(Kind::Map(entries))
    }

    /// A string: borrowed without escapes, else decoded by `serde_json`.
    fn string(&mut self) -> Result<Cow<'t, str>, Problem> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        self.at += 1;
        loop {
            match bytes.get(self.at) {
                None => return Err(self.wrong("`\"`")),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.at += 2;
                }
                Some(0..=31) => {
                    return Err(self.wrong("no control character in a text (write \\n, \\t or \\u....)"));
                }
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        if !escaped {
            return Ok(Cow::Borrowed(&self.text[start + 1..self.at - 1]));
        }
        serde_json::from_str(&self.text[start..self.at]).map(Cow::Owned).map_err(|_| {
            self.at = start;
            self.wrong("a text with valid escapes")
        })
    }

    fn number(&mut self) -> Result<Kind<'t>, Problem> {
        let rest = &self.text[self.at..];
        let end =
            rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let text = &rest[..end];
        if serde_json::from_str::<serde_json::Number>(text).is_err() {
            return Err(self.wrong("a number"));
        }
        self.at += end;
        Ok(Kind::Number(text.into()))
    }

    fn word(&mut self) -> Result<Kind<'t>, Problem> {
        for (word, kind) in [("null", Kind::Null), ("true", Kind::Bool(true)), ("false", Kind::Bool(false))] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(kind);
            }
        }
        Err(self.wrong("a value"))
    }
}
