//! What a task will use, before it has run: for cost estimates.

use std::time::Duration;

use super::{Account, Figures};
use crate::plan::{PlannedTask, RunPlan};
use crate::resources::Amount;

const MIB: u64 = 1 << 20;

impl Figures {
    /// What an instance of a plan's task requests over this time; an elastic one with its minimum workers.
    /// Nothing is used yet.
    #[must_use]
    pub fn planned(plan: &RunPlan, task: &PlannedTask, time: Duration) -> Self {
        let amount =
            task.least().fold(Amount::default(), |sum, (each, count)| sum.plus(Amount::of(each, count)));
        let parts = Account::planned("", plan, task).card_parts;
        let cards = u64::from(amount.gpus).saturating_mul(1000).saturating_add(parts);
        let held = |amount: u64| {
            let exact = u128::from(amount).saturating_mul(time.as_micros()) / 1_000_000;
            i64::try_from(exact).unwrap_or(i64::MAX)
        };
        Self {
            cpu: held(amount.cpu.0),
            memory: held(amount.memory.0 / MIB),
            gpu: held(cards),
            ..Self::default()
        }
    }
}
