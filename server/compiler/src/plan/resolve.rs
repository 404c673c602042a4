//! A value of the document: known now, known when the task is ready, or unknown without the run's parameters.

use std::collections::BTreeSet;

use serde_json::Value;

use super::prepared::holds_expression;
use crate::expression::{Compiled, Mistake, Scope, expressions, render_value, strings};
use crate::path::Path;

/// The state of a value at planning.
#[derive(Debug)]
pub enum Known {
    Value(Value),
    /// It reads outputs of other tasks, or the item of `for_each`.
    Late,
    /// It reads something without a value, because of a problem, or because no run has been started.
    Unknown,
}

/// The values that expressions see at planning, and the names without a value.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    pub scope: Scope<'a>,
    pub unknown_params: &'a BTreeSet<String>,
    pub late_args: &'a [&'a str],
    pub unknown_args: &'a [&'a str],
}

/// The path of a problem with a template's value: the argument's, if the value is made of exactly one.
pub fn blamed(prefix: &str, value: &Value) -> String {
    let mut names = BTreeSet::new();
    strings(value, &mut Path::default(), &mut |text, _| {
        for expression in expressions(text).unwrap_or_default() {
            names.extend(expression.members("args").map(str::to_owned));
        }
    });
    match (names.pop_first(), names.is_empty()) {
        (Some(name), true) => format!("{prefix}/arguments/{name}"),
        _ => format!("{prefix}/arguments"),
    }
}

impl Sight<'_> {
    /// Evaluates everything that is known now.
    pub fn resolve(&self, value: &Value) -> Result<Known, Mistake> {
        if !holds_expression(value) {
            return Ok(Known::Value(value.clone()));
        }
        let (mut late, mut unknown, mut mistake) = (false, false, None);
        strings(value, &mut Path::default(), &mut |text, _| match expressions(text) {
            Ok(found) => {
                late |= found.iter().any(|expression| self.is_late(expression));
                unknown |= found.iter().any(|expression| self.is_unknown(expression));
            }
            Err(found) => mistake = Some(found),
        });
        match mistake {
            Some(mistake) => Err(mistake),
            None if late => Ok(Known::Late),
            None if unknown => Ok(Known::Unknown),
            None => render_value(value, &self.scope).map(Known::Value),
        }
    }

    fn is_late(&self, expression: &Compiled) -> bool {
        expression.mentions("tasks")
            || expression.mentions("item")
            || self.names_any(
                expression,
                "args",
                |name| self.late_args.contains(&name),
                !self.late_args.is_empty(),
            )
    }

    fn is_unknown(&self, expression: &Compiled) -> bool {
        let params = self.unknown_params;
        let args = self.unknown_args;
        self.names_any(expression, "params", |name| params.contains(name), !params.is_empty())
            || self.names_any(expression, "args", |name| args.contains(&name), !args.is_empty())
    }

    /// Whether an expression uses one of these members, or uses all of them and `any` exist.
    fn names_any(&self, expression: &Compiled, root: &str, is_one: impl Fn(&str) -> bool, any: bool) -> bool {
        any && (expression.members(root).any(is_one) || expression.names.iter().any(|name| name == root))
    }
}
