//! Checks of a pipeline's expressions: their syntax, the names in them, and whether the values are known at
//! that point.

use std::collections::HashSet;

use cubeloom_domain::pipeline::{Cache, Pipeline, Task};
use cubeloom_domain::search::{Axis, Search};
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use super::Edges;
use crate::expression::{Compiled, Mistake, RUN_NAMES, bare, expressions, has_expression, strings};
use crate::nearest::{hint, listing};
use crate::path::Path;

/// The position of an expression.
#[derive(Clone, Copy)]
enum Place {
    /// A position where only values known at planning may be read.
    Early,
    /// In a task's arguments, env, `when` or `for_each`.
    Task { at: u32, item: bool },
}

pub fn check(pipeline: &Pipeline, edges: &Edges<'_>, problems: &mut Vec<Problem>) {
    let mut checker = Checker { pipeline, edges, used: HashSet::new(), of_item: HashSet::new(), problems };
    checker.parameters();
    checker.env(&pipeline.env, "", Place::Early);
    for (at, task) in (0..).zip(&pipeline.tasks) {
        checker.task(at, task);
    }
    checker.unused();
}

struct Checker<'a> {
    pipeline: &'a Pipeline,
    edges: &'a Edges<'a>,
    used: HashSet<String>,
    /// The members of `item` that the expressions of a task read; `item` if it is read as a whole.
    of_item: HashSet<String>,
    problems: &'a mut Vec<Problem>,
}

impl Checker<'_> {
    fn parameters(&mut self) {
        for (name, parameter) in &self.pipeline.parameters {
            if let Some(Value::String(text)) = &parameter.default {
                self.default_of(name, text);
            }
        }
    }

    /// A parameter's default may refer to the run, not to other parameters: they have no order.
    fn default_of(&mut self, name: &str, text: &str) {
        let path = Path::at(format!("/parameters/{name}/default"));
        match expressions(text) {
            Ok(found) => {
                for expression in found {
                    if let Some(root) = expression.roots.iter().find(|root| *root != "run") {
                        let message = format!("a default can use `run` only, not `{root}`");
                        self.push(&path, Mistake::new(Code::UndefinedName, message));
                    }
                }
            }
            Err(mistake) => self.push(&path, mistake),
        }
    }

    fn task(&mut self, at: u32, task: &Task) {
        let prefix = format!("/tasks/{at}");
        let item = task.for_each.is_some() || task.search.is_some();
        self.of_item.clear();
        let late = Place::Task { at, item };
        for (name, value) in &task.arguments {
            if may_have_expression(value) {
                let mut path = Path::at(format!("{prefix}/arguments"));
                path.push_key(name);
                self.value(value, &mut path, late);
            }
        }
        self.env(&task.env, &prefix, late);
        if let Some(when) = &task.when {
            self.bare(when, &Path::at(format!("{prefix}/when")), late);
        }
        if let Some(for_each) = &task.for_each {
            let place = Place::Task { at, item: false };
            if let Some(list) = &for_each.list {
                self.value(list, &mut Path::at(format!("{prefix}/for_each/list")), Place::Early);
            }
            for (key, values) in for_each.matrix.iter().flatten() {
                let mut path = Path::at(format!("{prefix}/for_each/matrix"));
                path.push_key(key);
                values.iter().for_each(|value| self.value(value, &mut path, Place::Early));
            }
            if let Some(from) = &for_each.from {
                self.bare(from, &Path::at(format!("{prefix}/for_each/from")), place);
            }
        }
        if let Some(search) = &task.search {
            self.search(search, &format!("{prefix}/search/over"));
        }
        for (word, text) in task.setup.iter().enumerate() {
            self.text(text, &Path::at(format!("{prefix}/setup/{word}")), Place::Early);
        }
        if let Some(Cache::Detailed { inputs, .. }) = &task.cache {
            for (input, text) in inputs.iter().enumerate() {
                self.text(text, &Path::at(format!("{prefix}/cache/inputs/{input}")), Place::Early);
            }
        }
    }

    /// A task should read every axis of its search; runs after its arguments, env and `when`.
    fn search(&mut self, search: &Search, prefix: &str) {
        for (name, axis) in &search.over {
            let mut path = Path::at(prefix.to_owned());
            path.push_key(name);
            if !self.of_item.contains(name) && !self.of_item.contains("item") {
                let message = format!("nothing in the task uses `item.{name}`");
                self.problems.push(Problem::warning(Code::Suspicious, path.pointer(), message));
            }
            if let Axis::Values(values) = axis {
                values.iter().for_each(|value| self.value(value, &mut path, Place::Early));
            }
        }
    }

    fn env(&mut self, env: &std::collections::BTreeMap<String, String>, prefix: &str, place: Place) {
        for (name, text) in env.iter().filter(|(_, text)| has_expression(text)) {
            let mut path = Path::at(format!("{prefix}/env"));
            path.push_key(name);
            self.text(text, &path, place);
        }
    }

    fn value(&mut self, value: &Value, path: &mut Path, place: Place) {
        strings(value, path, &mut |text, path| self.text(text, path, place));
    }

    fn text(&mut self, text: &str, path: &Path, place: Place) {
        if !text.contains("{{") && !text.contains("{%") {
            return;
        }
        match expressions(text) {
            Ok(found) => found.iter().for_each(|expression| self.expression(expression, path, place)),
            Err(mistake) => self.push(path, mistake),
        }
    }

    fn bare(&mut self, text: &str, path: &Path, place: Place) {
        match bare(text) {
            Ok(expression) => self.expression(&expression, path, place),
            Err(mistake) => self.push(path, mistake),
        }
    }

    fn expression(&mut self, expression: &Compiled, path: &Path, place: Place) {
        for root in &expression.roots {
            if let Err(mistake) = self.root(root, expression, place) {
                self.push(path, mistake);
            }
        }
    }

    fn root(&mut self, root: &str, expression: &Compiled, place: Place) -> Result<(), Mistake> {
        match (root, place) {
            ("params", _) => self.params(expression),
            ("run", _) => run_names(expression),
            ("task", _) => match expression.members("task").find(|name| *name != "name") {
                Some(name) => Err(undefined(format!("`task.{name}` does not exist; there is `task.name`"))),
                None => Ok(()),
            },
            ("workspace" | "code", _) => Ok(()),
            ("item", Place::Task { item: true, .. }) => {
                let whole = expression.names.iter().filter(|name| *name == "item").map(String::as_str);
                self.of_item.extend(expression.members("item").chain(whole).map(str::to_owned));
                Ok(())
            }
            ("item", Place::Task { .. }) => {
                Err(undefined("`item` exists only in a task with `for_each` or `search`"))
            }
            ("tasks", Place::Task { at, .. }) => self.reads(expression, at),
            ("tasks" | "item", Place::Early) => Err(Mistake::new(
                Code::OutputNotAvailable,
                format!(
                    "`{root}` cannot be used here: only arguments, env, when and for_each.from may read it"
                ),
            )),
            _ => Err(undefined(format!("`{root}` does not exist{}", roots_hint(root)))),
        }
    }

    fn params(&mut self, expression: &Compiled) -> Result<(), Mistake> {
        let declared = &self.pipeline.parameters;
        if expression.names.iter().any(|name| name == "params") {
            self.used.extend(declared.keys().cloned());
        }
        for name in expression.members("params") {
            if !declared.contains_key(name) {
                let names = || declared.keys().map(String::as_str);
                let hint = hint(name, names());
                let hint =
                    if hint.is_empty() { format!("; declared are: {}", listing(names())) } else { hint };
                return Err(undefined(format!("the pipeline has no parameter `{name}`{hint}")));
            }
            self.used.insert(name.to_owned());
        }
        Ok(())
    }

    /// Other tasks must have ended before their outputs are read.
    fn reads(&self, expression: &Compiled, at: u32) -> Result<(), Mistake> {
        for read in &expression.reads {
            let name = &read.task;
            let Some(before) = self.edges.find(name) else {
                let message = format!("there is no task `{name}` in this pipeline{}", self.edges.hint(name));
                return Err(Mistake::new(Code::UnknownTask, message));
            };
            if before == at || !self.edges.is_ancestor(before, at) {
                let message = format!("the outputs of `{name}` cannot be used here; add `{name}` to `needs`");
                return Err(Mistake::new(Code::OutputNotAvailable, message));
            }
        }
        Ok(())
    }

    fn unused(&mut self) {
        for name in self.pipeline.parameters.keys().filter(|name| !self.used.contains(*name)) {
            let message = format!("nothing in the pipeline uses `params.{name}`");
            self.problems.push(Problem::warning(Code::Suspicious, format!("/parameters/{name}"), message));
        }
    }

    fn push(&mut self, path: &Path, mistake: Mistake) {
        self.problems.push(Problem::error(mistake.code, path.pointer(), mistake.message));
    }
}

/// Whether a value has a string that may contain an expression or a statement.
fn may_have_expression(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("{{") || text.contains("{%"),
        Value::Array(items) => items.iter().any(may_have_expression),
        Value::Object(map) => map.values().any(may_have_expression),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn undefined(message: impl Into<String>) -> Mistake {
    Mistake::new(Code::UndefinedName, message)
}

/// Checks the names in `run.<name>`.
pub fn run_names(expression: &Compiled) -> Result<(), Mistake> {
    match expression.members("run").find(|name| !RUN_NAMES.contains(name)) {
        Some(name) => {
            let hint = hint(name, RUN_NAMES);
            let known = RUN_NAMES.join(", ");
            Err(undefined(format!("`run.{name}` does not exist{hint} (there are: {known})")))
        }
        None => Ok(()),
    }
}

fn roots_hint(root: &str) -> String {
    let known = ["params", "run", "workspace", "code", "tasks", "item", "task"];
    let hint = hint(root, known);
    if hint.is_empty() { format!("; there are: {}", known.join(", ")) } else { hint }
}
