//! A small program for workers, and the job around it.

use std::collections::BTreeMap;

use cubeloom_domain::job::{Job, JobRole, SecretMount, SuccessRule};
use cubeloom_domain::pipeline::ElasticRange;
use cubeloom_domain::resources::Resources;
use cubeloom_domain::{AttemptKey, Bytes, Cpu};

/// The program of a job's workers.
#[derive(Clone, Debug)]
pub struct Program {
    /// The roles, with the number of workers of each.
    pub roles: Vec<(&'static str, u32)>,
    /// The command of each worker.
    pub argv: Vec<String>,
    /// The setup command of each worker.
    pub setup: Vec<String>,
    /// The success rule of the job.
    pub success: SuccessRule,
    /// The minimum number of workers, for an elastic job.
    pub elastic: Option<u32>,
    pub memory: Bytes,
    /// Required outputs.
    pub outputs: Vec<String>,
    pub secrets: Vec<SecretMount>,
    pub watches: Option<String>,
    /// Whether nearly exhausted memory is reported.
    pub grows: bool,
}

impl Program {
    /// One worker with this command.
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

    /// A master that decides success, and this many workers.
    #[must_use]
    pub fn master_and(mut self, workers: u32) -> Self {
        self.roles = vec![("master", 1), ("worker", workers)];
        self.success = SuccessRule::Role("master".into());
        self
    }

    /// Only this many of the workers must remain.
    #[must_use]
    pub fn elastic(mut self, min: u32) -> Self {
        self.elastic = Some(min);
        self.success = SuccessRule::AnyWorker;
        self
    }

    /// Changes any other field.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    #[must_use]
    pub fn size(&self) -> u32 {
        self.roles.iter().map(|(_, count)| count).sum()
    }

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
