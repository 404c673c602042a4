//! The arguments of a task: evaluated, completed by the schema's defaults, checked.

use cubeloom_domain::pipeline::Task;
use cubeloom_domain::plan::{Late, LateMap};
use cubeloom_domain::{JsonMap, verbatim};
use serde_json::Value;

use super::Planner;
use super::prepared::Prepared;
use super::resolve::{Known, Sight};
use crate::arguments::{check, defaults, in_words};
use crate::expression::Scope;
use crate::path::Path;

/// The arguments of a task at planning.
pub struct Arguments<'t> {
    /// Arguments with a value.
    pub known: JsonMap,
    /// Arguments that get a value when the task is ready.
    pub late: Vec<&'t str>,
    /// Arguments that would have a value in a started run.
    pub unknown: Vec<&'t str>,
    /// Whether one of them is invalid: everything that depends on them is then skipped.
    pub wrong: bool,
}

impl Arguments<'_> {
    /// The known arguments, for the words of a command: data in them is marked.
    pub fn for_words(&self, schema: &Value, task: &Task, sight: &Sight<'_>) -> JsonMap {
        let sight = Sight { scope: Scope { is_for_words: true, ..sight.scope }, ..*sight };
        let marked = |(name, value): (&String, &Value)| {
            let source = task.arguments.get(name).filter(|_| may_refer(value));
            let marked = source.and_then(|source| match sight.resolve(source) {
                Ok(Known::Value(mut marked)) => {
                    in_words(schema, name, source, &mut marked, task.written.as_deref());
                    Some(marked)
                }
                _ => None,
            });
            // A value that the planner has substituted, such as a model's version, contains no data.
            let same = marked.filter(|marked| {
                let mut plain = marked.clone();
                verbatim::unmark(&mut plain);
                plain == *value
            });
            (name.clone(), same.unwrap_or_else(|| value.clone()))
        };
        self.known.iter().map(marked).collect()
    }

    pub fn planned(self, known: JsonMap, schema: &Value, task: &Task) -> LateMap {
        let mut planned = LateMap::with_capacity(known.len() + self.late.len() + self.unknown.len());
        for (name, value) in known {
            planned.insert(name, Late::Value(value));
        }
        for name in self.late.into_iter().chain(self.unknown) {
            let source = &task.arguments[name];
            let mut planned_source = source.clone();
            in_words(schema, name, source, &mut planned_source, task.written.as_deref());
            planned.insert(name.to_owned(), Late::Source(planned_source));
        }
        planned
    }
}

/// Whether a text in it contains a possible variable.
fn may_refer(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("$("),
        Value::Array(items) => items.iter().any(may_refer),
        Value::Object(map) => map.values().any(may_refer),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl Planner<'_> {
    pub fn arguments<'t>(
        &mut self,
        prefix: &str,
        task: &'t Task,
        prepared: &Prepared<'_>,
        sight: &Sight<'_>,
    ) -> Arguments<'t> {
        let schema = &prepared.template.parameters;
        let mut arguments =
            Arguments { known: JsonMap::new(), late: Vec::new(), unknown: Vec::new(), wrong: false };
        let mut path = Path::at(format!("{prefix}/arguments"));
        for (name, value) in &task.arguments {
            match sight.resolve(value) {
                Ok(Known::Value(mut found)) => {
                    in_words(schema, name, value, &mut found, task.written.as_deref());
                    arguments.known.insert(name.clone(), found);
                }
                Ok(Known::Late) => arguments.late.push(name),
                Ok(Known::Unknown) => arguments.unknown.push(name),
                Err(mistake) => {
                    path.push_key(name);
                    self.mistake(mistake, path.pointer());
                    path.pop();
                    arguments.unknown.push(name);
                    arguments.wrong = true;
                }
            }
        }
        for (name, default) in defaults(schema, &task.arguments) {
            arguments.known.insert(name.clone(), default.clone());
        }
        let later: Vec<&str> = arguments.late.iter().chain(&arguments.unknown).copied().collect();
        let problems = check(schema, &arguments.known, &later, &mut path);
        arguments.wrong |= !problems.is_empty();
        self.problems.extend(problems);
        self.models(schema, &mut arguments, &mut path);
        self.named(schema, &mut arguments, &mut path);
        if !arguments.late.is_empty() {
            self.templates.keep_schema(prepared);
        }
        arguments
    }

    /// Evaluates a text of a template. A late or unknown value is a problem if `needed_now` says what it
    /// decides.
    pub fn template_value(
        &mut self,
        prefix: &str,
        prepared: &Prepared<'_>,
        value: &Value,
        sight: &Sight<'_>,
        needed_now: &str,
    ) -> Option<Value> {
        match sight.resolve(value) {
            Ok(Known::Value(value)) => Some(value),
            Ok(Known::Unknown) => None,
            Ok(Known::Late) => {
                let message = format!(
                    "{needed_now} must be known when the run starts, but follows from an argument that reads `tasks` or \
                     `item` ({})",
                    sight.late_args.join(", ")
                );
                self.problem(
                    cubeloom_domain::Code::OutputNotAvailable,
                    format!("{prefix}/arguments"),
                    message,
                );
                None
            }
            Err(mistake) => {
                let message = format!(
                    "the task template `{}`, {needed_now}: {}",
                    prepared.template.name, mistake.message
                );
                self.problem(mistake.code, format!("{prefix}/template"), message);
                None
            }
        }
    }
}
