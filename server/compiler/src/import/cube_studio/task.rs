//! Converts one Cube Studio task to one of ours.

use cubeloom_domain::Bytes;
use serde_json::{Map, Value, json};

use super::amounts::resources;
use super::context::Context;
use super::ledger::At;
use super::programs::{Program, program};
use super::recipe::Recipe;
use super::volumes::Mounts;
use crate::import::Fate;

/// Variables that sized the launcher's pod; the job that it started had its own resources.
const OF_LAUNCHERS: [&str; 6] = [
    "NO_RESOURCE_CHECK",
    "TASK_RESOURCE_CPU",
    "TASK_RESOURCE_MEMORY",
    "TASK_RESOURCE_GPU",
    "TASK_RESOURCE_RDMA",
    "TASK_RESOURCE_GPU_TYPE",
];

/// A task's position in its pipeline.
pub struct Place<'p> {
    pub pipeline: &'p str,
    pub name: &'p str,
    pub needs: Vec<String>,
}

pub fn task(at: &At<'_>, place: Place<'_>, template: &str, recipe: Option<&Recipe>) -> Value {
    let mut mounts = Mounts::default();
    if let Some(recipe) = recipe.filter(|recipe| !recipe.mounts.is_empty()) {
        mounts.read_text(at, &recipe.mounts);
    }
    if let Some(volumes) = at.get("volume_mount") {
        mounts.read(&volumes);
    }
    let context = Context { pipeline: place.pipeline, mounts: &mounts };
    let Program { template: ours, arguments, image } = program(&context, at, template, recipe);
    let mut task = Map::new();
    task.insert("name".into(), json!(place.name));
    task.insert("template".into(), json!(ours));
    if let Some(label) = at.get("label").and_then(|label| label.text()) {
        task.insert("description".into(), json!(label));
    }
    if !place.needs.is_empty() {
        task.insert("needs".into(), json!(place.needs));
    }
    task.insert("arguments".into(), Value::Object(arguments));
    let mut env = recipe.map(|recipe| variables(&recipe.env, at, &context)).unwrap_or_default();
    if let Some(image) = image {
        at.note(Fate::Changed, format!("the image {image} is in the variable KFJ_TASK_IMAGES: without containers, its programs must be installed"));
        env.insert("KFJ_TASK_IMAGES".into(), json!(image));
    }
    insert_filled(&mut task, "env", Value::Object(env));
    let mut amounts = resources(at);
    if let Some(shm) = mounts.shm.as_ref().filter(|text| text.parse::<Bytes>().is_ok()) {
        amounts.insert("shm".into(), json!(shm));
    }
    insert_filled(&mut task, "resources", Value::Object(amounts));
    insert_filled(&mut task, "volumes", Value::Array(mounts.volumes.clone()));
    policies(at, &mut task);
    Value::Object(task)
}

fn insert_filled(task: &mut Map<String, Value>, key: &str, value: Value) {
    let filled = match &value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    if filled {
        task.insert(key.into(), value);
    }
}

/// Retries, timeout, condition and placement.
fn policies(at: &At<'_>, task: &mut Map<String, Value>) {
    if let Some(retries) = at.get("retry") {
        match retries.text().as_deref().map(str::parse::<u32>) {
            Some(Ok(0)) => {}
            Some(Ok(count)) if count < 100 => _ = task.insert("retry".into(), json!({"attempts": count + 1})),
            _ => retries.tell(Fate::Problem, "is not a number of retries: set `retry.attempts`"),
        }
    }
    if let Some(timeout) = at.get("timeout") {
        match timeout.text().as_deref().map(str::parse::<u64>) {
            Some(Ok(0)) => {}
            Some(Ok(seconds)) if seconds < 1_000_000_000 => {
                task.insert("timeout".into(), json!(format!("{seconds}s")));
            }
            _ => timeout.tell(Fate::Problem, "is not a number of seconds: set `timeout`"),
        }
    }
    if let Some(skip) = at.get("skip") {
        match skip.value {
            Value::Bool(false) => skip.used(),
            _ => {
                task.insert("when".into(), json!("false"));
                skip.tell(Fate::Changed, "the task never runs: its `when` is false");
            }
        }
    }
    if let Some(node) = at.get("node_selector") {
        let selector = selector(&node);
        if !selector.is_empty() {
            task.insert("placement".into(), json!({"selector": selector}));
        }
    }
}

/// `gpu=true,zone=b` as required node labels.
pub fn selector(at: &At<'_>) -> Map<String, Value> {
    let text = at.text().unwrap_or_default();
    let mut selector = Map::new();
    for pair in text.split([',', '\n', ';']).map(str::trim).filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                selector.insert(key.trim().into(), json!(value.trim()));
            }
            _ => at
                .note(Fate::Problem, format!("`{pair}` is not a node label: set it in `placement.selector`")),
        }
    }
    if selector.is_empty() && text.is_empty() {
        at.tell(Fate::Problem, "is not a node selector: set `placement.selector`");
    }
    selector
}

/// Lines of `NAME=value`.
pub fn variables(text: &str, at: &At<'_>, context: &Context<'_>) -> Map<String, Value> {
    let mut env = Map::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let name = name.trim();
        if OF_LAUNCHERS.contains(&name) {
            at.note(Fate::LeftOut, format!("{name} sized the pod of a launcher, which is not needed here"));
        } else if crate::parse::is_variable(name) && !name.starts_with("CUBELOOM_") {
            env.insert(name.into(), json!(context.convert(value, at)));
        } else {
            at.note(Fate::Problem, format!("`{line}` is not a variable: set it in `env`"));
        }
    }
    env
}
