//! `GET /schemas/{schema}`

use axum::extract::State;
use cubeloom_compiler::{newest_template, schema};
use serde_json::{Map, Value, json};
use utoipa_axum::router::OpenApiRouter;

use crate::api::templates::TemplateRoleView;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::routes::routes;
use crate::state::Web;

pub(super) fn routes() -> OpenApiRouter<Web> {
    OpenApiRouter::new().routes(routes!(get))
}

/// Gets a JSON Schema for completion and validation in editors.
///
/// The schemas are `pipeline` (documents), `template` (`template.yaml`) and `arguments`. `arguments` is an object
/// with the schema of each installed template's arguments, keyed by template name.
#[utoipa::path(
    get,
    path = "/schemas/{schema}",
    tag = "templates",
    params(("schema" = String, Path, description = "`pipeline`, `template` or `arguments`")),
    responses(
        (status = 200, body = Object),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
async fn get(State(web): State<Web>, Path(name): Path<String>) -> ApiResult<Json<Value>> {
    match name.as_str() {
        "pipeline" => Ok(Json(schema::pipeline())),
        "template" => Ok(Json(schema::template())),
        "arguments" => Ok(Json(arguments(&web))),
        other => Err(ApiError::not_found("schema", other)),
    }
}

fn arguments(web: &Web) -> Value {
    let mut all = Map::new();
    for versions in web.templates().values() {
        let Some(installed) = newest_template(versions) else { continue };
        let template = &installed.template;
        let about = json!({
            "version": template.version,
            "label": template.label,
            "help": template.help,
            "framework": template.framework,
            "parameters": template.parameters,
            "outputs": template.outputs,
            "group": template.group,
            "versions": versions.values().map(|one| &one.template.version).collect::<Vec<_>>(),
            "roles": template.roles.iter().map(TemplateRoleView::from).collect::<Vec<_>>(),
        });
        all.insert(template.name.clone(), about);
    }
    Value::Object(all)
}
