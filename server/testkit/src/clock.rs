//! A clock moved by hand.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use cubeloom_domain::{Clock, Timestamp};

/// A clock that stands still until it is advanced.
#[derive(Debug)]
pub struct TestClock(AtomicI64);

impl TestClock {
    /// A clock at noon of 1 January 2026, UTC.
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicI64::new(1_767_268_800_000_000))
    }

    pub fn advance(&self, by: Duration) {
        let micros = i64::try_from(by.as_micros()).expect("a test does not wait for 300,000 years");
        self.0.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// The machine's own clock, for tests with real waits.
#[derive(Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock of tests that really wait")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}
