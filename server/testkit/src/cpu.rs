//! What a computation costs, however busy the machine is.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time that this thread has used since it was begun.
#[derive(Debug)]
pub struct Spent(Duration);

impl Spent {
    /// Begins to measure.
    #[must_use]
    pub fn begin() -> Self {
        Self(of_thread())
    }

    /// What was used so far.
    #[must_use]
    pub fn so_far(&self) -> Duration {
        of_thread() - self.0
    }
}

/// The processor time of what is done, the least of some tries.
///
/// # Panics
/// Without a try.
pub fn least_of(tries: u32, mut work: impl FnMut()) -> Duration {
    let one = |_| {
        let spent = Spent::begin();
        work();
        spent.so_far()
    };
    (0..tries).map(one).min().expect("at least one try")
}

fn of_thread() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("processor time is never negative")
}
