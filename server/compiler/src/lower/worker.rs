//! One worker as one process: its variables, its command, its folder.

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::lowered::{LocalPaths, LocalWorker};
use cubeloom_domain::outcome::WorkerName;

use super::common::{Variables, common, pairs, with_code};
use super::compatibility;
use super::preflight;
use super::processes::{self, Signals, Table};
use super::substitute::substitute;
use crate::frameworks::{Identity, Member};

/// The inputs of a worker's process.
pub struct Worker<'a> {
    pub job: &'a Job,
    pub paths: &'a LocalPaths,
    pub name: WorkerName,
    pub role: &'a JobRole,
    pub member: &'a Member,
    /// Its visible GPUs, separated by commas.
    pub gpus: &'a str,
    /// Number of workers.
    pub world: usize,
    pub identity: Identity,
    /// The table of its processes, if it has several.
    pub table: Option<&'a Table>,
    /// The files of its preflight tests, if it has any.
    pub tests: &'a Variables,
}

impl Worker<'_> {
    pub fn lower(self) -> LocalWorker {
        let env = self.env();
        let words = |words: &[String]| words.iter().map(|word| substitute(word, &env)).collect();
        let mut files = self.identity.files.clone();
        let argv = match self.table {
            Some(table) => {
                files.insert(processes::FILE.into(), processes::PROGRAM.into());
                // The launcher knows which of its processes a word of the command refers to.
                let worker = table.without_own(&env);
                let argv = self.role.argv.iter().map(|word| substitute(&table.guarded(word), &worker));
                let argv: Vec<String> = argv.collect();
                processes::launched(&self.member.folder, argv)
            }
            None => words(&self.role.argv),
        };
        files.extend(self.tests.clone());
        let argv = match self.tests.is_empty() {
            true => argv,
            false => preflight::launched(&self.member.folder, argv),
        };
        LocalWorker {
            rank: self.member.rank,
            folder: self.member.folder.clone(),
            cwd: self.below("work"),
            argv,
            setup: words(&self.job.setup),
            secrets: self.job.secrets.clone(),
            cpu: self.role.resources.cpu,
            cpu_limit: self.role.resources.most_cpu(),
            cpu_exclusive: self.role.resources.cpu_exclusive,
            memory: self.role.resources.memory,
            shm: self.role.resources.shm,
            outputs_file: self.below("outputs.jsonl"),
            files,
            name: self.name,
            env,
        }
    }

    fn below(&self, name: &str) -> String {
        format!("{}/{name}", self.member.folder)
    }

    /// All variables. The task's variables override settings, but not the worker's identity.
    fn env(&self) -> Variables {
        let mut who = common(self.job, self.paths, self.member, self.below("outputs.jsonl"), self.world);
        who.insert("CUDA_VISIBLE_DEVICES".into(), self.gpus.to_owned());
        who.extend(self.identity.variables.clone());
        let mut env = compatibility::variables(self.job, &self.paths.workspace, &self.role.resources);
        env.extend(self.settings());
        env.extend(self.identity.settings.clone());
        let known = self.table.map_or_else(|| who.clone(), |table| table.without_own(&who));
        env.extend(self.job.env.iter().map(|(name, value)| {
            let value = self.table.map_or(value.into(), |table| table.guarded_env(name, value));
            (name.clone(), substitute(&value, &known))
        }));
        if !self.paths.code.is_empty() {
            let path = with_code(&self.paths.code, env.get("PYTHONPATH"));
            env.insert("PYTHONPATH".into(), path);
        }
        env.extend(who);
        env.extend(
            self.table.map(|table| (processes::VARIABLE.to_owned(), table.written(Signals::ReachAll))),
        );
        env
    }

    /// Settings that a task's own `env` may override. One scratch folder serves as home, for temporary files
    /// and as the working directory: creating folders is a large part of a short task's cost.
    fn settings(&self) -> Variables {
        let threads = self.role.resources.threads();
        pairs([
            ("HOME", self.below("work")),
            ("LANG", "C.UTF-8".into()),
            ("OMP_NUM_THREADS", threads.to_string()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("TMPDIR", self.below("work")),
        ])
    }
}
