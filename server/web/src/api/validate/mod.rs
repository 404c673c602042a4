//! `POST /projects/{project}/validate`

use axum::extract::State;
use cubeloom_domain::Severity;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

use crate::auth::Caller;
use crate::error::{ApiResult, ProblemDocument, ProblemView};
use crate::extract::{Json, Path};
use crate::plan;
use crate::routes::routes;
use crate::state::Web;
use crate::texts::Lang;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(validate))
}

/// A document.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentToCheck {
    /// Document text, YAML or JSON.
    pub document: String,
}

/// Validation result of a document.
#[derive(Debug, Serialize, ToSchema)]
pub struct CheckedView {
    /// Whether the pipeline could run here, given values for parameters without a default.
    pub valid: bool,
    /// All errors and warnings, in document order.
    pub problems: Vec<ProblemView>,
    /// Pipeline name. Omitted if the document structure is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Pipeline parameters. Omitted if the document structure is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub parameters: Option<Value>,
    /// Tasks and their dependencies. Omitted if the document structure is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<CheckedTask>>,
}

/// A task of a validated document.
#[derive(Debug, Serialize, ToSchema)]
pub struct CheckedTask {
    /// Name.
    pub name: String,
    /// Template, as named in the document.
    pub template: String,
    /// Tasks that it depends on.
    pub needs: Vec<String>,
    /// Description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it runs once for each of several items.
    pub for_each: bool,
}

/// Validates a document without storing it.
#[utoipa::path(
    post,
    path = "/projects/{project}/validate",
    tag = "pipelines",
    params(("project" = String, Path)),
    request_body = DocumentToCheck,
    responses(
        (status = 200, body = CheckedView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
async fn validate(
    State(web): State<Web>,
    caller: Caller,
    lang: Lang,
    Path(project): Path<String>,
    Json(sent): Json<DocumentToCheck>,
) -> ApiResult<Json<CheckedView>> {
    Ok(Json(checked(&web, &project, &caller.acting(), sent.document, lang).await?))
}

/// Validates a document.
pub(crate) async fn checked(
    web: &Web,
    project: &str,
    user: &str,
    document: String,
    lang: Lang,
) -> ApiResult<CheckedView> {
    let (_, problems) = plan::check(web.planner(), project, user, document.clone()).await?;
    let form = plan::parse(document).await?.ok().map(|document| document.pipeline);
    let valid = form.is_some() && problems.iter().all(|problem| problem.severity < Severity::Error);
    let tasks = form.as_ref().map(|pipeline| pipeline.tasks.iter().map(task).collect());
    Ok(CheckedView {
        valid,
        problems: problems.iter().map(|one| ProblemView::told(one, lang)).collect(),
        parameters: form.as_ref().map(|pipeline| json!(pipeline.parameters)),
        name: form.map(|pipeline| pipeline.name),
        tasks,
    })
}

fn task(task: &cubeloom_domain::pipeline::Task) -> CheckedTask {
    CheckedTask {
        name: task.name.clone(),
        template: task.template.clone(),
        needs: task.needs.clone(),
        description: task.description.clone(),
        for_each: task.for_each.is_some(),
    }
}
