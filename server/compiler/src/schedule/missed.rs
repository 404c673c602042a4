//! What is due: the firings since the last that was handled, and what becomes of those that nobody was there for.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::pipeline::CatchUp;

use super::Calendar;

/// How late a firing may be handled without counting as missed.
pub const GRACE: Duration = Duration::from_secs(60);
/// The most firings that are handled in one go, and the most missed ones that are kept in mind.
const MOST: usize = 100;

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// The dates that fire, in their order.
    pub fire: Vec<Timestamp>,
    /// Dates that were missed and are left out, the last ones, in their order.
    pub missed: Vec<Timestamp>,
    /// Up to when everything is dealt with after this.
    pub handled: Timestamp,
    /// What is due next; it may have passed when there was too much for one go.
    pub next: Option<Timestamp>,
}

/// What is due after `handled` and until `now`.
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

/// The last firings of a range, in their order.
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
