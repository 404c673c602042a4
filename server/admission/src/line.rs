//! Start times in a line with limited concurrency: the instances of a task, or the jobs of a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::StartEstimate;

use crate::forecast::{Lasts, summary};
use crate::random::Random;

/// Number of simulations.
const PLAYS: usize = 101;

/// When each pending item starts, in order, with `places` slots of which some are in use since then. A
/// running item of unknown duration keeps its slot. `None` for items without enough data. The same seed gives
/// the same result.
#[must_use]
pub fn turns(
    going: &[(Timestamp, Lasts)],
    waiting: &[Lasts],
    places: usize,
    now: Timestamp,
    seed: u64,
) -> Vec<Option<StartEstimate>> {
    let mut random = Random::new(seed);
    let mut starts: Vec<Vec<Timestamp>> = vec![Vec::new(); waiting.len()];
    for _ in 0..PLAYS {
        let ends = going.iter().filter_map(|(since, lasts)| lasts.drawn_end(*since, now, &mut random));
        let mut free: BinaryHeap<Reverse<Timestamp>> = ends.map(Reverse).collect();
        free.extend((going.len()..places).map(|_| Reverse(now)));
        for (lasts, starts) in waiting.iter().zip(&mut starts) {
            let Some(Reverse(start)) = free.pop() else { break };
            starts.push(start);
            free.extend(lasts.drawn_end(start, start, &mut random).map(Reverse));
        }
    }
    starts.into_iter().map(|starts| summary(starts, PLAYS)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::job::Length;

    const MINUTE: i64 = 60_000_000;

    fn minutes(minutes: i64) -> Timestamp {
        Timestamp(minutes * MINUTE)
    }

    /// A constant duration, in minutes.
    fn lasts(minutes: u64) -> Lasts {
        let median = Duration::from_secs(minutes * 60);
        Lasts { length: Some(Length { median, spread: 0.0 }), limit: None }
    }

    /// Start times in minutes, where they are certain.
    fn started(found: &[Option<StartEstimate>], now: Timestamp) -> Vec<Option<u64>> {
        let certain = |start: &StartEstimate| {
            assert_eq!(start.p50, start.p90, "lengths without a spread are certain");
            start.p50.since(now).as_secs() / 60
        };
        found.iter().map(|start| start.as_ref().map(certain)).collect()
    }

    #[test]
    fn the_next_starts_where_one_ends() {
        let now = minutes(100);
        let going = [(minutes(96), lasts(10)), (minutes(99), lasts(10))];
        let found = turns(&going, &[lasts(10); 5], 2, now, 1);
        assert_eq!(started(&found, now), [Some(6), Some(9), Some(16), Some(19), Some(26)]);
        // A free slot is taken at once, and a longer item keeps its slot longer.
        let found = turns(&going[..1], &[lasts(30), lasts(10), lasts(10)], 2, now, 1);
        assert_eq!(started(&found, now), [Some(0), Some(6), Some(16)]);
    }

    #[test]
    fn what_nobody_knows_the_end_of_keeps_its_place() {
        let now = minutes(100);
        let unknown = Lasts::default();
        let found = turns(&[(minutes(99), unknown), (minutes(99), lasts(10))], &[lasts(10); 2], 2, now, 1);
        assert_eq!(started(&found, now), [Some(9), Some(19)]);
        let found = turns(&[(minutes(99), lasts(10))], &[unknown, lasts(10)], 1, now, 1);
        assert_eq!(started(&found, now), [Some(9), None]);
        // But no longer than its timeout.
        let limited = Lasts { limit: Some(Duration::from_secs(1200)), ..unknown };
        let found = turns(&[(minutes(99), limited)], &[lasts(10)], 1, now, 1);
        assert_eq!(started(&found, now), [Some(19)]);
    }

    #[test]
    fn lengths_that_vary_are_a_spread_of_the_starts() {
        let now = minutes(100);
        let length = Length { median: Duration::from_secs(600), spread: 0.5 };
        let varies = Lasts { length: Some(length), limit: None };
        let found = turns(&[(now, varies)], &[varies; 3], 1, now, 1);
        let starts: Vec<StartEstimate> = found.into_iter().flatten().collect();
        assert_eq!(starts.len(), 3);
        assert!(starts.iter().all(|start| start.p50 < start.p90), "{starts:?}");
        assert!(starts.windows(2).all(|two| two[0].p50 < two[1].p50), "{starts:?}");
    }
}
