//! Rules that combine others: `oneOf`, `anyOf`, `allOf`, `not`, `if`.

use cubeloom_domain::Problem;
use serde_json::{Map, Value};

use super::check::{type_names, value, wrong};
use crate::path::Path;

pub fn combined(rules: &Map<String, Value>, found: &Value, path: &mut Path, problems: &mut Vec<Problem>) {
    let all = |name: &str| rules.get(name).and_then(Value::as_array);
    for schema in all("allOf").into_iter().flatten() {
        value(schema, found, path, problems);
    }
    if let Some(schemas) = all("anyOf")
        && !schemas.iter().any(|schema| holds(schema, found, path))
    {
        wrong(path, problems, format!("must match at least one of: {}", alternatives(schemas)));
    }
    if let Some(schemas) = all("oneOf") {
        match schemas.iter().filter(|schema| holds(schema, found, path)).count() {
            1 => {}
            0 => wrong(path, problems, format!("write one of: {}", alternatives(schemas))),
            _ => wrong(path, problems, format!("write only one of: {}", alternatives(schemas))),
        }
    }
    if let Some(schema) = rules.get("not")
        && holds(schema, found, path)
    {
        let message = format!("must not match: {}", alternatives(std::slice::from_ref(schema)));
        wrong(path, problems, message);
    }
    if let Some(condition) = rules.get("if") {
        let branch = if holds(condition, found, path) { "then" } else { "else" };
        if let Some(schema) = rules.get(branch) {
            value(schema, found, path, problems);
        }
    }
}

fn holds(schema: &Value, found: &Value, path: &mut Path) -> bool {
    let mut problems = Vec::new();
    value(schema, found, path, &mut problems);
    problems.is_empty()
}

/// Names each alternative by its title, its required keys, or its type.
fn alternatives(schemas: &[Value]) -> String {
    let name = |schema: &Value| {
        if let Some(title) = schema.get("title").and_then(Value::as_str) {
            return title.to_owned();
        }
        let required = schema.get("required").and_then(Value::as_array).map(|names| {
            names
                .iter()
                .filter_map(Value::as_str)
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(" with ")
        });
        required.or_else(|| schema.get("type").map(type_names)).unwrap_or_else(|| schema.to_string())
    };
    schemas.iter().map(name).collect::<Vec<_>>().join(", ")
}
