//! The items of a `for_each`, as far as they are known at planning.

use cubeloom_domain::pipeline::{ForEach, Task};
use cubeloom_domain::plan::{ForEachItems, PlannedForEach, RunPlan};
use cubeloom_domain::{Code, Problem, Severity, TaskIx};
use serde_json::Value;

use super::Planner;
use super::resolve::{Known, Sight};
use crate::MAX_ELEMENTS;
use crate::expression::bare;
use crate::job::wrong_argument;
use crate::search::first_of_them;

/// Items whose arguments are checked at planning: the others mostly resemble the first, and a document is
/// checked at every keystroke.
const LOOKED_AT: usize = 10;

impl Planner<'_> {
    /// The loop or search that gives a task several instances.
    pub fn expansion(&mut self, prefix: &str, task: &Task, sight: &Sight<'_>) -> Option<PlannedForEach> {
        match (&task.for_each, &task.search) {
            (Some(for_each), _) => Some(self.elements(prefix, for_each, sight)),
            (None, Some(search)) => self.trials(prefix, search, sight),
            (None, None) => None,
        }
    }

    /// Evaluates the items, or keeps the expression that yields them.
    fn elements(&mut self, prefix: &str, for_each: &ForEach, sight: &Sight<'_>) -> PlannedForEach {
        let items = if let Some(list) = &for_each.list {
            ForEachItems::Known(self.list(&format!("{prefix}/for_each/list"), list, sight))
        } else if let Some(matrix) = &for_each.matrix {
            let path = format!("{prefix}/for_each/matrix");
            let axes = matrix.iter().map(|(key, values)| {
                let list = Value::Array(values.clone());
                (key.as_str(), self.list(&format!("{path}/{key}"), &list, sight))
            });
            ForEachItems::Known(combinations(&axes.collect::<Vec<_>>()))
        } else {
            self.from(prefix, for_each.from.as_deref().unwrap_or_default(), sight)
        };
        PlannedForEach { items, parallelism: for_each.parallelism }
    }

    /// Checks the arguments of each task with its first items, if they are known and nothing else is read.
    pub fn check_elements(&mut self, plan: &RunPlan) {
        for (at, task) in (0u32..).zip(&plan.tasks) {
            let prefix = format!("/tasks/{at}");
            let is_told = |problem: &Problem| {
                let inside = problem.path.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with(['/']));
                inside && problem.severity == Severity::Error
            };
            if !task.reads.is_empty() || self.problems.iter().any(is_told) {
                continue;
            }
            let items = match task.for_each.as_ref().map(|for_each| &for_each.items) {
                Some(ForEachItems::Known(items)) => items.iter().take(LOOKED_AT).cloned().collect(),
                Some(ForEachItems::Search(_)) => first_of_them(plan, TaskIx(at), LOOKED_AT),
                Some(ForEachItems::Expression(_)) | None => continue,
            };
            let wrong = items.iter().find_map(|item| wrong_argument(plan, TaskIx(at), item));
            if let Some((path, message)) = wrong {
                self.problem(Code::InvalidArgument, format!("{prefix}{path}"), message);
            }
        }
    }

    pub fn list(&mut self, path: &str, list: &Value, sight: &Sight<'_>) -> Vec<Value> {
        match sight.resolve(list) {
            Ok(Known::Value(value)) => match elements(value) {
                Ok(items) => return items,
                Err(message) => self.problem(Code::WrongType, path, message),
            },
            Ok(Known::Late | Known::Unknown) => {}
            Err(mistake) => self.mistake(mistake, path.to_owned()),
        }
        Vec::new()
    }

    /// Evaluates an expression that reads no task now.
    fn from(&mut self, prefix: &str, from: &str, sight: &Sight<'_>) -> ForEachItems {
        let Ok(expression) = bare(from) else { return ForEachItems::Known(Vec::new()) };
        if !expression.reads.is_empty() {
            return ForEachItems::Expression(expression.source.clone());
        }
        let path = format!("{prefix}/for_each/from");
        let text = Value::String(format!("{{{{ {} }}}}", expression.source));
        ForEachItems::Known(self.list(&path, &text, sight))
    }
}

/// A value as items.
///
/// # Errors
/// A message, if it is not a list, or too long.
pub fn elements(value: Value) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(items) if items.len() > MAX_ELEMENTS => {
            Err(format!("the list has {} elements; at most {MAX_ELEMENTS} are allowed", items.len()))
        }
        Value::Array(items) => Ok(items),
        Value::Null => Err("for_each needs a list, but this is empty".into()),
        other => {
            let text: String = other.to_string().chars().take(60).collect();
            Err(format!("for_each needs a list, but this is {text}"))
        }
    }
}

/// All combinations, as objects; the last key changes fastest.
fn combinations(axes: &[(&str, Vec<Value>)]) -> Vec<Value> {
    let mut items = vec![serde_json::Map::new()];
    for (key, values) in axes {
        let longer = items.iter().flat_map(|item| {
            values.iter().map(move |value| {
                let mut item = item.clone();
                item.insert((*key).to_owned(), value.clone());
                item
            })
        });
        // The document's own check has refused more; an expression may still yield long lists.
        items = longer.take(MAX_ELEMENTS).collect();
    }
    items.into_iter().map(Value::Object).collect()
}
