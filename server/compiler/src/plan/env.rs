//! The variables of a task, from template, pipeline and task together.

use cubeloom_domain::pipeline::Task;
use cubeloom_domain::plan::{Late, LateMap};
use serde_json::Value;

use super::Planner;
use super::prepared::Prepared;
use super::resolve::{Known, Sight};
use crate::expression::{Mistake, to_text};

impl Planner<'_> {
    /// The variables of template, pipeline and task; later ones win.
    pub fn env(
        &mut self,
        prefix: &str,
        task: &Task,
        prepared: &Prepared<'_>,
        sight: &Sight<'_>,
        inside: &Sight<'_>,
    ) -> LateMap {
        let mut env = LateMap::new();
        for (name, text) in &prepared.template.env {
            match variable(text, inside) {
                Ok(value) => env.extend(value.map(|value| (name.clone(), value))),
                Err(mistake) => {
                    let place = format!("the task template `{}`, env {name}", prepared.template.name);
                    self.problem(
                        mistake.code,
                        format!("{prefix}/template"),
                        format!("{place}: {}", mistake.message),
                    );
                }
            }
        }
        let pipeline = self.pipeline;
        let own = [("", &pipeline.env), (prefix, &task.env)];
        for (path, name, text) in
            own.into_iter().flat_map(|(path, env)| env.iter().map(move |(n, t)| (path, n, t)))
        {
            match variable(text, sight) {
                Ok(value) => env.extend(value.map(|value| (name.clone(), value))),
                Err(mistake) => self.mistake(mistake, format!("{path}/env/{name}")),
            }
        }
        env
    }
}

/// A variable's value, or its source if it is late; `None` if it is null and so not set.
fn variable(text: &str, sight: &Sight<'_>) -> Result<Option<Late>, Mistake> {
    let source = Value::String(text.to_owned());
    Ok(match sight.resolve(&source)? {
        Known::Value(Value::Null) => None,
        Known::Value(value) => Some(Late::Value(Value::String(to_text(value)))),
        Known::Late => Some(Late::Source(source)),
        Known::Unknown => Some(Late::Value(Value::String(String::new()))),
    })
}

/// A text of an env whose value is known: a resource can be fixed there.
pub fn known_text<'e>(env: &'e LateMap, name: &str) -> Option<&'e str> {
    match env.get(name)? {
        Late::Value(value) => value.as_str(),
        Late::Source(_) => None,
    }
}
