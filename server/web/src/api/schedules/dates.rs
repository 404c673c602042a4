//! `GET /projects/{project}/pipelines/{pipeline}/schedule/dates`

use std::collections::BTreeMap;

use axum::extract::State;
use cubeloom_domain::Timestamp;
use cubeloom_domain::schedule::ScheduleState;
use cubeloom_store::FiringFilter;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::{DateView, DatesView, RangeDateView};
use super::{calendar_of, moment, state_of, views};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::state::Web;
use crate::time::Time;

/// Maximum number of dates in a range.
pub(super) const MOST: usize = 5_000;
/// Maximum number of listed dates.
const LISTED: usize = 500;

/// The range of dates.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RangeQuery {
    /// Start of the range: a day or a time, in the time zone of the schedule or in UTC.
    pub first: String,
    /// End of the range: a day, which is included, or a time.
    pub last: String,
}

/// Lists the dates of a schedule in a range, with their runs.
///
/// These are the dates that a back-fill of the range would cover.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/schedule/dates",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path), RangeQuery),
    responses(
        (status = 200, body = DatesView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn dates(
    State(web): State<Web>,
    Path((project, pipeline)): Path<(String, String)>,
    Query(query): Query<RangeQuery>,
) -> ApiResult<Json<DatesView>> {
    let state = state_of(&web, &project, &pipeline).await?;
    let (first, last) = range(&state, &query.first, &query.last)?;
    let dates = of_range(&state, first, last)?;
    let known = known(&web, &state, first, last).await?;
    let all: Vec<RangeDateView> = dates.iter().map(|date| view(*date, known.get(date))).collect();
    let live = |one: &&RangeDateView| {
        let ended =
            one.run_state.as_deref().is_none_or(|run| matches!(run, "succeeded" | "failed" | "cancelled"));
        one.state == "due" || !ended
    };
    let underway = all.iter().filter(live).count();
    let with_run = all.iter().filter(|one| one.state == "started" || one.state == "due").count();
    let (total, without_run) = (all.len(), all.len() - with_run);
    Ok(Json(DatesView { dates: all.into_iter().take(LISTED).collect(), total, without_run, underway }))
}

fn view(date: Timestamp, known: Option<&DateView>) -> RangeDateView {
    RangeDateView {
        date: Time(date),
        state: known.map_or("none", |known| &known.state).into(),
        run: known.and_then(|known| known.run.clone()),
        run_state: known.and_then(|known| known.run_state.clone()),
    }
}

/// Parses the range.
pub(super) fn range(state: &ScheduleState, first: &str, last: &str) -> ApiResult<(Timestamp, Timestamp)> {
    let calendar = calendar_of(state)?;
    let first = moment(Some(&calendar), first, "/first", false)?;
    let last = moment(Some(&calendar), last, "/last", true)?;
    if last < first {
        return Err(ApiError::field("/last", "it is before `first`: swap the two"));
    }
    Ok((first, last))
}

/// Dates of a schedule in a range.
pub(super) fn of_range(
    state: &ScheduleState,
    first: Timestamp,
    last: Timestamp,
) -> ApiResult<Vec<Timestamp>> {
    let dates = calendar_of(state)?.between(first, last, MOST + 1);
    if dates.len() > MOST {
        let message = format!("there are more than {MOST} dates: choose a shorter range");
        return Err(ApiError::field("/last", message));
    }
    Ok(dates)
}

async fn known(
    web: &Web,
    state: &ScheduleState,
    first: Timestamp,
    last: Timestamp,
) -> ApiResult<BTreeMap<Timestamp, DateView>> {
    let filter = FiringFilter {
        projects: Some(vec![state.of.project.clone()]),
        pipeline: Some(state.of.pipeline.clone()),
        first: Some(first),
        last: Some(last),
        // The range may contain dates outside of the schedule.
        limit: 2 * MOST,
        ..FiringFilter::default()
    };
    let found = views(web, web.store().firings(&filter).await?).await?;
    Ok(found.into_iter().map(|view| (view.date.0, view)).collect())
}
