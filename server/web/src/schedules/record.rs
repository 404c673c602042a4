//! Records due dates.

use cubeloom_compiler::schedule::{Arrivals, Calendar, due as what_is_due};
use cubeloom_domain::Timestamp;
use cubeloom_domain::schedule::{Firing, FiringState, ScheduleState, Trigger};

use super::{look, watch};
use crate::error::ApiResult;
use crate::state::Web;

/// Records the due dates of a schedule, and missed dates that are skipped.
pub(super) async fn due(web: &Web, state: ScheduleState, now: Timestamp) -> ApiResult<()> {
    let read = state.revision;
    let arrivals = state.schedule.as_ref().filter(|_| state.is_active());
    if let Some(arrivals) = arrivals.and_then(|schedule| Arrivals::of(schedule).ok()) {
        return watch::begin(web, state, arrivals, now).await;
    }
    let calendar = state.schedule.as_ref().filter(|_| state.is_active());
    let Some(calendar) = calendar.and_then(|schedule| Calendar::of(schedule).ok()) else {
        // Nothing can become due: do not check it again.
        web.store().record_firings(&ScheduleState { next_at: None, ..state }, read, &[]).await?;
        return Ok(());
    };
    let catch_up = state.schedule.as_ref().and_then(|schedule| schedule.catch_up).unwrap_or_default();
    let found = what_is_due(&calendar, catch_up, state.handled_at, now);
    let firing = |date: &Timestamp, firing_state| Firing {
        of: state.of.clone(),
        date: *date,
        trigger: Trigger::Schedule,
        user: state.set_by.clone(),
        state: firing_state,
        run: None,
        why: (firing_state == FiringState::Missed).then(|| "missed".to_owned()),
        detail: None,
        backfill: None,
        event: None,
        changed_at: now,
    };
    let missed = found.missed.iter().map(|date| firing(date, FiringState::Missed));
    let fire = found.fire.iter().map(|date| firing(date, FiringState::Due));
    let firings: Vec<Firing> = missed.chain(fire).collect();
    let mut after = ScheduleState { handled_at: found.handled, ..state.clone() };
    look::reset(&mut after);
    // A faster server has recorded the same.
    web.store().record_firings(&after, read, &firings).await?;
    Ok(())
}
