//! `POST /projects/{project}/forecast`, and the same for each possible target cluster.

pub(crate) mod places;
pub(crate) mod view;

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::forecast::before;
use crate::plan::Order;
use crate::routes::routes;
use crate::runs::start::{Source, read};
use crate::runs::wish::explained;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::told;

use view::{ForecastView, ToForecast};

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(forecast)).routes(routes!(places::compare))
}

/// Predicts what would happen to a run if it were started now, without starting it.
///
/// For each task, returns whether it starts immediately, is pending, or can never start. For a pending task, returns
/// the reason, the blocking jobs and the estimated start. Also returns the duration of earlier attempts. For an
/// invalid document, returns its problems.
#[utoipa::path(
    post,
    path = "/projects/{project}/forecast",
    tag = "pipelines",
    params(("project" = String, Path)),
    request_body = ToForecast,
    responses(
        (status = 200, body = ForecastView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
async fn forecast(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(sent): Json<ToForecast>,
) -> ApiResult<Json<ForecastView>> {
    let (text, order) = order(&web, &caller, project, sent).await?;
    let found = before::forecast(&web, &caller, text, order).await;
    match explained(&web, &caller, found).await {
        // As in validation, problems of the document are not an error of the request.
        Err(error) if !error.problems().is_empty() => {
            let problems = error.problems().iter().map(|one| ProblemView::told(one, lang)).collect();
            Ok(Json(ForecastView { at: Time(web.now()), cluster: None, tasks: Vec::new(), problems }))
        }
        found => Ok(Json(told(lang, found?))),
    }
}

/// The document to forecast, sent or stored, and how it would run.
async fn order(web: &Web, caller: &Caller, project: String, sent: ToForecast) -> ApiResult<(String, Order)> {
    let source = match (sent.document, sent.pipeline) {
        (Some(text), None) => Source::Document { text, code: sent.code },
        (None, Some(pipeline)) => Source::Stored { pipeline, version: sent.version },
        _ => return Err(ApiError::field("/document", "send a document, or name a stored pipeline")),
    };
    let (text, code, _) = read(web.planner(), &project, source).await?;
    Ok((text, Order::looked_at(caller, project, sent.parameters, code)))
}
