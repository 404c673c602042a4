//! The times by which a desk decides.

use std::time::Duration;

/// How long a job without room lets later ones of unknown length start before it.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The times by which a desk decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a job without room lets later ones of unknown length start before it.
    pub patience: Duration,
    /// A job that has waited this long counts as one priority higher, after twice as long as two, and so on.
    pub aging: Duration,
    /// After how long what was held counts half in the shares.
    pub half_life: Duration,
    /// How long a job that had to give back does not borrow again, and does not grow.
    pub cool_down: Duration,
    /// How long a job that is told to stop may take.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            patience: PATIENCE,
            aging: Duration::from_secs(3600),
            half_life: Duration::from_secs(24 * 3600),
            cool_down: Duration::from_secs(300),
            grace: Duration::from_secs(60),
        }
    }
}
