//! Telling of transactions: how many there are, how long each took, and whether it was kept.

use std::time::Instant;

use cubeloom_domain::measure::{self, Measure};

/// A transaction that is told of when this is dropped: unless it was kept, it was undone.
pub struct Told {
    began: Instant,
    kept: bool,
}

impl Told {
    /// Before it waits for its turn.
    pub fn begin() -> Self {
        Self { began: Instant::now(), kept: false }
    }

    /// It is committed.
    pub fn kept(mut self) {
        self.kept = true;
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        measure::tell(&Measure::Transaction { kept: self.kept, took: self.began.elapsed() });
    }
}
