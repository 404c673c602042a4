//! The toolkit of the decoders: reads typed values from a tree and continues after a problem.

use std::collections::BTreeMap;

use cubeloom_domain::{Code, Problem};

use super::node::{Entry, Kind, Node};
use crate::nearest::hint;
use crate::path::Path;

/// Maximum number of keys that are listed where another type was found.
const FEW_KEYS: usize = 8;

/// Reads values and collects their problems.
#[derive(Debug, Default)]
pub struct Decoder {
    path: Path,
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
    pub fn get(self, key: &str) -> Option<&'n Node<'n>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(&entry.value).filter(|node| !matches!(node.kind, Kind::Null))
    }
}

impl Decoder {
    /// A decoder of the part of a document at this pointer.
    pub fn at(pointer: &str) -> Self {
        Self { path: Path::at(pointer), problems: Vec::new() }
    }

    /// Adds a problem at the current path.
    pub fn problem(&mut self, node: &Node<'_>, code: Code, message: impl Into<String>) {
        let place = |value: u32| (value > 0).then_some(value);
        let problem = Problem::error(code, self.path.pointer(), message);
        self.problems.push(Problem {
            line: place(node.mark.line),
            column: place(node.mark.column),
            ..problem
        });
    }

    pub fn wrong_type(&mut self, node: &Node<'_>, expected: &str) {
        let message = match node.scalar() {
            Some(text) if text.len() <= 40 => {
                format!("expected {expected}, found {} ({text})", node.describe())
            }
            _ => format!("expected {expected}, found {}", node.describe()),
        };
        self.problem(node, Code::WrongType, message);
    }

    /// Reads a mapping with no keys other than these.
    pub fn map<'n>(&mut self, node: &'n Node<'n>, what: &str, keys: &[&'static str]) -> Option<Map<'n>> {
        self.map_without(node, what, keys, &[])
    }

    /// The same with keys that are absent on purpose although users look for them: `absent` has each with its
    /// message.
    pub fn map_without<'n>(
        &mut self,
        node: &'n Node<'n>,
        what: &str,
        keys: &[&'static str],
        absent: &[(&str, &str)],
    ) -> Option<Map<'n>> {
        let Kind::Map(entries) = &node.kind else {
            // The form of something small is said at once.
            self.wrong_type(
                node,
                &match keys.len() {
                    0..=FEW_KEYS => format!("{what} (a mapping with {})", keys.join(", ")),
                    _ => format!("{what} (a mapping)"),
                },
            );
            return None;
        };
        for entry in entries.iter().filter(|entry| !keys.contains(&entry.key.as_ref())) {
            let said = absent.iter().find(|(key, _)| *key == entry.key).map(|(_, said)| (*said).to_owned());
            let message = said.unwrap_or_else(|| {
                let hint = hint(&entry.key, keys.iter().copied());
                let known = if hint.is_empty() { format!("; known are: {}", keys.join(", ")) } else { hint };
                format!("`{}` is not a key of {what}{known}", entry.key)
            });
            let key = Node { mark: entry.mark, kind: Kind::Null };
            self.below(&entry.key, |d| d.problem(&key, Code::UnknownKey, message));
        }
        Some(Map { node, entries })
    }

    /// Reads a mapping with arbitrary keys of a given form.
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

    /// Runs `read` one key further down.
    fn below<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push_key(key);
        let value = read(self);
        self.path.pop();
        value
    }

    /// Reads an optional key.
    pub fn optional<'n, T>(
        &mut self,
        map: Map<'n>,
        key: &str,
        read: impl FnOnce(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<T> {
        let node = map.get(key)?;
        self.below(key, |d| read(d, node))
    }

    /// Reads a required key.
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

    /// Reads a list, without invalid items.
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

    /// Reads a mapping with arbitrary keys. Of duplicate keys, the first counts.
    pub fn table<'n, T>(
        &mut self,
        node: &'n Node<'n>,
        read: impl FnMut(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        Some(self.pairs(node, read)?.into_iter().rev().collect())
    }

    /// Reads a mapping with arbitrary keys, in the order of the document.
    pub fn pairs<'n, T>(
        &mut self,
        node: &'n Node<'n>,
        mut read: impl FnMut(&mut Self, &'n Node<'n>) -> Option<T>,
    ) -> Option<Vec<(String, T)>> {
        let Kind::Map(entries) = &node.kind else {
            self.wrong_type(node, "a mapping");
            return None;
        };
        let mut values = Vec::with_capacity(entries.len());
        for entry in entries {
            if let Some(value) = self.below(&entry.key, |d| read(d, &entry.value)) {
                values.push((entry.key.to_string(), value));
            }
        }
        Some(values)
    }
}
