//! View of goodput.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Goodput breakdown of a task, or of all tasks of a run together. It covers the time from when each task was ready
/// until it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EffectiveView {
    /// Share of useful time in the total time (goodput), from 0 to 1. Time of the part `unknown` does not count. Omitted if
    /// nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Total time of all instances together, in seconds.
    pub seconds: f64,
    /// Parts of the total time that occurred. They add up to the total.
    pub parts: Vec<TimePartView>,
    /// Number of attempts that ran.
    pub attempts: u32,
    /// Number of attempts that reported steps. Of the other attempts, the time during which their GPUs worked counts as
    /// useful; without GPUs, all time unless they failed.
    pub attempts_with_steps: u32,
}

/// A part of the total time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TimePartView {
    /// Kind of time: `useful`, `waiting`, `starting`, `saving` (checkpoints), `restoring`, or `again` (steps that an
    /// earlier attempt had already done). For attempts with GPUs that reported no steps: `idle` (the GPUs did nothing), or
    /// `unknown` (GPU usage is not known). Time lost to a failure: `program`, `out_of_memory`, `gpu`, `network`,
    /// `storage`, `preempted`, `node_lost` or `hang`.
    pub part: String,
    /// Duration, in seconds.
    pub seconds: f64,
}
