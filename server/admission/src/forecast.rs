//! When a job may start: a Monte Carlo simulation of the queue, with run times drawn from history.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::StartEstimate;

use crate::desk::{Desk, JobId};
use crate::job::{Length, State};
use crate::pass::Victim;
use crate::random::Random;

/// Number of simulations.
const PLAYS: usize = 15;
/// Minimum number of simulations for an estimate.
const LEAST_PLAYS: usize = 9;
/// A job that has run for more than this many times the 90th percentile, and for more than
/// [`FAR_AT_LEAST`], is an outlier.
const FAR: u32 = 10;
const FAR_AT_LEAST: Duration = Duration::from_secs(60);
/// Maximum number of job ends that one simulation follows.
const ENDS: usize = 4000;

impl Desk {
    /// When a pending job may start. `None` if too little is known of run times. The same seed gives the same
    /// result.
    #[must_use]
    pub fn estimate(&self, job: JobId, now: Timestamp, seed: u64) -> Option<StartEstimate> {
        self.estimates(&[job], now, seed, &mut || true).remove(&job)
    }

    /// When pending jobs may start, for those with an estimate. `go_on` is called at each step. Once it
    /// returns false, only completed simulations count, if there are enough.
    #[must_use]
    pub fn estimates(
        &self,
        jobs: &[JobId],
        now: Timestamp,
        seed: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> BTreeMap<JobId, StartEstimate> {
        let mut random = Random::new(seed);
        let mut starts: BTreeMap<JobId, Vec<Timestamp>> = BTreeMap::new();
        let mut plays = 0;
        while plays < PLAYS && !jobs.is_empty() {
            let Some(played) = self.leading_all().play(jobs, now, &mut random, go_on) else { break };
            plays += 1;
            for (job, start) in played {
                starts.entry(job).or_default().push(start);
            }
        }
        if plays < LEAST_PLAYS {
            return BTreeMap::new();
        }
        starts.into_iter().filter_map(|(job, starts)| Some((job, summary(starts, plays)?))).collect()
    }

    /// Simulates until the jobs have started or no further end is known. Returns the start times of those
    /// that started, or `None` when `go_on` stopped it.
    fn play(
        mut self,
        jobs: &[JobId],
        now: Timestamp,
        random: &mut Random,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<BTreeMap<JobId, Timestamp>> {
        let mut wanted: BTreeSet<JobId> = jobs.iter().copied().collect();
        let mut started = BTreeMap::new();
        let mut ends: BTreeSet<(Timestamp, JobId)> = BTreeSet::new();
        for held in self.held.clone() {
            ends.extend(self.drawn_end(held, now, random).map(|end| (end, held)));
        }
        let mut now = now;
        for _ in 0..ENDS {
            if !go_on() {
                return None;
            }
            let pass = self.pass(now, usize::MAX);
            for start in &pass.starts {
                if wanted.remove(&start.job) {
                    started.insert(start.job, now);
                }
                ends.extend(self.drawn_end(start.job, now, random).map(|end| (end, start.job)));
            }
            if wanted.is_empty() {
                break;
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
            let later = |again: Timestamp| again.max(Timestamp(now.0.saturating_add(1)));
            let next = match (next, pass.again.map(later)) {
                (Some(next), Some(again)) => Some(next.min(again)),
                (next, again) => next.or(again),
            };
            let Some(next) = next else { break };
            now = next;
            while let Some((at, ended)) = ends.first().copied().filter(|(at, _)| *at <= now) {
                ends.remove(&(at, ended));
                self.remove(ended, now);
            }
        }
        Some(started)
    }

    /// Draws the end of a running job, later than now.
    fn drawn_end(&self, job: JobId, now: Timestamp, random: &mut Random) -> Option<Timestamp> {
        let entry = self.entry(job)?;
        let State::Held(held) = &entry.state else { return None };
        if let Some(since) = held.leaving {
            return Some(since.plus(self.settings.grace).max(now));
        }
        let lasts = Lasts { length: entry.known.spec.length, limit: entry.known.spec.timeout };
        lasts.drawn_end(held.since, now, random)
    }
}

/// What is known of a duration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lasts {
    /// From history.
    pub length: Option<Length>,
    pub limit: Option<Duration>,
}

impl Lasts {
    /// Draws the end of something that has run since then and has not ended by now. `None` if nothing is
    /// known.
    pub(crate) fn drawn_end(
        &self,
        since: Timestamp,
        now: Timestamp,
        random: &mut Random,
    ) -> Option<Timestamp> {
        let at_most = || self.limit.map(|limit| since.plus(limit).max(now));
        let Some(length) = self.length else { return at_most() };
        let passed = now.since(since);
        let drawn = (0..8).map(|_| draw(&length, random)).find(|drawn| *drawn > passed);
        let Some(drawn) = drawn.or_else(|| longer(&length, passed)) else { return at_most() };
        Some(since.plus(self.limit.map_or(drawn, |limit| drawn.min(limit))).max(now))
    }
}

/// The duration of a job that has run longer than any in its history: another tenth of its time so far.
/// `None` for an outlier.
fn longer(length: &Length, passed: Duration) -> Option<Duration> {
    let far = length.p90().saturating_mul(FAR).max(FAR_AT_LEAST);
    (passed <= far).then(|| passed + passed / 10 + Duration::from_secs(1))
}

/// Summarizes the simulations. In missing ones the job never started: if they are more than one in ten, there
/// is no 90th percentile.
pub(crate) fn summary(mut starts: Vec<Timestamp>, plays: usize) -> Option<StartEstimate> {
    starts.sort_unstable();
    let at = |tenths: usize| starts.get((plays * tenths).div_ceil(10) - 1).copied();
    Some(StartEstimate { p50: at(5)?, p90: at(9)? })
}

/// Draws a duration.
pub(crate) fn draw(length: &Length, random: &mut Random) -> Duration {
    let factor = (length.spread * random.normal()).exp().clamp(1e-3, 1e3);
    Duration::try_from_secs_f64(length.median.as_secs_f64() * factor).unwrap_or(length.median)
}
