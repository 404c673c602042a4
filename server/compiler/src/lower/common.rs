//! Variables common to the workers of every framework, on every kind of cluster.

use std::collections::BTreeMap;

use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::LocalPaths;

use crate::frameworks::Member;

pub type Variables = BTreeMap<String, String>;

/// A worker's identity and paths. `outputs` is the file for its outputs, `world` the number of workers.
pub fn common(job: &Job, paths: &LocalPaths, member: &Member, outputs: String, world: usize) -> Variables {
    let mut env = pairs([
        ("CUBELOOM_ATTEMPT", job.key.n.to_string()),
        ("CUBELOOM_BIN", paths.bin.clone()),
        ("CUBELOOM_CHECKPOINT_DIR", paths.checkpoint_dir.clone()),
        ("CUBELOOM_HOST", member.address.clone()),
        ("CUBELOOM_INDEX", member.index.to_string()),
        ("CUBELOOM_INSTANCE", job.key.instance.to_string()),
        ("CUBELOOM_OUTPUTS", outputs),
        ("CUBELOOM_PIPELINE", job.pipeline.clone()),
        ("CUBELOOM_PROJECT", job.project.clone()),
        ("CUBELOOM_RANK", member.rank.to_string()),
        ("CUBELOOM_ROLE", member.role.clone()),
        ("CUBELOOM_RUN", job.key.run.to_string()),
        ("CUBELOOM_RUN_DIR", paths.run_dir.clone()),
        ("CUBELOOM_TASK", job.key.task.clone()),
        ("CUBELOOM_TEMPLATE_DIR", paths.template_dir.clone()),
        ("CUBELOOM_WORKSPACE", paths.workspace.clone()),
        ("CUBELOOM_WORLD_SIZE", world.to_string()),
    ]);
    if !paths.code.is_empty() {
        env.insert("CUBELOOM_CODE".into(), paths.code.clone());
    }
    env.extend(paths.volumes.iter().map(|(name, folder)| (volume_variable(name), folder.clone())));
    env
}

/// `PYTHONPATH` with the pipeline's own modules first.
pub fn with_code(code: &str, path: Option<&String>) -> String {
    match path.filter(|path| !path.is_empty()) {
        Some(own) => format!("{code}:{own}"),
        None => code.to_owned(),
    }
}

/// `CUBELOOM_VOLUME_<NAME>`.
pub fn volume_variable(name: &str) -> String {
    format!("CUBELOOM_VOLUME_{}", name.to_uppercase().replace('-', "_"))
}

pub fn pairs<const N: usize>(pairs: [(&str, String); N]) -> Variables {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
