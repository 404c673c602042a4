//! `POST /projects/{project}/pipelines/{pipeline}/schedule/resume`

use axum::extract::State;
use cubeloom_domain::schedule::ScheduleState;
use serde_json::json;

use super::pause::{TRIES, busy};
use super::view::ScheduleView;
use super::{demand_schedule, shown, state_of};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::schedules;
use crate::state::Web;

/// Resumes a schedule and makes it run as the caller.
///
/// You can also take over a schedule that is not paused, e.g. because the user that it runs as is no longer a member.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/schedule/resume",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path)),
    responses(
        (status = 200, body = ScheduleView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn resume(
    State(web): State<Web>,
    caller: Caller,
    Path((project, pipeline)): Path<(String, String)>,
) -> ApiResult<Json<ScheduleView>> {
    for _ in 0..TRIES {
        let state = state_of(&web, &project, &pipeline).await?;
        demand_schedule(&state)?;
        let now = web.now();
        let was_paused = state.paused.is_some();
        // Dates that were due during the pause are skipped.
        let handled_at = if was_paused { state.handled_at.max(now) } else { state.handled_at };
        let (set_by, set_at) = (caller.user.name.clone(), now);
        let mut after = ScheduleState { paused: None, handled_at, set_by, set_at, ..state.clone() };
        schedules::reset(&mut after);
        let entry = audit::entry(&web, &caller, "schedule.resume", &pipeline).project(&project);
        let entry = entry
            .before(json!({"paused": was_paused, "set_by": state.set_by}))
            .after(json!({"paused": false, "set_by": after.set_by}));
        if web.store().put_schedule(&after, state.revision, Some(&entry)).await? {
            web.schedules().wake();
            return Ok(Json(shown(&web, &after).await?));
        }
    }
    Err(busy())
}
