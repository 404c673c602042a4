//! How long all of a pipeline takes: its tasks are played again and again, with lengths drawn from what is known of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::forecast::draw;
use crate::job::Length;
use crate::random::Random;

/// How often the tasks are played.
const PLAYS: usize = 201;
/// Instances of all tasks that are drawn in one play: of more, each stands for several.
const DRAWN: usize = 2000;

/// A task of a pipeline, as far as it matters for how long all of them take.
#[derive(Clone, Debug)]
pub struct Step {
    /// The tasks that must have ended, by position.
    pub needs: Vec<usize>,
    /// How long each of its instances takes.
    pub length: Length,
    /// How many instances it has.
    pub instances: usize,
    /// How many of them go on at the same time.
    pub at_once: usize,
}

/// How long something takes in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Makespan {
    /// Half of the plays were shorter.
    pub p50: Duration,
    /// Nine of ten were.
    pub p90: Duration,
}

/// How long these steps take from the moment at which the first may start, when none of them waits for room. The same seed
/// gives the same answer.
#[must_use]
pub fn makespan(steps: &[Step], seed: u64) -> Makespan {
    let mut random = Random::new(seed);
    let order = order(steps);
    let mut plays: Vec<Duration> = (0..PLAYS).map(|_| play(steps, &order, &mut random)).collect();
    plays.sort_unstable();
    Makespan { p50: plays[PLAYS / 2], p90: plays[PLAYS * 9 / 10] }
}

/// Each step behind those that it needs.
fn order(steps: &[Step]) -> Vec<usize> {
    let mut after = vec![Vec::new(); steps.len()];
    let mut missing: Vec<usize> = steps.iter().map(|step| step.needs.len()).collect();
    for (at, step) in steps.iter().enumerate() {
        step.needs.iter().filter(|need| **need < steps.len()).for_each(|need| after[*need].push(at));
    }
    let mut found: Vec<usize> = (0..steps.len()).filter(|at| missing[*at] == 0).collect();
    let mut next = 0;
    while let Some(done) = found.get(next).copied() {
        next += 1;
        for at in &after[done] {
            missing[*at] -= 1;
            if missing[*at] == 0 {
                found.push(*at);
            }
        }
    }
    found
}

fn play(steps: &[Step], order: &[usize], random: &mut Random) -> Duration {
    let most = DRAWN / steps.len().max(1);
    let mut ends = vec![Duration::ZERO; steps.len()];
    for at in order {
        let step = &steps[*at];
        let begin = step.needs.iter().filter_map(|need| ends.get(*need)).max().copied().unwrap_or_default();
        ends[*at] = begin.saturating_add(instances(step, most.max(1), random));
    }
    ends.into_iter().max().unwrap_or_default()
}

/// How long the instances of a step take together: the next one starts where one has ended.
fn instances(step: &Step, most: usize, random: &mut Random) -> Duration {
    // Of very many, as many rounds are made as all of them need, with fewer side by side.
    let scale = step.instances.div_ceil(most).max(1);
    let places = step.at_once.min(step.instances).div_ceil(scale).max(1);
    let mut free: BinaryHeap<Reverse<Duration>> = (0..places).map(|_| Reverse(Duration::ZERO)).collect();
    let mut last = Duration::ZERO;
    for _ in 0..step.instances.div_ceil(scale) {
        let begin = free.pop().map(|Reverse(at)| at).unwrap_or_default();
        let end = begin.saturating_add(draw(&step.length, random));
        last = last.max(end);
        free.push(Reverse(end));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(needs: &[usize], minutes: u64, instances: usize, at_once: usize) -> Step {
        let length = Length { median: Duration::from_secs(minutes * 60), spread: 0.0 };
        Step { needs: needs.to_vec(), length, instances, at_once }
    }

    fn minutes(steps: &[Step]) -> u64 {
        let found = makespan(steps, 1);
        assert_eq!(found.p50, found.p90, "lengths without a spread are certain");
        found.p50.as_secs() / 60
    }

    #[test]
    fn the_longest_way_through_the_tasks_counts() {
        let steps = [step(&[], 10, 1, 1), step(&[], 3, 1, 1), step(&[0, 1], 5, 1, 1), step(&[1], 20, 1, 1)];
        assert_eq!(minutes(&steps), 23);
        // In whatever order they are written.
        assert_eq!(minutes(&[step(&[1], 10, 1, 1), step(&[2], 4, 1, 1), step(&[], 1, 1, 1)]), 15);
        assert_eq!(minutes(&[]), 0);
    }

    #[test]
    fn instances_go_side_by_side_as_far_as_they_may() {
        assert_eq!(minutes(&[step(&[], 10, 8, 8)]), 10);
        assert_eq!(minutes(&[step(&[], 10, 8, 3)]), 30);
        // Of more than are drawn, the rounds are kept.
        assert_eq!(minutes(&[step(&[], 10, 8000, 4000)]), 20);
    }

    #[test]
    fn the_spread_of_lengths_is_one_of_the_whole() {
        let length = Length { median: Duration::from_secs(600), spread: 0.5 };
        let one = Step { needs: Vec::new(), length, instances: 1, at_once: 1 };
        let found = makespan(&[one], 1);
        assert!((540..660).contains(&found.p50.as_secs()), "{found:?}");
        assert!((960..1400).contains(&found.p90.as_secs()), "{found:?}");
    }
}
