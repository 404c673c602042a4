//! Semantic comparison of two pipelines: tasks, parameters and settings. Key order and comments are ignored.

use std::collections::BTreeMap;

use cubeloom_domain::pipeline::Pipeline;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Structural difference between two pipelines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct StructureView {
    /// Tasks that only the new pipeline has, in its order.
    pub added: Vec<String>,
    /// Tasks that only the old pipeline has, in its order.
    pub removed: Vec<String>,
    /// Tasks that both pipelines have and that differ, in the order of the new pipeline.
    pub changed: Vec<TaskChange>,
    /// Parameters that were added, removed or changed. Paths begin with the parameter name.
    pub parameters: Vec<FieldChange>,
    /// All other settings: description, labels, env, schedule, ...
    pub settings: Vec<FieldChange>,
}

/// A task that differs.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct TaskChange {
    /// Task.
    pub task: String,
    /// Fields of the task that differ.
    pub fields: Vec<FieldChange>,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct FieldChange {
    /// Location as a JSON pointer.
    pub path: String,
    /// Old value. Omitted if the field did not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub before: Option<Value>,
    /// New value. Omitted if the field does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub after: Option<Value>,
}

/// Compares two pipelines.
///
/// # Errors
/// Serialization fails, which is not expected.
pub(crate) fn structure(old: &Pipeline, new: &Pipeline) -> Result<StructureView, serde_json::Error> {
    let (mut old, mut new) = (object(old)?, object(new)?);
    let (before, after) = (take_tasks(&mut old), take_tasks(&mut new));
    let mut found = StructureView {
        added: missing(&after, &before),
        removed: missing(&before, &after),
        ..StructureView::default()
    };
    let known: BTreeMap<&str, &Value> = before.iter().map(|(name, task)| (name.as_str(), task)).collect();
    for (name, task) in &after {
        let Some(earlier) = known.get(name.as_str()) else { continue };
        let mut fields = Vec::new();
        compare("", Some(*earlier), Some(task), &mut fields);
        if !fields.is_empty() {
            found.changed.push(TaskChange { task: name.clone(), fields });
        }
    }
    let (earlier, later) = (old.remove("parameters"), new.remove("parameters"));
    let empty = Value::Object(Map::new());
    compare("", earlier.as_ref().or(Some(&empty)), later.as_ref().or(Some(&empty)), &mut found.parameters);
    compare("", Some(&Value::Object(old)), Some(&Value::Object(new)), &mut found.settings);
    Ok(found)
}

fn object(pipeline: &Pipeline) -> Result<Map<String, Value>, serde_json::Error> {
    match serde_json::to_value(pipeline)? {
        Value::Object(object) => Ok(object),
        _ => Ok(Map::new()),
    }
}

/// Tasks by name, in the document's order.
fn take_tasks(pipeline: &mut Map<String, Value>) -> Vec<(String, Value)> {
    let Some(Value::Array(tasks)) = pipeline.remove("tasks") else { return Vec::new() };
    let name = |task: &Value| task.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    tasks.into_iter().map(|task| (name(&task), task)).collect()
}

/// Names in `these` but not in `others`.
fn missing(these: &[(String, Value)], others: &[(String, Value)]) -> Vec<String> {
    let others: std::collections::BTreeSet<&str> = others.iter().map(|(name, _)| name.as_str()).collect();
    these.iter().map(|(name, _)| name).filter(|name| !others.contains(name.as_str())).cloned().collect()
}

/// Compares mappings key by key, and everything else as a whole.
fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<FieldChange>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let added = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(added) {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                compare(&format!("{path}/{escaped}"), before.get(key), after.get(key), found);
            }
        }
        (before, after) => {
            found.push(FieldChange { path: path.into(), before: before.cloned(), after: after.cloned() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(text: &str) -> Pipeline {
        let head = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\n";
        cubeloom_compiler::parse_pipeline(&format!("{head}{text}")).unwrap().pipeline
    }

    #[test]
    fn tasks_parameters_and_settings_are_compared_by_meaning() {
        let old = pipeline(
            "parameters: {a: {type: integer, default: 1}, b: {type: string, default: x}}\n\
             tasks:\n- {name: one, template: python, resources: {cpu: 1}}\n- {name: two, template: command}\n",
        );
        let new = pipeline(
            "# a comment\nparallelism: 2\nparameters: {a: {type: integer, default: 2}}\n\
             tasks:\n- {name: three, template: command, needs: [one]}\n\
             - {template: python@1.0.0, resources: {cpu: 1000m}, name: one}\n",
        );
        let found = structure(&old, &new).unwrap();
        assert_eq!((found.added, found.removed), (vec!["three".to_owned()], vec!["two".to_owned()]));
        let paths =
            |fields: &[FieldChange]| fields.iter().map(|field| field.path.clone()).collect::<Vec<_>>();
        assert_eq!(found.changed.len(), 1);
        assert_eq!(paths(&found.changed[0].fields), ["/template"]);
        assert_eq!(paths(&found.parameters), ["/a/default", "/b"]);
        assert_eq!(paths(&found.settings), ["/parallelism"]);
        assert_eq!(structure(&old, &old).unwrap(), StructureView::default());
    }
}
