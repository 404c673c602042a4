//! Schedules that fire. What is due is written down first, a row for each date; its run is stored together with the
//! date's having one. So each date has one run, however many servers look, and wherever one of them dies.

mod fire;
mod look;
mod record;
mod runner;

use tokio::sync::Notify;

pub(crate) use fire::{Tried, one as start_date};
pub(crate) use look::{look, reset};
pub(crate) use runner::start;

/// Wakes what fires schedules: there may be something to do before it would look by itself.
#[derive(Default)]
pub(crate) struct Schedules {
    wake: Notify,
}

impl Schedules {
    /// Something has changed.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }
}
