//! `GET /runs/{run}/compare`

use axum::extract::State;
use cubeloom_domain::RunId;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::ComparisonView;
use crate::auth::{self, Caller};
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path, Query};
use crate::runs::{Reader, difference};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// The other run.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WithQuery {
    /// ID of the other run.
    pub with: String,
}

/// Compares two runs: parameters, structure, times, usage, outputs and metrics.
#[utoipa::path(
    get,
    path = "/runs/{run}/compare",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id."), WithQuery),
    responses(
        (status = 200, body = ComparisonView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn compare(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
    Query(query): Query<WithQuery>,
) -> ApiResult<Json<ComparisonView>> {
    let missing = || ApiError::not_found("run", &query.with);
    let other: RunId = query.with.parse().map_err(|_| missing())?;
    let project = auth::project_of_run(&web, &other).await?.ok_or_else(missing)?;
    // The guard has only checked the run in the path.
    auth::role_in(&web, &caller, &project).await?.ok_or_else(missing)?;
    let left = Reader::open(&web, &run).await?;
    let right = Reader::open(&web, &other).await?;
    Ok(Json(told(lang, difference::compare(&web, &left, &right).await?)))
}
