//! The content of a task's pod: image, command, variables, resources, volumes.

use cubeloom_domain::job::Job;
use cubeloom_domain::resources::Resources;
use serde_json::{Map, Value, json};

use super::Export;
use super::marks::{BRACE, Marks};
use crate::lower::kubernetes::amounts;

pub fn workspace() -> Value {
    json!([{
        "metadata": {"name": "workspace"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "10Gi"}}},
    }])
}

/// The container of the first role of a job, which does the work.
pub fn container(export: &mut Export, job: &Job, marks: &Marks) -> (Value, Vec<Value>) {
    let name = &job.key.task;
    let role = job.roles.iter().find(|role| role.replicas > 0).or(job.roles.first());
    let workers: u32 = job.roles.iter().map(|role| role.replicas).sum();
    if workers > 1 {
        export.say(format!("`{name}` is a job of {workers} workers, which start together: Argo starts one; use an operator's resource for it"));
    }
    let mut out = Map::new();
    match &job.image {
        Some(image) => _ = out.insert("image".into(), json!(image)),
        None => export.say(format!("`{name}` has no image: set the image of its container")),
    }
    let argv = role.map_or(&[][..], |role| &role.argv);
    let written = |word: &String| marks.written(word, |name| is_variable(job, name));
    let words: Vec<String> = argv.iter().map(written).collect();
    let mut env = env(export, job, marks);
    let brace = format!("$({BRACE})");
    let values = env.iter().filter_map(|one| one["value"].as_str());
    if words.iter().map(String::as_str).chain(values).any(|text| text.contains(&brace)) {
        export.say(format!("`{name}` has a text with two braces, which Argo would interpret: the variable `{BRACE}` replaces the first brace"));
        // The kubelet resolves only variables defined earlier.
        env.insert(0, json!({"name": BRACE, "value": "{"}));
    }
    if let [program, args @ ..] = words.as_slice() {
        out.insert("command".into(), json!([program]));
        out.insert("args".into(), json!(args));
    }
    let mut volumes = Vec::new();
    let mut mounts = vec![json!({"name": "workspace", "mountPath": "/workspace"})];
    out.insert("env".into(), Value::Array(env));
    if let Some(role) = role {
        out.insert("resources".into(), resources(export, name, &role.resources));
        if let Some(shm) = role.resources.shm {
            volumes
                .push(json!({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": shm.to_string()}}));
            mounts.push(json!({"name": "shm", "mountPath": "/dev/shm"}));
        }
    }
    for volume in &job.volumes {
        let place = volume.mount.clone().unwrap_or_else(|| format!("/volumes/{}", volume.name));
        volumes.push(json!({"name": volume.name, "persistentVolumeClaim": {"claimName": volume.name}}));
        mounts.push(json!({"name": volume.name, "mountPath": place, "readOnly": volume.read_only}));
        export.say(format!("the volume `{}` is the PVC of this name", volume.name));
    }
    out.insert("volumeMounts".into(), Value::Array(mounts));
    if !job.setup.is_empty() {
        export.say(format!("not carried over: `setup` of `{name}`: put it into the image"));
    }
    (Value::Object(out), volumes)
}

fn is_variable(job: &Job, name: &str) -> bool {
    name.starts_with("CUBELOOM_")
        || job.env.contains_key(name)
        || job.secrets.iter().any(|secret| secret.env.as_deref() == Some(name))
}

fn env(export: &mut Export, job: &Job, marks: &Marks) -> Vec<Value> {
    let folders = [
        ("CUBELOOM_WORKSPACE", "/workspace"),
        ("CUBELOOM_RUN_DIR", "/workspace/runs/{{workflow.name}}"),
        ("CUBELOOM_CODE", "/workspace/code"),
    ];
    let mut env: Vec<Value> =
        folders.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let written = |value: &String| marks.written(value, |name| is_variable(job, name));
    env.extend(job.env.iter().map(|(name, value)| json!({"name": name, "value": written(value)})));
    for secret in &job.secrets {
        let Some(variable) = &secret.env else {
            export.say(format!(
                "not carried over: the secret `{}` as a file of `{}`",
                secret.name, job.key.task
            ));
            continue;
        };
        let key = json!({"name": secret.name, "key": "value"});
        env.push(json!({"name": variable, "valueFrom": {"secretKeyRef": key}}));
        export.say(format!("the secret `{}` is the Secret of this name, with the key `value`", secret.name));
    }
    env
}

fn resources(export: &mut Export, task: &str, resources: &Resources) -> Value {
    let mut amounts = Map::new();
    amounts.insert("cpu".into(), json!(resources.cpu.to_string()));
    amounts.insert("memory".into(), json!(resources.memory.to_string()));
    if let Some(gpu) = &resources.gpu {
        let profile = gpu.mig_profile();
        match gpu.count {
            Some(count) => {
                let part = profile.as_ref().map_or("gpu".to_owned(), |profile| format!("mig-{profile}"));
                amounts.insert(format!("nvidia.com/{part}"), json!(count.to_string()));
            }
            None => export.say(format!("not carried over: the share of a GPU of `{task}`")),
        }
        if let Some(kind) = gpu.kind.as_ref().filter(|_| profile.is_none()) {
            export.say(format!("not carried over: the GPU type of `{task}`, {kind}: use a node selector"));
        }
    }
    if resources.processes_per_gpu.is_some() {
        export.say(format!(
            "not carried over: `processes_per_gpu` of `{task}`: its workers are one process each"
        ));
    }
    if resources.rdma.is_some() || resources.cpu_exclusive {
        export.say(format!("not carried over: `rdma` and `cpu_exclusive` of `{task}`"));
    }
    amounts::asked(amounts, resources)
}
