//! `POST /projects/{project}/schedule-preview`

use axum::extract::State;
use cubeloom_compiler::parse_schedule;
use cubeloom_compiler::schedule::Calendar;
use cubeloom_domain::pipeline::Schedule;
use cubeloom_domain::{JsonMap, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::get::NEXT;
use crate::error::{ApiResult, ProblemDocument, ProblemView};
use crate::extract::Json;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;

/// Schedule to preview.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleToPreview {
    /// Schedule as in a document.
    #[schema(value_type = Object)]
    pub schedule: JsonMap,
}

/// Next dates of a schedule that is not stored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SchedulePreviewView {
    /// Time zone of the schedule.
    pub timezone: String,
    /// Next dates, also while the schedule is paused. Empty for a schedule that waits for an event, or that has
    /// problems.
    pub next: Vec<NextDateView>,
    /// Problems of the schedule, with their paths in a document.
    pub problems: Vec<ProblemView>,
}

/// A next date.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NextDateView {
    /// Logical date.
    pub date: Time,
    /// The same time in the time zone of the schedule, with its offset from UTC: `2026-01-31T06:00:00+08:00`.
    pub local: String,
}

/// Previews a schedule that is not stored.
///
/// Returns the dates that it would have from now on. Problems of the schedule are not an error of the request.
#[utoipa::path(
    post,
    path = "/projects/{project}/schedule-preview",
    tag = "schedules",
    params(("project" = String, Path)),
    request_body = ScheduleToPreview,
    responses(
        (status = 200, body = SchedulePreviewView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn preview(
    State(web): State<Web>,
    lang: Lang,
    Json(sent): Json<ScheduleToPreview>,
) -> ApiResult<Json<SchedulePreviewView>> {
    Ok(Json(match parse_schedule(sent.schedule) {
        Ok(schedule) => previewed(&schedule, web.now()),
        Err(problems) => SchedulePreviewView {
            timezone: zone_of(&Schedule::default()),
            next: Vec::new(),
            problems: problems.iter().map(|one| ProblemView::told(one, lang)).collect(),
        },
    }))
}

fn previewed(schedule: &Schedule, now: Timestamp) -> SchedulePreviewView {
    // One that waits for an event has no calendar.
    let next = Calendar::of(schedule).map_or_else(
        |_| Vec::new(),
        |calendar| {
            let view = |date| NextDateView { date: Time(date), local: calendar.local(date) };
            calendar.next(now, NEXT).into_iter().map(view).collect()
        },
    );
    SchedulePreviewView { timezone: zone_of(schedule), next, problems: Vec::new() }
}

fn zone_of(schedule: &Schedule) -> String {
    schedule.timezone.clone().unwrap_or_else(|| "UTC".into())
}
