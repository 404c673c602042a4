//! `POST /projects/{project}/pipelines/{pipeline}/schedule/pause`

use axum::extract::State;
use cubeloom_domain::schedule::ScheduleState;
use serde_json::json;

use super::view::ScheduleView;
use super::{demand_schedule, shown, state_of};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::schedules;
use crate::state::Web;

/// Attempts in case of concurrent changes: the schedule itself keeps firing.
pub(super) const TRIES: usize = 5;

/// Pauses a schedule.
///
/// No runs are scheduled until the schedule is resumed. There is no catch-up for dates in the meantime. Active runs
/// and back-fills continue.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/schedule/pause",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path)),
    responses(
        (status = 200, body = ScheduleView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn pause(
    State(web): State<Web>,
    caller: Caller,
    Path((project, pipeline)): Path<(String, String)>,
) -> ApiResult<Json<ScheduleView>> {
    for _ in 0..TRIES {
        let state = state_of(&web, &project, &pipeline).await?;
        demand_schedule(&state)?;
        if state.paused.is_some() {
            return Ok(Json(shown(&web, &state).await?));
        }
        let paused = Some((caller.user.name.clone(), web.now()));
        let mut after = ScheduleState { paused, ..state.clone() };
        schedules::reset(&mut after);
        let entry = audit::entry(&web, &caller, "schedule.pause", &pipeline).project(&project);
        let entry = entry.before(json!({"paused": false})).after(json!({"paused": true}));
        if web.store().put_schedule(&after, state.revision, Some(&entry)).await? {
            return Ok(Json(shown(&web, &after).await?));
        }
    }
    Err(busy())
}

/// Error after too many concurrent changes.
pub(super) fn busy() -> ApiError {
    ApiError::conflict("another request is changing the schedule: try again")
}
