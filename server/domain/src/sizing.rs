//! Sizing: what the attempts at a task had and used, role by role, and why an attempt gets what it gets. The rules by which
//! the amounts are chosen are in `cubeloom-sizing`.

mod changes;
mod growth;
mod past;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::clock::Timestamp;
use crate::ids::TaskIx;
use crate::pipeline::SizingMode;
use crate::plan::{Late, PlannedTask, RunPlan};
use crate::quantity::{Bytes, Cpu};
use crate::record::AttemptRecord;
use crate::resources::Resources;
use crate::usage::RoleUsage;

pub use changes::{Reverted, SizeChange};
pub use growth::{Grown, MOST_TIMES, NoMore, NotGrown};
pub use past::{Past, PastEnd, SHORTEST};

/// So many of the last attempts are kept of each role of a task.
pub const KEPT: usize = 60;

/// The variable of a task by which it says how large its input is, in bytes.
pub const INPUT: &str = "TASK_INPUT_BYTES";

/// What is sized of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Processing power.
    pub cpu: Cpu,
    /// The memory limit.
    pub memory: Bytes,
}

impl Size {
    /// What of resources is sized.
    #[must_use]
    pub fn of(resources: &Resources) -> Self {
        Self { cpu: resources.cpu, memory: resources.memory }
    }

    /// No more of either than `most`.
    #[must_use]
    pub fn at_most(self, most: Self) -> Self {
        Self { cpu: self.cpu.min(most.cpu), memory: self.memory.min(most.memory) }
    }

    /// At least so much of both.
    #[must_use]
    pub fn at_least(self, least: Self) -> Self {
        Self { cpu: self.cpu.max(least.cpu), memory: self.memory.max(least.memory) }
    }
}

/// Why an amount is the user's, whatever was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeper {
    /// `TASK_RESOURCE_...` in the template's env fixes it.
    Template,
    /// `NO_RESOURCE_CHECK` is in the template's env.
    Unchecked,
    /// The task pins it.
    Pinned,
    /// The cores are the worker's own.
    Exclusive,
}

/// Which amounts of a role are left alone, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Of the processing power.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<Keeper>,
    /// Of the memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<Keeper>,
}

impl Kept {
    /// Both, for this reason.
    #[must_use]
    pub fn both(keeper: Keeper) -> Self {
        Self { cpu: Some(keeper), memory: Some(keeper) }
    }
}

/// Why an amount is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Reason {
    /// Nothing says that it should be another.
    Asked,
    /// It is left alone.
    Kept {
        /// Author of the change.
        by: Keeper,
    },
    /// The most that earlier attempts used, and a distance beyond it.
    Peaks {
        /// How many attempts.
        attempts: u32,
    },
    /// A line through the size of the input and the memory of earlier attempts.
    Inputs {
        /// How many attempts.
        attempts: u32,
    },
    /// What other tasks of the pipeline used of their requests.
    Others {
        /// How many tasks.
        tasks: u32,
    },
    /// So much did not suffice.
    RanOut {
        /// How much the attempt had whose memory ran out.
        had: Bytes,
    },
    /// So much was nearly used up while they ran.
    NearlyFull {
        /// How much they had.
        had: Bytes,
    },
    /// So much was not given to workers that ran: they kept what they had.
    NotGiven {
        /// How much they were to get.
        wanted: Bytes,
    },
    /// The program was held back by its limit.
    Throttled {
        /// In so many of a hundred of the scheduler's periods.
        percent: u32,
    },
    /// The program used all the CPU that it was guaranteed, and waited for more.
    CpuWaited {
        /// For so much of its time.
        percent: u32,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("as asked for"),
            Self::Kept { by: Keeper::Template } => f.write_str("the template fixes it"),
            Self::Kept { by: Keeper::Unchecked } => f.write_str("the template wants no sizing"),
            Self::Kept { by: Keeper::Pinned } => f.write_str("it is pinned"),
            Self::Kept { by: Keeper::Exclusive } => f.write_str("the cores are its own"),
            Self::Peaks { attempts: 1 } => f.write_str("the peak of 1 attempt"),
            Self::Peaks { attempts } => write!(f, "peaks of {attempts} attempts"),
            Self::Inputs { attempts } => write!(f, "input and memory of {attempts} attempts"),
            Self::Others { tasks } => write!(f, "what {tasks} other tasks used of their requests"),
            Self::RanOut { had } => write!(f, "{had} did not suffice"),
            Self::NearlyFull { had } => write!(f, "{had} were nearly used up while it ran"),
            Self::NotGiven { wanted } => write!(f, "the cluster did not give {wanted} while it ran"),
            Self::Throttled { percent } => write!(f, "it was held back for {percent} % of its time"),
            Self::CpuWaited { percent } => {
                write!(f, "it used all its CPU and waited for more for {percent} % of its time")
            }
        }
    }
}

/// What an attempt's workers of one role get, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizedRole {
    /// Role.
    pub role: String,
    /// Requested values.
    pub asked: Size,
    /// What they get.
    pub gets: Size,
    /// What the attempt before got, as far as it is known; what they themselves had before, where they got more while they ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Size>,
    /// Why they get this memory.
    pub memory: Reason,
    /// What kept them from more memory than this, where they were to get more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounded: Option<NoMore>,
    /// Why they get this processing power.
    pub cpu: Reason,
    /// How sure that is, between 0 and 1.
    pub confidence: f64,
    /// The chance that what they get is too little memory, as far as the history tells; none where it tells nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub risk: Option<f64>,
    /// That they got more while they ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grown: Option<Grown>,
    /// That they were to get more while they ran, and did not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_grown: Option<NotGrown>,
    /// Why they were not even to get more than they have while they ran, each reason once, the last one last.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_asked: Vec<NoMore>,
    /// What the largest worker used, once the attempt has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub used: Option<RoleUsage>,
}

impl SizedRole {
    /// As asked for, for this reason.
    #[must_use]
    pub fn asked(role: &str, asked: Size, memory: Reason, cpu: Reason) -> Self {
        let role = role.to_owned();
        let (before, grown, not_grown, used) = (None, None, None, None);
        let (confidence, risk) = (1.0, None);
        let (bounded, not_asked) = (None, Vec::new());
        Self {
            role,
            asked,
            gets: asked,
            before,
            memory,
            bounded,
            cpu,
            confidence,
            risk,
            grown,
            not_grown,
            not_asked,
            used,
        }
    }

    /// The same with more memory, from a moment on at which the workers run. The risk is that of other amounts no more.
    #[must_use]
    pub fn grown(self, memory: Bytes, at: Timestamp) -> Self {
        let had = self.gets;
        let times = self.grown.map_or(0, |grown| grown.times) + 1;
        Self {
            before: Some(had),
            gets: Size { memory, ..had },
            memory: Reason::NearlyFull { had: had.memory },
            risk: None,
            grown: Some(Grown { at, times }),
            // What is noted is of what they had before.
            bounded: None,
            not_asked: Vec::new(),
            ..self
        }
    }

    /// The same without what its workers were to get last while they ran, as the cluster did not give it: they have what they
    /// had. `None` where this is not what they were to get last.
    #[must_use]
    pub fn not_given(&self, wanted: Bytes, at: Timestamp, why: &str) -> Option<Self> {
        let (Reason::NearlyFull { had }, Some(grown)) = (self.memory, self.grown) else { return None };
        let times = self.not_grown.as_ref().map_or(0, |not| not.times) + 1;
        (self.gets.memory == wanted).then(|| Self {
            before: Some(self.gets),
            gets: Size { memory: had, ..self.gets },
            memory: Reason::NotGiven { wanted },
            bounded: None,
            risk: None,
            grown: (grown.times > 1).then(|| Grown { times: grown.times - 1, ..grown }),
            not_grown: Some(NotGrown { at, times, why: why.to_owned() }),
            ..self.clone()
        })
    }

    /// When what they get was changed last while they ran.
    #[must_use]
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.grown.map(|grown| grown.at).max(self.not_grown.as_ref().map(|not| not.at))
    }

    /// Whether it gets something else than the attempt before.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.gets != self.before.unwrap_or(self.asked)
    }

    /// What is said of it, where it gets something else than was asked for: "memory 4Gi instead of 16Gi: peaks of 23
    /// attempts; cpu 500m instead of 2: peaks of 23 attempts".
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        self.instead_of(self.asked)
    }

    /// The same, where it gets something else than the attempt before.
    #[must_use]
    pub fn change(&self) -> Option<String> {
        self.instead_of(self.before.unwrap_or(self.asked))
    }

    fn instead_of(&self, other: Size) -> Option<String> {
        let memory = (self.gets.memory != other.memory).then(|| {
            format!("memory {} instead of {}: {}", self.gets.memory, other.memory, self.memory_because())
        });
        let cpu = (self.gets.cpu != other.cpu)
            .then(|| format!("cpu {} instead of {}: {}", self.gets.cpu, other.cpu, self.cpu));
        let parts: Vec<String> = memory.into_iter().chain(cpu).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// What sizing has to do with an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AttemptSizing {
    /// What it is made of: see [`make`].
    pub make: String,
    /// The size of its input in bytes, where the task says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<u64>,
    /// Of each role what its workers get.
    pub roles: Vec<SizedRole>,
    /// Whether they may get more memory while they run.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub grows: bool,
}

impl AttemptSizing {
    /// Resources of the workers of a role.
    #[must_use]
    pub fn of(&self, role: &str) -> Option<&SizedRole> {
        self.roles.iter().find(|sized| sized.role == role)
    }

    /// Puts what workers get in the place of what was asked for.
    pub fn apply(&self, role: &str, resources: &mut Resources) {
        if let Some(sized) = self.of(role) {
            (resources.cpu, resources.memory) = (sized.gets.cpu, sized.gets.memory);
        }
    }

    /// Whether all get what was asked for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.roles.iter().all(|sized| sized.gets == sized.asked)
    }

    /// Takes in what an attempt that has ended used.
    pub fn used(&mut self, usage: &[RoleUsage]) {
        for sized in &mut self.roles {
            sized.used = usage.iter().find(|usage| usage.role == sized.role).cloned();
        }
    }

    /// The roles that get something else than those of the attempt before.
    pub fn changes(&self) -> impl Iterator<Item = &SizedRole> {
        self.roles.iter().filter(|sized| sized.is_changed())
    }

    /// When what any of them get was changed last while they ran.
    #[must_use]
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.roles.iter().filter_map(SizedRole::changed_at).max()
    }

    /// Says how likely it is that what the workers of a role get is too little memory.
    pub fn set_risk(&mut self, role: &str, risk: Option<f64>) {
        for sized in self.roles.iter_mut().filter(|sized| sized.role == role) {
            sized.risk = risk;
        }
    }

    /// What is said of the roles that get something else than was asked for.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        self.said(SizedRole::sentence)
    }

    /// What is said of those that get something else than in the attempt before.
    #[must_use]
    pub fn change(&self) -> Option<String> {
        self.said(SizedRole::change)
    }

    /// What is said of each role; where there are several, with its name.
    fn said(&self, of_role: impl Fn(&SizedRole) -> Option<String>) -> Option<String> {
        let said = self.roles.iter().filter_map(|sized| {
            let sentence = of_role(sized)?;
            Some(if self.roles.len() > 1 { format!("{}: {sentence}", sized.role) } else { sentence })
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// What is known of one role of a task, or of a template in its project.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleHistory {
    /// The task; none for all tasks of the project that are made from the template.
    pub task: Option<String>,
    /// The task template's name, without its version.
    pub template: String,
    /// Role.
    pub role: String,
    /// The attempts, the newest last.
    pub past: Vec<Past>,
}

/// What is known of the tasks of one pipeline, and what its project wants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizingHistory {
    /// What the project wants of tasks that do not say it.
    pub mode: SizingMode,
    /// Tasks that get what they ask for until somebody takes that back.
    pub reverted: BTreeSet<String>,
    roles: BTreeMap<(Option<String>, String, String), Vec<Past>>,
}

impl SizingHistory {
    /// Without anything known yet.
    #[must_use]
    pub fn new(mode: SizingMode, reverted: BTreeSet<String>) -> Self {
        Self { mode, reverted, roles: BTreeMap::new() }
    }

    /// Whether nothing is known of any task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reverted.is_empty() && self.roles.is_empty()
    }

    /// Adds what is known of a role.
    pub fn insert(&mut self, history: RoleHistory) {
        self.roles.insert((history.task, history.template, history.role), history.past);
    }

    /// The attempts at a task, the newest last.
    #[must_use]
    pub fn of_task(&self, task: &str, template: &str, role: &str) -> &[Past] {
        self.of(Some(task), template, role)
    }

    /// The attempts at any task of the template in the project.
    #[must_use]
    pub fn of_template(&self, template: &str, role: &str) -> &[Past] {
        self.of(None, template, role)
    }

    /// The attempts at each role of every other task.
    #[must_use]
    pub fn of_others(&self, task: &str) -> Vec<&[Past]> {
        let is_other = |name: &Option<String>| name.as_ref().is_some_and(|name| name != task);
        let others = self.roles.iter().filter(|((name, ..), _)| is_other(name));
        others.map(|(_, past)| past.as_slice()).collect()
    }

    fn of(&self, task: Option<&str>, template: &str, role: &str) -> &[Past] {
        let key = (task.map(str::to_owned), template.to_owned(), role.to_owned());
        self.roles.get(&key).map_or(&[], Vec::as_slice)
    }

    /// Takes in an attempt that has ended: what the store keeps of it in the same pass.
    pub fn learn(&mut self, attempt: &AttemptRecord) {
        for (role, past) in Past::of(attempt) {
            for task in [Some(attempt.key.task.clone()), None] {
                let key = (task, attempt.account.template.clone(), role.to_owned());
                let known = self.roles.entry(key).or_default();
                if known.iter().any(|known| known.attempt == past.attempt) {
                    continue;
                }
                known.push(past.clone());
                known.drain(..known.len().saturating_sub(KEPT));
            }
        }
    }

    /// What holds for a task: what it says itself, else what its project wants.
    #[must_use]
    pub fn mode_of(&self, task: &PlannedTask) -> SizingMode {
        task.sizing.unwrap_or(self.mode)
    }
}

/// What a task's attempts are made of: its template with all of its files, the image, the Python packages and the program.
/// Attempts that were made of something else say nothing of the next one.
#[must_use]
pub fn make(plan: &RunPlan, task: TaskIx) -> String {
    let planned = plan.task(task);
    let template = plan.template_of(planned);
    let image = planned.image.as_ref().map(|image| &image.name).or(template.image.as_ref());
    let mut digest = Sha256::new();
    let mut add = |part: &str| {
        digest.update(part.as_bytes());
        digest.update([0]);
    };
    [&template.name, &template.version, &template.digest].into_iter().for_each(|part| add(part));
    add(image.map_or("", String::as_str));
    planned.python.iter().flat_map(|python| &python.requirements).for_each(|part| add(part));
    add(program(planned, template.command.first().map_or("", String::as_str)).unwrap_or_default());
    digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// The program of a template whose command is an argument (`{{ args.command }}`): that argument's first word.
fn program<'p>(planned: &'p PlannedTask, command: &str) -> Option<&'p str> {
    let name = command.trim().strip_prefix("{{")?.strip_suffix("}}")?.trim().strip_prefix("args.")?;
    let Late::Value(value) = planned.arguments.get(name)? else { return None };
    value.as_str().or_else(|| value.as_array()?.first()?.as_str())
}
