//! What the store keeps, row by row, and what one pass of the engine changes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::accounting::Account;
use crate::approval::Decision;
use crate::clock::Timestamp;
use crate::executor::Report;
use crate::hang::{Hang, Known, WorkerStack};
use crate::history::History;
use crate::ids::{AttemptKey, InstanceIx, RunId, TaskIx};
use crate::job::Job;
use crate::lowered::Bindings;
use crate::mark::Mark;
use crate::model::NewModelVersion;
use crate::pace::Pace;
use crate::plan::RunPlan;
use crate::preflight::Preflight;
use crate::quota::Pool;
use crate::resources::Amount;
use crate::schedule::Cause;
use crate::sizing::{AttemptSizing, SizingHistory};
use crate::state::{AttemptState, InstanceState, RunState};
use crate::usage::UsageSummary;
use crate::{Bytes, JsonMap};

/// A run, without its plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// ID.
    pub id: RunId,
    /// The project's name.
    pub project: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Who started it.
    pub user: String,
    /// State.
    pub state: RunState,
    /// Time at which the run was requested.
    pub created_at: Timestamp,
    /// When its first pass was.
    pub started_at: Option<Timestamp>,
    /// When its last task ended.
    pub ended_at: Option<Timestamp>,
    /// How many tasks its plan has.
    pub tasks: u32,
    /// What somebody should know about it, e.g. that its plan could not be read.
    pub message: Option<String>,
    /// The version of the pipeline, when it is a stored one.
    #[serde(default)]
    pub version: Option<u32>,
    /// The parameters as they were given, without the pipeline's own defaults.
    #[serde(default)]
    pub parameters: JsonMap,
    /// Who last wanted it to go on, or parts of it again. From then on it is theirs: their own secrets are what its
    /// workers get. `None` as long as it runs as its plan says.
    #[serde(default)]
    pub acting: Option<String>,
    /// The attempt, of a task of another run, that it is.
    #[serde(default)]
    pub parent: Option<AttemptKey>,
    /// Why there is one, and which moment it stands for.
    #[serde(default)]
    pub cause: Cause,
}

impl RunRecord {
    /// User that it runs for.
    #[must_use]
    pub fn person(&self) -> &str {
        self.acting.as_ref().unwrap_or(&self.user)
    }
}

/// The elements of a task's `for_each`, stored once, when it becomes ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpansionRecord {
    /// Run.
    pub run: RunId,
    /// Task.
    pub task: TaskIx,
    /// Its elements.
    pub items: Vec<Value>,
}

/// An instance that no longer waits for what it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceRecord {
    /// Run.
    pub run: RunId,
    /// Task.
    pub task: TaskIx,
    /// Instance.
    pub instance: InstanceIx,
    /// State.
    pub state: InstanceState,
    /// The number of the last attempt; 0 before the first.
    pub attempt: u32,
    /// Attempts that count against the retry policy; starts again at 0 when the task is run again on demand.
    pub tries: u32,
    /// Time at which the instance became ready.
    pub ready_at: Timestamp,
    /// End time.
    pub ended_at: Option<Timestamp>,
    /// What its program reported.
    pub report: Report,
    /// Note for the user, e.g. why an earlier result was not reused.
    pub note: Option<String>,
    /// Until when it borrows nothing, as it had to give back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cool_until: Option<Timestamp>,
}

/// An attempt at an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// Its key.
    pub key: AttemptKey,
    /// The task's position in the plan.
    pub task: TaskIx,
    /// State.
    pub state: AttemptState,
    /// When it was written.
    pub created_at: Timestamp,
    /// What it asks for.
    pub amount: Amount,
    /// The whole cards in it, by the type that was asked for.
    pub cards: BTreeMap<String, u32>,
    /// Of which pool it holds this.
    pub pool: Pool,
    /// The named limits that it holds.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    /// Number of workers.
    pub workers: u32,
    /// What it had while it had more workers, or fewer, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub earlier: Vec<Stretch>,
    /// What only submission knew.
    pub bindings: Bindings,
    /// Resource usage, available after the attempt has ended.
    pub usage: UsageSummary,
    /// Whom it is counted for, and where.
    #[serde(default)]
    pub account: Account,
    /// What its workers get, role by role, and why; none where nothing is sized.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<Box<AttemptSizing>>,
    /// At which pace its program reports steps; none before it has reported one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pace: Option<Box<Pace>>,
    /// That it hangs, or did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<Box<Hang>>,
    /// The test of its workers before its program began; none where they are not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<Box<Preflight>>,
}

/// What an attempt had until it got workers, or gave some back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// End time.
    pub until: Timestamp,
    /// What it held.
    pub amount: Amount,
    /// Parts of cards, as in [`Account::card_parts`].
    #[serde(skip_serializing_if = "is_none", default)]
    pub card_parts: u64,
    /// How many workers it had.
    pub workers: u32,
}

impl Stretch {
    fn has(&self) -> (Amount, u64, u32) {
        (self.amount, self.card_parts, self.workers)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(parts: &u64) -> bool {
    *parts == 0
}

impl AttemptRecord {
    /// From now on it has the workers that `job` has.
    pub fn resize(&mut self, job: &Job, bindings: Bindings, now: Timestamp) {
        // Before its workers run, nothing is counted.
        if self.state.started_at().is_some() {
            self.earlier.push(Stretch {
                until: now,
                amount: self.amount,
                card_parts: self.account.card_parts,
                workers: self.workers,
            });
        }
        self.amount = job.amount();
        self.cards = job.cards();
        self.account.card_parts = Account::of(job).card_parts;
        self.workers = job.workers();
        self.bindings = bindings;
    }

    /// So many workers of it run, of a job that the cluster's own scheduler scales: `least` of which it was let in with, the
    /// others it may have to give back at any time. What it had before anybody looked was its least.
    pub fn runs_with(&mut self, job: &Job, least: u32, now: Timestamp) {
        if self.earlier.is_empty() {
            self.workers = least;
        }
        if (self.workers, self.amount) != (job.workers(), job.amount()) {
            self.resize(job, self.bindings.clone(), now);
        }
    }

    /// What others count on that it holds, and its workers: of a job that the cluster's own scheduler scales what it was let in
    /// with, not what it was lent.
    #[must_use]
    pub fn counted_on(&self) -> (Amount, u32) {
        let is_lent = matches!(&self.bindings, Bindings::Kubernetes(bound) if bound.facts.volcano.is_some());
        match self.earlier.first().filter(|_| is_lent) {
            Some(first) => (first.amount, first.workers),
            None => (self.amount, self.workers),
        }
    }

    /// Workers were to get so much more memory each from a moment on, and never had it: it is counted no more, since whenever
    /// then the attempt got or gave back workers, too. `of_role` says how many they are of so many workers of the attempt. What
    /// is alike without it becomes one stretch; what it holds now is left as it is.
    pub fn never_had(&mut self, more: Bytes, since: Timestamp, of_role: impl Fn(u32) -> u32) {
        let mut stretches: Vec<Stretch> = Vec::with_capacity(self.earlier.len());
        for mut stretch in std::mem::take(&mut self.earlier) {
            if stretch.until > since {
                let of_all = more.0.saturating_mul(of_role(stretch.workers).into());
                stretch.amount.memory = Bytes(stretch.amount.memory.0.saturating_sub(of_all));
            }
            match stretches.last_mut() {
                Some(last) if last.has() == stretch.has() => last.until = stretch.until,
                _ => stretches.push(stretch),
            }
        }
        let now = (self.amount, self.account.card_parts, self.workers);
        stretches.pop_if(|last| last.has() == now);
        self.earlier = stretches;
    }

    /// When it gave workers back last, if it did.
    #[must_use]
    pub fn gave_at(&self) -> Option<Timestamp> {
        let after = self.earlier.iter().skip(1).map(|stretch| stretch.workers).chain([self.workers]);
        let shrunk = self.earlier.iter().zip(after).filter(|(before, after)| before.workers > *after);
        shrunk.last().map(|(before, _)| before.until)
    }
}

/// A result that equal later tasks may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// SHA-256 over all that counts.
    pub key: String,
    /// The parts of the key by name, each a digest or a short value: a miss says which of them changed.
    pub parts: Value,
    /// The project: results are not shared between projects.
    pub project: String,
    /// Pipeline.
    pub pipeline: String,
    /// Name of the task.
    pub task: String,
    /// Run that produced it.
    pub run: RunId,
    /// When it was made.
    pub created_at: Timestamp,
    /// What its program reported.
    pub report: Report,
}

/// What somebody wants of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub enum Wish {
    /// Stop it.
    Cancel,
    /// Run what failed, and what was not reached because of it, keeping what succeeded.
    Resume,
    /// Run these tasks, and everything after them, again.
    Rerun {
        /// Tasks, by name.
        from: Vec<String>,
    },
    /// Answer what an instance asks.
    Decide {
        /// The task, by name.
        task: String,
        /// Instance.
        instance: InstanceIx,
        /// The answer.
        decision: Decision,
    },
    /// Let an instance count as something else than what its program came to.
    Mark {
        /// The task, by name.
        task: String,
        /// Instance.
        instance: InstanceIx,
        /// What it counts as.
        mark: Mark,
    },
}

/// A wish as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishRecord {
    /// Its id; wishes are taken in this order.
    pub id: i64,
    /// Run.
    pub run: RunId,
    /// Requested action.
    pub wish: Wish,
    /// Who wants it.
    pub user: String,
    /// Creation time.
    pub created_at: Timestamp,
}

/// A run as the engine loads it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedRun {
    /// Run.
    pub record: RunRecord,
    /// Its plan.
    pub plan: RunPlan,
    /// The expansions that are stored.
    pub expansions: Vec<ExpansionRecord>,
    /// The instances that are stored.
    pub instances: Vec<InstanceRecord>,
    /// The attempts that have not ended.
    pub attempts: Vec<AttemptRecord>,
    /// What attempts that have ended showed of the pattern of instances that have not.
    pub known: Vec<(TaskIx, InstanceIx, Known)>,
    /// How long the tasks of its pipeline took before.
    pub history: History,
    /// What the attempts at them used; of a run that sizes nothing by itself, only what its project wants.
    pub sizing: SizingHistory,
}

/// What a new run begins with, where it takes results over from an earlier one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TakenOver {
    /// The elements of the tasks that are taken over.
    pub expansions: Vec<ExpansionRecord>,
    /// Their instances, which have ended.
    pub instances: Vec<InstanceRecord>,
}

/// What the workers of an attempt were at when it was seen to hang; nothing of a hang at which nobody has looked yet.
#[derive(Clone, Debug, PartialEq)]
pub struct HangStacks {
    /// Attempt.
    pub key: AttemptKey,
    /// The task's position in the plan.
    pub task: TaskIx,
    /// Of each worker.
    pub stacks: Vec<WorkerStack>,
}

/// Everything that one pass writes, in one transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Runs to be written over.
    pub runs: Vec<RunRecord>,
    /// Those of them that were queued and begin, with how many of their pipeline may be active at most, on all servers.
    pub begun: BTreeMap<RunId, u32>,
    /// Expansions to be stored.
    pub expansions: Vec<ExpansionRecord>,
    /// Tasks whose stored expansion is forgotten before anything else is written (run again on demand).
    pub unexpanded: Vec<(RunId, TaskIx)>,
    /// Instances to be inserted or written over.
    pub instances: Vec<InstanceRecord>,
    /// Attempts to be inserted or written over.
    pub attempts: Vec<AttemptRecord>,
    /// What workers of attempts that hang were at, in the place of what is stored. An attempt that is written keeps what it has:
    /// that may be megabytes, and it is written often.
    pub stacks: Vec<HangStacks>,
    /// Results that later tasks may take.
    pub cache: Vec<CacheEntry>,
    /// Models that attempts made.
    pub models: Vec<NewModelVersion>,
    /// Wishes that are fulfilled by this.
    pub wishes: Vec<i64>,
}

impl Changes {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
