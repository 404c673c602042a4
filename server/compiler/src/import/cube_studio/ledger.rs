//! The input with a ledger: which of its values were used, and what the report says of the others.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::import::{Fate, ReportLine};
use crate::path::Path;

/// Keys whose texts contain JSON, which is parsed.
const EMBEDDED: [&str; 7] =
    ["dag_json", "expand", "args", "parameter", "job_template_args", "job_template_expand", "image_expand"];

/// The used values and the report.
#[derive(Debug, Default)]
pub struct Ledger {
    prefix: &'static str,
    seen: RefCell<BTreeSet<String>>,
    lines: RefCell<Vec<ReportLine>>,
}

/// A value of the input and its position.
#[derive(Clone, Debug)]
pub struct At<'v> {
    pub value: &'v Value,
    pub path: String,
    ledger: &'v Ledger,
}

impl Ledger {
    /// An empty ledger; its paths begin with `prefix`.
    pub fn new(prefix: &'static str) -> Self {
        Self { prefix, ..Self::default() }
    }

    /// The beginning of its paths.
    pub fn prefix(&self) -> &'static str {
        self.prefix
    }

    pub fn root<'v>(&'v self, value: &'v Value) -> At<'v> {
        At { value, path: String::new(), ledger: self }
    }

    fn see(&self, path: &str) {
        self.seen.borrow_mut().insert(path.to_owned());
    }

    /// The report, with a line for every value that was neither used nor reported.
    pub fn finish(self, root: &Value) -> Vec<ReportLine> {
        let mut rest = Vec::new();
        if !self.leftovers(root, &mut Path::default(), &mut rest) && says_something(root) {
            rest.push(String::new());
        }
        let mut lines = self.lines.into_inner();
        let left_out = |path: String| ReportLine {
            fate: Fate::LeftOut,
            path,
            message: "has no counterpart here and is not carried over".into(),
        };
        lines.extend(rest.into_iter().map(left_out));
        for line in &mut lines {
            line.path.insert_str(0, self.prefix);
        }
        lines
    }

    /// Whether a value at or below this one was seen. Collects the topmost unseen paths.
    fn leftovers(&self, value: &Value, path: &mut Path, rest: &mut Vec<String>) -> bool {
        if self.seen.borrow().contains(&path.pointer()) {
            return true;
        }
        let mut any_seen = false;
        let mut unseen = Vec::new();
        for (key, below) in children(value) {
            path.push_key(&key);
            if self.leftovers(below, path, rest) {
                any_seen = true;
            } else if says_something(below) {
                unseen.push(path.pointer());
            }
            path.pop();
        }
        if any_seen {
            rest.append(&mut unseen);
        }
        any_seen
    }
}

/// Whether it contains anything but nulls and empty values.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(map) => map.values().any(says_something),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

fn children(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect(),
        _ => Vec::new(),
    }
}

/// Parses the JSON in texts.
pub fn unfold(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                if EMBEDDED.contains(&key.as_str())
                    && let Value::String(text) = value
                    && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
                {
                    *value = inner;
                }
                unfold(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(unfold),
        _ => {}
    }
}

impl<'v> At<'v> {
    /// The value of a key; `None` if it is empty.
    pub fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| says_something(value))?;
        Some(self.below(key, value))
    }

    /// The value of the first of these keys that exists.
    pub fn first(&self, keys: &[&str]) -> Option<Self> {
        keys.iter().find_map(|key| self.get(key))
    }

    pub fn entries(&self) -> Vec<(String, Self)> {
        children(self.value).into_iter().map(|(key, value)| (key.clone(), self.below(&key, value))).collect()
    }

    fn below(&self, key: &str, value: &'v Value) -> Self {
        let mut path = Path::at(self.path.clone());
        path.push_key(key);
        At { value, path: path.pointer(), ledger: self.ledger }
    }

    /// A text, number or boolean as text. Marks it as used.
    pub fn text(&self) -> Option<String> {
        let text = match self.value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            _ => return None,
        };
        self.used();
        Some(text)
    }

    /// Marks it as used, with everything below it.
    pub fn used(&self) {
        self.ledger.see(&self.path);
    }

    /// Reports the outcome for it and everything below it.
    pub fn tell(&self, fate: Fate, message: impl Into<String>) {
        self.used();
        self.note(fate, message);
    }

    /// Adds a note to the report, without deciding the outcome.
    pub fn note(&self, fate: Fate, message: impl Into<String>) {
        let line = ReportLine { fate, path: self.path.clone(), message: message.into() };
        let mut lines = self.ledger.lines.borrow_mut();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
}
