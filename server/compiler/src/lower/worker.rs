//! One worker as one process: its variables, its command, its folder.

use std::collections::BTreeMap;

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::lowered::{LocalPaths, LocalWorker};
use cubeloom_domain::outcome::WorkerName;

use super::compatibility;
use super::substitute::substitute;
use crate::frameworks::{Identity, Member};

type Variables = BTreeMap<String, String>;

/// All that a worker's process follows from.
pub struct Worker<'a> {
    pub job: &'a Job,
    pub paths: &'a LocalPaths,
    pub name: WorkerName,
    pub role: &'a JobRole,
    pub member: &'a Member,
    /// The cards that it sees, with commas.
    pub gpus: &'a str,
    /// How many workers there are.
    pub world: usize,
    pub identity: Identity,
}

impl Worker<'_> {
    /// The process.
    pub fn lower(self) -> LocalWorker {
        let env = self.env();
        let words = |words: &[String]| words.iter().map(|word| substitute(word, &env)).collect();
        LocalWorker {
            rank: self.member.rank,
            folder: self.member.folder.clone(),
            cwd: self.below("work"),
            argv: words(&self.role.argv),
            setup: words(&self.job.setup),
            secrets: self.job.secrets.clone(),
            cpu: self.role.resources.cpu,
            cpu_exclusive: self.role.resources.cpu_exclusive,
            memory: self.role.resources.memory,
            outputs_file: self.below("outputs.jsonl"),
            files: self.identity.files,
            name: self.name,
            env,
        }
    }

    fn below(&self, name: &str) -> String {
        format!("{}/{name}", self.member.folder)
    }

    /// All variables. What the task sets changes settings, but not who the worker is.
    fn env(&self) -> Variables {
        let mut who = self.common();
        who.extend(self.identity.variables.clone());
        let mut env = compatibility::variables(self.job, self.paths, &self.role.resources);
        env.extend(self.settings());
        env.extend(self.identity.settings.clone());
        env.extend(self.job.env.iter().map(|(name, value)| (name.clone(), substitute(value, &who))));
        self.add_code_to_python_path(&mut env);
        env.extend(who);
        env
    }

    /// What a task's own `env` may set otherwise. One scratch folder serves as home, for temporary files and as
    /// the working directory: making folders is a good part of what a short task costs.
    fn settings(&self) -> Variables {
        let threads = self.role.resources.cpu.0.div_ceil(1000).max(1);
        pairs([
            ("HOME", self.below("work")),
            ("LANG", "C.UTF-8".into()),
            ("OMP_NUM_THREADS", threads.to_string()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("TMPDIR", self.below("work")),
        ])
    }

    /// Who and where the worker is, the same for every framework.
    fn common(&self) -> Variables {
        let (job, paths) = (self.job, self.paths);
        let mut env = pairs([
            ("CUBELOOM_ATTEMPT", job.key.n.to_string()),
            ("CUBELOOM_BIN", paths.bin.clone()),
            ("CUBELOOM_CHECKPOINT_DIR", paths.checkpoint_dir.clone()),
            ("CUBELOOM_HOST", self.member.address.clone()),
            ("CUBELOOM_INDEX", self.member.index.to_string()),
            ("CUBELOOM_INSTANCE", job.key.instance.to_string()),
            ("CUBELOOM_OUTPUTS", self.below("outputs.jsonl")),
            ("CUBELOOM_PIPELINE", job.pipeline.clone()),
            ("CUBELOOM_PROJECT", job.project.clone()),
            ("CUBELOOM_RANK", self.member.rank.to_string()),
            ("CUBELOOM_ROLE", self.member.role.clone()),
            ("CUBELOOM_RUN", job.key.run.to_string()),
            ("CUBELOOM_RUN_DIR", paths.run_dir.clone()),
            ("CUBELOOM_TASK", job.key.task.clone()),
            ("CUBELOOM_TEMPLATE_DIR", paths.template_dir.clone()),
            ("CUBELOOM_WORKSPACE", paths.workspace.clone()),
            ("CUBELOOM_WORLD_SIZE", self.world.to_string()),
            ("CUDA_VISIBLE_DEVICES", self.gpus.to_owned()),
        ]);
        if !paths.code.is_empty() {
            env.insert("CUBELOOM_CODE".into(), paths.code.clone());
        }
        env.extend(paths.volumes.iter().map(|(name, folder)| (volume_variable(name), folder.clone())));
        env
    }

    /// The pipeline's own modules come first.
    fn add_code_to_python_path(&self, env: &mut Variables) {
        if self.paths.code.is_empty() {
            return;
        }
        let path = match env.get("PYTHONPATH").filter(|path| !path.is_empty()) {
            Some(own) => format!("{}:{own}", self.paths.code),
            None => self.paths.code.clone(),
        };
        env.insert("PYTHONPATH".into(), path);
    }
}

/// `CUBELOOM_VOLUME_<NAME>`.
fn volume_variable(name: &str) -> String {
    format!("CUBELOOM_VOLUME_{}", name.to_uppercase().replace('-', "_"))
}

fn pairs<const N: usize>(pairs: [(&str, String); N]) -> Variables {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
