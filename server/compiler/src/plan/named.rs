//! Arguments that refer to a pipeline of the project (`format: pipeline`), or to its users (a list of
//! `format: person`).

use std::collections::BTreeSet;

use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use super::Planner;
use super::arguments::Arguments;
use crate::arguments::properties;
use crate::nearest::hint;
use crate::path::Path;

/// Builds the message about a missing name from the existing ones.
type Says = fn(&str, &BTreeSet<String>) -> String;

impl Planner<'_> {
    /// Reports missing names. Late values are checked when they are known.
    pub fn named(&mut self, schema: &Value, arguments: &mut Arguments<'_>, path: &mut Path) {
        let before = self.problems.len();
        let facts = self.facts;
        for (name, property) in properties(schema) {
            let Some(value) = arguments.known.get(name) else { continue };
            path.push_key(name);
            if let Some(pipelines) = &facts.pipelines
                && has_format(property, "pipeline")
            {
                self.must_be_one_of(pipelines, value, path, (Code::UnknownPipeline, pipeline_missing));
            }
            let person = property.get("items").filter(|items| has_format(items, "person"));
            if let (Some(people), Some(_), Some(names)) = (&facts.people, person, value.as_array()) {
                for (at, name) in names.iter().enumerate() {
                    path.push_index(at);
                    self.must_be_one_of(people, name, path, (Code::InvalidArgument, person_missing));
                    path.pop();
                }
            }
            path.pop();
        }
        arguments.wrong |= self.problems.len() > before;
    }

    fn must_be_one_of(
        &mut self,
        there: &BTreeSet<String>,
        value: &Value,
        path: &Path,
        (code, says): (Code, Says),
    ) {
        let Some(wanted) = value.as_str().filter(|wanted| !there.contains(*wanted)) else { return };
        self.problems.push(Problem::error(code, path.pointer(), says(wanted, there)));
    }
}

fn has_format(schema: &Value, format: &str) -> bool {
    schema.get("format").and_then(Value::as_str) == Some(format)
}

fn pipeline_missing(wanted: &str, there: &BTreeSet<String>) -> String {
    let hint = hint(wanted, there.iter().map(String::as_str));
    format!("there is no pipeline `{wanted}` here{hint}")
}

/// Without a hint: the other users' names are not public.
fn person_missing(wanted: &str, _: &BTreeSet<String>) -> String {
    format!("no user `{wanted}` can see this project")
}
