//! Rows of the store, and the changes of one engine cycle.

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
    pub id: RunId,
    pub project: String,
    pub pipeline: String,
    /// The user who started it.
    pub user: String,
    pub state: RunState,
    /// Time at which the run was requested.
    pub created_at: Timestamp,
    /// Time of its first cycle.
    pub started_at: Option<Timestamp>,
    /// When its last task ended.
    pub ended_at: Option<Timestamp>,
    /// Number of tasks in its plan.
    pub tasks: u32,
    /// A note for users, e.g. that its plan could not be read.
    pub message: Option<String>,
    /// The version of the pipeline, if it is stored.
    #[serde(default)]
    pub version: Option<u32>,
    /// The parameters as given, without the pipeline's defaults.
    #[serde(default)]
    pub parameters: JsonMap,
    /// The user who last resumed or reran it. It runs as this user from then on, and its workers get this
    /// user's secrets. `None` as long as it runs as planned.
    #[serde(default)]
    pub acting: Option<String>,
    /// The attempt, of a task of another run, that started it.
    #[serde(default)]
    pub parent: Option<AttemptKey>,
    #[serde(default)]
    pub cause: Cause,
}

impl RunRecord {
    /// The user that it runs as.
    #[must_use]
    pub fn person(&self) -> &str {
        self.acting.as_ref().unwrap_or(&self.user)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpansionRecord {
    pub run: RunId,
    pub task: TaskIx,
    pub items: Vec<Value>,
}

/// An instance whose upstream has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceRecord {
    pub run: RunId,
    pub task: TaskIx,
    pub instance: InstanceIx,
    pub state: InstanceState,
    /// Number of the last attempt; 0 before the first.
    pub attempt: u32,
    /// Attempts that count against the retry policy. Reset to 0 when a user reruns the task.
    pub tries: u32,
    /// Time at which the instance became ready.
    pub ready_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// What its program reported.
    pub report: Report,
    /// Note for the user, e.g. why an earlier result was not reused.
    pub note: Option<String>,
    /// It does not borrow before this, because its borrowed resources were reclaimed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cool_until: Option<Timestamp>,
}

/// An attempt of an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    pub key: AttemptKey,
    /// Index of the task in the plan.
    pub task: TaskIx,
    pub state: AttemptState,
    /// When it was stored.
    pub created_at: Timestamp,
    pub amount: Amount,
    /// The whole GPUs in it, by requested type.
    pub cards: BTreeMap<String, u32>,
    /// The pool that the amount counts in.
    pub pool: Pool,
    /// The concurrency limits that it holds.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub limits: Vec<String>,
    pub workers: u32,
    /// Its allocations with other numbers of workers, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub earlier: Vec<Stretch>,
    /// What was known only at submission.
    pub bindings: Bindings,
    /// Resource usage, available after the attempt has ended.
    pub usage: UsageSummary,
    /// The account that it counts for.
    #[serde(default)]
    pub account: Account,
    /// Resources of its workers by role, with reasons. `None` if nothing is sized.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sizing: Option<Box<AttemptSizing>>,
    /// Step progress of its program. `None` before the first report.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pace: Option<Box<Pace>>,
    /// A hang, past or present.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hang: Option<Box<Hang>>,
    /// Preflight test of its workers. `None` if they are not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preflight: Option<Box<Preflight>>,
}

/// The allocation of an attempt until its number of workers changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    pub until: Timestamp,
    pub amount: Amount,
    /// GPU fractions, as in [`Account::card_parts`].
    #[serde(skip_serializing_if = "is_none", default)]
    pub card_parts: u64,
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
    /// Changes its allocation to the workers of `job`.
    pub fn resize(&mut self, job: &Job, bindings: Bindings, now: Timestamp) {
        // Nothing is counted before its workers run.
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

    /// Records this many running workers, for a job that the cluster's own scheduler scales. It was admitted
    /// with `least` of them, and the others may be reclaimed at any time. Until the first look, it counts as
    /// having had `least`.
    pub fn runs_with(&mut self, job: &Job, least: u32, now: Timestamp) {
        if self.earlier.is_empty() {
            self.workers = least;
        }
        if (self.workers, self.amount) != (job.workers(), job.amount()) {
            self.resize(job, self.bindings.clone(), now);
        }
    }

    /// The allocation that others rely on, and its number of workers. For a job that the cluster's own
    /// scheduler scales, this is what it was admitted with, without what it was lent.
    #[must_use]
    pub fn counted_on(&self) -> (Amount, u32) {
        let is_lent = matches!(&self.bindings, Bindings::Kubernetes(bound) if bound.facts.volcano.is_some());
        match self.earlier.first().filter(|_| is_lent) {
            Some(first) => (first.amount, first.workers),
            None => (self.amount, self.workers),
        }
    }

    /// Undoes a memory increase that workers never got, from that time on, including its later changes of
    /// size. `of_role` returns how many of an attempt's workers are of the role. Stretches that are equal
    /// without it are merged. The current allocation is unchanged.
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

    /// When it last gave up workers. `None` if it never did.
    #[must_use]
    pub fn gave_at(&self) -> Option<Timestamp> {
        let after = self.earlier.iter().skip(1).map(|stretch| stretch.workers).chain([self.workers]);
        let shrunk = self.earlier.iter().zip(after).filter(|(before, after)| before.workers > *after);
        shrunk.last().map(|(before, _)| before.until)
    }
}

/// A result that equal later tasks may reuse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// SHA-256 of everything relevant.
    pub key: String,
    /// The parts of the key by name, each a digest or a short value: a miss reports which of them changed.
    pub parts: Value,
    /// The project: results are not shared between projects.
    pub project: String,
    pub pipeline: String,
    pub task: String,
    /// Run that produced it.
    pub run: RunId,
    /// When it was produced.
    pub created_at: Timestamp,
    /// What its program reported.
    pub report: Report,
}

/// A user's command for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "wish", rename_all = "snake_case")]
pub enum Wish {
    Cancel,
    /// Rerun what failed, and what was not reached because of it. Keep what succeeded.
    Resume,
    /// Rerun these tasks, and everything downstream of them.
    Rerun {
        from: Vec<String>,
    },
    /// Answer an approval instance.
    Decide {
        /// The task, by name.
        task: String,
        instance: InstanceIx,
        decision: Decision,
    },
    /// Override the outcome of an instance.
    Mark {
        /// The task, by name.
        task: String,
        instance: InstanceIx,
        /// The new outcome.
        mark: Mark,
    },
}

/// A command as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WishRecord {
    /// Its id. Commands are executed in this order.
    pub id: i64,
    pub run: RunId,
    pub wish: Wish,
    /// The user who sent it.
    pub user: String,
    pub created_at: Timestamp,
}

/// A run as the engine loads it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedRun {
    pub record: RunRecord,
    pub plan: RunPlan,
    /// The stored expansions.
    pub expansions: Vec<ExpansionRecord>,
    /// The stored instances.
    pub instances: Vec<InstanceRecord>,
    /// Unfinished attempts.
    pub attempts: Vec<AttemptRecord>,
    /// What finished attempts showed of the pattern of unfinished instances.
    pub known: Vec<(TaskIx, InstanceIx, Known)>,
    /// Earlier durations of its pipeline's tasks.
    pub history: History,
    /// Earlier usage of the tasks' attempts. For a run without automatic sizing, only the project's policy.
    pub sizing: SizingHistory,
}

/// Results that a new run reuses from an earlier one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TakenOver {
    /// Expansions of the reused tasks.
    pub expansions: Vec<ExpansionRecord>,
    /// Their instances, which have ended.
    pub instances: Vec<InstanceRecord>,
}

/// Stack traces of an attempt's workers at the detection of a hang. Empty if they were not collected yet.
#[derive(Clone, Debug, PartialEq)]
pub struct HangStacks {
    pub key: AttemptKey,
    /// Index of the task in the plan.
    pub task: TaskIx,
    /// One per worker.
    pub stacks: Vec<WorkerStack>,
}

/// Everything that one cycle writes, in one transaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Runs to update.
    pub runs: Vec<RunRecord>,
    /// Those of them that were queued and start, with the maximum number of active runs of their pipeline
    /// over all servers.
    pub begun: BTreeMap<RunId, u32>,
    /// Expansions to store.
    pub expansions: Vec<ExpansionRecord>,
    /// Tasks whose stored expansion is deleted before anything else is written (rerun by a user).
    pub unexpanded: Vec<(RunId, TaskIx)>,
    /// Instances to insert or update.
    pub instances: Vec<InstanceRecord>,
    /// Attempts to insert or update.
    pub attempts: Vec<AttemptRecord>,
    /// Stack traces of hanging attempts, which replace stored ones. Updating an attempt does not touch them:
    /// they may be megabytes, and attempts are written often.
    pub stacks: Vec<HangStacks>,
    /// Results that later tasks may reuse.
    pub cache: Vec<CacheEntry>,
    /// Models that attempts produced.
    pub models: Vec<NewModelVersion>,
    /// Commands that are completed by this.
    pub wishes: Vec<i64>,
}

impl Changes {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
