//! Time is handed in, so that every decision can be repeated in a test.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A moment in UTC, in microseconds since the Unix epoch: what the database stores.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// This moment and `after` more; saturates at the end of time.
    #[must_use]
    pub fn plus(self, after: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(after.as_micros()).unwrap_or(i64::MAX)))
    }

    /// This moment and `before` less; saturates at the beginning of time.
    #[must_use]
    pub fn minus(self, before: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(before.as_micros()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this moment is; zero when the clock went backwards.
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

/// Where the time comes from: the machine in `app`, a hand-moved one in tests.
pub trait Clock: Send + Sync {
    /// The present moment in UTC.
    fn now(&self) -> Timestamp;
}
