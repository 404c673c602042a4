//! Attempts that hang, as the API shows them.

use cubeloom_domain::hang::Hang;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::{Time, maybe};

/// That an attempt hangs, or did: it reported no step for longer than its own pattern explains.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HangView {
    /// Why: a sentence.
    pub message: String,
    /// The rank that had reported no step for the longest time.
    pub rank: u32,
    /// When it last did.
    pub since: Time,
    /// When that was seen to be too long.
    pub seen_at: Time,
    /// When it went on by itself; absent while it hangs, and where it never did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub over_at: Option<Time>,
    /// What its workers were at when it was seen; told with the attempts of one instance only, and where their cluster can look.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stacks: Vec<StackView>,
}

/// What the processes of a worker were at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StackView {
    /// The worker, `<role>-<index>`.
    pub worker: String,
    /// Each process with its threads; those of Python that import `cubeloom` with their frames.
    pub text: String,
}

impl HangView {
    /// Without what the workers were at.
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

    /// All of it.
    pub(crate) fn whole(hang: &Hang) -> Self {
        let stacks = hang.stacks.iter();
        let stacks = stacks.map(|one| StackView { worker: one.worker.clone(), text: one.text.clone() });
        Self { stacks: stacks.collect(), ..Self::brief(hang) }
    }
}
