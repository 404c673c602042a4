//! `PUT` and `DELETE /projects/{project}/models/{model}/aliases/{alias}`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::model::{NO_ALIAS, is_alias};
use cubeloom_store::VersionChange;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::ModelView;
use super::get::model;
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Target of an alias.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AliasBody {
    /// Version.
    pub version: u32,
}

/// Points an alias to a version.
///
/// Runs that started before keep the version that it pointed to then.
#[utoipa::path(
    put,
    path = "/projects/{project}/models/{model}/aliases/{alias}",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path), ("alias" = String, Path)),
    request_body = AliasBody,
    responses(
        (status = 200, body = ModelView),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn put_alias(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name, alias)): Path<(String, String, String)>,
    Json(AliasBody { version }): Json<AliasBody>,
) -> ApiResult<Json<ModelView>> {
    if !is_alias(&alias) {
        return Err(ApiError::field("/alias", NO_ALIAS));
    }
    let before = model(&web, &project, &name).await?.aliases.get(&alias).copied();
    let entry = audit::entry(&web, &caller, "model.alias", format!("{name}@{alias}"));
    let entry = entry.before(json!({"version": before})).after(json!({"version": version}));
    match web.store().set_alias((&project, &name), &alias, Some(version), &entry).await? {
        VersionChange::Done(_) => Ok(Json(model(&web, &project, &name).await?)),
        VersionChange::NoModel => Err(ApiError::not_found("model", &name)),
        VersionChange::NoVersion | VersionChange::HasAlias => {
            Err(ApiError::field("/version", format!("the model `{name}` has no version {version}")))
        }
    }
}

/// Removes an alias.
#[utoipa::path(
    delete,
    path = "/projects/{project}/models/{model}/aliases/{alias}",
    tag = "models",
    params(("project" = String, Path), ("model" = String, Path), ("alias" = String, Path)),
    responses(
        (status = 204),
        (status = 404, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn delete_alias(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name, alias)): Path<(String, String, String)>,
) -> ApiResult<StatusCode> {
    let before = model(&web, &project, &name).await?.aliases.get(&alias).copied();
    let entry = audit::entry(&web, &caller, "model.alias.delete", format!("{name}@{alias}"));
    let entry = entry.before(json!({"version": before}));
    match web.store().set_alias((&project, &name), &alias, None, &entry).await? {
        VersionChange::Done(_) => Ok(StatusCode::NO_CONTENT),
        VersionChange::NoModel => Err(ApiError::not_found("model", &name)),
        VersionChange::NoVersion | VersionChange::HasAlias => Err(ApiError::not_found("alias", &alias)),
    }
}
