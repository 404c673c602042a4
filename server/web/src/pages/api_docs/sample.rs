//! Examples of a schema and of a curl call.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::model::Operation;
use super::schema::resolved;

/// Maximum depth of an example.
const DEEPEST: usize = 4;

/// A value that matches a schema: its own example, or one of its type.
pub(super) fn of(document: &Value, schema: &Value) -> Value {
    value(document, schema, 0)
}

fn value(document: &Value, schema: &Value, depth: usize) -> Value {
    let schema = resolved(document, schema);
    if let Some(example) = schema.get("example").or_else(|| schema["examples"].get(0)) {
        return example.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    for choices in ["oneOf", "anyOf", "allOf"] {
        let choice = schema[choices].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null"));
        if let Some(choice) = choice {
            return value(document, choice, depth);
        }
    }
    match word(schema) {
        "object" if depth < DEEPEST => object(document, schema, depth),
        "object" => json!({}),
        "array" if depth < DEEPEST => json!([value(document, &schema["items"], depth + 1)]),
        "array" => json!([]),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(true),
        _ => json!("..."),
    }
}

/// Required properties. If none is required, all of them.
fn object(document: &Value, schema: &Value, depth: usize) -> Value {
    let Some(properties) = schema["properties"].as_object() else { return json!({}) };
    let required = schema["required"].as_array().filter(|names| !names.is_empty());
    let wanted = |name: &str| required.is_none_or(|names| names.iter().any(|required| required == name));
    let given: Map<_, _> = properties
        .iter()
        .filter(|(name, _)| wanted(name))
        .map(|(name, property)| (name.clone(), value(document, property, depth + 1)))
        .collect();
    Value::Object(given)
}

fn word(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(words) => words.iter().filter_map(Value::as_str).find(|word| *word != "null"),
        word => word.as_str(),
    }
    .unwrap_or("string")
}

/// A command to copy. `url` is the server's own address.
pub(super) fn curl(operation: &Operation, url: &str) -> String {
    let mut call = String::from("curl");
    if operation.method != "GET" {
        let _ = write!(call, " -X {}", operation.method);
    }
    let _ = write!(call, " {}{}", url.trim_end_matches('/'), operation.path);
    if !operation.open {
        call.push_str(" \\\n  -H \"Authorization: Bearer $CUBELOOM_TOKEN\"");
    }
    if operation.parameters.iter().any(|one| one.name.eq_ignore_ascii_case("if-match")) {
        call.push_str(" \\\n  -H 'If-Match: \"1\"'");
    }
    if let Some(body) = &operation.body {
        let _ = write!(call, " \\\n  -H 'Content-Type: {}'", body.media);
        match &body.example {
            Some(example) => {
                let text = serde_json::to_string(example).unwrap_or_default().replace('\'', "'\\''");
                let _ = write!(call, " \\\n  -d '{text}'");
            }
            None => call.push_str(" \\\n  --data-binary @FILE"),
        }
    }
    call
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_what_is_required() {
        let document = json!({"components": {"schemas": {"New": {
            "type": "object", "required": ["name", "role"],
            "properties": {
                "name": {"type": "string", "example": "vision"},
                "role": {"oneOf": [{"type": "null"}, {"type": "string", "enum": ["viewer"]}]},
                "note": {"type": ["string", "null"]}
            }
        }}}});
        let example = of(&document, &json!({"$ref": "#/components/schemas/New"}));
        assert_eq!(example, json!({"name": "vision", "role": "viewer"}));
        assert_eq!(of(&document, &json!({"type": ["integer", "null"], "minimum": 3})), json!(3));
    }
}
