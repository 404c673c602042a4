//! The published JSON Schemas, which editors use to complete and check documents.

use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::template::TaskTemplate;
use serde_json::Value;

#[must_use]
pub fn pipeline() -> Value {
    schemars::schema_for!(Pipeline).to_value()
}

#[must_use]
pub fn template() -> Value {
    schemars::schema_for!(TaskTemplate).to_value()
}
