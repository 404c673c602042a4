//! What time went to, as the API shows it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the time of a task, or of all tasks of a run together, went to, from when each was ready until it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectiveView {
    /// Useful time of all time, from 0 to 1.
    pub share: f64,
    /// All time, in seconds: that of all instances together.
    pub seconds: f64,
    /// The parts of it that there are; they add up to all of it.
    pub parts: Vec<TimePartView>,
    /// How many attempts ran.
    pub attempts: u32,
    /// Of how many of them steps were reported. The time of the others counts as useful unless they failed.
    pub attempts_with_steps: u32,
}

/// A part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TimePartView {
    /// `useful`, `waiting`, `starting`, `saving` (checkpoints), `restoring`, `again` (steps that an earlier attempt had done),
    /// or what attempts lost by a failure: `program`, `out_of_memory`, `gpu`, `network`, `storage`, `preempted`, `node_lost` or
    /// `hang`.
    pub part: String,
    /// In seconds.
    pub seconds: f64,
}
