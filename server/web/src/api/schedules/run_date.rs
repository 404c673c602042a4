//! `POST /projects/{project}/pipelines/{pipeline}/schedule/dates`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_compiler::schedule::Calendar;
use cubeloom_domain::Timestamp;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::schedule::{Firing, FiringState, ScheduleState, Trigger};

use super::view::RunDate;
use super::{moment, state_of};
use crate::api::runs::view::StartedView;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::runs::reader;
use crate::runs::start::Started;
use crate::schedules::{Tried, start_date};
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::told;

/// Starts the run of a logical date now, regardless of the schedule.
///
/// The request is refused if the date already has a run, unless that run has ended and `again` is set.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/schedule/dates",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path)),
    request_body = RunDate,
    responses(
        (status = 201, body = StartedView, headers(("Location" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn run_date(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path((project, pipeline)): Path<(String, String)>,
    Json(wanted): Json<RunDate>,
) -> ApiResult<Response> {
    let state = state_of(&web, &project, &pipeline).await?;
    let calendar = state.schedule.as_ref().and_then(|schedule| Calendar::of(schedule).ok());
    let date = moment(calendar.as_ref(), &wanted.date, "/date", false)?;
    let started = started(&web, &caller, &state, date, wanted.again).await?;
    let place = format!("/api/v1/runs/{}", started.record.id);
    let view = StartedView {
        run: told(lang, reader::shown(&web, &started.record).await?),
        warnings: started.warnings.iter().map(|one| ProblemView::told(one, lang)).collect(),
    };
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(view)).into_response())
}

async fn started(
    web: &Web,
    caller: &Caller,
    state: &ScheduleState,
    date: Timestamp,
    again: bool,
) -> ApiResult<Started> {
    let firing = Firing {
        of: state.of.clone(),
        date,
        trigger: Trigger::Person,
        user: caller.user.name.clone(),
        state: FiringState::Due,
        run: None,
        why: None,
        detail: None,
        backfill: None,
        event: None,
        changed_at: web.now(),
    };
    if !web.store().want_date(&firing, again).await? {
        return Err(has_one(web, &firing).await?);
    }
    match start_date(web, state, &firing, Some(caller)).await? {
        Tried::Started(started) => Ok(*started),
        // The schedules' task was faster: its run is the requested one.
        Tried::Gone => match run_of(web, &firing).await? {
            Some(record) => Ok(Started { record, warnings: Vec::new() }),
            None => Err(has_one(web, &firing).await?),
        },
        Tried::Refused(..) => Err(ApiError::forbidden("you may not start runs of this project")),
        Tried::Failed(error) => {
            let why = ("invalid", Some(error.detail()));
            web.store().settle_firing(&firing, FiringState::Failed, why, web.now()).await?;
            Err(error)
        }
    }
}

async fn run_of(web: &Web, firing: &Firing) -> ApiResult<Option<RunRecord>> {
    let known = web.store().firing(&firing.of, firing.date).await?;
    match known.and_then(|known| known.run) {
        Some(run) => Ok(web.store().run(&run).await?),
        None => Ok(None),
    }
}

/// Why the date cannot start.
async fn has_one(web: &Web, firing: &Firing) -> ApiResult<ApiError> {
    let known = web.store().firing(&firing.of, firing.date).await?;
    let date = Time(firing.date);
    let message = match known.and_then(|known| known.run) {
        Some(run) => {
            format!(
                "the date {date} has the run {run}: to run it again, send `again` after that run has ended"
            )
        }
        None => format!("the run of the date {date} is about to start"),
    };
    Ok(ApiError::conflict(message))
}
