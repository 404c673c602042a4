//! Scalar values: texts, numbers, amounts, names.

use std::str::FromStr;

use cubeloom_domain::ids::is_label;
use cubeloom_domain::{Code, JsonMap};
use serde_json::Value;

use super::decode::Decoder;
use super::node::{Kind, Node, number, to_object};
use crate::nearest::hint;

impl Decoder {
    pub fn text(&mut self, node: &Node<'_>) -> Option<String> {
        match &node.kind {
            Kind::String(text) => Some(text.to_string()),
            Kind::Null => Some(String::new()),
            _ => {
                self.wrong_type(node, "text (write it in quotes)");
                None
            }
        }
    }

    /// A non-empty text.
    pub fn filled(&mut self, node: &Node<'_>) -> Option<String> {
        let text = self.text(node)?;
        if text.trim().is_empty() {
            self.problem(node, Code::InvalidValue, "must not be empty");
        }
        Some(text)
    }

    /// Text, or a number or boolean as written: variables and words of a command.
    pub fn word(&mut self, node: &Node<'_>) -> Option<String> {
        if let (None, false) = (node.scalar(), matches!(node.kind, Kind::Null)) {
            self.wrong_type(node, "text");
            return None;
        }
        Some(node.scalar().unwrap_or_default().to_owned())
    }

    pub fn boolean(&mut self, node: &Node<'_>) -> Option<bool> {
        if let Kind::Bool(value) = node.kind {
            return Some(value);
        }
        self.wrong_type(node, "true or false");
        None
    }

    pub fn float(&mut self, node: &Node<'_>) -> Option<f64> {
        let value = match &node.kind {
            Kind::Number(text) => number(text).and_then(|number| number.as_f64()),
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(node, "a number");
        }
        value
    }

    /// An integer between two bounds, both inclusive.
    pub fn integer<T: TryFrom<i64>>(&mut self, node: &Node<'_>, min: i64, max: i64) -> Option<T> {
        let value = match &node.kind {
            Kind::Number(text) => number(text).and_then(|number| number.as_i64()),
            _ => None,
        };
        let Some(value) = value else {
            self.wrong_type(node, "a whole number");
            return None;
        };
        if !(min..=max).contains(&value) {
            let bounds = match max {
                MANY => format!("at least {min}"),
                _ => format!("between {min} and {max}"),
            };
            self.problem(node, Code::InvalidValue, format!("{value} is not allowed: must be {bounds}"));
            return None;
        }
        T::try_from(value).ok()
    }

    /// A count, at least `min`.
    pub fn count(&mut self, node: &Node<'_>, min: i64) -> Option<u32> {
        self.integer(node, min, MANY)
    }

    /// An amount: a number, or text.
    pub fn amount<T: FromStr<Err: std::fmt::Display>>(&mut self, node: &Node<'_>, form: &str) -> Option<T> {
        let text = match &node.kind {
            Kind::Number(text) | Kind::String(text) => text,
            _ => {
                self.wrong_type(node, form);
                return None;
            }
        };
        text.parse()
            .map_err(|error: T::Err| self.problem(node, Code::InvalidQuantity, error.to_string()))
            .ok()
    }

    /// One of a few words.
    pub fn one_of<T: Copy>(&mut self, node: &Node<'_>, words: &[(&'static str, T)]) -> Option<T> {
        let known = || words.iter().map(|(word, _)| *word);
        let Kind::String(text) = &node.kind else {
            self.wrong_type(node, &format!("one of {}", known().collect::<Vec<_>>().join(", ")));
            return None;
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| word == text) {
            return Some(*value);
        }
        let listed = known().collect::<Vec<_>>().join(", ");
        let message = format!("`{text}` is not one of {listed}{}", hint(text, known()));
        self.problem(node, Code::InvalidValue, message);
        None
    }

    /// A DNS-1123 label. An invalid one is kept, so that references to it are not reported as unknown too.
    pub fn name(&mut self, node: &Node<'_>) -> Option<String> {
        let text = self.word(node)?;
        if !is_label(&text) {
            let message = format!(
                "`{text}` is not a name: use at most 63 lower-case letters, digits and `-`, beginning and ending \
                 with a letter or digit{}",
                suggestion(&text)
            );
            self.problem(node, Code::InvalidName, message);
        }
        Some(text)
    }

    pub fn json(&mut self, node: &Node<'_>) -> Option<Value> {
        Some(node.to_json())
    }

    pub fn object(&mut self, node: &Node<'_>) -> Option<JsonMap> {
        if let Kind::Map(entries) = &node.kind {
            return Some(to_object(entries));
        }
        self.wrong_type(node, "a mapping");
        None
    }
}

/// Maximum value of a count.
const MANY: i64 = u32::MAX as i64;

/// ` (for instance `my-task`)` if the text can be turned into a label.
fn suggestion(text: &str) -> String {
    let mapped: String = text
        .chars()
        .take(63)
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let label = mapped.trim_matches('-');
    if is_label(label) { format!(", for instance `{label}`") } else { String::new() }
}
