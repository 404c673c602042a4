//! The published JSON Schemas: what an editor completes and checks while a person types.

use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::template::TaskTemplate;
use serde_json::Value;

/// The schema of pipeline documents.
#[must_use]
pub fn pipeline() -> Value {
    schemars::schema_for!(Pipeline).to_value()
}

/// The schema of task templates.
#[must_use]
pub fn template() -> Value {
    schemars::schema_for!(TaskTemplate).to_value()
}
