//! `GET /projects/{project}/pipelines/{pipeline}/schedule`

use axum::extract::State;
use cubeloom_compiler::schedule::Calendar;
use cubeloom_domain::schedule::ScheduleState;

use super::state_of;
use super::view::{LookView, ScheduleView, document};
use crate::auth::in_name_of;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;
use crate::time::{Time, maybe};

/// Number of next dates.
pub(super) const NEXT: usize = 5;

/// Gets the state of a pipeline's schedule.
///
/// The response contains the user that it runs as, whether it is paused, and its next dates.
#[utoipa::path(
    get,
    path = "/projects/{project}/pipelines/{pipeline}/schedule",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path)),
    responses(
        (status = 200, body = ScheduleView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn get(
    State(web): State<Web>,
    Path((project, pipeline)): Path<(String, String)>,
) -> ApiResult<Json<ScheduleView>> {
    let state = state_of(&web, &project, &pipeline).await?;
    Ok(Json(shown(&web, &state).await?))
}

/// View of a schedule.
pub(crate) async fn shown(web: &Web, state: &ScheduleState) -> ApiResult<ScheduleView> {
    let calendar = state.schedule.as_ref().and_then(|schedule| Calendar::of(schedule).ok());
    let from = web.now().max(state.handled_at);
    let next = calendar.map(|calendar| calendar.next(from, NEXT)).unwrap_or_default();
    let refused = match state.schedule {
        Some(_) => in_name_of(web, &state.of.project, &state.set_by).await?.err(),
        None => None,
    };
    let paused = state.paused.clone();
    Ok(ScheduleView {
        project: state.of.project.clone(),
        pipeline: state.of.pipeline.clone(),
        schedule: state.schedule.as_ref().and_then(document),
        active: state.is_active(),
        set_by: state.set_by.clone(),
        set_at: Time(state.set_at),
        refused: refused.map(|not| not.word().to_owned()),
        paused_at: maybe(paused.as_ref().map(|(_, at)| *at)),
        paused_by: paused.map(|(who, _)| who),
        next: next.into_iter().map(Time).collect(),
        look: LookView::of(state),
    })
}
