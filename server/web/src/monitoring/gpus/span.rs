//! The range of a request, in intervals of equal length.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::gpu_series::{GpuTier, minute_of, moment_of};
use cubeloom_store::{GpuPart, GpuRange};

use crate::error::{ApiError, ApiResult};
use crate::time::Time;

/// Lengths of an interval, in minutes. From 15 on they are multiples of it, from 120 on of that, so that each
/// sums up whole stored rows. None exceeds a day.
const STEPS: [i64; 11] = [1, 2, 5, 15, 30, 60, 120, 240, 360, 720, 1440];

/// Range without a start.
const USUAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Number of intervals of totals, and of values by group.
pub(super) const POINTS: i64 = 365;
pub(super) const GROUPED: i64 = 125;

/// Maximum length in days: as long as rows are stored.
const LONGEST: i64 = 100;

const A_DAY: i64 = 24 * 60;

/// A range of whole intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The first minute.
    pub from: i64,
    /// The first minute that is not included.
    pub until: i64,
    /// Minutes per interval.
    pub step: i64,
}

impl Span {
    /// The shortest intervals with which a range has about `most` of them, and for which rows are stored.
    ///
    /// # Errors
    /// The range is empty or too long.
    pub(super) fn of(now: Timestamp, from: Option<Time>, until: Option<Time>, most: i64) -> ApiResult<Self> {
        // Nothing is known of the future.
        let until = until.map_or(now, |time| time.0.min(now.plus(USUAL)));
        let from = from.map_or(until.minus(USUAL), |time| time.0);
        if from >= until {
            return Err(ApiError::field("/from", "the start must be before the end"));
        }
        // Rounded up: the last minute counts.
        let (first, last) = (minute_of(from), minute_of(Timestamp(until.0.saturating_sub(1))) + 1);
        let days = (last - first) / A_DAY;
        if days > LONGEST {
            return Err(ApiError::field(
                "/from",
                format!("the range has {days} days: request at most {LONGEST}"),
            ));
        }
        let age = minute_of(now) - first;
        let stored = GpuTier::ALL.into_iter().find(|tier| age <= tier.retention());
        let least = stored.unwrap_or(GpuTier::TwoHours).minutes();
        let fits = |step: &i64| *step >= least && (last - first + step - 1) / step <= most;
        let step = STEPS.into_iter().find(fits).unwrap_or(A_DAY);
        let until = (last + step - 1).div_euclid(step) * step;
        Ok(Self { from: first.div_euclid(step) * step, until, step })
    }

    /// The same range as stored.
    pub(super) fn range<'r>(&self, cluster: &'r str, part: GpuPart) -> GpuRange<'r> {
        GpuRange { cluster, part, from: self.from, until: self.until, step: self.step }
    }

    /// Number of intervals.
    pub(super) fn count(&self) -> usize {
        usize::try_from((self.until - self.from) / self.step).unwrap_or(0)
    }

    /// The interval that begins with a minute.
    pub(super) fn place(&self, minute: i64) -> Option<usize> {
        let place = usize::try_from((minute - self.from).div_euclid(self.step)).ok();
        place.filter(|place| *place < self.count())
    }

    pub(super) fn first(&self) -> Time {
        Time(moment_of(self.from))
    }

    pub(super) fn end(&self) -> Time {
        Time(moment_of(self.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noon, half a minute past.
    const NOW: Timestamp = Timestamp((20_000 * A_DAY + 720) * 60_000_000 + 30_000_000);

    fn ago(minutes: u64) -> Option<Time> {
        Some(Time(NOW.minus(Duration::from_secs(60 * minutes))))
    }

    fn span(from: Option<Time>, until: Option<Time>, most: i64) -> Span {
        Span::of(NOW, from, until, most).unwrap()
    }

    #[test]
    fn a_range_has_the_shortest_intervals_that_are_few_enough() {
        const DAYS: u64 = 24 * 60;
        for (minutes, step, grouped) in [
            (60, 1, 1),
            (360, 1, 5),
            (DAYS, 5, 15),
            (7 * DAYS, 30, 120),
            (30 * DAYS, 120, 360),
            (90 * DAYS, 360, 1440),
        ] {
            let found = span(ago(minutes), None, POINTS);
            assert_eq!(found.step, step, "{minutes}");
            assert!(
                found.count() as i64 <= POINTS + 1 && found.from % step == 0 && found.until % step == 0,
                "{found:?}"
            );
            assert!(found.end() > Time(NOW) && found.first() <= ago(minutes).unwrap());
            assert_eq!(span(ago(minutes), None, GROUPED).step, grouped, "{minutes}");
        }
        assert_eq!(span(None, None, POINTS), span(ago(DAYS), None, POINTS));
    }

    #[test]
    fn what_is_long_ago_has_the_intervals_that_are_left() {
        let hour = |begun: u64| span(ago(begun), ago(begun - 60), POINTS);
        assert_eq!(hour(120).step, 1);
        assert_eq!((hour(3 * 1440).step, hour(3 * 1440).count()), (15, 5));
        assert_eq!(hour(30 * 1440).step, 120);
    }

    #[test]
    fn whole_intervals_are_not_widened() {
        let at = |minute: i64| Some(Time(moment_of(minute)));
        let start = minute_of(NOW) - 60;
        let found = span(at(start), at(start + 60), POINTS);
        assert_eq!(found, Span { from: start, until: start + 60, step: 1 });
        assert_eq!((found.place(start), found.place(start + 59)), (Some(0), Some(59)));
        assert_eq!((found.place(start - 1), found.place(start + 60)), (None, None));
    }

    #[test]
    fn empty_and_endless_ranges_are_refused() {
        for (from, until) in [(ago(5), ago(5)), (ago(5), ago(6)), (ago(101 * 1440), None)] {
            assert!(Span::of(NOW, from, until, POINTS).is_err());
        }
        let [start, end] = [i64::MIN, i64::MAX].map(|at| Some(Time(Timestamp(at))));
        assert!(Span::of(NOW, start, end, POINTS).is_err());
        assert!(Span::of(NOW, None, start, POINTS).is_err());
        assert!(Span::of(NOW, None, end, POINTS).is_ok());
    }
}
