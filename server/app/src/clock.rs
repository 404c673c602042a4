//! The machine's time: read once from the wall clock, then advanced by a monotonic clock.
//!
//! A change of the wall clock of a running server affects neither timeouts nor the order of events. The
//! kernel's boot-time clock also counts during suspend.

use cubeloom_domain::{Clock, Timestamp};
use rustix::time::{ClockId, Timespec, clock_gettime};

#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    /// Added to the time since boot.
    offset: i64,
}

impl MachineClock {
    /// Anchors the clock to the current wall clock time.
    pub fn start() -> Self {
        Self::anchored(micros(clock_gettime(ClockId::Realtime)), since_boot())
    }

    fn anchored(wall: i64, since_boot: i64) -> Self {
        Self { offset: wall - since_boot }
    }

    fn at(self, since_boot: i64) -> Timestamp {
        Timestamp(self.offset + since_boot)
    }
}

impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        self.at(since_boot())
    }
}

fn since_boot() -> i64 {
    micros(clock_gettime(ClockId::Boottime))
}

fn micros(time: Timespec) -> i64 {
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_counts_only_at_the_start() {
        let clock = MachineClock::anchored(1_700_000_000_000_000, 5_000_000);
        assert_eq!(clock.at(5_000_000), Timestamp(1_700_000_000_000_000));
        assert_eq!(clock.at(6_500_000), Timestamp(1_700_000_001_500_000));
    }

    #[test]
    fn it_never_goes_back() {
        let clock = MachineClock::start();
        let times: Vec<Timestamp> = (0..1000).map(|_| clock.now()).collect();
        assert!(times.is_sorted());
    }
}
