//! `GET` and `POST /runs/{run}/resume-with`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::RunId;

use super::view::{ResumeQuery, ResumeWith, ResumeWithView, RunAgainView, StartedView};
use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path, Query};
use crate::part::Reason;
use crate::runs::resumed::{self, Resumable};
use crate::runs::{reader, wish};
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Predicts what resuming a run with another pipeline version would run, without starting it.
///
/// Tasks that succeeded and have not changed keep their results. Tasks that did not succeed, changed tasks, new tasks and all
/// tasks downstream of them run. A changed file counts only if the arguments of the task name it.
#[utoipa::path(
    get,
    path = "/runs/{run}/resume-with",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id."), ResumeQuery),
    responses(
        (status = 200, body = ResumeWithView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn foresee(
    State(web): State<Web>,
    caller: Caller,
    Path(run): Path<RunId>,
    Query(query): Query<ResumeQuery>,
) -> ApiResult<Json<ResumeWithView>> {
    let record = reader::record(&web, &run).await?;
    let found = resumed::foresee(&web, &caller, &record, query.version).await;
    Ok(Json(wish::explained(&web, &caller, found).await?.into()))
}

/// Resumes a run with another version of its pipeline, in a new run.
///
/// The new run has the same parameters. Tasks that succeeded and have not changed keep their results: their outputs and a copy
/// of the run's folder. All other tasks run as the version defines them.
#[utoipa::path(
    post,
    path = "/runs/{run}/resume-with",
    tag = "runs",
    params(("run" = String, Path, description = "The run's id.")),
    request_body = ResumeWith,
    responses(
        (status = 201, body = StartedView, headers(("Location" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn resume_with(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(run): Path<RunId>,
    Json(body): Json<ResumeWith>,
) -> ApiResult<Response> {
    let started = resumed::start(&web, &caller, &reader::record(&web, &run).await?, body.version).await?;
    let place = format!("/api/v1/runs/{}", started.record.id);
    let view = StartedView {
        run: told(lang, reader::shown(&web, &started.record).await?),
        warnings: started.warnings.iter().map(|one| ProblemView::told(one, lang)).collect(),
    };
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(view)).into_response())
}

impl From<Resumable> for ResumeWithView {
    fn from(found: Resumable) -> Self {
        Self {
            version: found.version,
            kept: found.rest.kept().map(str::to_owned).collect(),
            again: found.rest.again().map(again).collect(),
        }
    }
}

fn again((task, reason): (&str, &Reason)) -> RunAgainView {
    let (reason, changed) = match reason {
        Reason::New => ("new", &[][..]),
        Reason::Changed(what) => ("changed", what.as_slice()),
        Reason::Unfinished => ("unfinished", &[][..]),
        Reason::Upstream => ("upstream", &[][..]),
    };
    RunAgainView { task: task.to_owned(), reason: reason.to_owned(), changed: changed.to_vec() }
}
