//! Views of right-sizing.

use cubeloom_domain::plan::PlannedRole;
use cubeloom_domain::sizing::{Past, PastEnd, Size, SizeChange, SizedRole};
use cubeloom_sizing::was_short_of_cpu;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::describe::cores;
use crate::time::Time;

/// Right-sized resources of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SizeView {
    /// CPU, in cores.
    pub cpu: f64,
    /// Memory, in bytes.
    pub memory: u64,
}

impl From<Size> for SizeView {
    fn from(size: Size) -> Self {
        Self { cpu: cores(size.cpu.0), memory: size.memory.0 }
    }
}

/// Known resource usage of a task, and the resulting resources of its workers.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SizingView {
    /// Last run of the pipeline, whose plan is the basis of this data. Omitted if the task has not run yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Effective right-sizing mode: `off`, `advise` (recommend only) or `auto` (automatic). It is set by the task,
    /// otherwise by the pipeline, otherwise by the project.
    pub mode: String,
    /// Right-sizing mode of the project.
    pub project_mode: String,
    /// User who reverted right-sizing of the task. The task gets the requested resources until right-sizing is
    /// resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverted_by: Option<String>,
    /// Time at which right-sizing was reverted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reverted_at: Option<Time>,
    /// Right-sizing of each role. Empty before the first run of the task.
    pub roles: Vec<RoleSizingView>,
    /// Last 100 changes, newest first.
    pub changes: Vec<SizeChangeView>,
}

/// Known resource usage of the workers of a role.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RoleSizingView {
    /// Role.
    pub role: String,
    /// Number of workers.
    pub workers: u32,
    /// Requested resources.
    pub asked: SizeView,
    /// Resources that the next attempt would get in mode `auto`.
    pub recommended: SizeView,
    /// Reason for the recommended memory.
    pub memory_reason: String,
    /// Reason for the recommended CPU.
    pub cpu_reason: String,
    /// Confidence in the recommendation, from 0 to 1. It is the share of earlier attempts for which the
    /// recommendation at that time would have been sufficient. One additional, insufficient attempt is included in
    /// the calculation.
    pub confidence: f64,
    /// Estimated probability that the recommended memory is insufficient, based on the history. `null` if the history
    /// does not allow an estimate.
    pub risk: Option<f64>,
    /// Known attempts, oldest first.
    pub past: Vec<PastView>,
}

/// Resources and usage of the largest worker of a role in an earlier attempt.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PastView {
    /// ID of the attempt, in the form `<run>.<task>.<instance>.<n>`.
    pub attempt: String,
    /// End time.
    pub ended_at: Time,
    /// Run time, in seconds.
    pub run_seconds: f64,
    /// Requested resources.
    pub asked: SizeView,
    /// Allocated amount.
    pub had: SizeView,
    /// Resources that the attempt would have got in mode `auto`. They are computed for the current nodes, from the
    /// retained attempts that had ended when the attempt started. For the oldest attempts, less history is available
    /// than at that time.
    pub recommended: SizeView,
    /// Peak memory usage, in bytes.
    pub peak_memory: u64,
    /// Median memory usage per second, in bytes. Omitted if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_middle: Option<u64>,
    /// 95th percentile of memory usage per second, in bytes. Omitted if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_high: Option<u64>,
    /// Average CPU usage, in cores.
    pub cpu: f64,
    /// 95th percentile of CPU usage per second, in cores.
    pub cpu_high: f64,
    /// Fraction of time in which the worker was throttled by its CPU limit, from 0 to 1. Omitted if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<f64>,
    /// Fraction of time in which a thread of the worker waited for a CPU (pressure stall information), from 0 to 1. Omitted
    /// if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_waited: Option<f64>,
    /// Whether it could have used more CPU. It was throttled in a quarter of its time. Or it used all its CPU, and waited
    /// for more in a quarter of its time.
    pub short_of_cpu: bool,
    /// Input size in bytes, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Whether it was OOM killed.
    pub out_of_memory: bool,
    /// Whether the attempt counts: it used the same template, image and program as the current task.
    pub counts: bool,
}

/// Change of the resources of a role's workers.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SizeChangeView {
    /// First attempt to which the change applied.
    pub attempt: String,
    /// Time of the change.
    pub at: Time,
    /// Role.
    pub role: String,
    /// Requested resources.
    pub asked: SizeView,
    /// Resources of the previous attempt.
    pub before: SizeView,
    /// Resources of this attempt.
    pub after: SizeView,
    /// Reason for the change.
    pub reason: String,
    /// Why the cluster did not give running workers more resources, in the cluster's own words. Omitted for other
    /// changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_grown: Option<String>,
    /// Confidence, between 0 and 1.
    pub confidence: f64,
    /// Probability that the memory of this attempt was too small, estimated from history. `null` if history gives no
    /// estimate.
    pub risk: Option<f64>,
}

impl RoleSizingView {
    /// View of a planned role. `then` has the recommended size for each attempt in `past`.
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
            short_of_cpu: was_short_of_cpu(past),
            cpu_waited: past.cpu_waited.map(|waited| f64::from(waited) / 1000.0),
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
