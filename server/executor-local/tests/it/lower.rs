//! A minimal version of the compiler's lowering, for these tests.

use std::collections::BTreeMap;
use std::path::Path;

use cubeloom_domain::job::Job;
use cubeloom_domain::lowered::{LocalBindings, LocalJob, LocalWorker};
use cubeloom_domain::outcome::WorkerName;

/// Lowers the job to local processes; `ledger` becomes `$LEDGER`.
pub fn lower(job: &Job, bindings: &LocalBindings, ledger: &Path) -> LocalJob {
    let names = job.roles.iter().flat_map(|role| {
        (0..role.replicas).map(move |index| (role, WorkerName { role: role.name.clone(), index }))
    });
    let workers = names.enumerate().map(|(rank, (role, name))| {
        let folder = format!("{}/{name}", bindings.paths.attempt_dir);
        let rank = u32::try_from(rank).unwrap();
        let env = BTreeMap::from(
            [
                ("CUBELOOM_ATTEMPT", job.key.to_string()),
                ("CUBELOOM_RUN", job.key.run.to_string()),
                ("CUBELOOM_ROLE", name.role.clone()),
                ("CUBELOOM_INDEX", name.index.to_string()),
                ("CUBELOOM_RANK", rank.to_string()),
                ("CUBELOOM_OUTPUTS", format!("{folder}/outputs.jsonl")),
                ("CUBELOOM_HOST", bindings.workers[rank as usize].address.clone()),
                ("CUBELOOM_RUN_DIR", bindings.paths.run_dir.clone()),
                ("HOME", format!("{folder}/work")),
                ("TMPDIR", format!("{folder}/tmp")),
                ("LEDGER", ledger.display().to_string()),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        LocalWorker {
            rank,
            cwd: format!("{folder}/work"),
            argv: role.argv.clone(),
            setup: job.setup.clone(),
            env,
            secrets: job.secrets.clone(),
            files: BTreeMap::new(),
            cpu: role.resources.cpu,
            cpu_limit: role.resources.most_cpu(),
            cpu_exclusive: role.resources.cpu_exclusive,
            memory: role.resources.memory,
            shm: None,
            outputs_file: format!("{folder}/outputs.jsonl"),
            folder,
            name,
        }
    });
    LocalJob {
        key: job.key.clone(),
        project: job.project.clone(),
        python: job.python.clone(),
        folders: vec![bindings.paths.run_dir.clone(), bindings.paths.checkpoint_dir.clone()],
        workers: workers.collect(),
        success: job.success.clone(),
        gang: job.gang,
        outputs: job.outputs.clone(),
    }
}
