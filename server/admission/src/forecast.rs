//! When a job may start: the queue is played, again and again, with run times drawn from what is known of them.

use std::collections::BTreeSet;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::StartEstimate;

use crate::desk::{Desk, JobId};
use crate::job::{Length, State};
use crate::pass::Victim;
use crate::random::Random;

/// How often the queue is played.
const PLAYS: usize = 15;
/// How many ends one play follows.
const ENDS: usize = 4000;

impl Desk {
    /// When a job that waits may start. `None` where too little is known of how long others take. The same seed gives the
    /// same answer.
    #[must_use]
    pub fn estimate(&self, job: JobId, now: Timestamp, seed: u64) -> Option<StartEstimate> {
        let mut random = Random::new(seed);
        let mut starts: Vec<Timestamp> =
            (0..PLAYS).filter_map(|_| self.clone().play(job, now, &mut random)).collect();
        // Where it never started in one play of five, nobody can say when nine of ten are.
        if starts.len() * 5 < PLAYS * 4 {
            return None;
        }
        starts.sort_unstable();
        let at = |part: f64| starts[((starts.len() - 1) as f64 * part).round() as usize];
        Some(StartEstimate { p50: at(0.5), p90: at(0.9) })
    }

    /// Plays until the job has started.
    fn play(mut self, job: JobId, now: Timestamp, random: &mut Random) -> Option<Timestamp> {
        let mut ends: BTreeSet<(Timestamp, JobId)> = BTreeSet::new();
        for held in self.held.clone() {
            ends.extend(self.drawn_end(held, now, random).map(|end| (end, held)));
        }
        let mut now = now;
        for _ in 0..ENDS {
            let pass = self.pass(now, usize::MAX);
            if pass.starts.iter().any(|start| start.job == job) {
                return Some(now);
            }
            for start in &pass.starts {
                ends.extend(self.drawn_end(start.job, now, random).map(|end| (end, start.job)));
            }
            for victim in &pass.victims {
                let gone = now.plus(self.settings.grace);
                match *victim {
                    Victim::Whole { job, .. } => {
                        ends.retain(|(_, ends)| *ends != job);
                        ends.insert((gone, job));
                    }
                    Victim::Workers { job, keeps, .. } => self.resized(job, keeps, now),
                }
            }
            let next = ends.first().map(|(at, _)| *at);
            now = match (next, pass.again) {
                (Some(next), Some(again)) => next.min(again.max(Timestamp(now.0 + 1))),
                (next, again) => next.or(again.map(|again| again.max(Timestamp(now.0 + 1))))?,
            };
            while let Some((at, ended)) = ends.first().copied().filter(|(at, _)| *at <= now) {
                ends.remove(&(at, ended));
                self.remove(ended, now);
            }
        }
        None
    }

    /// When a job that holds something ends, drawn; it has not ended by now.
    fn drawn_end(&self, job: JobId, now: Timestamp, random: &mut Random) -> Option<Timestamp> {
        let entry = self.entry(job)?;
        let State::Held(held) = &entry.state else { return None };
        if let Some(since) = held.leaving {
            return Some(since.plus(self.settings.grace).max(now));
        }
        let limit = entry.known.spec.timeout;
        let Some(length) = entry.known.spec.length else {
            return limit.map(|limit| held.since.plus(limit).max(now));
        };
        let passed = now.since(held.since);
        let drawn = (0..8).map(|_| draw(&length, random)).find(|drawn| *drawn > passed);
        // It takes longer than any that is known: as much again as a tenth of what it has taken.
        let drawn = drawn.unwrap_or_else(|| passed + passed / 10 + Duration::from_secs(1));
        Some(held.since.plus(limit.map_or(drawn, |limit| drawn.min(limit))).max(now))
    }
}

/// A length like those that are known.
pub(crate) fn draw(length: &Length, random: &mut Random) -> Duration {
    let factor = (length.spread * random.normal()).exp().clamp(1e-3, 1e3);
    Duration::try_from_secs_f64(length.median.as_secs_f64() * factor).unwrap_or(length.median)
}
