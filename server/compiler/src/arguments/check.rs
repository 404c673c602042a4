//! Checks a value against a JSON Schema.

use std::cell::RefCell;
use std::collections::HashMap;

use cubeloom_domain::json::is_whole;
use cubeloom_domain::{Code, JsonMap, Problem};
use regex::Regex;
use serde_json::{Map, Value};

use super::combined::combined;
use crate::nearest::{hint, listing};
use crate::path::Path;

/// Checks the arguments of a task. `late` arguments have no value yet: they count as present and valid. Rules
/// that combine several arguments are checked once the values are known.
pub fn check(schema: &Value, arguments: &JsonMap, late: &[&str], path: &mut Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Some(rules) = schema.as_object() else { return problems };
    object(rules, arguments, late, path, &mut problems);
    if late.is_empty() {
        combined(rules, &Value::Object(arguments.clone()), path, &mut problems);
    }
    problems
}

pub fn value(schema: &Value, found: &Value, path: &mut Path, problems: &mut Vec<Problem>) {
    let rules = match schema {
        Value::Object(rules) => rules,
        Value::Bool(false) => return wrong(path, problems, "no value is allowed here".into()),
        _ => return,
    };
    if let Some(expected) = rules.get("type")
        && !has_type(expected, found)
    {
        let message = format!("expected {}, found {}", type_names(expected), describe(found));
        return wrong(path, problems, message);
    }
    fixed(rules, found, path, problems);
    match found {
        Value::Number(_) => number(rules, found, path, problems),
        Value::String(text) => string(rules, text, path, problems),
        Value::Array(items) => array(rules, items, path, problems),
        Value::Object(map) => object(rules, map, &[], path, problems),
        Value::Null | Value::Bool(_) => {}
    }
    combined(rules, found, path, problems);
}

pub fn wrong(path: &Path, problems: &mut Vec<Problem>, message: String) {
    problems.push(Problem::error(Code::InvalidArgument, path.pointer(), message));
}

/// Whether a value has a type, or one of several types.
fn has_type(expected: &Value, found: &Value) -> bool {
    match expected {
        Value::Array(types) => types.iter().any(|one| has_type(one, found)),
        Value::String(name) => match name.as_str() {
            "null" => found.is_null(),
            "boolean" => found.is_boolean(),
            "integer" => is_whole(found),
            "number" => found.is_number(),
            "string" => found.is_string(),
            "array" => found.is_array(),
            "object" => found.is_object(),
            _ => false,
        },
        _ => true,
    }
}

pub fn type_names(expected: &Value) -> String {
    let name = |value: &Value| match value.as_str().unwrap_or_default() {
        "null" => "nothing",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "text",
        "array" => "a list",
        "object" => "a mapping",
        _ => "something else",
    };
    match expected {
        Value::Array(types) => types.iter().map(name).collect::<Vec<_>>().join(" or "),
        one => name(one).into(),
    }
}

/// A value for a message: its type, and the value if it is short.
fn describe(value: &Value) -> String {
    let (what, show) = match value {
        Value::Null => ("nothing", false),
        Value::Bool(_) => ("truth value", true),
        Value::Number(_) => ("number", true),
        Value::String(text) => ("text", text.len() <= 40),
        Value::Array(_) => ("a list", false),
        Value::Object(_) => ("a mapping", false),
    };
    if show { format!("the {what} {value}") } else { what.into() }
}

/// Checks `enum` and `const`.
fn fixed(rules: &Map<String, Value>, found: &Value, path: &Path, problems: &mut Vec<Problem>) {
    if let Some(choices) = rules.get("enum").and_then(Value::as_array)
        && !choices.iter().any(|choice| same(choice, found))
    {
        let texts = || choices.iter().filter_map(Value::as_str);
        let listed = choices.iter().take(20).map(Value::to_string).collect::<Vec<_>>().join(", ");
        let hint = found.as_str().map(|text| hint(text, texts())).unwrap_or_default();
        wrong(path, problems, format!("{} is not one of {listed}{hint}", describe(found)));
    }
    if let Some(only) = rules.get("const")
        && !same(only, found)
    {
        wrong(path, problems, format!("must be {only}, found {}", describe(found)));
    }
}

/// Equality in JSON Schema: 1 equals 1.0.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        _ => left == right,
    }
}

fn number(rules: &Map<String, Value>, found: &Value, path: &Path, problems: &mut Vec<Problem>) {
    let Some(number) = found.as_f64() else { return };
    let bound = |name: &str| rules.get(name).and_then(Value::as_f64);
    let checks = [
        (bound("minimum").filter(|bound| number < *bound), "at least"),
        (bound("maximum").filter(|bound| number > *bound), "at most"),
        (bound("exclusiveMinimum").filter(|bound| number <= *bound), "more than"),
        (bound("exclusiveMaximum").filter(|bound| number >= *bound), "less than"),
        (bound("multipleOf").filter(|step| !is_multiple(number, *step)), "a multiple of"),
    ];
    for (bound, words) in checks {
        if let Some(bound) = bound {
            wrong(path, problems, format!("{found} is not allowed: must be {words} {bound}"));
        }
    }
}

fn is_multiple(number: f64, step: f64) -> bool {
    let times = number / step;
    (times - times.round()).abs() < 1e-9
}

fn string(rules: &Map<String, Value>, text: &str, path: &Path, problems: &mut Vec<Problem>) {
    size(rules, ["minLength", "maxLength"], text.chars().count(), "characters", path, problems);
    if let Some(pattern) = rules.get("pattern").and_then(Value::as_str)
        && !matches(pattern, text)
    {
        let message = match example(rules, pattern) {
            Some(example) => format!("must match the pattern `{pattern}`, such as `{example}`"),
            None => format!("must match the pattern `{pattern}`"),
        };
        wrong(path, problems, message);
    }
    match rules.get("format").and_then(Value::as_str) {
        Some("date") if text.parse::<jiff::civil::Date>().is_err() => {
            wrong(path, problems, format!("`{text}` is not a date such as 2026-01-31"));
        }
        Some("run-path") if leaves_the_run(text) => {
            wrong(
                path,
                problems,
                format!("`{text}` is not below the run's folder: write a path such as data/a.csv"),
            );
        }
        _ => {}
    }
}

/// The placeholder of the form's field, if it is a value and not an expression.
fn example<'r>(rules: &'r Map<String, Value>, pattern: &str) -> Option<&'r str> {
    let shown = rules.get("x-form")?.get("placeholder")?.as_str()?;
    matches(pattern, shown).then_some(shown)
}

/// Whether a path leads out of the run's folder. Paths below a folder of the platform (`{{ workspace }}/...`)
/// are allowed as long as they stay in that folder.
fn leaves_the_run(path: &str) -> bool {
    path.starts_with('/') || path.split('/').any(|part| part == "..")
}

/// Checks `minX` and `maxX`.
fn size(
    rules: &Map<String, Value>,
    [min, max]: [&str; 2],
    found: usize,
    what: &str,
    path: &Path,
    problems: &mut Vec<Problem>,
) {
    let found = found as u64;
    let bound = |name: &str| rules.get(name).and_then(Value::as_u64);
    if let Some(min) = bound(min).filter(|min| found < *min) {
        wrong(path, problems, format!("has {found} {what}, needs at least {min}"));
    }
    if let Some(max) = bound(max).filter(|max| found > *max) {
        wrong(path, problems, format!("has {found} {what}, at most {max} are allowed"));
    }
}

fn array(rules: &Map<String, Value>, items: &[Value], path: &mut Path, problems: &mut Vec<Problem>) {
    size(rules, ["minItems", "maxItems"], items.len(), "elements", path, problems);
    if let Some(schema) = rules.get("items") {
        for (at, item) in items.iter().enumerate() {
            path.push_index(at);
            value(schema, item, path, problems);
            path.pop();
        }
    }
    if rules.get("uniqueItems") == Some(&Value::Bool(true)) {
        let mut seen = std::collections::HashSet::new();
        if let Some(twice) = items.iter().find(|item| !seen.insert(item.to_string())) {
            wrong(path, problems, format!("{twice} is in the list twice"));
        }
    }
}

fn object(
    rules: &Map<String, Value>,
    map: &JsonMap,
    late: &[&str],
    path: &mut Path,
    problems: &mut Vec<Problem>,
) {
    size(rules, ["minProperties", "maxProperties"], map.len() + late.len(), "keys", path, problems);
    for name in
        rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !map.contains_key(name) && !late.contains(&name) {
            wrong(path, problems, format!("`{name}` is missing"));
        }
    }
    let properties = rules.get("properties").and_then(Value::as_object);
    let extra = rules.get("additionalProperties");
    for (name, found) in map {
        path.push_key(name);
        match (properties.and_then(|known| known.get(name)), extra) {
            (Some(schema), _) => value(schema, found, path, problems),
            (None, Some(Value::Bool(false))) => unknown(name, properties, path, problems),
            (None, Some(schema)) => value(schema, found, path, problems),
            (None, None) => {}
        }
        path.pop();
    }
    for name in late.iter().filter(|name| properties.is_none_or(|known| !known.contains_key(**name))) {
        if extra == Some(&Value::Bool(false)) {
            path.push_key(name);
            unknown(name, properties, path, problems);
            path.pop();
        }
    }
}

fn unknown(name: &str, known: Option<&Map<String, Value>>, path: &Path, problems: &mut Vec<Problem>) {
    let names = || known.into_iter().flat_map(|known| known.keys().map(String::as_str));
    let hint = hint(name, names());
    let hint = if hint.is_empty() { format!("; known are: {}", listing(names())) } else { hint };
    wrong(path, problems, format!("there is no argument `{name}`{hint}"));
}

thread_local! {
    static PATTERNS: RefCell<HashMap<String, Option<Regex>>> = RefCell::default();
}

/// Whether a text matches. An invalid pattern is the template's mistake, which its lint reports.
fn matches(pattern: &str, text: &str) -> bool {
    PATTERNS.with_borrow_mut(|patterns| {
        if patterns.len() > 1000 {
            patterns.clear();
        }
        let compiled = patterns.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok());
        compiled.as_ref().is_none_or(|pattern| pattern.is_match(text))
    })
}
