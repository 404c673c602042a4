//! Numbers and booleans where a template expects text: a program's words are text, whatever the type of their
//! values.

use cubeloom_domain::pipeline::Written;
use serde_json::Value;

use super::properties;
use crate::expression::to_text;
use crate::path::Path;

/// Converts numbers and booleans to text where the schema expects text, in lists and in results of
/// expressions. A plain one in the document stays, and is a problem of the argument.
///
/// `source` is the argument as written in the document. `written` has the numbers of the arguments that JSON
/// would write differently.
pub fn in_words(schema: &Value, name: &str, source: &Value, value: &mut Value, written: Option<&Written>) {
    let Some((_, schema)) = properties(schema).find(|(known, _)| *known == name) else { return };
    let mut path = Path::default();
    path.push_key(name);
    words(schema, Some(source), value, false, written, &mut path);
}

/// `source` is the document's value at this position; null inside the result of an expression.
fn words(
    schema: &Value,
    source: Option<&Value>,
    value: &mut Value,
    in_list: bool,
    written: Option<&Written>,
    path: &mut Path,
) {
    match value {
        // A text that has become another value was an expression.
        Value::Bool(_) | Value::Number(_)
            if takes_text(schema) && (in_list || source.is_none_or(Value::is_string)) =>
        {
            let text = written.and_then(|written| written.get(&path.pointer()));
            *value = Value::String(text.cloned().unwrap_or_else(|| to_text(value.take())));
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            for (at, item) in items.iter_mut().enumerate() {
                path.push_index(at);
                words(schema, source.and_then(|source| source.get(at)), item, true, written, path);
                path.pop();
            }
        }
        Value::Object(map) => {
            let (known, others) = (schema.get("properties"), schema.get("additionalProperties"));
            for (key, value) in map {
                let Some(schema) = known.and_then(|known| known.get(key)).or(others) else { continue };
                path.push_key(key);
                words(schema, source.and_then(|source| source.get(key)), value, false, written, path);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Whether a schema accepts text, but neither numbers nor booleans.
fn takes_text(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == "string",
        Some(Value::Array(types)) => {
            let has = |name: &str| types.iter().any(|one| one == name);
            has("string") && !["number", "integer", "boolean"].into_iter().any(has)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_text_and_what_takes_numbers_is_left_alone() {
        let schema = json!({"properties": {
            "command": {"type": "array", "items": {"type": "string"}},
            "layers": {"type": "array", "items": {"type": "integer"}},
            "headers": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            "either": {"type": "array", "items": {"type": ["string", "number"]}},
            "program": {"type": "string"},
        }});
        let of = |name: &str, source: Value, mut value: Value| {
            let written = Written::from([("/command/1".to_owned(), "1e-3".to_owned())]);
            in_words(&schema, name, &source, &mut value, Some(&written));
            value
        };
        let same = |name: &str, value: Value| of(name, value.clone(), value);
        let words = json!(["a", 0.001, 3, true, 18_446_744_073_709_551_615_u64, null, ["b"]]);
        let expected = json!(["a", "1e-3", "3", "true", "18446744073709551615", null, ["b"]]);
        assert_eq!(same("command", words), expected);
        assert_eq!(same("layers", json!([3, true])), json!([3, true]));
        assert_eq!(same("headers", json!({"age": 3, "none": null})), json!({"age": 3, "none": null}));
        let headers = json!({"age": 3, "none": null});
        assert_eq!(of("headers", json!("{{ item }}"), headers.clone()), json!({"age": "3", "none": null}));
        let source = json!({"age": "{{ item }}", "none": null});
        assert_eq!(of("headers", source, headers), json!({"age": "3", "none": null}));
        assert_eq!(same("either", json!([3])), json!([3]));
        assert_eq!(of("program", json!("{{ params.n }}"), json!(3)), json!("3"));
        assert_eq!(same("program", json!(3)), json!(3));
        assert_eq!(same("unknown", json!([3])), json!([3]));
    }
}
