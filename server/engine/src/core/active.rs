//! One run in memory: its plan, and a cell for each task.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use cubeloom_admission::Length;
use cubeloom_compiler::Outputs;
use cubeloom_domain::clusters::RUNS;
use cubeloom_domain::executor::Report;
use cubeloom_domain::graph::Graph;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord, RunRecord};
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{InstanceIx, JsonMap, TaskIx, Timestamp};
use serde_json::Value;

use super::{At, QueueKey};
use crate::decide::asha::Rungs;
use crate::decide::trigger::{Needs, TaskEnd};

/// A run in memory.
pub struct ActiveRun {
    pub record: RunRecord,
    pub plan: Arc<RunPlan>,
    pub graph: Graph,
    pub tasks: Vec<TaskCell>,
    /// How long each task takes, as far as its history says.
    pub lengths: Vec<Option<Length>>,
    /// Whether a task of it must be kept apart from the others (`spread: required`).
    pub tasks_may_exclude: bool,
    /// Tasks that have not ended.
    pub open: u32,
    /// Attempts that have not ended.
    pub active: u32,
    /// Instances that stand in a cluster's queue.
    pub queued: u32,
    /// Whether its folder is as its first task must find it.
    pub prepared: bool,
    /// Why it cannot be: every task that would start fails with this.
    pub refused: Option<Failure>,
    /// Instances that the run's parallelism keeps out of the queue.
    pub backlog: BTreeSet<QueueKey>,
}

/// What is known of a task.
#[derive(Default)]
pub struct TaskCell {
    pub needs: Needs,
    /// How it ended, once it has.
    pub end: Option<TaskEnd>,
    /// Whether its instances were made ready.
    pub begun: bool,
    /// The elements of its `for_each`.
    pub items: Option<Vec<Value>>,
    pub instances: Vec<Instance>,
    /// The last attempts' numbers of instances that an earlier, longer expansion had, from the present one's end
    /// on: should it grow again, no number is given twice.
    pub beyond: Vec<u32>,
    /// Instances that have not ended.
    pub open: u32,
    /// Attempts that have not ended.
    pub active: u32,
    /// Instances in the queue, or kept out of it by the run.
    pub queued: u32,
    /// Instances that the task's own parallelism keeps out.
    pub backlog: VecDeque<InstanceIx>,
    /// Of a search that stops early: what its trials had where they are compared.
    pub rungs: Rungs,
}

/// What is known of an instance.
pub struct Instance {
    pub state: InstanceState,
    pub attempt: u32,
    pub tries: u32,
    pub ready_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub report: Report,
    pub note: Option<String>,
    /// Boxed, as few instances of a large run have one at a time.
    pub live: Option<Box<LiveAttempt>>,
    /// The key under which its result is kept, and the key's parts.
    pub cache: Option<Box<(String, Value)>>,
    /// How many values of the metric that is searched by its attempt has reported.
    pub measured: u32,
    /// A sentence, when it is stopped as other trials are better.
    pub outdone: Option<String>,
    /// Whether the cache was asked and has not answered.
    pub is_asked: bool,
    /// Until when it borrows nothing, as it had to give back.
    pub cool_until: Option<Timestamp>,
    /// Whether this pass changed it.
    pub dirty: bool,
}

/// An attempt that has not ended.
pub struct LiveAttempt {
    pub record: AttemptRecord,
    pub dirty: bool,
}

impl TaskCell {
    /// Makes the instances this many.
    pub fn resize(&mut self, len: usize) {
        let has = self.instances.len();
        if len < has {
            let rest = self.instances.split_off(len);
            self.beyond.splice(0..0, rest.iter().map(|instance| instance.attempt));
            return;
        }
        let back = self.beyond.drain(..(len - has).min(self.beyond.len()));
        self.instances.extend(back.map(|attempt| Instance { attempt, ..Instance::pending() }));
        self.instances.resize_with(len, Instance::pending);
    }
}

impl Instance {
    pub fn pending() -> Self {
        Self {
            state: InstanceState::Pending,
            attempt: 0,
            tries: 0,
            ready_at: Timestamp::default(),
            ended_at: None,
            report: Report::default(),
            note: None,
            live: None,
            cache: None,
            measured: 0,
            outdone: None,
            is_asked: false,
            cool_until: None,
            dirty: false,
        }
    }

    pub fn from_record(record: InstanceRecord) -> Self {
        Self {
            state: record.state,
            attempt: record.attempt,
            tries: record.tries,
            ready_at: record.ready_at,
            ended_at: record.ended_at,
            report: record.report,
            note: record.note,
            ..Self::pending()
        }
    }
}

impl ActiveRun {
    /// The cluster that a task's jobs go to.
    pub fn place_of(&self, task: TaskIx) -> &str {
        if self.plan.task(task).calls { RUNS } else { &self.plan.cluster }
    }

    pub fn instance_mut(&mut self, at: At) -> Option<&mut Instance> {
        self.tasks.get_mut(at.task.index())?.instances.get_mut(at.instance as usize)
    }

    /// The instance as it is stored.
    pub fn instance_record(&self, task: TaskIx, ix: InstanceIx) -> Option<InstanceRecord> {
        let instance = self.tasks.get(task.index())?.instances.get(ix as usize)?;
        Some(InstanceRecord {
            run: self.record.id.clone(),
            task,
            instance: ix,
            state: instance.state.clone(),
            attempt: instance.attempt,
            tries: instance.tries,
            ready_at: instance.ready_at,
            ended_at: instance.ended_at,
            report: instance.report.clone(),
            note: instance.note.clone(),
        })
    }

    /// What the expressions of a task may read.
    pub fn outputs_for(&self, task: TaskIx) -> Outputs {
        let output = |ix: &TaskIx| (self.plan.task(*ix).name.clone(), Value::Object(self.outputs_of(*ix)));
        self.plan.task(task).reads.iter().map(output).collect()
    }

    fn outputs_of(&self, task: TaskIx) -> JsonMap {
        let cell = &self.tasks[task.index()];
        let instances: Vec<_> = cell.instances.iter().map(|each| (&each.state, &each.report)).collect();
        cubeloom_compiler::outputs_of(self.plan.task(task), cell.items.as_deref(), &instances)
    }

    /// The job of the next attempt at an instance; `workers` of the elastic role.
    pub fn next_job(&self, at: At, workers: Option<u32>) -> Result<Job, Failure> {
        let n = self.tasks[at.task.index()].instances[at.instance as usize].attempt + 1;
        self.job(at.task, at.instance, n, workers)
    }

    /// The job of an attempt that is stored, with as many workers as it had.
    pub fn stored_job(&self, record: &AttemptRecord) -> Result<Job, Failure> {
        let planned = self.plan.task(record.task);
        let fixed: u32 = planned.roles.iter().rev().skip(1).map(|role| role.replicas).sum();
        let workers = planned.elastic.map(|_| record.workers.saturating_sub(fixed));
        self.job(record.task, record.key.instance, record.key.n, workers)
    }

    fn job(&self, task: TaskIx, instance: InstanceIx, n: u32, workers: Option<u32>) -> Result<Job, Failure> {
        let item = self.tasks[task.index()].items.as_ref().and_then(|items| items.get(instance as usize));
        let outputs = self.outputs_for(task);
        let job = cubeloom_compiler::job(&self.plan, task, instance, item, n, workers, &outputs)?;
        Ok(match &self.record.acting {
            Some(user) => Job { user: user.clone(), ..job },
            None => job,
        })
    }
}
