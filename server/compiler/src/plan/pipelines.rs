//! Arguments that name a pipeline of the project (`format: pipeline`).

use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use super::Planner;
use super::arguments::Arguments;
use crate::arguments::properties;
use crate::nearest::hint;
use crate::path::Path;

impl Planner<'_> {
    /// Tells of pipelines that are named and not there. What is known only later is told then.
    pub fn pipelines(&mut self, schema: &Value, arguments: &mut Arguments<'_>, path: &mut Path) {
        let Some(pipelines) = self.facts.pipelines.as_ref() else { return };
        for (name, property) in properties(schema) {
            if property.get("format").and_then(Value::as_str) != Some("pipeline") {
                continue;
            }
            let Some(Value::String(wanted)) = arguments.known.get(name) else { continue };
            if !pipelines.contains(wanted) {
                let hint = hint(wanted, pipelines.iter().map(String::as_str));
                let message = format!("there is no pipeline `{wanted}` here{hint}");
                path.push_key(name);
                self.problems.push(Problem::error(Code::UnknownPipeline, path.pointer(), message));
                path.pop();
                arguments.wrong = true;
            }
        }
    }
}
