//! One argument of a job template as a property of a JSON Schema.

use serde_json::{Map, Value, json};

use super::ledger::At;
use crate::import::Fate;

/// The property, and whether the argument is required.
pub fn schema(field: &At<'_>, group: &str, order: usize) -> (Value, bool) {
    let kind = field.get("type").and_then(|kind| kind.text()).unwrap_or_else(|| "str".into());
    let text = |key: &str| field.get(key).and_then(|at| at.text());
    let needed = field.first(&["require", "required"]);
    let needed = needed.and_then(|at| at.text()).is_some_and(|text| text == "1" || text == "true");
    let mut property = Map::new();
    let default = default(field, &kind);
    let may_lack = default.is_none() && !needed;
    property.insert("type".into(), if may_lack { or_nothing(types(&kind), &kind) } else { types(&kind) });
    choices(field, &kind, needed || default.is_some(), &mut property);
    let required = needed && default.is_none();
    if !required {
        property.insert("default".into(), default.unwrap_or_else(|| empty(&kind)));
    }
    for (theirs, ours) in [("label", "title"), ("describe", "description")] {
        if let Some(text) = text(theirs) {
            let plain = without_tags(&text);
            if plain != text {
                field.note(Fate::Changed, format!("`{theirs}` lost its links and other HTML"));
            }
            property.insert(ours.into(), json!(plain));
        }
    }
    if let Some(pattern) = field.get("regex") {
        let text = pattern.text().unwrap_or_default();
        match regex::Regex::new(&text) {
            Ok(_) => _ = property.insert("pattern".into(), json!(text)),
            Err(_) => pattern.tell(Fate::LeftOut, "is not a supported pattern"),
        }
    }
    let mut form = Map::new();
    form.insert("order".into(), json!(order));
    form.insert("group".into(), json!(group));
    if let Some(widget) = widget(&kind) {
        form.insert("widget".into(), json!(widget));
    }
    if let Some(text) = text("placeholder") {
        form.insert("placeholder".into(), json!(text));
    }
    property.insert("x-form".into(), Value::Object(form));
    details(field);
    (Value::Object(property), required)
}

/// Marks values that do not matter to a schema as used.
fn details(field: &At<'_>) {
    if let Some(editable) = field.get("editable") {
        match editable.text().as_deref() {
            Some("1" | "true") => {}
            _ => editable.tell(Fate::LeftOut, "every argument can be changed here"),
        }
    }
    if let Some(kind) = field.get("item_type") {
        kind.used();
    }
}

fn types(kind: &str) -> Value {
    match kind {
        "int" => json!("integer"),
        "float" | "double" => json!("number"),
        "bool" => json!("boolean"),
        "json" | "dict" => json!(["object", "array", "string"]),
        "list" => json!("array"),
        _ => json!("string"),
    }
}

/// An unset number is null, not 0.
fn or_nothing(types: Value, kind: &str) -> Value {
    match kind {
        "int" | "float" | "double" => json!([types, "null"]),
        _ => types,
    }
}

fn widget(kind: &str) -> Option<&'static str> {
    match kind {
        "text" | "json" | "dict" => Some("code"),
        "list" => Some("list"),
        _ => None,
    }
}

fn empty(kind: &str) -> Value {
    match kind {
        "int" | "float" | "double" => Value::Null,
        "bool" => json!(false),
        "list" => json!([]),
        _ => json!(""),
    }
}

/// The default as a value of its type. A default with Cube Studio's variables becomes a placeholder, because
/// a template's default is a value.
fn default(field: &At<'_>, kind: &str) -> Option<Value> {
    let at = field.get("default")?;
    at.used();
    let text = at.value.as_str();
    if text.is_some_and(|text| text.contains("{{")) {
        at.note(
            Fate::LeftOut,
            "a default with variables cannot be carried over: tasks must set this argument",
        );
        return None;
    }
    let value = match (kind, text) {
        ("int", Some(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("float" | "double", Some(text)) => text.trim().parse::<f64>().ok().map(Value::from),
        ("bool", Some(text)) => Some(json!(["1", "true", "True"].contains(&text.trim()))),
        ("list", Some(text)) => Some(json!(text.split(',').map(str::trim).collect::<Vec<_>>())),
        ("int" | "float" | "double" | "bool" | "list" | "json" | "dict", None) => Some(at.value.clone()),
        (_, Some(_)) => Some(at.value.clone()),
        (_, None) => at.text().map(Value::from),
    };
    let fits = value.filter(|value| matches_type(value, kind));
    if fits.is_none() {
        at.note(Fate::LeftOut, format!("the default is not a `{kind}`"));
    }
    fits
}

fn matches_type(value: &Value, kind: &str) -> bool {
    match kind {
        "int" => value.is_i64() || value.is_u64(),
        "float" | "double" => value.is_number(),
        "bool" => value.is_boolean(),
        "list" => value.is_array(),
        "json" | "dict" => value.is_object() || value.is_array() || value.is_string(),
        _ => value.is_string(),
    }
}

fn choices(field: &At<'_>, kind: &str, filled: bool, property: &mut Map<String, Value>) {
    let Some(at) = field.get("choice") else { return };
    at.used();
    let Value::Array(items) = at.value else {
        return at.note(Fate::LeftOut, "is not a list of choices");
    };
    let mut allowed: Vec<Value> = Vec::new();
    for item in items.iter().filter(|item| matches_type(item, kind)) {
        if !allowed.contains(item) {
            allowed.push(item.clone());
        }
    }
    if allowed.len() < items.len() {
        at.note(Fate::LeftOut, format!("some choices are not a `{kind}`, or are listed twice"));
    }
    let given = field.get("default").map(|default| default.value.clone());
    if let Some(given) = given.filter(|given| matches_type(given, kind) && !allowed.contains(given)) {
        at.note(Fate::Changed, format!("the default {given} was added to the choices"));
        allowed.push(given);
    }
    if !filled && !allowed.contains(&empty(kind)) {
        allowed.push(empty(kind));
    }
    property.insert("enum".into(), Value::Array(allowed));
}

/// A description without its HTML.
fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    if inside { text.to_owned() } else { out }
}

/// The words that pass an argument on; none for an empty one.
pub fn words(option: &str, name: &str, schema: &Value) -> String {
    let option = option.replace(['\'', '\\', '{', '}'], "");
    match schema["type"].as_str() {
        Some("boolean") => format!("{{{{ ['{option}'] if args.{name} else [] }}}}"),
        Some("integer" | "number") => format!("{{{{ ['{option}', args.{name}] }}}}"),
        _ if schema["default"].is_null() && schema["type"].is_array() => {
            format!("{{{{ ['{option}', args.{name}] if args.{name} is not none else [] }}}}")
        }
        Some("string") => format!("{{{{ ['{option}', args.{name}] if args.{name} else [] }}}}"),
        _ => format!(
            "{{{{ ['{option}', args.{name} if args.{name} is string else args.{name} | tojson] if args.{name} else [] }}}}"
        ),
    }
}
