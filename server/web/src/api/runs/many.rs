//! `POST /projects/{project}/runs/cancel` and `.../rerun`: several runs at once, with a result for each.

use axum::extract::State;
use cubeloom_domain::RunId;
use cubeloom_domain::record::RunRecord;

use super::view::{ManyResults, ManyRuns, OneResult};
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, Kind, ProblemDocument};
use crate::extract::{Json, Path};
use crate::runs::wish;
use crate::state::Web;

/// Runs in one request.
const MOST: usize = 200;

/// Stops several runs of a project.
#[utoipa::path(
    post,
    path = "/projects/{project}/runs/cancel",
    tag = "runs",
    params(("project" = String, Path, description = "The project.")),
    request_body = ManyRuns,
    responses(
        (status = 200, body = ManyResults),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn cancel_many(
    State(web): State<Web>,
    caller: Caller,
    Path(project): Path<String>,
    Json(body): Json<ManyRuns>,
) -> ApiResult<Json<ManyResults>> {
    check(&body)?;
    let mut results = Vec::with_capacity(body.runs.len());
    for run in body.runs {
        let done = match find(&web, &project, &run).await {
            Ok(record) => wish::cancel(&web, &caller, &record).await.map(|()| None),
            Err(error) => Err(error),
        };
        results.push(result(run, done)?);
    }
    Ok(Json(ManyResults { results }))
}

/// Starts several runs of a project again, each with its version and parameters, as new runs.
#[utoipa::path(
    post,
    path = "/projects/{project}/runs/rerun",
    tag = "runs",
    params(("project" = String, Path, description = "The project.")),
    request_body = ManyRuns,
    responses(
        (status = 200, body = ManyResults),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn rerun_many(
    State(web): State<Web>,
    caller: Caller,
    Path(project): Path<String>,
    Json(body): Json<ManyRuns>,
) -> ApiResult<Json<ManyResults>> {
    check(&body)?;
    let mut results = Vec::with_capacity(body.runs.len());
    for run in body.runs {
        let done = match find(&web, &project, &run).await {
            Ok(record) => wish::again(&web, &caller, &record).await.map(|started| Some(started.record.id)),
            Err(error) => Err(error),
        };
        results.push(result(run, done)?);
    }
    Ok(Json(ManyResults { results }))
}

fn check(body: &ManyRuns) -> ApiResult<()> {
    match body.runs.len() {
        0 => Err(ApiError::field("/runs", "name at least one run")),
        count if count > MOST => Err(ApiError::field("/runs", format!("{count} runs: name at most {MOST}"))),
        _ => Ok(()),
    }
}

async fn find(web: &Web, project: &str, run: &str) -> ApiResult<RunRecord> {
    let missing = || ApiError::not_found("run", run);
    let id: RunId = run.parse().map_err(|_| missing())?;
    let record = web.store().run(&id).await?;
    record.filter(|record| record.project == project).ok_or_else(missing)
}

/// What came of one; a fault of the server's ends it all.
fn result(run: String, done: ApiResult<Option<RunId>>) -> ApiResult<OneResult> {
    match done {
        Ok(started) => {
            let started = started.map(|id| id.to_string());
            Ok(OneResult { run, ok: true, message: None, started })
        }
        Err(error) if matches!(error.kind(), Kind::Internal | Kind::Unavailable) => Err(error),
        Err(error) => {
            let message = Some(error.detail().to_owned());
            Ok(OneResult { run, ok: false, message, started: None })
        }
    }
}
