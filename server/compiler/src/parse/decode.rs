//! The toolkit of the decoders: reads typed values out of a tree and goes on after a mistake.

use std::collections::BTreeMap;
use std::str::FromStr;

use cubeloom_domain::{Code, JsonMap, Problem};
use serde_json::Value;

use super::node::{Entry, Kind, Node, number, to_object};
use crate::nearest::hint;
use crate::path::Path;

/// Reads values and collects what is wrong with them.
#[derive(Debug, Default)]
pub struct Decoder {
    path: Path,
    /// What was found wrong so far.
    pub problems: Vec<Problem>,
}

/// A mapping whose keys are known.
#[derive(Clone, Copy)]
pub struct Map<'n> {
    node: &'n Node<'n>,
    entries: &'n [Entry<'n>],
}

impl<'n> Map<'n> {
    /// The value of a key; a key without a value counts as absent.
    fn get(self, key: &str) -> Option<&'n Node<'n>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(&entry.value).filter(|node| !matches!(node.kind, Kind::Null))
    }
}

impl Decoder {
    /// Notes a mistake at the present path.
    pub fn problem(&mut self, node: &Node<'_>, code: Code, message: impl Into<String>) {
        let place = |value: u32| (value > 0).then_some(value);
        let problem = Problem::error(code, self.path.pointer(), message);
        self.problems.push(Problem {
            line: place(node.mark.line),
            column: place(node.mark.column),
            ..problem
        });
    }

    /// Says that a value is of the wrong type.
    pub fn wrong_type(&mut self, node: &Node<'_>, expected: &str) {
        let message = match node.scalar() {
            Some(text) if text.len() <= 40 => {
                format!("expected {expected}, found {} ({text})", node.describe())
            }
            _ => format!("expected {expected}, found {}", node.describe()),
        };
        self.problem(node, Code::WrongType, message);
    }

    /// Reads a mapping that has no other keys than these.
    pub fn map<'n>(&mut self, node: &'n Node<'n>, what: &str, keys: &[&'static str]) -> Option<Map<'n>> {
        let Kind::Map(entries) = &node.kind else {
            self.wrong_type(node, &format!("{what} (a mapping)"));
            return None;
        };
        for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_ref())) {
            let hint = hint(&entry.key, keys.iter().copied());
            let known = if hint.is_empty() { format!("; known are: {}", keys.join(", ")) } else { hint };
            let message = format!("`{}` is no key of {what}{known}", entry.key);
            let key = Node { mark: entry.mark, kind: Kind::Null };
            self.below(&entry.key, |d| d.problem(&key, Code::UnknownKey, message));
        }
        Some(Map { node, entries })
    }

    /// Reads a mapping whose keys are free, but for their form.
    pub fn named<'n, T>(
        &mut self,
        node: &'n Node<'n>,
        is_name: impl Fn(&str) -> bool,
        form: &str,
        read: impl FnMut(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        if let Kind::Map(entries) = &node.kind {
            for entry in entries.iter().filter(|entry| !is_name(&entry.key)) {
                let message = format!("`{}` is not {form}", entry.key);
                let key = Node { mark: entry.mark, kind: Kind::Null };
                self.below(&entry.key, |d| d.problem(&key, Code::InvalidName, message));
            }
        }
        self.table(node, read)
    }

    /// Does something one key further down.
    fn below<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push_key(key);
        let value = read(self);
        self.path.pop();
        value
    }

    /// Reads a key that may be absent.
    pub fn optional<'n, T>(
        &mut self,
        map: Map<'n>,
        key: &str,
        read: impl FnOnce(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<T> {
        let node = map.get(key)?;
        self.below(key, |d| read(d, node))
    }

    /// Reads a key that must be there.
    pub fn required<'n, T>(
        &mut self,
        map: Map<'n>,
        key: &str,
        read: impl FnOnce(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<T> {
        if map.get(key).is_none() {
            self.problem(map.node, Code::MissingKey, format!("the key `{key}` is missing"));
            return None;
        }
        self.optional(map, key, read)
    }

    /// Reads a list. Elements that cannot be read are left out.
    pub fn list<'n, T>(
        &mut self,
        node: &'n Node<'n>,
        mut read: impl FnMut(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Kind::List(items) = &node.kind else {
            self.wrong_type(node, "a list");
            return None;
        };
        let mut values = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            self.path.push_index(at);
            values.extend(read(self, item));
            self.path.pop();
        }
        Some(values)
    }

    /// Reads a mapping whose keys are free.
    pub fn table<'n, T>(
        &mut self,
        node: &'n Node<'n>,
        mut read: impl FnMut(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let Kind::Map(entries) = &node.kind else {
            self.wrong_type(node, "a mapping");
            return None;
        };
        let mut values = BTreeMap::new();
        for entry in entries {
            if let Some(value) = self.below(&entry.key, |d| read(d, &entry.value)) {
                values.entry(entry.key.to_string()).or_insert(value);
            }
        }
        Some(values)
    }

    /// Any text.
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

    /// A text that is not empty.
    pub fn filled(&mut self, node: &Node<'_>) -> Option<String> {
        let text = self.text(node)?;
        if text.trim().is_empty() {
            self.problem(node, Code::InvalidValue, "must not be empty");
        }
        Some(text)
    }

    /// Text, or a number or truth value taken as it was written: variables and words of a command.
    pub fn word(&mut self, node: &Node<'_>) -> Option<String> {
        if let (None, false) = (node.scalar(), matches!(node.kind, Kind::Null)) {
            self.wrong_type(node, "text");
            return None;
        }
        Some(node.scalar().unwrap_or_default().to_owned())
    }

    /// True or false.
    pub fn boolean(&mut self, node: &Node<'_>) -> Option<bool> {
        if let Kind::Bool(value) = node.kind {
            return Some(value);
        }
        self.wrong_type(node, "true or false");
        None
    }

    /// A number of any kind.
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

    /// A whole number between two bounds, both included.
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

    /// One word of a few.
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

    /// A DNS-1123 label. A bad one is kept, so that what refers to it is not called unknown too.
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

    /// Any value.
    pub fn json(&mut self, node: &Node<'_>) -> Option<Value> {
        Some(node.to_json())
    }

    /// Any mapping.
    pub fn object(&mut self, node: &Node<'_>) -> Option<JsonMap> {
        if let Kind::Map(entries) = &node.kind {
            return Some(to_object(entries));
        }
        self.wrong_type(node, "a mapping");
        None
    }
}

/// The largest count that is taken.
const MANY: i64 = u32::MAX as i64;

/// Whether a text is a DNS-1123 label.
pub fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// ` (for instance `my-task`)` when the text can be made a label.
fn suggestion(text: &str) -> String {
    let mapped: String = text
        .chars()
        .take(63)
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let label = mapped.trim_matches('-');
    if is_label(label) { format!(", for instance `{label}`") } else { String::new() }
}
