//! Parameters that the run was started with.

use askama::Template;
use axum::response::Response;
use serde_json::Value;

use super::head::Head;
use crate::error::ApiResult;
use crate::pages::{Frame, html};
use crate::readable;
use crate::runs::Reader;
use crate::time::Time;

struct Parameter {
    name: String,
    value: String,
    /// Whether it was set explicitly. Otherwise, it is the pipeline's default.
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
        value: readable::value(value),
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
