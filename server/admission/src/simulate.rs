//! A simulated month: gangs of 1 to 64 GPUs, people, failures, lost nodes; and the invariants that hold at
//! every step.
//!
//! The month follows from its seed. It ends with an error at the first step that violates an invariant. A
//! queue must get its guarantee within the grace period, and no job may wait longer than allowed.

mod month;
mod report;
mod world;

pub use report::{QueueReport, Report};

use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Scenario {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of jobs.
    pub jobs: usize,
    /// Duration.
    pub length: Duration,
    /// The cluster's GPUs, a multiple of 8.
    pub gpus: u64,
    /// Estimates the start of every nth job that has to wait on arrival. 0 means none.
    pub estimate_every: usize,
    /// The longest that a job may wait before the month counts as unfair.
    pub patience: Duration,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            seed: 1,
            jobs: 10_000,
            length: Duration::from_secs(30 * 24 * 3600),
            gpus: 192,
            estimate_every: 20,
            patience: Duration::from_secs(3 * 24 * 3600),
        }
    }
}

/// Simulates a month.
///
/// # Errors
/// The first violation, as a sentence.
pub fn simulate(scenario: &Scenario) -> Result<Report, String> {
    month::Month::new(scenario).run()
}
