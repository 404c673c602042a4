//! A simulated month: gangs of 1 to 64 cards, people, failures, nodes that are lost; and what must hold at every step.
//!
//! The month follows from its seed. It ends with an error at the first step at which an invariant does not hold, a queue does
//! not get what it is guaranteed within the grace period, or a job has waited longer than any may.

mod month;
mod report;
mod world;

pub use report::{QueueReport, Report};

use std::time::Duration;

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What everything random follows from.
    pub seed: u64,
    /// How many jobs arrive.
    pub jobs: usize,
    /// Over how long.
    pub length: Duration,
    /// The cluster's cards, a multiple of 8.
    pub gpus: u64,
    /// Of every how many-th job the start is estimated when it arrives and has to wait; 0: of none.
    pub estimate_every: usize,
    /// How long a job may wait at the most before the month counts as unfair.
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
/// A sentence about the first thing that must not be.
pub fn simulate(scenario: &Scenario) -> Result<Report, String> {
    month::Month::new(scenario).run()
}
