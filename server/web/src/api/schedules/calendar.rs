//! `GET /projects/{project}/calendar`

use axum::extract::State;
use cubeloom_compiler::schedule::Calendar;
use cubeloom_domain::Timestamp;
use cubeloom_domain::schedule::{Firing, FiringState, ScheduleState, Trigger};
use cubeloom_store::FiringFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::{CalendarView, DateView};
use super::{moment, views};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::state::Web;

/// Maximum period, in microseconds: a month with adjacent days.
const LONGEST: i64 = 62 * 86_400_000_000;
/// Maximum number of dates per pipeline.
const OF_ONE: usize = 1_500;
/// Maximum number of dates in total.
const MOST: usize = 5_000;

/// The period.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SpanQuery {
    /// Start of the period. Days are in UTC.
    pub first: String,
    /// End of the period: a time, or a day that is included completely. At most 62 days after the start.
    pub last: String,
    /// Filters by the name of the pipeline.
    pub pipeline: Option<String>,
}

/// Lists past and future runs of a project in a period.
///
/// The response contains the dates that were requested, with their runs, and future scheduled dates (`coming`).
#[utoipa::path(
    get,
    path = "/projects/{project}/calendar",
    tag = "schedules",
    params(("project" = String, Path), SpanQuery),
    responses(
        (status = 200, body = CalendarView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn calendar(
    State(web): State<Web>,
    Path(project): Path<String>,
    Query(query): Query<SpanQuery>,
) -> ApiResult<Json<CalendarView>> {
    let first = moment(None, &query.first, "/first", false)?;
    let last = moment(None, &query.last, "/last", true)?;
    if last < first || last.0.saturating_sub(first.0) > LONGEST {
        return Err(ApiError::field("/last", "it must be after `first`, and 62 days later at most"));
    }
    Ok(Json(entries(&web, &project, Span { first, last, pipeline: query.pipeline }).await?))
}

pub(crate) struct Span {
    /// Start, inclusive.
    pub first: Timestamp,
    /// End, inclusive.
    pub last: Timestamp,
    /// Filters by the name of the pipeline.
    pub pipeline: Option<String>,
}

/// Lists past and future runs in a period.
pub(crate) async fn entries(web: &Web, project: &str, span: Span) -> ApiResult<CalendarView> {
    let projects = vec![project.to_owned()];
    let filter = FiringFilter {
        projects: Some(projects.clone()),
        pipeline: span.pipeline.clone(),
        first: Some(span.first),
        last: Some(span.last),
        limit: MOST + 1,
        oldest_first: true,
        ..FiringFilter::default()
    };
    let mut dates = views(web, web.store().firings(&filter).await?).await?;
    let mut more = dates.len() > MOST;
    for state in web.store().schedules(Some(&projects)).await? {
        if span.pipeline.as_ref().is_some_and(|only| *only != state.of.pipeline) {
            continue;
        }
        let coming = coming(web, &state, &span);
        more |= coming.len() > OF_ONE;
        dates.extend(coming.into_iter().take(OF_ONE));
    }
    dates.sort_by(|one, other| (one.date, &one.pipeline).cmp(&(other.date, &other.pipeline)));
    dates.dedup_by(|later, one| (one.date, &one.pipeline) == (later.date, &later.pipeline));
    more |= dates.len() > MOST;
    dates.truncate(MOST);
    Ok(CalendarView { dates, more })
}

/// Future dates of a schedule.
fn coming(web: &Web, state: &ScheduleState, span: &Span) -> Vec<DateView> {
    let schedule = state.schedule.as_ref().filter(|_| state.is_active());
    let Some(calendar) = schedule.and_then(|schedule| Calendar::of(schedule).ok()) else { return Vec::new() };
    let first = Timestamp(state.handled_at.max(web.now()).0 + 1).max(span.first);
    let view = |date| {
        let firing = Firing {
            of: state.of.clone(),
            date,
            trigger: Trigger::Schedule,
            user: state.set_by.clone(),
            state: FiringState::Due,
            run: None,
            why: None,
            detail: None,
            backfill: None,
            event: None,
            changed_at: date,
        };
        DateView { state: "coming".into(), ..DateView::new(firing) }
    };
    calendar.between(first, span.last, OF_ONE + 1).into_iter().map(view).collect()
}
