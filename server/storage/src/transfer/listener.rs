//! Who hears how a transfer goes.

use super::progress::Progress;

/// Hears of a transfer while it runs. A function of its progress is one.
pub trait Listener: Send + Sync {
    /// Every block that came.
    fn progress(&self, now: Progress);

    /// What a person may want to know: a line.
    fn says(&self, _line: &str) {}
}

impl<F: Fn(Progress) + Send + Sync> Listener for F {
    fn progress(&self, now: Progress) {
        self(now);
    }
}
