//! Schedules. Due dates are recorded first, one row each. A run and the row's reference to it are stored in
//! one transaction. So each date gets one run, no matter how many servers check or which of them dies.

mod fire;
mod look;
mod record;
mod runner;
mod source;
mod watch;

use std::sync::Arc;

use tokio::sync::{Notify, Semaphore};

pub(crate) use fire::{Tried, one as start_date};
pub(crate) use look::{look, reset};
pub(crate) use runner::start;
pub(crate) use source::check as check_source;

/// Wakes the task that fires schedules before its next poll.
#[derive(Default)]
pub(crate) struct Schedules {
    wake: Notify,
    /// Limits concurrent file checks: a storage that does not respond blocks only one.
    looks: Looks,
}

impl Schedules {
    /// Wakes the task after a change.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Whether the limit of concurrent file checks is reached.
    fn is_full(&self) -> bool {
        self.looks.0.available_permits() == 0
    }
}

/// Permits for file checks.
struct Looks(Arc<Semaphore>);

impl Default for Looks {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(watch::AT_ONCE)))
    }
}
