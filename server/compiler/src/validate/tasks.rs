//! Settings of a single task that exclude each other or have no effect.

use std::collections::HashMap;

use cubeloom_domain::job::{SecretMount, VolumeMount};
use cubeloom_domain::pipeline::{ForEach, SecretUse, Task, VolumeUse};
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use crate::MAX_ELEMENTS;

pub fn check(at: usize, task: &Task, problems: &mut Vec<Problem>) {
    let path = format!("/tasks/{at}");
    super::reserved(&format!("{path}/env"), &task.env, problems);
    secrets(&path, task, problems);
    twice(&path, "volumes", task.volumes.iter().map(|volume| volume_mount(volume).name), problems);
    twice(&path, "limits", task.limits.iter().cloned(), problems);
    twice(&path, "outputs", task.outputs.iter().cloned(), problems);
    if let Some(for_each) = &task.for_each {
        elements(&format!("{path}/for_each"), for_each, problems);
    }
    super::search::check(&path, task, problems);
    if let Some(backoff) = task.retry.as_ref().and_then(|retry| retry.backoff.as_ref())
        && backoff.max.is_some_and(|max| max < backoff.initial)
    {
        let message = "`max` is shorter than `initial`";
        problems.push(Problem::error(Code::Conflict, format!("{path}/retry/backoff/max"), message));
    }
    if task.trigger.is_some_and(|rule| rule != Default::default()) && task.needs.is_empty() {
        let message = "a trigger rule needs dependencies, and this task has none";
        problems.push(Problem::warning(Code::Suspicious, format!("{path}/trigger"), message));
    }
}

/// A secret in the plan's form: a variable unless a file is requested.
pub fn secret_mount(secret: &SecretUse) -> SecretMount {
    let variable = |name: &str| name.to_uppercase().replace('-', "_");
    match secret {
        SecretUse::Name(name) => SecretMount { name: name.clone(), env: Some(variable(name)), file: None },
        SecretUse::Detailed { name, env: None, file: None } => {
            SecretMount { name: name.clone(), env: Some(variable(name)), file: None }
        }
        SecretUse::Detailed { name, env, file } => {
            SecretMount { name: name.clone(), env: env.clone(), file: file.clone() }
        }
    }
}

/// A volume in the plan's form.
pub fn volume_mount(volume: &VolumeUse) -> VolumeMount {
    match volume {
        VolumeUse::Name(name) => {
            VolumeMount { name: name.clone(), mount: None, read_only: false, place: None }
        }
        VolumeUse::Detailed { name, mount, read_only } => {
            VolumeMount { name: name.clone(), mount: mount.clone(), read_only: *read_only, place: None }
        }
    }
}

fn secrets(path: &str, task: &Task, problems: &mut Vec<Problem>) {
    let mut taken: HashMap<String, String> = HashMap::new();
    for (at, secret) in task.secrets.iter().enumerate() {
        let mount = secret_mount(secret);
        let place = format!("{path}/secrets/{at}");
        if let Some(variable) = &mount.env {
            if super::is_reserved(variable) {
                let message = format!("`{variable}` is set by the platform; choose another `env`");
                problems.push(Problem::error(Code::Conflict, place.clone(), message));
            }
            if task.env.contains_key(variable) {
                let message = format!("`{variable}` is set by `env` too; keep one");
                problems.push(Problem::error(Code::Conflict, place.clone(), message));
            }
        }
        let targets = mount.env.iter().map(|env| format!("variable {env}"));
        for target in targets.chain(mount.file.iter().map(|file| format!("file {file}"))) {
            if let Some(other) = taken.insert(target.clone(), mount.name.clone()) {
                let message = format!("the {target} already has the secret `{other}`");
                problems.push(Problem::error(Code::Conflict, place.clone(), message));
            }
        }
    }
}

fn twice(path: &str, what: &str, names: impl Iterator<Item = String>, problems: &mut Vec<Problem>) {
    let mut seen = std::collections::HashSet::new();
    for (at, name) in names.enumerate() {
        if !seen.insert(name.clone()) {
            let message = format!("`{name}` is listed twice");
            problems.push(Problem::warning(Code::Suspicious, format!("{path}/{what}/{at}"), message));
        }
    }
}

fn elements(path: &str, for_each: &ForEach, problems: &mut Vec<Problem>) {
    let given = [for_each.list.is_some(), for_each.matrix.is_some(), for_each.from.is_some()];
    if given.into_iter().filter(|given| *given).count() != 1 {
        let code = if given.contains(&true) { Code::Conflict } else { Code::MissingKey };
        let message = "write exactly one of `list`, `matrix` and `from`";
        problems.push(Problem::error(code, path, message));
    }
    let list = for_each.list.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
    let matrix = for_each.matrix.iter().flatten().map(|(_, values)| values.len());
    let combinations = matrix.fold(1usize, usize::saturating_mul);
    let count = list.max(if for_each.matrix.is_some() { combinations } else { 0 });
    if count > MAX_ELEMENTS {
        let message = format!("{count} elements are too many; at most {MAX_ELEMENTS} are allowed");
        problems.push(Problem::error(Code::TooLarge, path, message));
    }
}
