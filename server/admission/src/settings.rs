//! The times by which a desk decides.

use std::time::Duration;

/// The times by which a desk decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A job that has waited this long counts as one priority higher, after twice as long as two, and so on.
    pub aging: Duration,
    /// After how long what was held counts half in the shares.
    pub half_life: Duration,
    /// How long a job that had to give back does not borrow again, and does not grow.
    pub cool_down: Duration,
    /// How long a job that is told to stop may take.
    pub grace: Duration,
    /// How long a job of another server must have waited before those that this one leads have to give back for it.
    pub patience: Duration,
    /// How long room is kept for a job of another server for which there is enough, and which does not start.
    pub elsewhere: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            aging: Duration::from_secs(3600),
            half_life: Duration::from_secs(24 * 3600),
            cool_down: Duration::from_secs(300),
            grace: Duration::from_secs(60),
            patience: Duration::from_secs(10),
            elsewhere: Duration::from_secs(60),
        }
    }
}
