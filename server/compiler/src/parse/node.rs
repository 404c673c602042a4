//! A document as a tree with the position of each value. Both parsers create it, and one decoder reads it.

use std::borrow::Cow;

use cubeloom_domain::JsonMap;
use serde_json::{Number, Value};

/// Maximum nesting depth of a document.
pub const MAX_DEPTH: usize = 64;
/// Maximum size of a document, in bytes.
pub const MAX_BYTES: usize = 64 << 20;

/// A position in a text, counted from 1. A column counts characters, in JSON bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    pub line: u32,
    pub column: u32,
}

/// A value and its position.
#[derive(Clone, Debug)]
pub struct Node<'t> {
    pub mark: Mark,
    pub kind: Kind<'t>,
}

#[derive(Clone, Debug)]
pub enum Kind<'t> {
    Null,
    Bool(bool),
    /// A number as written.
    Number(Cow<'t, str>),
    String(Cow<'t, str>),
    List(Vec<Node<'t>>),
    Map(Vec<Entry<'t>>),
}

#[derive(Clone, Debug)]
pub struct Entry<'t> {
    pub key: Cow<'t, str>,
    pub mark: Mark,
    pub value: Node<'t>,
}

impl<'t> Node<'t> {
    /// The kind of value, for messages: `a list`.
    pub fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::String(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }

    /// The text of a scalar as written; `None` for null, lists and mappings.
    pub fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Bool(true) => Some("true"),
            Kind::Bool(false) => Some("false"),
            Kind::Number(text) | Kind::String(text) => Some(text),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(text) => number(text).map_or_else(|| Value::String(text.to_string()), Value::Number),
            Kind::String(text) => Value::String(text.to_string()),
            Kind::List(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Kind::Map(entries) => Value::Object(to_object(entries)),
        }
    }

    /// A JSON value as a tree without positions.
    pub fn from_json(value: &'t Value) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(*value),
            Value::Number(number) => Kind::Number(number.to_string().into()),
            Value::String(text) => Kind::String(text.as_str().into()),
            Value::Array(items) => Kind::List(items.iter().map(Node::from_json).collect()),
            Value::Object(map) => Kind::Map(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.as_str().into(),
                        mark: Mark::default(),
                        value: Node::from_json(value),
                    })
                    .collect(),
            ),
        };
        Self { mark: Mark::default(), kind }
    }

    /// The position of the target of a JSON pointer, or of the nearest existing parent. A pointer to a key
    /// gives the position of the key.
    pub fn locate(&self, pointer: &str) -> Mark {
        let (mut node, mut mark) = (self, self.mark);
        for segment in pointer.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            match &node.kind {
                Kind::Map(entries) => match entries.iter().find(|entry| entry.key == segment) {
                    Some(entry) => (node, mark) = (&entry.value, entry.mark),
                    None => return mark,
                },
                Kind::List(items) => match segment.parse::<usize>().ok().and_then(|at| items.get(at)) {
                    Some(item) => (node, mark) = (item, item.mark),
                    None => return mark,
                },
                _ => return mark,
            }
        }
        mark
    }

    /// The number of values in it, itself included.
    pub fn count(&self) -> usize {
        1 + match &self.kind {
            Kind::List(items) => items.iter().map(Node::count).sum(),
            Kind::Map(entries) => entries.iter().map(|entry| entry.value.count()).sum(),
            _ => 0,
        }
    }
}

/// A mapping as a JSON object; of duplicate keys the first counts.
pub fn to_object(entries: &[Entry<'_>]) -> JsonMap {
    let mut map = JsonMap::with_capacity(entries.len());
    for entry in entries {
        if !map.contains_key(entry.key.as_ref()) {
            map.insert(entry.key.to_string(), entry.value.to_json());
        }
    }
    map
}

/// A number as in YAML 1.2 and JSON: decimal, `0x`, `0o`, or with a fraction; finite. An integer of more than
/// 64 bits is not a number, because a float would change its value.
pub fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Some(hex) = digits.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(Number::from);
    }
    if let Some(octal) = digits.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if let Ok(value) = digits.parse::<i64>() {
        return Some(value.into());
    }
    if let Ok(value) = digits.parse::<u64>() {
        return Some(value.into());
    }
    let is_whole = digits.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    if is_whole { None } else { digits.parse::<f64>().ok().and_then(Number::from_f64) }
}

/// Whether a plain YAML scalar is a number in the core schema.
pub fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(rest) = digits.strip_prefix("0x") {
        return !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if let Some(rest) = digits.strip_prefix("0o") {
        return !rest.is_empty() && rest.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    }
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    exponent_fits
        && mantissa.bytes().any(|byte| byte.is_ascii_digit())
        && mantissa.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && mantissa.bytes().filter(|byte| *byte == b'.').count() <= 1
        && number(text).is_some()
}
