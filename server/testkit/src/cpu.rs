//! The CPU time of a computation, independent of the machine's load.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The CPU time that this thread has used since `begin`.
#[derive(Debug)]
pub struct Spent(Duration);

impl Spent {
    #[must_use]
    pub fn begin() -> Self {
        Self(of_thread())
    }

    #[must_use]
    pub fn so_far(&self) -> Duration {
        of_thread() - self.0
    }
}

/// The CPU time of `work`, the minimum over several tries.
///
/// # Panics
/// With zero tries.
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
