//! Retry schedule of messages.

use std::time::Duration;

/// The delay after each attempt, in seconds; up to a day in total.
const WAITS: [u64; 11] = [10, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 18_000, 18_000, 18_000];

/// The delay after the `tries`th attempt. `None` when there are no more.
#[must_use]
pub fn wait(tries: u32) -> Option<Duration> {
    let at = usize::try_from(tries).ok()?.checked_sub(1)?;
    WAITS.get(at).map(|seconds| Duration::from_secs(*seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_tried_for_nearly_a_day_and_ever_more_seldom() {
        let waits: Vec<Duration> = (1..).map_while(wait).collect();
        assert!(waits.is_sorted());
        let day = Duration::from_secs(86_400);
        let all: Duration = waits.iter().sum();
        assert!(all <= day && all > day - Duration::from_secs(2 * 3_600), "{all:?}");
        assert_eq!(wait(0), None);
        assert_eq!(wait(12), None);
    }
}
