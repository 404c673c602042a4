//! `POST /projects/{project}/runs`

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cubeloom_domain::plan::Choice;
use cubeloom_domain::quota::{Pool, UnknownPool};
use cubeloom_domain::schedule::Cause;

use super::view::{PartOfRun, StartRun, StartedView};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::part::WantedPart;
use crate::runs::reader;
use crate::runs::start::{Source, Wanted, start as start_run};
use crate::runs::wish::explained;
use crate::state::Web;
use crate::texts::Lang;
use crate::told::told;

/// Starts a run of a stored pipeline or of a document in the request.
#[utoipa::path(
    post,
    path = "/projects/{project}/runs",
    tag = "runs",
    params(("project" = String, Path, description = "The project.")),
    request_body = StartRun,
    responses(
        (status = 201, body = StartedView, headers(("Location" = String))),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn start(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(body): Json<StartRun>,
) -> ApiResult<Response> {
    let parameters = body.parameters.clone();
    let (user, acting) = (caller.user.name.clone(), caller.acting());
    let part = part(body.tasks.as_ref())?;
    let place = place(&body)?;
    let (source, cause) = (source(body)?, Cause::default());
    let wanted = Wanted { project, user, acting, source, parameters, part, place, origin: None, cause };
    let entry = audit::entry(&web, &caller, "run.start", "").clone();
    let started = explained(&web, &caller, start_run(&web, wanted, entry).await).await?;
    let place = format!("/api/v1/runs/{}", started.record.id);
    let view = StartedView {
        run: told(lang, reader::shown(&web, &started.record).await?),
        warnings: started.warnings.iter().map(|one| ProblemView::told(one, lang)).collect(),
    };
    Ok((StatusCode::CREATED, [(header::LOCATION, place)], Json(view)).into_response())
}

/// The requested part, if not all tasks.
fn part(tasks: Option<&PartOfRun>) -> ApiResult<Option<WantedPart>> {
    let Some(tasks) = tasks else { return Ok(None) };
    let choice = match (&tasks.only, &tasks.from) {
        (Some(task), None) => Choice::Only(task.clone()),
        (None, Some(task)) => Choice::From(task.clone()),
        (Some(_), Some(_)) => {
            return Err(ApiError::field("/tasks/from", "send `only` or `from`, not both"));
        }
        (None, None) => return Err(ApiError::field("/tasks", "name a task in `only` or `from`")),
    };
    let of = tasks.of.as_deref().map(|run| {
        run.parse().map_err(|_| ApiError::field("/tasks/of", format!("`{run}` is not the id of a run")))
    });
    Ok(Some(WantedPart { choice: Some(choice), of: of.transpose()? }))
}

/// The requested target cluster, if any. A part runs on the pipeline's target, where the reused results are.
fn place(body: &StartRun) -> ApiResult<Option<Pool>> {
    let Some(place) = &body.place else { return Ok(None) };
    if body.tasks.is_some() {
        let message =
            "a partial run uses the placement of the whole pipeline: remove this field, or run all tasks";
        return Err(ApiError::field("/place", message));
    }
    place.parse().map(Some).map_err(|unknown: UnknownPool| ApiError::field("/place", unknown.to_string()))
}

/// The pipeline or the document. Both together are invalid.
fn source(body: StartRun) -> ApiResult<Source> {
    match (body.pipeline, body.document) {
        (Some(pipeline), None) if body.code.is_none() => {
            Ok(Source::Stored { pipeline, version: body.version })
        }
        (Some(_), None) => {
            Err(ApiError::field("/code", "a stored pipeline has its own code: remove this field"))
        }
        (None, Some(_)) if body.version.is_some() => Err(ApiError::field(
            "/version",
            "a document has no version: remove this field, or name a pipeline",
        )),
        (None, Some(text)) => Ok(Source::Document { text, code: body.code }),
        (Some(_), Some(_)) => {
            Err(ApiError::field("/document", "send the name of a pipeline or a document, not both"))
        }
        (None, None) => Err(ApiError::field("/pipeline", "send the name of a pipeline, or a document")),
    }
}
