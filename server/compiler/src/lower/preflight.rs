//! Tests a job's workers before its program begins. A launcher precedes their command, as for workers with
//! several processes. It gets a table of all workers and the bounds that each must meet.

use std::collections::BTreeMap;

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::preflight::Bounds;
use serde_json::json;

use super::common::volume_variable;
use crate::frameworks::Member;

/// The launcher, in the worker's folder.
pub const FILE: &str = "preflight.py";
/// The launcher's source, and its modules, which are in the same folder.
const PROGRAM: &str = include_str!("preflight.py");
const PARTS: [(&str, &str); 2] = [
    ("preflight_link.py", include_str!("preflight_link.py")),
    ("preflight_tests.py", include_str!("preflight_tests.py")),
];
/// Its input, in the same folder.
const TABLE: &str = "preflight.json";

/// The command of a worker that is tested before it runs `argv`; `folder` is the worker's own.
pub fn launched(folder: &str, argv: Vec<String>) -> Vec<String> {
    ["python3".to_owned(), format!("{folder}/{FILE}")].into_iter().chain(argv).collect()
}

/// The files of every worker of a job with preflight tests; none for other jobs. `members` are all workers.
pub fn files(job: &Job, members: &[Member]) -> BTreeMap<String, String> {
    let Some(preflight) = &job.preflight else { return BTreeMap::new() };
    let workers: Vec<_> =
        members.iter().map(|one| json!([one.role, one.index, one.address, one.port])).collect();
    let cards: BTreeMap<&str, u32> =
        job.roles.iter().map(|role| (role.name.as_str(), role.resources.devices())).collect();
    let sliced = |role: &&JobRole| role.resources.gpu.as_ref().is_some_and(|gpu| gpu.mig_profile().is_some());
    let slices: Vec<&str> = job.roles.iter().filter(sliced).map(|role| role.name.as_str()).collect();
    let read_only = job.volumes.iter().filter(|volume| volume.read_only);
    let read_only: Vec<String> = read_only.map(|volume| volume_variable(&volume.name)).collect();
    let table = json!({
        "workers": workers,
        "cards": cards,
        "slices": slices,
        "read_only": read_only,
        "wait": preflight.wait.0.as_secs_f64(),
        "bounds": preflight.bounds,
        "floors": Bounds::default(),
    });
    let parts = PARTS.into_iter().chain([(FILE, PROGRAM)]);
    let parts = parts.map(|(name, text)| (name.to_owned(), text.to_owned()));
    parts.chain([(TABLE.to_owned(), table.to_string())]).collect()
}
