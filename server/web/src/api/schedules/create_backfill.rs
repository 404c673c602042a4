//! `POST /projects/{project}/pipelines/{pipeline}/backfills`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::schedule::Backfill;
use serde_json::json;

use super::dates::{of_range, range};
use super::state_of;
use super::view::{BackfillView, NewBackfill};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;
use crate::time::Time;

/// Maximum number of concurrent runs.
const PARALLEL: u32 = 100;

/// Creates a back-fill for the dates in a range that have no run.
///
/// The runs start oldest first, up to the given number in parallel, and run as the caller. Use `GET
/// .../schedule/dates` to list the dates beforehand.
#[utoipa::path(
    post,
    path = "/projects/{project}/pipelines/{pipeline}/backfills",
    tag = "schedules",
    params(("project" = String, Path), ("pipeline" = String, Path)),
    request_body = NewBackfill,
    responses(
        (status = 201, body = BackfillView, headers(("Location" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create_backfill(
    State(web): State<Web>,
    caller: Caller,
    Path((project, pipeline)): Path<(String, String)>,
    Json(new): Json<NewBackfill>,
) -> ApiResult<Response> {
    let state = state_of(&web, &project, &pipeline).await?;
    let parallelism = new.parallelism.unwrap_or(1);
    if !(1..=PARALLEL).contains(&parallelism) {
        return Err(ApiError::field("/parallelism", format!("write a number from 1 to {PARALLEL}")));
    }
    let (first, last) = range(&state, &new.first, &new.last)?;
    let now = web.now();
    // The schedule starts future dates itself. Of today, include past dates.
    let last = last.min(now);
    if first > now {
        return Err(ApiError::field("/first", "it is in the future: the schedule starts it then"));
    }
    let dates = of_range(&state, first, last)?;
    let mut backfill = Backfill {
        id: web.new_id(),
        of: state.of.clone(),
        first,
        last,
        parallelism,
        total: 0,
        created_by: caller.user.name.clone(),
        created_at: now,
        cancelled: None,
    };
    let after = json!({
        "pipeline": pipeline, "first": Time(first), "last": Time(last), "parallelism": parallelism,
        "again": new.again,
    });
    let entry = audit::entry(&web, &caller, "backfill.create", &backfill.id).project(&project).after(after);
    if dates.is_empty() {
        return Err(ApiError::field("/last", "the schedule has no date in this range: choose a longer one"));
    }
    backfill.total = web.store().create_backfill(&backfill, &dates, new.again, &entry).await?;
    web.schedules().wake();
    let counts = web.store().backfill_counts(&backfill.id).await?;
    let place = format!("/api/v1/projects/{project}/pipelines/{pipeline}/backfills/{}", backfill.id);
    let view = BackfillView::new(backfill, counts);
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(view)).into_response())
}
