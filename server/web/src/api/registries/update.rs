//! `PUT /projects/{project}/registries/{registry}`

use axum::extract::State;
use cubeloom_domain::belongings::Registry;

use super::view::{RegistryChange, RegistryView, audited, check};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Updates the host, account and secret of a registry.
#[utoipa::path(
    put,
    path = "/projects/{project}/registries/{registry}",
    tag = "registries",
    params(("project" = String, Path), ("registry" = String, Path), ("If-Match" = String, Header)),
    request_body = RegistryChange,
    responses((status = 200, body = RegistryView, headers(("ETag" = String))))
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path((project, name)): Path<(String, String)>,
    IfMatch(expected): IfMatch,
    Json(change): Json<RegistryChange>,
) -> ApiResult<Tagged<RegistryView>> {
    let before = web.store().registry(&project, &name).await?;
    let before = before.ok_or_else(|| ApiError::not_found("registry", &name))?;
    let RegistryChange { host, user, secret } = change;
    let mut registry = Registry { host, user, secret, ..before.clone() };
    check(&web, &registry, Found::default()).await?;
    let entry = audit::entry(&web, &caller, "registry.update", &name);
    let entry = entry.before(audited(&before)).after(audited(&registry));
    let done = web.store().update_registry(&registry, expected, &entry).await?;
    registry.revision = changed(done, "registry", &name)?;
    Ok(Tagged(registry.revision, registry.into()))
}
