//! The cache key: everything the outputs of a job depend on, and nothing that differs between equal runs.

use std::collections::BTreeMap;

use cubeloom_domain::TaskIx;
use cubeloom_domain::job::Job;
use cubeloom_domain::plan::{Late, PlannedTask, RunPlan};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Digests of the files that a job depends on, by their names in its document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// Files of the pipeline's folder that arguments refer to.
    pub code: BTreeMap<String, String>,
    /// The entries of the task's `cache.inputs`.
    pub inputs: BTreeMap<String, String>,
}

/// The key of a job, SHA-256 in hexadecimal, and its parts by name (`template`, `arguments`, `env`, `command`,
/// `code`, `inputs`), so that a miss can say which part changed.
///
/// Late arguments are not part of `arguments`: their values are in the command.
#[must_use]
pub fn cache_key(plan: &RunPlan, task: TaskIx, job: &Job, digests: &Digests) -> (String, Value) {
    let planned = plan.task(task);
    let parts = json!({
        "template": { "name": job.template, "digest": job.template_digest, "image": job.image, "python": job.python },
        "arguments": arguments(planned),
        "env": job.env,
        "command": command(job),
        "code": digests.code,
        "inputs": digests.inputs,
    });
    let hash = Sha256::digest(parts.to_string().as_bytes());
    (hash.iter().map(|byte| format!("{byte:02x}")).collect(), parts)
}

fn arguments(task: &PlannedTask) -> Map<String, Value> {
    let known = task.arguments.iter().filter_map(|(name, argument)| match argument {
        Late::Value(value) => Some((name.clone(), value.clone())),
        Late::Source(_) => None,
    });
    known.collect()
}

fn command(job: &Job) -> Value {
    let roles: Vec<Value> = job
        .roles
        .iter()
        .map(|role| json!({ "name": role.name, "replicas": role.replicas, "argv": role.argv }))
        .collect();
    json!({ "framework": job.framework, "setup": job.setup, "roles": roles })
}
