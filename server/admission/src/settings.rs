//! Durations that control scheduling.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Aging interval: a job gains one priority level for each interval that it waits.
    pub aging: Duration,
    /// Half-life of usage in the shares.
    pub half_life: Duration,
    /// How long a job with reclaimed resources neither borrows nor grows.
    pub cool_down: Duration,
    /// Grace period of a job that is asked to stop.
    pub grace: Duration,
    /// How long a job of another replica must be pending before this replica's jobs are preempted for it.
    pub patience: Duration,
    /// How long capacity stays reserved for a job of another replica that fits and does not start.
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
