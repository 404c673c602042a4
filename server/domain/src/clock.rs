//! Time is passed in, so that every decision is reproducible in tests.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A UTC timestamp in microseconds since the Unix epoch, as stored in the database.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This timestamp plus `after`; saturates.
    #[must_use]
    pub fn plus(self, after: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(after.as_micros()).unwrap_or(i64::MAX)))
    }

    /// This timestamp minus `before`; saturates.
    #[must_use]
    pub fn minus(self, before: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(before.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Time since `earlier`; zero if the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}us", self.0)
    }
}

/// The source of time: the system clock in `app`, a manual clock in tests.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}
