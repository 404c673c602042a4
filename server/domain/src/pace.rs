//! Step progress: what is known of an attempt's steps while it runs, and afterwards.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::executor::Progress;
use crate::hang::Known;
use crate::quantity::is_zero;

/// A step, and when its end was reported.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    pub at: Timestamp,
    /// The step.
    pub step: f64,
}

/// Step reports of an attempt's workers, combined. The lowest rank that reports represents the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    pub first: Mark,
    /// The last report with a new step.
    pub last: Mark,
    /// Number of gaps between two reports.
    pub gaps: u32,
    /// The longest of them, of any rank, in microseconds.
    pub longest: u64,
    /// Time for writing checkpoints after the first report, in microseconds, as reported by the program.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub saving: u64,
    /// Time for restoring a checkpoint, in microseconds, as reported by the program.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub restoring: u64,
    /// The rank that has reported no step for the longest time, among those that report and have steps left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub behind: Option<Behind>,
    /// What earlier attempts of the instance showed.
    #[serde(default)]
    pub known: Known,
}

/// The rank with the oldest report.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Behind {
    pub rank: u32,
    /// When the server last received a new step of it. Workers' clocks may be wrong, so they are not used.
    pub since: Timestamp,
    /// Its step then.
    #[serde(default)]
    pub step: f64,
    /// Whether the server read the report later, when it restored the attempt: it is as old as `since`, or
    /// older.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub read_later: bool,
}

impl Pace {
    /// Combines the reports of all ranks, in order, each with whether its worker has ended. `None` before the
    /// first report.
    pub fn of<'g>(ranks: impl Iterator<Item = (&'g Gait, bool)> + Clone) -> Option<Self> {
        let (leader, first, last) =
            ranks.clone().find_map(|(gait, _)| Some((gait, gait.first?, gait.last?)))?;
        let longest = ranks.clone().map(|(gait, _)| gait.longest).max().unwrap_or_default();
        let open = (0u32..).zip(ranks).filter(|(_, (gait, ended))| !ended && !gait.is_done());
        let behind = open.filter_map(|(rank, (gait, _))| {
            let (since, step) = (gait.heard?, gait.last?.step);
            Some(Behind { rank, since, step, read_later: gait.read_later })
        });
        Some(Self {
            first,
            last,
            gaps: leader.gaps,
            longest: micros(longest),
            saving: micros(leader.saving),
            restoring: micros(leader.restoring),
            behind: behind.min_by_key(|behind| behind.since),
            known: Known::default(),
        })
    }

    /// Merges this with what was known before. A server that restores an attempt reads its reports again:
    /// those without a time get the time of reading.
    #[must_use]
    pub fn after(self, earlier: &Self) -> Self {
        let first = if earlier.first.at < self.first.at { earlier.first } else { self.first };
        let behind = self.behind.map(|behind| match earlier.behind {
            // It has made no progress since the earlier server received its report.
            Some(known) if behind.read_later && known.rank == behind.rank && known.step >= behind.step => {
                Behind { since: known.since.min(behind.since), ..behind }
            }
            _ => behind,
        });
        Self {
            first,
            behind,
            gaps: self.gaps.max(earlier.gaps),
            longest: self.longest.max(earlier.longest),
            known: earlier.known,
            ..self
        }
    }
}

/// Step reports of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gait {
    first: Option<Mark>,
    last: Option<Mark>,
    /// Since when it has been quiet: the time of its last report, or of its resumption. `None` before its
    /// first report since it began.
    heard: Option<Timestamp>,
    /// Whether that report was read later.
    read_later: bool,
    /// Whether the next report closes no gap, because it did not run in between.
    is_fresh: bool,
    total: Option<f64>,
    gaps: u32,
    longest: Duration,
    saving: Duration,
    restoring: Duration,
}

impl Gait {
    /// Records a step, with its time by the worker's clock and by the server's. A repeated step is no
    /// progress. Times never go back.
    pub fn step(&mut self, progress: Progress, said: Timestamp, heard: Timestamp) {
        self.step_read(progress, said, heard, false);
    }

    /// The same; `read_later` means that the server did not receive it when it was written.
    pub fn step_read(&mut self, progress: Progress, said: Timestamp, heard: Timestamp, read_later: bool) {
        let at = self.last.map_or(said, |last| said.max(last.at));
        let mark = Mark { at, step: progress.step };
        self.total = progress.total;
        self.first.get_or_insert(mark);
        let is_fresh = std::mem::take(&mut self.is_fresh);
        match self.last.filter(|_| !is_fresh) {
            Some(last) if last.step == mark.step => return,
            Some(last) => {
                self.gaps = self.gaps.saturating_add(1);
                self.longest = self.longest.max(at.since(last.at));
            }
            None => {}
        }
        (self.last, self.heard, self.read_later) = (Some(mark), Some(heard), read_later);
    }

    /// Its worker has restarted. As with a new worker, its steps are not awaited before its first report.
    pub fn begin(&mut self) {
        (self.heard, self.is_fresh) = (None, true);
    }

    /// It was resumed. The pause is no gap.
    pub fn go_on(&mut self, now: Timestamp) {
        self.heard = self.heard.map(|_| now);
        (self.is_fresh, self.read_later) = (true, false);
    }

    /// It has written a checkpoint, which took this long. Checkpoints before the first step are part of the
    /// start.
    pub fn saved(&mut self, took: Duration) {
        if self.first.is_some() {
            self.saving = self.saving.saturating_add(took);
        }
    }

    /// It has restored a checkpoint, which took this long.
    pub fn restored(&mut self, took: Duration) {
        self.restoring = self.restoring.saturating_add(took);
    }

    /// Whether it has completed its last step: the rest of its work has no steps.
    fn is_done(&self) -> bool {
        self.last.zip(self.total).is_some_and(|(last, total)| last.step >= total)
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp(second * 1_000_000)
    }

    fn quiet(rank: u32, since: i64, step: f64) -> Behind {
        Behind { rank, since: at(since), step, read_later: false }
    }

    fn gait(steps: &[(i64, f64)], total: f64) -> Gait {
        let mut gait = Gait::default();
        for (second, step) in steps {
            gait.step(Progress { step: *step, total: Some(total) }, at(*second), at(*second));
        }
        gait
    }

    #[test]
    fn the_lowest_rank_that_reports_speaks_and_the_quietest_is_named() {
        let silent = Gait::default();
        let leader = gait(&[(10, 1.0), (12, 2.0), (15, 3.0)], 9.0);
        let stuck = gait(&[(10, 1.0), (14, 2.0), (15, 2.0)], 9.0);
        let done = gait(&[(1, 9.0)], 9.0);
        let ranks = [(&silent, false), (&leader, false), (&stuck, false), (&done, false)];
        let pace = Pace::of(ranks.into_iter()).unwrap();
        assert_eq!((pace.first, pace.last.step, pace.gaps), (Mark { at: at(10), step: 1.0 }, 3.0, 2));
        assert_eq!(pace.longest, 4_000_000, "of any rank");
        assert_eq!(pace.behind, Some(quiet(2, 14, 2.0)), "the same step again is none");
        let with_end = [(&leader, false), (&stuck, true)];
        assert_eq!(Pace::of(with_end.into_iter()).unwrap().behind.map(|behind| behind.rank), Some(0));
        assert_eq!(Pace::of([(&silent, false)].into_iter()), None);
    }

    #[test]
    fn how_long_a_rank_has_been_quiet_is_not_by_its_own_clock() {
        for clock in [-3600, 3600] {
            let mut gait = Gait::default();
            for (second, step) in [(5000, 1.0), (5010, 2.0)] {
                gait.step(Progress { step, total: None }, at(second + clock), at(second));
            }
            let pace = Pace::of([(&gait, false)].into_iter()).unwrap();
            assert_eq!((pace.longest, pace.last.at), (10_000_000, at(5010 + clock)), "{clock}");
            assert_eq!(pace.behind, Some(quiet(0, 5010, 2.0)), "{clock}");
        }
    }

    #[test]
    fn while_a_worker_was_away_and_while_it_rested_there_was_no_gap() {
        let steps = [(10, 1.0), (12, 2.0)];
        let behind = |gait: &Gait| Pace::of([(gait, false)].into_iter()).unwrap().behind;
        let mut again = gait(&steps, 9.0);
        again.begin();
        assert_eq!(behind(&again), None, "it has reported nothing since");
        let mut rested = gait(&steps, 9.0);
        rested.go_on(at(5000));
        assert_eq!(behind(&rested), Some(quiet(0, 5000, 2.0)));
        for mut gait in [again, rested] {
            // It continues at its last step, and the step after that closes a gap.
            for (second, step) in [(6000, 2.0), (6003, 3.0)] {
                gait.step(Progress { step, total: None }, at(second), at(second));
                assert_eq!(behind(&gait), Some(quiet(0, second, step)));
            }
            assert_eq!((gait.gaps, gait.longest), (2, Duration::from_secs(3)));
        }
    }

    #[test]
    fn what_was_known_before_a_server_took_it_up_stays() {
        let alone = |gait: Gait| Pace::of([(&gait, false)].into_iter()).unwrap();
        let before = alone(gait(&[(10, 1.0), (30, 2.0)], 9.0));
        let read_again = alone(gait(&[(50, 1.0), (50, 2.0), (52, 3.0)], 9.0));
        let pace = read_again.after(&before);
        assert_eq!((pace.first, pace.longest, pace.gaps), (before.first, 20_000_000, 2));
        assert_eq!(pace.last.step, 3.0);
    }

    #[test]
    fn what_is_read_again_is_as_old_as_it_was_known_to_be_unless_the_rank_has_come_further() {
        let read = |step: f64| {
            let mut gait = gait(&[(10, 1.0)], 9.0);
            gait.step_read(Progress { step, total: Some(9.0) }, at(70), at(70), true);
            Pace::of([(&gait, false)].into_iter()).unwrap()
        };
        let before = Pace { behind: Some(quiet(0, 30, 2.0)), ..read(2.0) };
        let behind = |step: f64| read(step).after(&before).behind.map(|behind| (behind.since, behind.step));
        assert_eq!(behind(2.0), Some((at(30), 2.0)));
        assert_eq!(behind(3.0), Some((at(70), 3.0)));
        let elsewhere = Pace { behind: Some(quiet(1, 30, 2.0)), ..before };
        assert_eq!(
            read(2.0).after(&elsewhere).behind.unwrap().since,
            at(70),
            "of this one nothing was known"
        );
    }
}
