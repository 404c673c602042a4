//! Converts one Cube Studio pipeline to one of our documents.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::canvas::positions;
use super::context::Context;
use super::ledger::At;
use super::names::Names;
use super::recipe::Recipe;
use super::task::{Place, selector, task, variables};
use super::volumes::Mounts;
use crate::import::Fate;

/// A pipeline and its tasks in a file.
pub struct Source<'v> {
    /// The name of its entry.
    pub key: String,
    /// Its own fields.
    pub head: At<'v>,
    pub tasks: Vec<At<'v>>,
    /// The pipeline with its tasks.
    pub whole: At<'v>,
}

/// The document; `name` is the pipeline's.
pub fn pipeline(source: &Source<'_>, name: &str, recipes: &BTreeMap<String, Recipe>) -> Value {
    let head = &source.head;
    if let Some(own) = head.get("name").and_then(|own| own.text())
        && own != name
    {
        head.note(Fate::Changed, format!("the name `{own}` became `{name}`"));
    }
    let mut document = Map::new();
    document.insert("apiVersion".into(), json!(cubeloom_domain::pipeline::API_VERSION));
    document.insert("kind".into(), json!("Pipeline"));
    document.insert("name".into(), json!(name));
    if let Some(about) = head.first(&["describe", "description"]).and_then(|about| about.text()) {
        document.insert("description".into(), json!(about));
    }
    settings(head, name, &mut document);
    let names = task_names(source);
    let needs = needs(source, &names);
    let tasks = source.tasks.iter().zip(&names.ours).map(|(at, ours)| {
        let template = template_of(at);
        let needs = needs.get(ours).cloned().unwrap_or_default();
        task(at, Place { pipeline: name, name: ours, needs }, &template, recipes.get(&template))
    });
    let tasks: Vec<Value> = tasks.collect();
    document.insert("tasks".into(), Value::Array(tasks));
    if let Some(canvas) = head.get("expand").and_then(|expand| positions(&expand, &names)) {
        document.insert("canvas".into(), canvas);
    }
    Value::Object(document)
}

fn settings(head: &At<'_>, name: &str, document: &mut Map<String, Value>) {
    let mounts = Mounts::default();
    if let Some(env) = head.get("global_env") {
        let text = env.text().unwrap_or_default();
        let env = variables(&text, &env, &Context { pipeline: name, mounts: &mounts });
        if !env.is_empty() {
            document.insert("env".into(), Value::Object(env));
        }
    }
    for (key, ours) in [("parallelism", "parallelism"), ("max_active_runs", "max_active_runs")] {
        let Some(at) = head.get(key) else { continue };
        match at.text().as_deref().map(str::parse::<u32>) {
            Some(Ok(0)) => {}
            Some(Ok(count)) => _ = document.insert(ours.into(), json!(count)),
            _ => at.tell(Fate::Problem, format!("is not a number: set `{ours}`")),
        }
    }
    if let Some(at) = head.get("node_selector") {
        let selector = selector(&at);
        if !selector.is_empty() {
            document.insert("placement".into(), json!({"selector": selector}));
        }
    }
    schedule(head, document);
    if let Some(project) = head.get("project") {
        project.tell(Fate::LeftOut, "the pipeline belongs to the project that it is imported into");
    }
}

fn schedule(head: &At<'_>, document: &mut Map<String, Value>) {
    let kind = head.get("schedule_type").and_then(|at| at.text());
    let Some(cron) = head.get("cron_time") else { return };
    let text = cron.text().unwrap_or_default();
    if kind.as_deref() == Some("crontab") && text.split_whitespace().count() == 5 {
        document.insert("schedule".into(), json!({"cron": text}));
    } else {
        cron.note(Fate::LeftOut, "the pipeline had no schedule, or one that is not supported here");
    }
}

/// The tasks' names: ours by theirs, and ours in the file's order.
pub struct TaskNames {
    ours: Vec<String>,
    by_theirs: BTreeMap<String, String>,
}

impl TaskNames {
    /// Our name for one of theirs.
    pub fn find(&self, theirs: &str) -> Option<&String> {
        self.by_theirs.get(theirs)
    }
}

fn task_names(source: &Source<'_>) -> TaskNames {
    let mut names = Names::default();
    let mut by_theirs = BTreeMap::new();
    let mut ours = Vec::new();
    for (at, task) in source.tasks.iter().enumerate() {
        let theirs = task.get("name").and_then(|name| name.text()).unwrap_or_default();
        let name = names.label(&theirs, &format!("task-{}", at + 1));
        if name != theirs {
            let said = if theirs.is_empty() { "has no name and".into() } else { format!("`{theirs}`") };
            task.note(Fate::Changed, format!("{said} became `{name}`"));
        }
        for key in [theirs, task.get("id").and_then(|id| id.text()).unwrap_or_default()] {
            if !key.is_empty() {
                by_theirs.entry(key).or_insert_with(|| name.clone());
            }
        }
        ours.push(name);
    }
    TaskNames { ours, by_theirs }
}

/// The dependencies of each task, by our names.
fn needs(source: &Source<'_>, names: &TaskNames) -> BTreeMap<String, Vec<String>> {
    let mut needs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let Some(dag) = source.head.get("dag_json") else { return needs };
    for (theirs, at) in dag.entries() {
        let Some(ours) = names.find(&theirs) else {
            at.tell(Fate::Problem, format!("there is no task `{theirs}`: it is omitted from the graph"));
            continue;
        };
        for (_, upstream) in at.get("upstream").map(|list| list.entries()).unwrap_or_default() {
            let before = upstream.text().unwrap_or_default();
            match names.find(&before) {
                Some(before) if !needs.get(ours).is_some_and(|known| known.contains(before)) => {
                    needs.entry(ours.clone()).or_default().push(before.clone());
                }
                Some(_) => {}
                None => upstream
                    .tell(Fate::Problem, format!("there is no task `{before}`: the dependency is omitted")),
            }
        }
    }
    needs
}

/// The name of a task's job template; in exports it is a text or a mapping.
fn template_of(task: &At<'_>) -> String {
    let Some(at) = task.first(&["job_templete", "job_template"]) else {
        task.note(Fate::Problem, "the task has no job template");
        return String::new();
    };
    at.text().or_else(|| at.get("name").and_then(|name| name.text())).unwrap_or_default()
}
