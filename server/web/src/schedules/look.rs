//! Derives the state of a schedule from a pipeline's newest version.

use cubeloom_compiler::schedule::{Arrivals, Calendar, awaited};
use cubeloom_domain::Timestamp;
use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::schedule::{Awaited, PipelineName, ScheduleState};
use cubeloom_store::PipelineVersion;

use crate::error::ApiResult;
use crate::plan;
use crate::state::Web;

/// State of a pipeline's schedule, according to its newest version.
pub(crate) async fn look(web: &Web, of: &PipelineName) -> ApiResult<Option<ScheduleState>> {
    let store = web.store();
    let Some(newest) = store.newest(&of.project, &of.pipeline).await? else {
        store.forget_schedule(of, web.now()).await?;
        return Ok(None);
    };
    let present = store.schedule(of).await?;
    if present.as_ref().is_some_and(|present| present.version == newest.version) {
        return Ok(present);
    }
    let document = plan::parse(newest.document.clone()).await?.ok();
    let schedule = document.and_then(|document| document.pipeline.schedule);
    let read = present.as_ref().map_or(0, |present| present.revision);
    let state = after(of, present, &newest, schedule, web.now());
    // Another server may have been faster.
    store.put_schedule(&state, read, None).await?;
    Ok(store.schedule(of).await?)
}

/// The state after a new version. A version that keeps the schedule unchanged does not set it again.
fn after(
    of: &PipelineName,
    present: Option<ScheduleState>,
    newest: &PipelineVersion,
    schedule: Option<Schedule>,
    now: Timestamp,
) -> ScheduleState {
    let version = newest.version;
    let paused = present.as_ref().and_then(|present| present.paused.clone());
    let mut state = match present {
        Some(present) if present.schedule == schedule && present.version > 0 => {
            ScheduleState { version, ..present }
        }
        present => {
            // Versions stored by a program without schedules are set now.
            let old = present.is_some_and(|present| present.version == 0);
            let set_at = if old { now } else { newest.created_at };
            let set = Set { by: newest.user.clone(), at: set_at };
            set.state(of, version, schedule, paused)
        }
    };
    reset(&mut state);
    state
}

struct Set {
    by: String,
    at: Timestamp,
}

impl Set {
    fn state(
        self,
        of: &PipelineName,
        version: u32,
        schedule: Option<Schedule>,
        paused: Option<(String, Timestamp)>,
    ) -> ScheduleState {
        let handled_at = schedule.as_ref().and_then(|schedule| self.handled(of, schedule)).unwrap_or(self.at);
        ScheduleState {
            of: of.clone(),
            version,
            schedule,
            set_by: self.by,
            set_at: self.at,
            handled_at,
            next_at: None,
            after: None,
            look: None,
            paused,
            revision: 0,
        }
    }

    /// Time up to which a schedule that was just set has nothing to do.
    fn handled(&self, of: &PipelineName, schedule: &Schedule) -> Option<Timestamp> {
        if let Ok(Some((_, handled))) = awaited(schedule, &of.project, self.at) {
            return Some(handled);
        }
        if let Ok(arrivals) = Arrivals::of(schedule) {
            return Some(arrivals.handled_when_set(self.at));
        }
        let catch_up = schedule.catch_up.unwrap_or_default();
        Calendar::of(schedule).ok().map(|calendar| calendar.handled_when_set(catch_up, self.at))
    }
}

/// Recomputes what triggers it next.
pub(crate) fn reset(state: &mut ScheduleState) {
    state.next_at = of_next(state);
    state.after = of_after(state);
}

/// The next date of an active schedule, or the next check for its files.
fn of_next(state: &ScheduleState) -> Option<Timestamp> {
    let schedule = state.schedule.as_ref().filter(|_| state.is_active())?;
    if let Ok(arrivals) = Arrivals::of(schedule) {
        return Some(arrivals.next_look(&state.look.clone().unwrap_or_default(), state.set_at));
    }
    Calendar::of(schedule).ok()?.after(state.handled_at)
}

/// The runs whose end triggers an active schedule.
fn of_after(state: &ScheduleState) -> Option<Awaited> {
    let schedule = state.schedule.as_ref().filter(|_| state.is_active())?;
    awaited(schedule, &state.of.project, state.set_at).ok()?.map(|(awaited, _)| awaited)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cubeloom_domain::Span;
    use cubeloom_domain::pipeline::CatchUp;

    use super::*;

    const HOUR: i64 = 3_600_000_000;

    fn version(version: u32, user: &str, hour: i64) -> PipelineVersion {
        PipelineVersion {
            version,
            document: String::new(),
            digest: String::new(),
            code: None,
            message: String::new(),
            user: user.into(),
            created_at: Timestamp(hour * HOUR),
        }
    }

    fn hourly(hours: u64) -> Option<Schedule> {
        Some(Schedule { every: Some(Span(Duration::from_secs(hours * 3600))), ..Schedule::default() })
    }

    fn of() -> PipelineName {
        PipelineName { project: "team".into(), pipeline: "p".into() }
    }

    fn seen(
        state: Option<ScheduleState>,
        found: &PipelineVersion,
        schedule: Option<Schedule>,
    ) -> ScheduleState {
        ScheduleState { revision: 1, ..after(&of(), state, found, schedule, Timestamp(1000 * HOUR)) }
    }

    #[test]
    fn who_changes_it_sets_it_and_who_stores_other_things_does_not() {
        let first = seen(None, &version(1, "ada", 5), hourly(1));
        assert_eq!((first.set_by.as_str(), first.next_at), ("ada", Some(Timestamp(6 * HOUR))));
        let handled = ScheduleState { handled_at: Timestamp(9 * HOUR), ..first };
        let second = seen(Some(handled), &version(2, "bob", 10), hourly(1));
        assert_eq!((second.set_by.as_str(), second.next_at), ("ada", Some(Timestamp(10 * HOUR))));
        let third = seen(Some(second), &version(3, "bob", 11), hourly(2));
        assert_eq!((third.set_by.as_str(), third.next_at), ("bob", Some(Timestamp(12 * HOUR))));
        let none = seen(Some(third), &version(4, "bob", 12), None);
        assert_eq!((none.schedule, none.next_at), (None, None));
    }

    #[test]
    fn it_stays_paused_whatever_is_stored() {
        let first = seen(None, &version(1, "ada", 5), hourly(1));
        let paused = ScheduleState { paused: Some(("eve".into(), Timestamp(6 * HOUR))), ..first };
        let second = seen(Some(paused), &version(2, "bob", 10), hourly(3));
        assert!(second.paused.is_some() && second.next_at.is_none());
        let own = Schedule { paused: Some(true), ..hourly(1).unwrap() };
        assert_eq!(seen(None, &version(1, "ada", 5), Some(own)).next_at, None);
    }

    #[test]
    fn what_was_there_before_schedules_fired_makes_up_for_nothing() {
        let old = seen(None, &version(1, "ada", 5), None);
        let old = ScheduleState { version: 0, ..old };
        let found = seen(Some(old), &version(1, "ada", 5), hourly(1));
        assert_eq!(found.next_at, Some(Timestamp(1001 * HOUR)));
    }

    #[test]
    fn who_wants_all_dates_from_a_start_gets_them() {
        let all = Schedule {
            start: Some("1970-01-01T03:00".into()),
            catch_up: Some(CatchUp::All),
            ..hourly(1).unwrap()
        };
        assert_eq!(seen(None, &version(1, "ada", 5), Some(all)).next_at, Some(Timestamp(3 * HOUR)));
    }
}
