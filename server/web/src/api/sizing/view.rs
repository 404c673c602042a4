//! Sizing, as the API shows it.

use cubeloom_domain::plan::PlannedRole;
use cubeloom_domain::sizing::{Past, PastEnd, Size, SizeChange, SizedRole};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::describe::cores;
use crate::time::Time;

/// What a worker gets of what is sized.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SizeView {
    /// Processing power, in cores.
    pub cpu: f64,
    /// Memory, in bytes.
    pub memory: u64,
}

impl From<Size> for SizeView {
    fn from(size: Size) -> Self {
        Self { cpu: cores(size.cpu.0), memory: size.memory.0 }
    }
}

/// What is known of how much a task uses, and what its workers get by that.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SizingView {
    /// The pipeline's last run, whose plan this is about; absent where the task has not run yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// `off`, `advise` or `auto`: what the task says, else its pipeline, else the project.
    pub mode: String,
    /// What the project says.
    pub project_mode: String,
    /// Who took sizing of the task back: it gets what it asks for until that is undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverted_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverted_at: Option<Time>,
    /// Of each role; none before the task has run.
    pub roles: Vec<RoleSizingView>,
    /// What was changed, the newest first; the last hundred.
    pub changes: Vec<SizeChangeView>,
}

/// What is known of how much the workers of a role use.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RoleSizingView {
    /// The role.
    pub role: String,
    /// How many workers it has.
    pub workers: u32,
    /// What is asked for.
    pub asked: SizeView,
    /// What the next attempt would get in `auto`.
    pub recommended: SizeView,
    /// Why it would get this memory.
    pub memory_reason: String,
    /// Why it would get this processing power.
    pub cpu_reason: String,
    /// How sure that is, between 0 and 1: the share of earlier attempts that would have had enough of what was advised before
    /// each, were there one more, which would not.
    pub confidence: f64,
    /// The chance that what is recommended is too little memory, as far as the history tells; `null` where it tells nothing.
    pub risk: Option<f64>,
    /// The attempts that are known, the oldest first.
    pub past: Vec<PastView>,
}

/// What the largest worker of a role of an earlier attempt had and used.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PastView {
    /// The attempt, `<run>.<task>.<instance>.<n>`.
    pub attempt: String,
    /// When it ended.
    pub ended_at: Time,
    /// How long it ran.
    pub run_seconds: f64,
    /// What was asked for.
    pub asked: SizeView,
    /// What it had.
    pub had: SizeView,
    /// What it would have got in `auto`, by what had ended when it began, as far as the attempts that are kept tell, on the nodes
    /// of now. Of the oldest ones less is known than was then.
    pub recommended: SizeView,
    /// The most memory that it used, in bytes.
    pub peak_memory: u64,
    /// What it did not go beyond in half of its seconds, in bytes, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_middle: Option<u64>,
    /// What it did not go beyond in 19 of 20 seconds, in bytes, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_high: Option<u64>,
    /// Cores that it used, on average.
    pub cpu: f64,
    /// Cores that it did not go beyond in 19 of 20 seconds.
    pub cpu_high: f64,
    /// For which part of its time it was held back by its limit, between 0 and 1, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<f64>,
    /// The size of its input in bytes, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Whether its memory ran out.
    pub out_of_memory: bool,
    /// Whether it counts: it was made of the same template, image and program as the task is now.
    pub counts: bool,
}

/// A change of what the workers of a role get.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SizeChangeView {
    /// The attempt that got it first.
    pub attempt: String,
    /// When.
    pub at: Time,
    /// The role.
    pub role: String,
    /// What was asked for.
    pub asked: SizeView,
    /// What the attempt before had.
    pub before: SizeView,
    /// What it got.
    pub after: SizeView,
    /// What is said of it.
    pub reason: String,
    /// Why the cluster did not give more to workers that ran, in its words, where that is the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_grown: Option<String>,
    /// How sure that was, between 0 and 1.
    pub confidence: f64,
    /// The chance that what it got was too little memory, as far as the history told; `null` where it told nothing.
    pub risk: Option<f64>,
}

impl RoleSizingView {
    /// Of a role as it is planned; `then` is what each of `past` would have got.
    pub(super) fn new(
        role: &PlannedRole,
        sized: &SizedRole,
        past: &[Past],
        then: &[Size],
        make: &str,
    ) -> Self {
        Self {
            role: role.name.clone(),
            workers: role.replicas,
            asked: sized.asked.into(),
            recommended: sized.gets.into(),
            memory_reason: sized.memory_because(),
            cpu_reason: sized.cpu.to_string(),
            confidence: sized.confidence,
            risk: sized.risk,
            past: past.iter().zip(then).map(|(past, then)| PastView::new(past, *then, make)).collect(),
        }
    }
}

impl PastView {
    fn new(past: &Past, then: Size, make: &str) -> Self {
        Self {
            attempt: past.attempt.clone(),
            ended_at: Time(past.ended_at),
            run_seconds: past.micros as f64 / 1e6,
            asked: past.asked().into(),
            had: past.had().into(),
            recommended: then.into(),
            peak_memory: past.peak,
            memory_middle: past.memory.map(|(middle, _)| middle),
            memory_high: past.memory.map(|(_, high)| high),
            cpu: cores(past.cpu.0),
            cpu_high: cores(past.cpu.1),
            throttled: past.throttled.map(|throttled| f64::from(throttled) / 1000.0),
            input: past.input,
            out_of_memory: past.end == PastEnd::OutOfMemory,
            counts: past.make == make,
        }
    }
}

impl From<&SizeChange> for SizeChangeView {
    fn from(change: &SizeChange) -> Self {
        let sized = &change.sized;
        Self {
            attempt: change.attempt.to_string(),
            at: Time(change.at),
            role: sized.role.clone(),
            asked: sized.asked.into(),
            before: sized.before.unwrap_or(sized.asked).into(),
            after: sized.gets.into(),
            reason: sized.change().unwrap_or_default(),
            not_grown: sized.refused().map(Into::into),
            confidence: sized.confidence,
            risk: sized.risk,
        }
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::quantity::{Bytes, Cpu};
    use cubeloom_domain::sizing::Reason;
    use cubeloom_domain::{AttemptKey, RunId, Timestamp};

    use super::*;

    #[test]
    fn what_the_cluster_did_not_give_has_its_words_and_no_other_change_has() {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 7), task: "train".into(), instance: 0, n: 1 };
        let asked = Size { cpu: Cpu(500), memory: Bytes(128) };
        let grown = SizedRole::asked("worker", asked, Reason::Asked, Reason::Asked);
        let grown = grown.grown(Bytes(192), Timestamp(20));
        let refused = grown.not_given(Bytes(192), Timestamp(30), "worker-0: no room").unwrap();
        let again = refused.clone().grown(Bytes(192), Timestamp(40));
        let words = [grown, refused, again].map(|sized| {
            SizeChangeView::from(&SizeChange { attempt: key.clone(), at: Timestamp(50), sized }).not_grown
        });
        assert_eq!(words.each_ref().map(Option::as_deref), [None, Some("worker-0: no room"), None]);
    }
}
