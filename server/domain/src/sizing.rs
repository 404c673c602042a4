//! Right-sizing: what the attempts of a task had and used, by role, and why an attempt gets its resources.
//! The rules that choose the amounts are in `cubeloom-sizing`.

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

/// Number of latest attempts kept per role of a task.
pub const KEPT: usize = 60;

/// The environment variable with which a task states the size of its input, in bytes.
pub const INPUT: &str = "TASK_INPUT_BYTES";

/// The resources of a worker that are sized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    pub cpu: Cpu,
    pub memory: Bytes,
}

impl Size {
    #[must_use]
    pub fn of(resources: &Resources) -> Self {
        Self { cpu: resources.cpu, memory: resources.memory }
    }

    /// Both capped at `most`.
    #[must_use]
    pub fn at_most(self, most: Self) -> Self {
        Self { cpu: self.cpu.min(most.cpu), memory: self.memory.min(most.memory) }
    }

    /// Both at least `least`.
    #[must_use]
    pub fn at_least(self, least: Self) -> Self {
        Self { cpu: self.cpu.max(least.cpu), memory: self.memory.max(least.memory) }
    }
}

/// Why an amount is fixed by the user, whatever was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keeper {
    /// `TASK_RESOURCE_...` in the template's env fixes it.
    Template,
    /// `NO_RESOURCE_CHECK` is in the template's env.
    Unchecked,
    /// The task pins it.
    Pinned,
    /// The worker has dedicated (pinned) CPUs.
    Exclusive,
}

/// Which amounts of a role are fixed, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<Keeper>,
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
    /// As requested: nothing suggests another amount.
    Asked,
    /// Fixed by the user.
    Kept {
        /// The reason why it is fixed.
        by: Keeper,
    },
    /// Peak usage of earlier attempts, plus a margin.
    Peaks {
        /// Number of attempts.
        attempts: u32,
    },
    /// Linear regression of earlier attempts' memory on the size of their input.
    Inputs {
        /// Number of attempts.
        attempts: u32,
    },
    /// Usage of the pipeline's other tasks relative to their requests.
    Others {
        /// Number of tasks.
        tasks: u32,
    },
    /// An OOM kill with less.
    RanOut {
        /// Memory of the killed attempt.
        had: Bytes,
    },
    /// The workers came close to their limit while they ran.
    NearlyFull {
        /// Memory that they had.
        had: Bytes,
    },
    /// The cluster refused an increase while the workers ran: they kept what they had.
    NotGiven {
        /// Memory that they were to get.
        wanted: Bytes,
    },
    /// The program was throttled by its limit.
    Throttled {
        /// Percentage of throttled CFS periods.
        percent: u32,
    },
    /// The program used all its guaranteed CPU, and waited for more.
    CpuWaited {
        /// Percentage of its time spent waiting.
        percent: u32,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("as requested"),
            Self::Kept { by: Keeper::Template } => f.write_str("the template fixes it"),
            Self::Kept { by: Keeper::Unchecked } => f.write_str("the template does not allow right-sizing"),
            Self::Kept { by: Keeper::Pinned } => f.write_str("it is pinned"),
            Self::Kept { by: Keeper::Exclusive } => f.write_str("its CPUs are dedicated"),
            Self::Peaks { attempts: 1 } => f.write_str("the peak of 1 attempt"),
            Self::Peaks { attempts } => write!(f, "peaks of {attempts} attempts"),
            Self::Inputs { attempts } => write!(f, "input and memory of {attempts} attempts"),
            Self::Others { tasks } => write!(f, "what {tasks} other tasks used of their requests"),
            Self::RanOut { had } => write!(f, "{had} was not enough"),
            Self::NearlyFull { had } => write!(f, "{had} was nearly used up while it ran"),
            Self::NotGiven { wanted } => write!(f, "the cluster did not provide {wanted} while it ran"),
            Self::Throttled { percent } => write!(f, "its CPU was throttled for {percent} % of its time"),
            Self::CpuWaited { percent } => {
                write!(f, "it used all its CPU and waited for more for {percent} % of its time")
            }
        }
    }
}

/// Resources of one role's workers in an attempt, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizedRole {
    pub role: String,
    pub asked: Size,
    pub gets: Size,
    /// Resources in the previous attempt, if known. If they grew during this attempt: what they had before
    /// that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before: Option<Size>,
    /// Reason for the memory.
    pub memory: Reason,
    /// What bounded the memory, if they were to get more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bounded: Option<NoMore>,
    /// Reason for the CPU.
    pub cpu: Reason,
    /// Confidence, between 0 and 1.
    pub confidence: f64,
    /// Probability that the memory is not enough, by history. `None` without history.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub risk: Option<f64>,
    /// Memory growth during the attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grown: Option<Grown>,
    /// Refused memory growth during the attempt.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_grown: Option<NotGrown>,
    /// Why no growth was requested during the attempt, each reason once, the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_asked: Vec<NoMore>,
    /// Usage of the largest worker. Set once the attempt has ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub used: Option<RoleUsage>,
}

impl SizedRole {
    /// As requested, for these reasons.
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

    /// The same with more memory, from a time on at which the workers run. The risk no longer applies to the
    /// new amount.
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
            // It applied to what they had before.
            bounded: None,
            not_asked: Vec::new(),
            ..self
        }
    }

    /// Reverts the last memory growth, which the cluster refused. `None` if this is not the last growth.
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

    /// Time of the last change while they ran.
    #[must_use]
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.grown.map(|grown| grown.at).max(self.not_grown.as_ref().map(|not| not.at))
    }

    /// Whether it differs from the previous attempt.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.gets != self.before.unwrap_or(self.asked)
    }

    /// The difference to the request as text: "memory 4Gi instead of 16Gi: peaks of 23 attempts; cpu 500m
    /// instead of 2: peaks of 23 attempts".
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        self.instead_of(self.asked)
    }

    /// The same for the difference to the previous attempt.
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

/// Right-sizing of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AttemptSizing {
    /// Its fingerprint: see [`make`].
    pub make: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<u64>,
    pub roles: Vec<SizedRole>,
    /// Whether they may get more memory while they run.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub grows: bool,
}

impl AttemptSizing {
    /// Sizing of a role's workers.
    #[must_use]
    pub fn of(&self, role: &str) -> Option<&SizedRole> {
        self.roles.iter().find(|sized| sized.role == role)
    }

    /// Replaces the requested amounts by the sized ones.
    pub fn apply(&self, role: &str, resources: &mut Resources) {
        if let Some(sized) = self.of(role) {
            (resources.cpu, resources.memory) = (sized.gets.cpu, sized.gets.memory);
        }
    }

    /// Whether all roles get what they request.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.roles.iter().all(|sized| sized.gets == sized.asked)
    }

    /// Records the usage of an attempt that has ended.
    pub fn used(&mut self, usage: &[RoleUsage]) {
        for sized in &mut self.roles {
            sized.used = usage.iter().find(|usage| usage.role == sized.role).cloned();
        }
    }

    /// The roles that differ from the previous attempt.
    pub fn changes(&self) -> impl Iterator<Item = &SizedRole> {
        self.roles.iter().filter(|sized| sized.is_changed())
    }

    /// Time of the last change of any role during the attempt.
    #[must_use]
    pub fn changed_at(&self) -> Option<Timestamp> {
        self.roles.iter().filter_map(SizedRole::changed_at).max()
    }

    /// Sets the probability that the memory of a role's workers is not enough.
    pub fn set_risk(&mut self, role: &str, risk: Option<f64>) {
        for sized in self.roles.iter_mut().filter(|sized| sized.role == role) {
            sized.risk = risk;
        }
    }

    /// The roles' differences to the request as text.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        self.said(SizedRole::sentence)
    }

    /// The roles' differences to the previous attempt as text.
    #[must_use]
    pub fn change(&self) -> Option<String> {
        self.said(SizedRole::change)
    }

    /// Combines the roles' texts; with several roles, each has the role's name.
    fn said(&self, of_role: impl Fn(&SizedRole) -> Option<String>) -> Option<String> {
        let said = self.roles.iter().filter_map(|sized| {
            let sentence = of_role(sized)?;
            Some(if self.roles.len() > 1 { format!("{}: {sentence}", sized.role) } else { sentence })
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// History of one role of a task, or of a template in its project.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleHistory {
    /// The task. `None` for all tasks of the project with this template.
    pub task: Option<String>,
    /// The task template's name, without its version.
    pub template: String,
    pub role: String,
    /// The attempts, newest last.
    pub past: Vec<Past>,
}

/// History of one pipeline's tasks, and its project's policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizingHistory {
    /// The project's mode for tasks without their own.
    pub mode: SizingMode,
    /// Tasks reverted to their requests, until a user undoes that.
    pub reverted: BTreeSet<String>,
    roles: BTreeMap<(Option<String>, String, String), Vec<Past>>,
}

impl SizingHistory {
    /// Creates an empty history.
    #[must_use]
    pub fn new(mode: SizingMode, reverted: BTreeSet<String>) -> Self {
        Self { mode, reverted, roles: BTreeMap::new() }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reverted.is_empty() && self.roles.is_empty()
    }

    pub fn insert(&mut self, history: RoleHistory) {
        self.roles.insert((history.task, history.template, history.role), history.past);
    }

    /// The attempts of a task, newest last.
    #[must_use]
    pub fn of_task(&self, task: &str, template: &str, role: &str) -> &[Past] {
        self.of(Some(task), template, role)
    }

    /// The attempts of any task of the template in the project.
    #[must_use]
    pub fn of_template(&self, template: &str, role: &str) -> &[Past] {
        self.of(None, template, role)
    }

    /// The attempts of each role of every other task.
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

    /// Adds an attempt that has ended, as the store does in the same cycle.
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

    /// The mode of a task: its own, or else its project's.
    #[must_use]
    pub fn mode_of(&self, task: &PlannedTask) -> SizingMode {
        task.sizing.unwrap_or(self.mode)
    }
}

/// The fingerprint of a task's attempts: its template with all of its files, the image, the Python packages
/// and the program. Attempts with another fingerprint say nothing about the next one.
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
