//! Duration of a whole pipeline: a Monte Carlo simulation of its tasks, with durations drawn from history.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::time::Duration;

use crate::forecast::draw;
use crate::job::Length;
use crate::random::Random;

/// Number of simulations.
const PLAYS: usize = 201;
/// Maximum number of instances of all tasks in one simulation. Beyond it, each represents several.
const DRAWN: usize = 2000;

/// A task of a pipeline, as far as the duration depends on it.
#[derive(Clone, Debug)]
pub struct Step {
    /// Upstream tasks, by index.
    pub needs: Vec<usize>,
    /// Duration of each instance.
    pub length: Length,
    /// Number of instances.
    pub instances: usize,
    /// Maximum concurrency.
    pub at_once: usize,
    /// When capacity is scarce, the higher priority starts first.
    pub priority: i32,
}

/// Estimated total duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Makespan {
    /// Median of the simulations.
    pub p50: Duration,
    /// 90th percentile of the duration.
    pub p90: Duration,
}

/// The duration from the moment at which the first step may start, if none waits for capacity. At most
/// `at_once` instances of all steps run concurrently. The same seed gives the same result.
#[must_use]
pub fn makespan(steps: &[Step], at_once: usize, seed: u64) -> Makespan {
    let mut random = Random::new(seed);
    let mut plays: Vec<Duration> =
        (0..PLAYS).map(|_| Play::new(steps, at_once.max(1)).play(&mut random)).collect();
    plays.sort_unstable();
    Makespan { p50: plays[PLAYS / 2], p90: plays[PLAYS * 9 / 10] }
}

/// One simulation.
struct Play<'s> {
    steps: &'s [Step],
    /// Downstream steps of each.
    after: Vec<Vec<usize>>,
    parts: Vec<Part>,
    /// How many more instances may run.
    room: usize,
    /// Steps with an instance to start, in the order in which they take slots: by priority, then by when they
    /// became ready.
    ready: BTreeSet<(Reverse<i32>, Duration, usize)>,
    /// Running instances, by end.
    running: BinaryHeap<Reverse<(Duration, usize)>>,
    now: Duration,
}

/// Progress of a step. With very many instances, each drawn one represents several: `weight` of them run
/// concurrently, and `times` of those one after the other.
struct Part {
    needs: usize,
    left: usize,
    active: usize,
    places: usize,
    weight: usize,
    /// How many times as long an instance takes that represents more than run concurrently.
    times: u32,
    since: Duration,
}

impl<'s> Play<'s> {
    fn new(steps: &'s [Step], room: usize) -> Self {
        let mut after = vec![Vec::new(); steps.len()];
        for (at, step) in steps.iter().enumerate() {
            step.needs.iter().filter(|need| **need < steps.len()).for_each(|need| after[*need].push(at));
        }
        let most = (DRAWN / steps.len().max(1)).max(1);
        let parts = steps.iter().map(|step| Part::of(step, most, room)).collect();
        let (ready, running) = (BTreeSet::new(), BinaryHeap::new());
        Self { steps, after, parts, room, ready, running, now: Duration::ZERO }
    }

    fn play(mut self, random: &mut Random) -> Duration {
        let firsts: Vec<usize> = (0..self.steps.len()).filter(|at| self.parts[*at].needs == 0).collect();
        firsts.into_iter().for_each(|at| self.make_ready(at));
        loop {
            self.begin(random);
            let Some(Reverse((end, at))) = self.running.pop() else { return self.now };
            self.now = end;
            self.room += self.parts[at].weight;
            self.parts[at].active -= 1;
            if self.parts[at].left > 0 {
                self.ready.insert(self.key(at));
            } else if self.parts[at].active == 0 {
                self.ended(at);
            }
        }
    }

    fn key(&self, at: usize) -> (Reverse<i32>, Duration, usize) {
        (Reverse(self.steps[at].priority), self.parts[at].since, at)
    }

    fn make_ready(&mut self, at: usize) {
        self.parts[at].since = self.now;
        match self.parts[at].left {
            0 => self.ended(at),
            _ => _ = self.ready.insert(self.key(at)),
        }
    }

    /// Releases the downstream steps of which this was the last upstream.
    fn ended(&mut self, at: usize) {
        for after in self.after[at].clone() {
            self.parts[after].needs -= 1;
            if self.parts[after].needs == 0 {
                self.make_ready(after);
            }
        }
    }

    /// Starts what has a slot in both the run and its step. Nothing overtakes the first in line.
    fn begin(&mut self, random: &mut Random) {
        while let Some(first) = self.ready.first().copied() {
            let at = first.2;
            let part = &mut self.parts[at];
            if part.weight > self.room {
                return;
            }
            self.room -= part.weight;
            part.left -= 1;
            part.active += 1;
            if part.left == 0 || part.active == part.places {
                self.ready.remove(&first);
            }
            let length = draw(&self.steps[at].length, random).saturating_mul(part.times);
            let end = self.now.saturating_add(length);
            self.running.push(Reverse((end, at)));
        }
    }
}

impl Part {
    /// At most `most` durations are drawn, and never more than `room` instances run concurrently.
    fn of(step: &Step, most: usize, room: usize) -> Self {
        let scale = step.instances.div_ceil(most).max(1);
        let side_by_side = step.at_once.min(step.instances).min(room).max(1);
        let weight = scale.min(side_by_side);
        Self {
            needs: step.needs.len(),
            left: step.instances.div_ceil(scale),
            active: 0,
            places: side_by_side / weight,
            weight,
            times: u32::try_from(scale.div_ceil(weight)).unwrap_or(u32::MAX),
            since: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(needs: &[usize], minutes: u64, instances: usize, at_once: usize) -> Step {
        let length = Length { median: Duration::from_secs(minutes * 60), spread: 0.0 };
        Step { needs: needs.to_vec(), length, instances, at_once, priority: 0 }
    }

    fn minutes(steps: &[Step]) -> u64 {
        with_places(steps, usize::MAX)
    }

    fn with_places(steps: &[Step], at_once: usize) -> u64 {
        let found = makespan(steps, at_once, 1);
        assert_eq!(found.p50, found.p90, "lengths without a spread are certain");
        found.p50.as_secs() / 60
    }

    #[test]
    fn the_longest_way_through_the_tasks_counts() {
        let steps = [step(&[], 10, 1, 1), step(&[], 3, 1, 1), step(&[0, 1], 5, 1, 1), step(&[1], 20, 1, 1)];
        assert_eq!(minutes(&steps), 23);
        // In any order of the steps.
        assert_eq!(minutes(&[step(&[1], 10, 1, 1), step(&[2], 4, 1, 1), step(&[], 1, 1, 1)]), 15);
        assert_eq!(minutes(&[]), 0);
    }

    #[test]
    fn instances_go_side_by_side_as_far_as_they_may() {
        assert_eq!(minutes(&[step(&[], 10, 8, 8)]), 10);
        assert_eq!(minutes(&[step(&[], 10, 8, 3)]), 30);
        // With more instances than are drawn, the number of rounds stays the same.
        assert_eq!(minutes(&[step(&[], 10, 8000, 4000)]), 20);
    }

    #[test]
    fn steps_share_the_places_of_their_run() {
        let side_by_side = [step(&[], 10, 1, 1), step(&[], 4, 1, 1), step(&[], 3, 1, 1)];
        assert_eq!(with_places(&side_by_side, 3), 10);
        assert_eq!(with_places(&side_by_side, 2), 10);
        assert_eq!(with_places(&side_by_side, 1), 17);
        // All instances of a step come before the next step, unless its own concurrency is lower.
        assert_eq!(with_places(&[step(&[], 3, 8, 8), step(&[], 10, 1, 1)], 2), 22);
        assert_eq!(with_places(&[step(&[], 3, 4, 1), step(&[], 10, 1, 1)], 2), 12);
        // A higher priority keeps others from slots.
        let mut urgent = step(&[], 10, 1, 1);
        urgent.priority = 5;
        assert_eq!(with_places(&[step(&[], 3, 4, 4), urgent, step(&[1], 1, 1, 1)], 1), 23);
        // With more instances than are drawn, the number of rounds stays the same.
        assert_eq!(with_places(&[step(&[], 10, 8000, 8000)], 2000), 40);
        assert_eq!(minutes(&[step(&[], 10, 8000, 1)]), 80_000);
        assert_eq!(with_places(&[step(&[], 10, 8000, 8000)], 2), 40_000);
    }

    #[test]
    fn a_step_without_instances_holds_up_nothing() {
        assert_eq!(minutes(&[step(&[], 10, 0, 1), step(&[0], 4, 1, 1)]), 4);
    }

    #[test]
    fn the_spread_of_lengths_is_one_of_the_whole() {
        let length = Length { median: Duration::from_secs(600), spread: 0.5 };
        let one = Step { needs: Vec::new(), length, instances: 1, at_once: 1, priority: 0 };
        let found = makespan(&[one], 1, 1);
        assert!((540..660).contains(&found.p50.as_secs()), "{found:?}");
        assert!((960..1400).contains(&found.p90.as_secs()), "{found:?}");
    }
}
