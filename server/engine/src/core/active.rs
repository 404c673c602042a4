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

pub struct ActiveRun {
    pub record: RunRecord,
    pub plan: Arc<RunPlan>,
    pub graph: Graph,
    pub tasks: Vec<TaskCell>,
    /// Expected duration of each task, from history.
    pub lengths: Vec<Option<Length>>,
    /// Whether a task of the run, or of its parent or child runs, may need to be alone on a node
    /// (`spread: required`).
    pub tasks_may_exclude: bool,
    /// Unfinished tasks.
    pub open: u32,
    /// Unfinished attempts.
    pub active: u32,
    /// Instances in a cluster's queue.
    pub queued: u32,
    /// Whether its folder is ready for its first task.
    pub prepared: bool,
    /// Why the folder could not be prepared. Every task that would start fails with this.
    pub refused: Option<Failure>,
    /// Instances that the run's parallelism keeps out of the queue.
    pub backlog: BTreeSet<QueueKey>,
}

/// State of a task.
#[derive(Default)]
pub struct TaskCell {
    pub needs: Needs,
    /// How it ended. `None` until then.
    pub end: Option<TaskEnd>,
    /// Whether its instances were made ready.
    pub begun: bool,
    /// The items of its `for_each`.
    pub items: Option<Vec<Value>>,
    pub instances: Vec<Instance>,
    /// Last attempt numbers of instances beyond the current expansion, left from an earlier, longer one. If
    /// the expansion grows again, no number is reused.
    pub beyond: Vec<u32>,
    /// Unfinished instances.
    pub open: u32,
    /// Unfinished attempts.
    pub active: u32,
    /// Instances in the queue, or kept out of it by the run.
    pub queued: u32,
    /// Instances that the task's own parallelism keeps out.
    pub backlog: VecDeque<InstanceIx>,
    /// Of a search with early stopping: the trials' values at the compared steps.
    pub rungs: Rungs,
    /// The fingerprint of its attempts, computed on first use.
    pub make: OnceLock<String>,
    /// The task without the job details of its instances, computed when the first one is sized.
    pub bare: OnceLock<Box<PlannedTask>>,
}

/// State of an instance.
pub struct Instance {
    pub state: InstanceState,
    pub attempt: u32,
    pub tries: u32,
    pub ready_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub report: Report,
    pub note: Option<String>,
    /// Boxed, because few instances of a large run have one at a time.
    pub live: Option<Box<LiveAttempt>>,
    /// The key of its cached result, and the key's parts.
    pub cache: Option<Box<(String, Value)>>,
    /// How many values of the searched metric its attempt has reported.
    pub measured: u32,
    /// Why it is stopped early, as a sentence. Set when other trials are better.
    pub outdone: Option<String>,
    /// Whether a cache look-up is in progress.
    pub is_asked: bool,
    /// The resources of its next attempt, decided when it became pending.
    pub sizing: Option<Box<AttemptSizing>>,
    /// By role, its attempts that were OOM killed.
    pub ran_out: Box<[RanOut]>,
    /// The usage pattern of its attempts.
    pub known: Known,
    /// It does not borrow before this, because its borrowed resources were reclaimed.
    pub cool_until: Option<Timestamp>,
    /// Whether this cycle changed it.
    pub dirty: bool,
}

/// The attempts of an instance in which a role was OOM killed.
pub struct RanOut {
    pub role: String,
    /// Number of the last one.
    pub n: u32,
    pub had: Bytes,
    /// Number of such attempts.
    pub count: usize,
}

pub struct LiveAttempt {
    pub record: AttemptRecord,
    pub dirty: bool,
    /// How many elastic workers it must get as soon as it runs.
    pub owed: Option<u32>,
    /// When its step progress is due to be stored again.
    pub pace_due: Timestamp,
    /// Whether a timer is set for when it would hang.
    pub pace_watched: bool,
    /// Whether this server has collected its workers' stacks during the present hang.
    pub looked: bool,
}

impl TaskCell {
    /// Sets the number of instances.
    pub fn resize(&mut self, len: usize) {
        let has = self.instances.len();
        if len < has {
            let rest = self.instances.split_off(len);
            self.beyond.splice(0..0, rest.iter().map(|instance| instance.attempt));
            return;
        }
        // `Vec` would reserve space for four, but most tasks have one instance, and a run may have 100,000
        // tasks.
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

    /// The recorded attempts in which a role was OOM killed.
    pub fn ran_out_of(&self, role: &str) -> Option<&RanOut> {
        self.ran_out.iter().find(|noted| noted.role == role)
    }

    /// Records that these roles were OOM killed in an attempt.
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
    /// The target cluster of a task's jobs.
    pub fn place_of(&self, task: TaskIx) -> &str {
        if self.plan.task(task).calls { RUNS } else { &self.plan.cluster }
    }

    /// The node pool of a task's jobs.
    pub fn pool_of(&self, task: TaskIx) -> Pool {
        let node_group = self.plan.task(task).placement.node_group.clone();
        Pool { cluster: self.place_of(task).to_owned(), node_group }
    }

    pub fn instance_mut(&mut self, at: At) -> Option<&mut Instance> {
        self.tasks.get_mut(at.task.index())?.instances.get_mut(at.instance as usize)
    }

    /// The unfinished attempt of an instance.
    pub fn live(&self, at: At) -> Option<&LiveAttempt> {
        self.tasks.get(at.task.index())?.instances.get(at.instance as usize)?.live.as_deref()
    }

    /// How many workers of its elastic role an instance's attempt has.
    pub fn elastic_workers(&self, at: At) -> Option<u32> {
        Some(self.plan.task(at.task).elastic_of(self.live(at)?.record.workers))
    }

    /// The instance as stored.
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

    /// The outputs that a task's expressions may read.
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

    /// The job of an instance's next attempt, with `workers` workers of the elastic role.
    pub fn next_job(&self, at: At, workers: Option<u32>) -> Result<Job, Failure> {
        let instance = &self.tasks[at.task.index()].instances[at.instance as usize];
        let job = self.job(at.task, at.instance, instance.attempt + 1, workers)?;
        Ok(sized(job, instance.sizing.as_deref()))
    }

    /// The job of a stored attempt, with as many workers as it had.
    pub fn stored_job(&self, record: &AttemptRecord) -> Result<Job, Failure> {
        let planned = self.plan.task(record.task);
        self.job_with(record, planned.elastic_of(record.workers))
    }

    /// The same with this many workers of the elastic role.
    pub fn job_with(&self, record: &AttemptRecord, workers: u32) -> Result<Job, Failure> {
        let workers = self.plan.task(record.task).elastic.map(|_| workers);
        let job = self.job(record.task, record.key.instance, record.key.n, workers)?;
        Ok(tested(sized(job, record.sizing.as_deref()), record.preflight.as_deref()))
    }

    /// The preflight test of an instance's next attempt, with these bounds. `None` if its workers are not
    /// tested.
    pub fn next_preflight(&self, at: At, bounds: Bounds) -> Option<Box<Preflight>> {
        self.plan.task(at.task).preflight?;
        let known = self.tasks[at.task.index()].instances[at.instance as usize].known;
        Some(Box::new(Preflight { bounds, known, tested: None }))
    }

    pub fn make(&self, task: TaskIx) -> &str {
        self.tasks[task.index()].make.get_or_init(|| sizing::make(&self.plan, task))
    }

    /// Input size of an instance in bytes, if its task states it.
    pub fn input(&self, at: At) -> Option<u64> {
        // Collecting the readable outputs is expensive with many instances, so return early if the task does
        // not state it.
        if !self.plan.task(at.task).env.contains_key(sizing::INPUT) {
            return None;
        }
        let item =
            self.tasks[at.task.index()].items.as_ref().and_then(|items| items.get(at.instance as usize));
        cubeloom_compiler::input(&self.plan, at.task, item, &self.outputs_for(at.task))
    }

    /// The task as an instance's current or next attempt gets it. If it is sized, the job details of its
    /// instances are left out.
    pub fn sized_task(&self, at: At) -> Cow<'_, PlannedTask> {
        let planned = self.plan.task(at.task);
        let instance = &self.tasks[at.task.index()].instances[at.instance as usize];
        let sizing = match &instance.live {
            Some(live) => live.record.sizing.as_deref(),
            None => instance.sizing.as_deref(),
        };
        match sizing.filter(|sizing| !sizing.is_asked()) {
            Some(sizing) => {
                // The `for_each` has as many items as there are instances: do not copy them for each.
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

/// A job with the preflight test that was decided with its attempt.
pub fn tested(mut job: Job, preflight: Option<&Preflight>) -> Job {
    if let (Some(tests), Some(decided)) = (&mut job.preflight, preflight) {
        tests.bounds = decided.bounds;
    }
    job
}

/// A job with the resources that its attempt gets.
fn sized(job: Job, sizing: Option<&AttemptSizing>) -> Job {
    match sizing {
        Some(sizing) => job.sized(sizing),
        None => job,
    }
}
