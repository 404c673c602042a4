//! Views of hanging attempts.

use cubeloom_domain::hang::Hang;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::{Time, maybe};

/// Current or past hang of an attempt: it reported no step for longer than its own step pattern explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HangView {
    /// Reason, as a sentence.
    pub message: String,
    /// Rank that had gone longest without reporting a step.
    pub rank: u32,
    /// Time at which that rank last reported a step.
    pub since: Time,
    /// Time at which the hang was detected.
    pub seen_at: Time,
    /// Time at which the attempt resumed by itself. Omitted while it hangs, and if it never resumed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub over_at: Option<Time>,
    /// Stack traces of the workers when the hang was detected. Included only in the attempts of one instance, and
    /// only if the cluster can collect them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stacks: Vec<StackView>,
}

/// Stack traces of a worker's processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StackView {
    /// Worker, in the form `<role>-<index>`.
    pub worker: String,
    /// Processes with their threads. Python processes that import `cubeloom` include their stack frames.
    pub text: String,
}

impl HangView {
    /// Without the workers' stacks.
    pub(crate) fn brief(hang: &Hang) -> Self {
        Self {
            message: hang.sentence(),
            rank: hang.rank,
            since: Time(hang.since),
            seen_at: Time(hang.seen_at),
            over_at: maybe(hang.over),
            stacks: Vec::new(),
        }
    }

    /// With all details.
    pub(crate) fn whole(hang: &Hang) -> Self {
        let stacks = hang.stacks.iter();
        let stacks = stacks.map(|one| StackView { worker: one.worker.clone(), text: one.text.clone() });
        Self { stacks: stacks.collect(), ..Self::brief(hang) }
    }
}
