//! Budgets: what a project may spend in a month, when it is warned, and whether it is stopped.

use super::{Money, Month};

/// The monthly budget of a project, valid until another one is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    pub project: String,
    /// The first month that it applies to.
    pub month: Month,
    /// `None` means unlimited from then on.
    pub amount: Option<Money>,
    /// Percentage of the budget at which the project is marked.
    pub warn_percent: u32,
    /// Whether no new attempts start after the budget is spent.
    pub stop: bool,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

/// How much of a budget is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub month: Month,
    /// The budget.
    pub amount: Money,
    pub spent: Money,
    /// Percentage of the budget at which the project is marked.
    pub warn_percent: u32,
    /// Whether no new attempts start after the budget is spent.
    pub stop: bool,
}

/// Budget level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Within,
    /// The warning percentage is reached.
    Warned,
    /// It is spent; attempts keep running and starting.
    Spent,
    /// It is spent, and no new attempts start.
    Stopped,
}

impl Budget {
    /// How much of it is spent in a month. `None` without a limit.
    #[must_use]
    pub fn standing(&self, month: Month, spent: Money) -> Option<Standing> {
        let amount = self.amount?;
        Some(Standing { month, amount, spent, warn_percent: self.warn_percent, stop: self.stop })
    }
}

impl Standing {
    /// Percentage spent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u64 {
        self.spent.percent_of(self.amount)
    }

    #[must_use]
    pub fn level(&self) -> Level {
        match (self.spent >= self.amount, self.stop) {
            (true, true) => Level::Stopped,
            (true, false) => Level::Spent,
            _ if self.percent() >= u64::from(self.warn_percent) => Level::Warned,
            _ => Level::Within,
        }
    }
}

impl Level {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Within => "within",
            Self::Warned => "warned",
            Self::Spent => "spent",
            Self::Stopped => "stopped",
        }
    }
}
