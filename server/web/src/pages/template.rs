//! `GET /templates/{template}`: documentation of a task template.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::Value;

use super::diff::{self, Half};
use super::templates::in_language;
use super::{Frame, html};
use crate::api::templates::{TemplateView, TextView, detail};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::state::Web;
use crate::texts::Lang;

#[derive(Template)]
#[template(path = "template.html")]
struct TemplatePage {
    frame: Frame,
    template: TemplateView,
    fields: Vec<Field>,
    /// A program before and after, side by side.
    sides: Option<[Vec<Half>; 2]>,
}

/// An argument as a form field.
struct Field {
    name: String,
    title: String,
    description: String,
    required: bool,
    /// Type as text: `integer`, `list of string`, ...
    kind: String,
    default: String,
    control: Control,
}

/// Input control of an argument.
enum Control {
    Text { placeholder: String },
    Long { placeholder: String },
    Number,
    Switch { on: bool },
    Choice(Vec<String>),
}

impl TemplatePage {
    fn text<'t>(&self, text: &'t TextView) -> &'t str {
        in_language(&self.frame, text)
    }

    /// Heading of a column of the program before and after.
    fn side(&self, index: &usize) -> &str {
        self.frame.t(if *index == 0 { "templates.before" } else { "templates.after" })
    }
}

/// Query parameters.
#[derive(Debug, Deserialize)]
pub(crate) struct Version {
    version: Option<String>,
}

pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Path(name): Path<String>,
    Query(query): Query<Version>,
) -> ApiResult<Response> {
    let template = detail(&web, name, query.version).await?;
    let fields = fields(&template.parameters, frame.lang);
    let sides = template.before_after.as_ref().map(diff::sides);
    html(&TemplatePage { frame, template, fields, sides })
}

/// Arguments in the order of their `x-form`.
fn fields(schema: &Value, lang: Lang) -> Vec<Field> {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut listed: Vec<(&String, &Value)> = properties.into_iter().flatten().collect();
    listed.sort_by_key(|(_, property)| {
        property.pointer("/x-form/order").and_then(Value::as_u64).unwrap_or(u64::MAX)
    });
    listed
        .into_iter()
        .map(|(name, property)| field(name, property, required.contains(&name.as_str().into()), lang))
        .collect()
}

fn field(name: &str, property: &Value, required: bool, lang: Lang) -> Field {
    // English texts are in the schema itself, Chinese ones in `x-form`.
    let text = |key: &str, chinese: &str| {
        let own = property.get(key);
        let found = if lang == Lang::Zh { property.pointer(chinese).or(own) } else { own };
        found.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let title = text("title", "/x-form/zh/title");
    Field {
        title: if title.is_empty() { name.to_owned() } else { title },
        name: name.to_owned(),
        description: text("description", "/x-form/zh/help"),
        required,
        kind: kind(property),
        default: property.get("default").filter(|value| !value.is_null()).map(shown).unwrap_or_default(),
        control: control(property),
    }
}

fn kind(property: &Value) -> String {
    let word = |value: &Value| match value {
        Value::Array(kinds) => kinds.iter().map(shown).collect::<Vec<_>>().join(" | "),
        other => shown(other),
    };
    match (property.get("type"), property.pointer("/items/type")) {
        (Some(kind), Some(items)) => format!("{}[{}]", word(kind), word(items)),
        (Some(kind), None) => word(kind),
        (None, _) => choices(property).map(|choices| choices.join(" | ")).unwrap_or_default(),
    }
}

/// Allowed values of an argument, if it is an enum.
fn choices(property: &Value) -> Option<Vec<String>> {
    Some(property.get("enum")?.as_array()?.iter().map(shown).collect())
}

fn control(property: &Value) -> Control {
    let placeholder = property.pointer("/x-form/placeholder").map(shown).unwrap_or_default();
    if let Some(choices) = choices(property) {
        return Control::Choice(choices);
    }
    let widget = property.pointer("/x-form/widget").and_then(Value::as_str).unwrap_or_default();
    match property.get("type").and_then(Value::as_str) {
        Some("boolean") => Control::Switch { on: property.get("default") == Some(&Value::Bool(true)) },
        Some("integer" | "number") => Control::Number,
        Some("array" | "object") => Control::Long { placeholder },
        _ if matches!(widget, "code" | "textarea" | "list" | "map") => Control::Long { placeholder },
        _ => Control::Text { placeholder },
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
