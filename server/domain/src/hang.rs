//! Hanging jobs: their program runs, but has reported no step for longer than its own pattern explains. No
//! side effects.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::outcome::FailureKind;
use crate::pace::Pace;
use crate::preflight::Preflight;
use crate::quantity::{Span, is_zero};

/// Minimum number of gaps between reports, in this and earlier attempts, before a hang can be detected.
pub const ENOUGH: u32 = 5;
/// Gaps up to this many times the longest one are still part of the pattern.
pub(crate) const FACTOR: u32 = 3;

/// What happens when an attempt hangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HangAction {
    /// It is marked, and its owner is notified.
    #[default]
    Mark,
    /// It is also stopped, and its whole job restarted.
    Restart,
}

/// When an attempt hangs, and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangPolicy {
    /// A shorter time without a step is never a hang.
    pub after: Span,
    pub action: HangAction,
    /// Maximum number of restarts of an instance; after that, a hanging one fails.
    pub restarts: u32,
}

impl Default for HangPolicy {
    fn default() -> Self {
        Self { after: Span(Duration::from_secs(600)), action: HangAction::Mark, restarts: 3 }
    }
}

/// What earlier attempts of an instance showed of its pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Number of gaps between reports.
    pub gaps: u32,
    /// The longest of them, in microseconds.
    pub longest: u64,
    /// Number of attempts that were stopped because they hung.
    pub restarts: u32,
    /// Number of attempts with a failed preflight test.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub preflights: u32,
}

impl Known {
    /// What is known after an attempt with this failure, if any, has ended. `None` if it adds nothing.
    #[must_use]
    pub fn after(
        pace: Option<&Pace>,
        preflight: Option<&Preflight>,
        failed: Option<FailureKind>,
    ) -> Option<Self> {
        let known = match (pace, preflight) {
            // A launcher or a worker may have reported something although a preflight test failed. It counts
            // anyway, or the uncounted attempts would never end.
            (Some(pace), _) => Self::of(pace, failed == Some(FailureKind::Hung)),
            // Its program has reported nothing.
            (None, Some(preflight)) => preflight.known,
            (None, None) => return None,
        };
        let failed = failed == Some(FailureKind::Preflight);
        Some(Self { preflights: known.preflights.saturating_add(u32::from(failed)), ..known })
    }

    /// What is known after an attempt with this progress has ended.
    #[must_use]
    pub fn of(pace: &Pace, hung: bool) -> Self {
        Self {
            gaps: pace.known.gaps.saturating_add(pace.gaps),
            longest: pace.known.longest.max(pace.longest),
            restarts: pace.known.restarts + u32::from(hung),
            preflights: pace.known.preflights,
        }
    }
}

/// A hang, past or present.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hang {
    /// The rank that has reported no step for the longest time.
    pub rank: u32,
    /// Its step at that time, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<f64>,
    /// When it last did. If detected by GPUs: when the last of them became idle.
    pub since: Timestamp,
    /// Time at which the hang was detected.
    pub seen_at: Timestamp,
    /// The longest gap between two steps until then, in microseconds. If detected by GPUs: the longest time
    /// for which all were idle.
    pub longest: u64,
    /// Whether it was detected by idle GPUs, and not by missing steps.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub by_cards: bool,
    /// When it recovered without a restart.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub over: Option<Timestamp>,
    /// Stack traces of its workers at detection. They can be megabytes, so they are stored separately, loaded
    /// only for display, and not part of the document.
    #[serde(skip)]
    pub stacks: Vec<WorkerStack>,
}

/// Stack traces of a worker's processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStack {
    /// Worker, in the form `<role>-<index>`.
    pub worker: String,
    /// Each process with its threads, with frames for Python.
    pub text: String,
}

impl Hang {
    /// Why it counts as hanging.
    #[must_use]
    pub fn sentence(&self) -> String {
        let quiet = whole(self.seen_at.since(self.since));
        let longest = whole(Duration::from_micros(self.longest));
        if self.by_cards {
            return format!(
                "its GPUs have been idle for {quiet}; the longest idle time before was {longest}"
            );
        }
        format!(
            "rank {} has reported no step for {quiet}; the longest time between steps before was {longest}",
            self.rank
        )
    }

    /// Whether an attempt with this progress has recovered. Reports read when a server restored the attempt
    /// may predate the hang. Of those, only a step beyond the one at which it hung counts.
    #[must_use]
    pub fn went_on(&self, pace: &Pace) -> bool {
        match pace.behind {
            None => true,
            Some(behind) if behind.read_later => {
                behind.rank == self.rank && self.step.is_some_and(|step| behind.step > step)
            }
            Some(behind) => behind.since > self.since,
        }
    }

    /// Whether it is not over.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.over.is_none()
    }
}

/// Rounded to whole seconds, for display.
fn whole(duration: Duration) -> Span {
    Span(Duration::from_secs(duration.as_secs() + u64::from(duration.subsec_nanos() > 0)))
}

/// When an attempt with this progress hangs, unless a step is reported before. `None` if too little is known
/// of its pattern, or no rank has steps left.
#[must_use]
pub fn due(pace: &Pace, policy: &HangPolicy) -> Option<Timestamp> {
    let known = Known::of(pace, false);
    let pattern = Duration::from_micros(known.longest).saturating_mul(FACTOR);
    let behind = pace.behind.filter(|_| known.gaps >= ENOUGH)?;
    Some(behind.since.plus(policy.after.0.max(pattern)))
}

/// The hang of an attempt with this progress, if it hangs.
#[must_use]
pub fn judge(pace: &Pace, policy: &HangPolicy, now: Timestamp) -> Option<Hang> {
    let behind = pace.behind.filter(|_| due(pace, policy).is_some_and(|due| due <= now))?;
    let longest = Known::of(pace, false).longest;
    Some(Hang {
        rank: behind.rank,
        step: Some(behind.step),
        since: behind.since,
        seen_at: now,
        longest,
        by_cards: false,
        over: None,
        stacks: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::{Behind, Mark};

    fn at(second: i64) -> Timestamp {
        Timestamp(second * 1_000_000)
    }

    fn pace(gaps: u32, longest: u64, since: i64) -> Pace {
        let mark = |second, step| Mark { at: at(second), step };
        Pace {
            first: mark(0, 1.0),
            last: mark(since, 9.0),
            gaps,
            longest: longest * 1_000_000,
            saving: 0,
            restoring: 0,
            behind: Some(Behind { rank: 2, since: at(since), step: 9.0, read_later: false }),
            known: Known::default(),
        }
    }

    fn after(seconds: u64) -> HangPolicy {
        HangPolicy { after: Span(Duration::from_secs(seconds)), ..HangPolicy::default() }
    }

    #[test]
    fn a_pattern_of_long_gaps_is_no_hang() {
        // An epoch takes an hour; ten minutes without a step mean nothing.
        let epochs = pace(6, 3600, 100_000);
        assert_eq!(judge(&epochs, &after(600), at(100_000 + 10_799)), None);
        let hang = judge(&epochs, &after(600), at(100_000 + 10_800)).unwrap();
        assert_eq!(
            hang.sentence(),
            "rank 2 has reported no step for 3h; the longest time between steps before was 1h"
        );
    }

    #[test]
    fn a_short_time_is_no_hang_whatever_the_pattern() {
        let quick = pace(500, 1, 1000);
        assert_eq!(due(&quick, &after(600)), Some(at(1600)));
        assert_eq!(judge(&quick, &after(600), at(1599)), None);
        assert!(judge(&quick, &after(600), at(1600)).is_some_and(|hang| hang.is_present()));
    }

    #[test]
    fn of_few_gaps_nothing_is_said_unless_earlier_attempts_had_more() {
        let young = pace(ENOUGH - 1, 1, 10);
        assert_eq!(due(&young, &after(60)), None);
        let before = Known::of(&pace(40, 50, 0), true);
        assert_eq!(before, Known { gaps: 40, longest: 50_000_000, restarts: 1, preflights: 0 });
        let known = Pace { known: before, ..young.clone() };
        assert_eq!(due(&known, &after(60)), Some(at(10 + 150)), "three times the longest gap of before");
        let done = Pace { behind: None, ..known };
        assert_eq!(due(&done, &after(60)), None, "no rank has more to do");
    }

    #[test]
    fn a_failed_test_counts_also_of_an_attempt_that_reported_steps() {
        let known = Known { preflights: 2, ..Known::default() };
        let (reported, tests) =
            (Pace { known, ..pace(3, 1, 10) }, Preflight { known, ..Preflight::default() });
        let preflights =
            |pace: Option<&Pace>, failed| Known::after(pace, Some(&tests), failed).unwrap().preflights;
        for pace in [Some(&reported), None] {
            assert_eq!(preflights(pace, Some(FailureKind::Preflight)), 3);
            assert_eq!((preflights(pace, Some(FailureKind::Exit)), preflights(pace, None)), (2, 2));
        }
        assert_eq!(Known::after(None, None, Some(FailureKind::Preflight)), None);
    }

    #[test]
    fn only_a_step_beyond_the_one_at_which_it_hung_is_going_on_where_reports_are_read_again() {
        let before = pace(9, 1, 100);
        let hang = judge(&before, &after(60), at(200)).unwrap();
        let heard = |rank, since, step, read_later| {
            let behind = Behind { rank, since: at(since), step, read_later };
            hang.went_on(&Pace { behind: Some(behind), ..before.clone() })
        };
        // Its file was written since, by another thread or with other content.
        assert!(!heard(2, 150, 9.0, true) && heard(2, 150, 10.0, true));
        assert!(!heard(0, 150, 10.0, true), "the one that hung is not known to have gone on");
        assert!(heard(0, 150, 1.0, false) && !heard(2, 100, 9.0, false));
        assert!(hang.went_on(&Pace { behind: None, ..before.clone() }), "nothing is left to be done");
    }
}
