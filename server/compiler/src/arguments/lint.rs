//! Checks that a template's schema uses only keywords that the checker supports.

use cubeloom_domain::{Code, Problem};
use regex::Regex;
use serde_json::Value;

use super::check;
use crate::nearest::hint;
use crate::path::Path;

/// Keywords with a number.
const NUMBERS: [&str; 11] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];
/// Keywords with a schema.
const SCHEMAS: [&str; 6] = ["items", "additionalProperties", "not", "if", "then", "else"];
/// Keywords with a list of schemas.
const LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords without a further check, or with one of their own.
const OTHERS: [&str; 16] = [
    "type",
    "enum",
    "const",
    "pattern",
    "format",
    "required",
    "properties",
    "uniqueItems",
    "default",
    "title",
    "description",
    "examples",
    "x-form",
    "$schema",
    "$comment",
    "deprecated",
];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Everything in a template's `parameters` that is invalid or would not be checked.
pub fn lint(schema: &Value, path: &mut Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        problems.push(error(path, "the parameters are a JSON Schema of `type: object`".into()));
    }
    visit(schema, path, &mut problems);
    path.push_key("properties");
    for (name, property) in super::properties(schema) {
        path.push_key(name);
        top_level(schema, name, property, path, &mut problems);
        path.pop();
    }
    path.pop();
    problems
}

fn error(path: &Path, message: String) -> Problem {
    Problem::error(Code::InvalidValue, path.pointer(), message)
}

/// Requirements of arguments only: a name that expressions can use, and a default or `required`.
fn top_level(schema: &Value, name: &str, property: &Value, path: &Path, problems: &mut Vec<Problem>) {
    if !crate::parse::is_variable(name) {
        let message = format!("`{name}` cannot be written as `args.{name}`: use letters, digits and `_`");
        problems.push(error(path, message));
    }
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.is_some_and(|names| names.iter().any(|given| given == name));
    match property.get("default") {
        None if !required => {
            let message =
                format!("`{name}` is neither required nor has a default; expressions that use it fail");
            problems.push(Problem::warning(Code::Suspicious, path.pointer(), message));
        }
        Some(default) => {
            let alone = serde_json::json!({"properties": {name: property}});
            let given = [(name.to_owned(), default.clone())].into_iter().collect();
            let found = check(&alone, &given, &[], &mut Path::default());
            problems.extend(
                found.into_iter().map(|problem| error(path, format!("the default: {}", problem.message))),
            );
        }
        None => {}
    }
}

fn visit(schema: &Value, path: &mut Path, problems: &mut Vec<Problem>) {
    let rules = match schema {
        Value::Object(rules) => rules,
        Value::Bool(_) => return,
        _ => return problems.push(error(path, "a schema is a mapping".into())),
    };
    for (keyword, value) in rules {
        path.push_key(keyword);
        self::keyword(keyword, value, path, problems);
        path.pop();
    }
}

fn keyword(name: &str, value: &Value, path: &mut Path, problems: &mut Vec<Problem>) {
    if NUMBERS.contains(&name) {
        if !value.is_number() || name == "multipleOf" && value.as_f64().is_none_or(|step| step <= 0.0) {
            problems.push(error(path, format!("`{name}` must be a number")));
        }
    } else if SCHEMAS.contains(&name) {
        visit(value, path, problems);
    } else if LISTS.contains(&name) {
        list(name, value, path, problems);
    } else if name == "properties" {
        properties(value, path, problems);
    } else if OTHERS.contains(&name) {
        other(name, value, path, problems);
    } else {
        let known = NUMBERS.iter().chain(&SCHEMAS).chain(&LISTS).chain(&OTHERS).copied();
        let message = format!("Cubeloom does not check the keyword `{name}`; remove it{}", hint(name, known));
        problems.push(Problem::error(Code::UnknownKey, path.pointer(), message));
    }
}

fn list(name: &str, value: &Value, path: &mut Path, problems: &mut Vec<Problem>) {
    let Some(schemas) = value.as_array().filter(|schemas| !schemas.is_empty()) else {
        return problems.push(error(path, format!("`{name}` must be a list of schemas")));
    };
    for (at, schema) in schemas.iter().enumerate() {
        path.push_index(at);
        visit(schema, path, problems);
        path.pop();
    }
}

fn properties(value: &Value, path: &mut Path, problems: &mut Vec<Problem>) {
    let Some(map) = value.as_object() else {
        return problems.push(error(path, "`properties` must be a mapping of schemas".into()));
    };
    for (name, schema) in map {
        path.push_key(name);
        visit(schema, path, problems);
        path.pop();
    }
}

fn other(name: &str, value: &Value, path: &Path, problems: &mut Vec<Problem>) {
    let is_list = |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let is_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let fits = match name {
        "type" => is_type(value) || value.as_array().is_some_and(|types| types.iter().all(is_type)),
        "enum" => value.is_array(),
        "required" => is_list(value),
        "uniqueItems" => value.is_boolean(),
        "pattern" => value.as_str().is_some_and(|pattern| Regex::new(pattern).is_ok()),
        "title" | "description" | "format" => value.is_string(),
        "x-form" => value.is_object(),
        _ => true,
    };
    if !fits {
        problems.push(error(path, format!("`{name}` cannot have this value")));
    }
}
