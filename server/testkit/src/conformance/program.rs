//! A small program for workers, and the job around it.

use std::collections::BTreeMap;

use cubeloom_domain::job::{Job, JobRole, SecretMount, SuccessRule};
use cubeloom_domain::pipeline::ElasticRange;
use cubeloom_domain::resources::Resources;
use cubeloom_domain::{AttemptKey, Bytes, Cpu};

/// What the workers of a job do.
#[derive(Clone, Debug)]
pub struct Program {
    /// Roles and how many workers each has.
    pub roles: Vec<(&'static str, u32)>,
    /// What each runs.
    pub argv: Vec<String>,
    /// What each runs before.
    pub setup: Vec<String>,
    /// When the job has succeeded.
    pub success: SuccessRule,
    /// How many workers must stay, when some can be spared.
    pub elastic: Option<u32>,
    /// The memory limit.
    pub memory: Bytes,
    /// Outputs that must be written.
    pub outputs: Vec<String>,
    /// Secrets.
    pub secrets: Vec<SecretMount>,
    /// The metric that is watched.
    pub watches: Option<String>,
    /// Whether it is told that memory is nearly used up.
    pub grows: bool,
}

impl Program {
    /// One worker that runs these words.
    #[must_use]
    pub fn words(argv: &[&str]) -> Self {
        Self {
            roles: vec![("worker", 1)],
            argv: argv.iter().map(|word| (*word).into()).collect(),
            setup: Vec::new(),
            success: SuccessRule::AllWorkers,
            elastic: None,
            memory: Bytes(256 << 20),
            outputs: Vec::new(),
            secrets: Vec::new(),
            watches: None,
            grows: false,
        }
    }

    /// One worker that runs this text in a shell.
    #[must_use]
    pub fn shell(text: &str) -> Self {
        Self::words(&["/bin/sh", "-c", text])
    }

    /// This many workers.
    #[must_use]
    pub fn workers(mut self, count: u32) -> Self {
        self.roles = vec![("worker", count)];
        self
    }

    /// A master that decides, and this many workers beside it.
    #[must_use]
    pub fn master_and(mut self, workers: u32) -> Self {
        self.roles = vec![("master", 1), ("worker", workers)];
        self.success = SuccessRule::Role("master".into());
        self
    }

    /// Of the workers only this many must stay.
    #[must_use]
    pub fn elastic(mut self, min: u32) -> Self {
        self.elastic = Some(min);
        self.success = SuccessRule::AnyWorker;
        self
    }

    /// Another change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The number of workers.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.roles.iter().map(|(_, count)| count).sum()
    }

    /// The job of one attempt.
    #[must_use]
    pub fn job(&self, key: AttemptKey) -> Job {
        let resources = Resources {
            cpu: Cpu(500),
            memory: self.memory,
            gpu: None,
            processes_per_gpu: None,
            shm: None,
            rdma: None,
            cpu_limit: None,
            cpu_exclusive: false,
        };
        let role = |(name, replicas): &(&str, u32)| JobRole {
            name: (*name).into(),
            replicas: *replicas,
            argv: self.argv.clone(),
            resources: resources.clone(),
        };
        Job {
            key,
            root: None,
            project: "conformance".into(),
            pipeline: "conformance".into(),
            user: "tester".into(),
            code: None,
            framework: "indexed".into(),
            template: "command@1.0.0".into(),
            template_digest: "none".into(),
            template_folder: String::new(),
            image: None,
            registry: None,
            writable_root: false,
            python: None,
            roles: self.roles.iter().map(role).collect(),
            setup: self.setup.clone(),
            env: BTreeMap::new(),
            secrets: self.secrets.clone(),
            volumes: Vec::new(),
            success: self.success.clone(),
            gang: self.elastic.unwrap_or(self.size()),
            elastic: self.elastic.map(|min| ElasticRange { min, max: self.size() }),
            timeout: None,
            placement: Default::default(),
            outputs: self.outputs.clone(),
            watches: self.watches.clone(),
            grows: self.grows,
            preflight: None,
            call: None,
        }
    }
}
