//! Budgets: what a project may spend in a month, when it is warned, and whether it is stopped.

use super::{Money, Month};

/// What a project may spend each month, from one month on until another budget is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Project.
    pub project: String,
    /// The first month that it is for.
    pub month: Month,
    /// How much; none where there is no bound from then on.
    pub amount: Option<Money>,
    /// Percentage of the budget at which the project is marked.
    pub warn_percent: u32,
    /// Whether nothing new is started after the budget is spent.
    pub stop: bool,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

/// How much of a budget is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The month.
    pub month: Month,
    /// What there is to spend.
    pub amount: Money,
    /// What is spent.
    pub spent: Money,
    /// Percentage of the budget at which the project is marked.
    pub warn_percent: u32,
    /// Whether nothing new is started after the budget is spent.
    pub stop: bool,
}

/// What is to be said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    Within,
    /// It is nearly spent.
    Warned,
    /// It is spent, and what runs and starts goes on.
    Spent,
    /// It is spent, and nothing new is started.
    Stopped,
}

impl Budget {
    /// How much of it is spent in a month; none where it sets no bound.
    #[must_use]
    pub fn standing(&self, month: Month, spent: Money) -> Option<Standing> {
        let amount = self.amount?;
        Some(Standing { month, amount, spent, warn_percent: self.warn_percent, stop: self.stop })
    }
}

impl Standing {
    /// How many hundredths are spent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u64 {
        self.spent.percent_of(self.amount)
    }

    /// What is to be said of it.
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
    /// The word for it, as programs read it.
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
