//! Due dates: the scheduled moments since the last handled one, and catch-up for those missed while the
//! server was down.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::pipeline::CatchUp;

use super::Calendar;

/// How late a scheduled moment may be handled without counting as missed.
pub const GRACE: Duration = Duration::from_secs(60);
/// Maximum number of dates handled in one pass, and of missed dates that are recorded.
const MOST: usize = 100;

/// The dates due now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The dates whose runs start, in order.
    pub fire: Vec<Timestamp>,
    /// The most recent dates that were missed and are skipped, in order.
    pub missed: Vec<Timestamp>,
    /// The moment up to which everything is handled afterwards.
    pub handled: Timestamp,
    /// The next due moment, possibly in the past if one pass was not enough.
    pub next: Option<Timestamp>,
}

/// The dates due after `handled` and until `now`.
#[must_use]
pub fn due(calendar: &Calendar, catch_up: CatchUp, handled: Timestamp, now: Timestamp) -> Due {
    let first = Timestamp(handled.0.saturating_add(1));
    if catch_up == CatchUp::All {
        let fire = calendar.between(first, now, MOST);
        let handled = match fire.last() {
            Some(last) if fire.len() == MOST => *last,
            _ => now.max(handled),
        };
        return Due { fire, missed: Vec::new(), handled, next: calendar.after(handled) };
    }
    let punctual = Timestamp(now.0.saturating_sub(i64::try_from(GRACE.as_micros()).unwrap_or(i64::MAX)));
    let mut missed = last_ones(calendar, first, Timestamp(punctual.0 - 1));
    let mut fire = calendar.between(first.max(punctual), now, usize::MAX);
    if catch_up == CatchUp::Latest && fire.is_empty() {
        fire.extend(missed.pop());
    }
    let handled = now.max(handled);
    Due { fire, missed, handled, next: calendar.after(handled) }
}

/// The last scheduled moments of a range, in order.
fn last_ones(calendar: &Calendar, first: Timestamp, last: Timestamp) -> Vec<Timestamp> {
    let mut moment = last;
    let earlier = || {
        let found = calendar.until(moment).filter(|found| *found >= first)?;
        moment = Timestamp(found.0.saturating_sub(1));
        Some(found)
    };
    let mut found: Vec<Timestamp> = std::iter::from_fn(earlier).take(MOST).collect();
    found.reverse();
    found
}
