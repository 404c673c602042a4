//! One run in memory: its plan, and a cell for each task.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, OnceLock};

use cubeloom_admission::Length;
use cubeloom_compiler::Outputs;
use cubeloom_domain::clusters::RUNS;
use cubeloom_domain::executor::Report;
use cubeloom_domain::graph::Graph;
use cubeloom_domain::hang::Known;
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::plan::{LateMap, PlannedTask, RunPlan};
use cubeloom_domain::preflight::{Bounds, Preflight};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord, RunRecord};
use cubeloom_domain::sizing::{self, AttemptSizing};
use cubeloom_domain::state::InstanceState;
use cubeloom_domain::{Bytes, InstanceIx, TaskIx, Timestamp};
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
    /// Whether a task of it, or of a run that it belongs to or starts, may have to be kept apart from the others
    /// (`spread: required`).
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
    /// What its attempts are made of, once somebody asked.
    pub make: OnceLock<String>,
    /// The task without what its instances' jobs are made of, once one of them is sized.
    pub bare: OnceLock<Box<PlannedTask>>,
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
    /// What its next attempt gets, decided when it began to wait for a place.
    pub sizing: Option<Box<AttemptSizing>>,
    /// By role, the attempts at it whose memory ran out.
    pub ran_out: Box<[RanOut]>,
    /// What its attempts showed of their pattern.
    pub known: Known,
    /// Until when it borrows nothing, as it had to give back.
    pub cool_until: Option<Timestamp>,
    /// Whether this pass changed it.
    pub dirty: bool,
}

/// The attempts at an instance at which the memory of a role ran out.
pub struct RanOut {
    pub role: String,
    /// The last one's number.
    pub n: u32,
    /// Allocated amount.
    pub had: Bytes,
    /// How many there were.
    pub count: usize,
}

/// An attempt that has not ended.
pub struct LiveAttempt {
    pub record: AttemptRecord,
    pub dirty: bool,
    /// How many elastic workers it is told to have as soon as it runs.
    pub owed: Option<u32>,
    /// When its pace is worth being stored again.
    pub pace_due: Timestamp,
    /// Whether a timer is set for when it would hang.
    pub pace_watched: bool,
    /// Whether it was asked, by this server, what its workers are at while it hangs.
    pub looked: bool,
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
        // A vector would make room for four where most tasks have one, and a run may have 100,000 tasks.
        self.instances.reserve_exact(len - has);
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
            sizing: None,
            ran_out: Box::default(),
            known: Known::default(),
            cool_until: None,
            dirty: false,
        }
    }

    /// The attempts at it at which the memory of a role ran out, as far as they are noted.
    pub fn ran_out_of(&self, role: &str) -> Option<&RanOut> {
        self.ran_out.iter().find(|noted| noted.role == role)
    }

    /// Notes that at an attempt the memory of these roles ran out.
    pub fn note_ran_out(&mut self, mut new: Vec<RanOut>) {
        for noted in std::mem::take(&mut self.ran_out) {
            match new.iter_mut().find(|new| new.role == noted.role) {
                Some(new) => new.count = new.count.max(noted.count + 1),
                None => new.push(noted),
            }
        }
        self.ran_out = new.into();
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
            cool_until: record.cool_until,
            ..Self::pending()
        }
    }
}

impl ActiveRun {
    /// The cluster that a task's jobs go to.
    pub fn place_of(&self, task: TaskIx) -> &str {
        if self.plan.task(task).calls { RUNS } else { &self.plan.cluster }
    }

    /// The machines that a task's jobs go to.
    pub fn pool_of(&self, task: TaskIx) -> Pool {
        let node_group = self.plan.task(task).placement.node_group.clone();
        Pool { cluster: self.place_of(task).to_owned(), node_group }
    }

    pub fn instance_mut(&mut self, at: At) -> Option<&mut Instance> {
        self.tasks.get_mut(at.task.index())?.instances.get_mut(at.instance as usize)
    }

    /// The attempt at an instance that has not ended.
    pub fn live(&self, at: At) -> Option<&LiveAttempt> {
        self.tasks.get(at.task.index())?.instances.get(at.instance as usize)?.live.as_deref()
    }

    /// How many workers of its elastic role the attempt at an instance has.
    pub fn elastic_workers(&self, at: At) -> Option<u32> {
        Some(self.plan.task(at.task).elastic_of(self.live(at)?.record.workers))
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
            cool_until: instance.cool_until,
        })
    }

    /// What the expressions of a task may read.
    pub fn outputs_for(&self, task: TaskIx) -> Outputs {
        let mut outputs = Outputs::new();
        for ix in &self.plan.task(task).reads {
            let planned = self.plan.task(*ix);
            let states = self.tasks[ix.index()].instances.iter().map(|each| &each.state);
            outputs.add(&planned.name, self.outputs_of(*ix), cubeloom_compiler::ended_as(planned, states));
        }
        outputs
    }

    fn outputs_of(&self, task: TaskIx) -> Value {
        let cell = &self.tasks[task.index()];
        let instances: Vec<_> = cell.instances.iter().map(|each| (&each.state, &each.report)).collect();
        cubeloom_compiler::readable_outputs(self.plan.task(task), cell.items.as_deref(), &instances)
    }

    /// The job of the next attempt at an instance; `workers` of the elastic role.
    pub fn next_job(&self, at: At, workers: Option<u32>) -> Result<Job, Failure> {
        let instance = &self.tasks[at.task.index()].instances[at.instance as usize];
        let job = self.job(at.task, at.instance, instance.attempt + 1, workers)?;
        Ok(sized(job, instance.sizing.as_deref()))
    }

    /// The job of an attempt that is stored, with as many workers as it had.
    pub fn stored_job(&self, record: &AttemptRecord) -> Result<Job, Failure> {
        let planned = self.plan.task(record.task);
        self.job_with(record, planned.elastic_of(record.workers))
    }

    /// The same with so many workers of the elastic role.
    pub fn job_with(&self, record: &AttemptRecord, workers: u32) -> Result<Job, Failure> {
        let workers = self.plan.task(record.task).elastic.map(|_| workers);
        let job = self.job(record.task, record.key.instance, record.key.n, workers)?;
        Ok(tested(sized(job, record.sizing.as_deref()), record.preflight.as_deref()))
    }

    /// The test of the workers of the next attempt at an instance, where they are tested: they must come to so much.
    pub fn next_preflight(&self, at: At, bounds: Bounds) -> Option<Box<Preflight>> {
        self.plan.task(at.task).preflight?;
        let known = self.tasks[at.task.index()].instances[at.instance as usize].known;
        Some(Box::new(Preflight { bounds, known, tested: None }))
    }

    /// What a task's attempts are made of.
    pub fn make(&self, task: TaskIx) -> &str {
        self.tasks[task.index()].make.get_or_init(|| sizing::make(&self.plan, task))
    }

    /// The size of an instance's input in bytes, where its task says it.
    pub fn input(&self, at: At) -> Option<u64> {
        // What it may read is put together for nothing where it does not, and there may be many instances.
        if !self.plan.task(at.task).env.contains_key(sizing::INPUT) {
            return None;
        }
        let item =
            self.tasks[at.task.index()].items.as_ref().and_then(|items| items.get(at.instance as usize));
        cubeloom_compiler::input(&self.plan, at.task, item, &self.outputs_for(at.task))
    }

    /// What an instance holds, or would hold with its next attempt: its task as that attempt gets it, where it is sized without
    /// what its jobs are made of.
    pub fn sized_task(&self, at: At) -> Cow<'_, PlannedTask> {
        let planned = self.plan.task(at.task);
        let instance = &self.tasks[at.task.index()].instances[at.instance as usize];
        let sizing = match &instance.live {
            Some(live) => live.record.sizing.as_deref(),
            None => instance.sizing.as_deref(),
        };
        match sizing.filter(|sizing| !sizing.is_asked()) {
            Some(sizing) => {
                // The elements of its `for_each` are as many as the instances: they are not copied for each of them.
                let bare = || {
                    let (arguments, env) = (LateMap::new(), LateMap::new());
                    Box::new(PlannedTask { for_each: None, arguments, env, ..planned.clone() })
                };
                Cow::Owned(self.tasks[at.task.index()].bare.get_or_init(bare).sized(sizing))
            }
            None => Cow::Borrowed(planned),
        }
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

/// A job whose workers must come to what was decided when its attempt was made.
pub fn tested(mut job: Job, preflight: Option<&Preflight>) -> Job {
    if let (Some(tests), Some(decided)) = (&mut job.preflight, preflight) {
        tests.bounds = decided.bounds;
    }
    job
}

/// A job as an attempt gets it.
fn sized(job: Job, sizing: Option<&AttemptSizing>) -> Job {
    match sizing {
        Some(sizing) => job.sized(sizing),
        None => job,
    }
}
