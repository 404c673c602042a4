//! Checks arguments against a template's JSON Schema.
//!
//! The checker is our own. It covers the keywords that a form can be built from, and [`lint`] refuses all
//! others, so every rule of a template is enforced. Its messages are written for the user who fills in the
//! form. Crates that cover all of JSON Schema bring two dozen dependencies and say `is not valid under any of
//! the given schemas`.

mod check;
mod combined;
mod lint;
mod words;

pub use check::check;
pub use lint::lint;
pub use words::in_words;

use cubeloom_domain::JsonMap;
use serde_json::Value;

pub fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// The defaults of the arguments that are not set.
pub fn defaults<'s>(schema: &'s Value, given: &JsonMap) -> impl Iterator<Item = (&'s String, &'s Value)> {
    properties(schema)
        .filter(|(name, _)| !given.contains_key(*name))
        .filter_map(|(name, property)| Some((name, property.get("default")?)))
}

/// The arguments whose value is a file of the pipeline's folder.
pub fn paths(schema: &Value) -> Vec<String> {
    properties(schema)
        .filter(|(_, property)| property.get("format").and_then(Value::as_str) == Some("path"))
        .map(|(name, _)| name.clone())
        .collect()
}
