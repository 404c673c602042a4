//! Schedules of pipelines: state, history of dates, back-fills, and the calendar.

mod backfill;
mod backfills;
mod calendar;
mod cancel_backfill;
mod create_backfill;
mod dates;
mod get;
mod history;
mod pause;
mod preview;
mod resume;
mod run_date;
pub(crate) mod view;

use cubeloom_compiler::schedule::Calendar;
use cubeloom_domain::Timestamp;
use cubeloom_domain::schedule::{PipelineName, ScheduleState};
use utoipa_axum::router::OpenApiRouter;

use crate::error::{ApiError, ApiResult};
use crate::routes::routes;
use crate::schedules;
use crate::state::Web;
use crate::time::Time;

pub(crate) use backfills::listed as listed_backfills;
pub(crate) use calendar::{Span, entries};
pub(crate) use get::shown;
pub(crate) use history::{HistoryQuery, listed as listed_dates, views};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new()
        .routes(routes!(get::get))
        .routes(routes!(pause::pause))
        .routes(routes!(resume::resume))
        .routes(routes!(dates::dates))
        .routes(routes!(history::history))
        .routes(routes!(run_date::run_date))
        .routes(routes!(backfills::backfills, create_backfill::create_backfill))
        .routes(routes!(backfill::backfill))
        .routes(routes!(cancel_backfill::cancel_backfill))
        .routes(routes!(calendar::calendar))
        .routes(routes!(preview::preview))
}

/// State of the schedule of a route's pipeline.
async fn state_of(web: &Web, project: &str, pipeline: &str) -> ApiResult<ScheduleState> {
    let of = PipelineName { project: project.into(), pipeline: pipeline.into() };
    schedules::look(web, &of).await?.ok_or_else(|| ApiError::not_found("pipeline", pipeline))
}

/// Checks that a pipeline has a schedule of any kind.
fn demand_schedule(state: &ScheduleState) -> ApiResult<()> {
    match &state.schedule {
        Some(schedule) if schedule.after.is_some() || schedule.file.is_some() => Ok(()),
        _ => calendar_of(state).map(drop),
    }
}

/// The calendar of a pipeline's schedule.
fn calendar_of(state: &ScheduleState) -> ApiResult<Calendar> {
    let calendar = state.schedule.as_ref().and_then(|schedule| Calendar::of(schedule).ok());
    calendar.ok_or_else(|| {
        let pipeline = &state.of.pipeline;
        if state.schedule.is_some() {
            return ApiError::conflict(format!(
                "the pipeline `{pipeline}` is triggered by events and has no dates: run it for single dates"
            ));
        }
        ApiError::conflict(format!("the pipeline `{pipeline}` has no schedule: add one to its document"))
    })
}

/// Parses a time: with a time zone, or a day or time in the schedule's zone.
fn moment(calendar: Option<&Calendar>, text: &str, field: &str, end: bool) -> ApiResult<Timestamp> {
    if let Ok(Time(moment)) = text.parse() {
        return Ok(moment);
    }
    let utc = || Calendar::of(&utc()).ok();
    let found = match calendar {
        Some(calendar) => calendar.moment(text, end),
        None => utc().and_then(|calendar| calendar.moment(text, end)),
    };
    found.ok_or_else(|| {
        let message =
            format!("`{text}` is not a date: use 2026-01-31, 2026-01-31T06:00 or 2026-01-31T06:00:00Z");
        ApiError::field(field, message)
    })
}

/// A schedule in UTC, to parse times for pipelines without one.
fn utc() -> cubeloom_domain::pipeline::Schedule {
    cubeloom_domain::pipeline::Schedule { cron: Some("0 0 * * *".into()), ..Default::default() }
}
