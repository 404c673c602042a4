//! Shared test code: a scheduler whose jobs are named by their keys.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses some of it")]

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cubeloom_admission::{Ask, Desk, Elastic, JobId, Pass, Settings, Spec};
use cubeloom_domain::Timestamp;
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};
use cubeloom_domain::waiting::Explanation;

/// A time in seconds after the beginning.
pub fn at(seconds: u64) -> Timestamp {
    Timestamp(0).plus(Duration::from_secs(seconds))
}

pub fn cards(count: u64) -> Quota {
    Quota { guarantee: Amounts::from_iter([(Resource::Gpus, count)]), ..Quota::default() }
}

fn record(queue: Queue, parent: Option<&str>, quota: Quota) -> QueueRecord {
    let pool = Pool { cluster: "test".into(), node_group: None };
    QueueRecord {
        queue,
        parent: parent.map(Into::into),
        quotas: BTreeMap::from([(pool, quota)]),
        revision: 1,
    }
}

pub fn group(name: &str, parent: Option<&str>, quota: Quota) -> QueueRecord {
    record(Queue::Group(name.into()), parent, quota)
}

pub fn project(name: &str, parent: Option<&str>, quota: Quota) -> QueueRecord {
    record(Queue::Project(name.into()), parent, quota)
}

/// A job of its own run, later than those of earlier jobs.
pub fn job(key: &str, gpus: u64) -> Spec {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    Spec {
        key: key.into(),
        name: key.into(),
        project: "project".into(),
        person: "person".into(),
        run: RUNS.fetch_add(1, Ordering::Relaxed).into(),
        fixed: Ask::of(1000 * gpus, 0, 1, gpus),
        ..Spec::default()
    }
}

/// An elastic job with one GPU per worker, and between `min` and `max` GPUs in total.
pub fn elastic(key: &str, min: u32, max: u32) -> Spec {
    let elastic = Elastic { each: Ask::of(1000, 0, 1, 1), min: min - 1, max: max - 1, scales: true };
    Spec { elastic: Some(elastic), ..job(key, 1) }
}

pub struct Case {
    pub desk: Desk,
    pub ids: HashMap<String, JobId>,
    pub last: Option<Pass>,
}

impl Case {
    pub fn new(gpus: u64, records: Vec<QueueRecord>) -> Self {
        let mut desk = Desk::new("test", Settings::default());
        desk.set_room(Ask::of(1 << 40, 1 << 50, 0, gpus), BTreeMap::new());
        desk.set_queues(&Arc::new(records));
        Self { desk, ids: HashMap::new(), last: None }
    }

    pub fn wait(&mut self, spec: Spec) {
        self.wait_since(spec, 0);
    }

    pub fn wait_since(&mut self, spec: Spec, seconds: u64) {
        let key = spec.key.clone();
        self.ids.insert(key, self.desk.wait(spec, at(seconds), None));
    }

    pub fn wait_cooling(&mut self, spec: Spec, seconds: u64, until: u64) {
        let key = spec.key.clone();
        self.ids.insert(key, self.desk.wait(spec, at(seconds), Some(at(until))));
    }

    pub fn id(&self, key: &str) -> JobId {
        self.ids[key]
    }

    pub fn key(&self, job: JobId) -> String {
        self.desk.spec(job).unwrap().key.clone()
    }

    /// Runs a cycle and returns the jobs that it starts.
    pub fn pass(&mut self, seconds: u64) -> Vec<String> {
        let pass = self.desk.pass(at(seconds), usize::MAX);
        self.desk.check().unwrap();
        let started = pass.starts.iter().map(|start| self.key(start.job)).collect();
        self.last = Some(pass);
        started
    }

    /// Jobs that the last cycle preempted or shrunk.
    pub fn victims(&self) -> Vec<String> {
        let pass = self.last.as_ref().unwrap();
        pass.victims.iter().map(|victim| self.key(victim.job())).collect()
    }

    pub fn end(&mut self, key: &str, seconds: u64) {
        let job = self.ids.remove(key).unwrap();
        self.desk.remove(job, at(seconds));
    }

    pub fn why(&self, key: &str, seconds: u64) -> Explanation {
        self.desk.explain(self.id(key), at(seconds)).unwrap()
    }

    /// Number of a job's elastic workers.
    pub fn workers(&self, key: &str) -> u32 {
        self.desk.workers(self.id(key)).unwrap()
    }
}
