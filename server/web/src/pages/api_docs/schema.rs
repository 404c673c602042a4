//! A JSON Schema as table rows: one per property, with those of an object below it.

use serde_json::Value;

/// Maximum depth of nested objects.
const DEEPEST: usize = 4;

pub(super) struct Row {
    /// Nesting depth.
    pub depth: usize,
    pub name: String,
    pub kind: String,
    pub required: bool,
    pub description: String,
}

/// The properties of a schema.
pub(super) fn rows(document: &Value, schema: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    collect(document, schema, 0, &mut rows);
    rows
}

fn collect(document: &Value, schema: &Value, depth: usize, rows: &mut Vec<Row>) {
    let schema = resolved(document, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect(document, part, depth, rows);
    }
    if let Some(choices) = choices(schema) {
        for choice in choices {
            collect(document, choice, depth, rows);
        }
    }
    if schema["type"] == "array" {
        return collect(document, &schema["items"], depth, rows);
    }
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|required| required == name))
    };
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let known = rows.iter().any(|row| row.depth == depth && row.name == *name && depth == 0);
        if known {
            continue;
        }
        rows.push(Row {
            depth,
            name: name.clone(),
            kind: kind(property),
            required: required(name),
            description: description(document, property),
        });
        if depth < DEEPEST {
            collect(document, property, depth + 1, rows);
        }
    }
}

/// Type of a schema: `string`, `array of RunView`, `integer or null`.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return name.to_owned();
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<_> = values.iter().map(ToString::to_string).collect();
        return values.join(" | ");
    }
    if let Some(choices) = choices(schema) {
        let words: Vec<_> = choices.iter().map(kind).collect();
        return words.join(" or ");
    }
    match &schema["type"] {
        Value::String(word) if word == "array" => format!("array of {}", kind(&schema["items"])),
        Value::String(word) => match schema["format"].as_str() {
            Some(format) => format!("{word} ({format})"),
            None => word.clone(),
        },
        Value::Array(words) => {
            let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
            words.join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn description(document: &Value, property: &Value) -> String {
    let own = property["description"].as_str();
    let text = own.or_else(|| resolved(document, property)["description"].as_str());
    text.unwrap_or_default().replace('\n', " ")
}

/// Alternatives of a schema.
fn choices(schema: &Value) -> Option<&Vec<Value>> {
    schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array())
}

fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// Resolves a reference. Unknown ones are empty.
pub(super) fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match reference(schema) {
        Some(name) => &document["components"]["schemas"][name],
        None => schema,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_in_objects_are_indented_and_a_circle_ends() {
        let document = json!({"components": {"schemas": {
            "Page": {"type": "object", "required": ["items"], "properties": {
                "items": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
                "next": {"type": ["string", "null"], "description": "The\nnext."}
            }},
            "Node": {"type": "object", "properties": {"child": {"$ref": "#/components/schemas/Node"}}}
        }}});
        let rows = rows(&document, &json!({"$ref": "#/components/schemas/Page"}));
        let told: Vec<_> = rows.iter().map(|row| (row.depth, row.name.as_str(), row.kind.as_str())).collect();
        assert_eq!(told[0], (0, "items", "array of Node"));
        assert_eq!(told[1], (1, "child", "Node"));
        assert_eq!(told.last(), Some(&(0, "next", "string or null")));
        assert_eq!(rows.last().map(|row| row.description.as_str()), Some("The next."));
        assert!(rows[0].required && rows.len() < 10, "{}", rows.len());
    }
}
