//! Metrics of transactions: their number, duration and outcome.

use std::time::Instant;

use cubeloom_domain::measure::{self, Measure};

/// Records a transaction when dropped: as rolled back, unless it was committed.
pub struct Told {
    began: Instant,
    kept: bool,
}

impl Told {
    /// Call it before the transaction waits for its turn.
    pub fn begin() -> Self {
        Self { began: Instant::now(), kept: false }
    }

    pub fn kept(mut self) {
        self.kept = true;
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        measure::tell(&Measure::Transaction { kept: self.kept, took: self.began.elapsed() });
    }
}
