//! `POST /projects/{project}/forecast`

pub(crate) mod view;

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::auth::Caller;
use crate::check;
use crate::code;
use crate::error::{ApiError, ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::forecast::before;
use crate::plan::Order;
use crate::runs::start::{Source, read};
use crate::runs::wish::explained;
use crate::state::Web;
use crate::texts::Lang;
use crate::time::Time;
use crate::told::told;

use view::{ForecastView, ToForecast};

/// The endpoint.
pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(forecast))
}

/// Says what would become of a run if it were started now, without starting it: of each task whether it starts at once,
/// waits (for what, who holds it, and when it may start) or can never start, and how long it took before. Of a document with
/// mistakes it says these.
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
    let (source, parameters) = source(&web, &project, sent)?;
    let (text, code, _) = read(web.planner(), &project, source).await?;
    let user = caller.acting();
    let order = Order { project, user, parameters, code, id: None, above: Vec::new(), date: None };
    let found = before::forecast(&web, &caller, text, order).await;
    match explained(&web, &caller, found).await {
        // As with a check, what is wrong with what is looked at is no fault of the question.
        Err(error) if !error.problems().is_empty() => {
            let problems = error.problems().iter().map(|one| ProblemView::told(one, lang)).collect();
            Ok(Json(ForecastView { at: Time(web.now()), cluster: None, tasks: Vec::new(), problems }))
        }
        found => Ok(Json(told(lang, found?))),
    }
}

/// What is to be looked at: a document, or a stored pipeline.
fn source(web: &Web, project: &str, sent: ToForecast) -> ApiResult<(Source, cubeloom_domain::JsonMap)> {
    let ToForecast { document, code, pipeline, version, parameters } = sent;
    let source = match (document, pipeline) {
        (Some(text), None) => {
            let mut found = check::Found::default();
            if let Some(digest) = code.as_ref().filter(|digest| !code::has(web.folders(), project, digest)) {
                let message =
                    format!("the project has no folder `{digest}`: upload it with PUT .../code first");
                found.wrong("/code", message);
            }
            found.refuse()?;
            Source::Document { text, code }
        }
        (None, Some(pipeline)) => Source::Stored { pipeline, version },
        _ => return Err(ApiError::field("/document", "send a document, or name a stored pipeline")),
    };
    Ok((source, parameters))
}
