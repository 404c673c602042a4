//! Receiver of a transfer's progress.

use super::progress::Progress;

/// Receives a transfer's progress. Any function of [`Progress`] implements it.
pub trait Listener: Send + Sync {
    /// Called for every block.
    fn progress(&self, now: Progress);

    /// A line for the user.
    fn says(&self, _line: &str) {}
}

impl<F: Fn(Progress) + Send + Sync> Listener for F {
    fn progress(&self, now: Progress) {
        self(now);
    }
}
