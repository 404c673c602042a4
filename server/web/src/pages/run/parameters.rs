//! What the run was started with.

use askama::Template;
use axum::response::Response;
use serde_json::Value;

use super::head::Head;
use crate::error::ApiResult;
use crate::pages::{Frame, html};
use crate::runs::Reader;
use crate::time::Time;

/// One parameter.
struct Parameter {
    name: String,
    value: String,
    /// Whether it was given; otherwise it is the pipeline's default.
    given: bool,
}

#[derive(Template)]
#[template(path = "run/parameters.html")]
struct ParametersPage {
    frame: Frame,
    head: Head,
    parameters: Vec<Parameter>,
    date: Time,
    cluster: String,
    code: Option<String>,
}

pub(super) fn page(frame: Frame, head: Head, reader: &Reader<'_>) -> ApiResult<Response> {
    let plan = &reader.plan;
    let parameter = |(name, value): (&String, &Value)| Parameter {
        name: name.clone(),
        value: value_text(value),
        given: reader.record.parameters.contains_key(name),
    };
    html(&ParametersPage {
        parameters: plan.parameters.iter().map(parameter).collect(),
        date: Time(plan.context.date),
        cluster: plan.cluster.clone(),
        code: plan.context.code.clone(),
        frame,
        head,
    })
}

/// A value as a person reads it: texts without quotes, the rest as JSON.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        other => other.to_string(),
    }
}
