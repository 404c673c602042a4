//! Schedules that fire. What is due is written down first, a row for each date; its run is stored together with the
//! date's having one. So each date has one run, however many servers look, and wherever one of them dies.

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

/// Wakes what fires schedules: there may be something to do before it would look by itself.
#[derive(Default)]
pub(crate) struct Schedules {
    wake: Notify,
    /// How many storages are asked for files at once: one that does not answer holds up one of them.
    looks: Looks,
}

impl Schedules {
    /// Something has changed.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Whether as many files are looked for as may be.
    fn is_full(&self) -> bool {
        self.looks.0.available_permits() == 0
    }
}

/// Room for looks for files.
struct Looks(Arc<Semaphore>);

impl Default for Looks {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(watch::AT_ONCE)))
    }
}
