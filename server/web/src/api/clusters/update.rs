//! `PUT /clusters/{cluster}`

use axum::extract::State;
use cubeloom_domain::clusters::ClusterRecord;

use super::settings::{AddedClusterView, ClusterChange, audited};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::clusters::added;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::state::Web;

/// Changes what is said of a cluster that was added. Jobs that run there go on as they were submitted.
#[utoipa::path(
    put,
    path = "/clusters/{cluster}",
    tag = "clusters",
    params(("cluster" = String, Path), ("If-Match" = String, Header)),
    request_body = ClusterChange,
    responses((status = 200, body = AddedClusterView, headers(("ETag" = String))))
)]
pub(crate) async fn update(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
    IfMatch(expected): IfMatch,
    Json(ClusterChange { kubeconfig, settings: body }): Json<ClusterChange>,
) -> ApiResult<Tagged<AddedClusterView>> {
    let before = web.store().cluster(&name).await?;
    let before = before.ok_or_else(|| ApiError::not_found("cluster", &name))?;
    let mut found = Found::default();
    body.check(&mut found);
    let (sealed, kubeconfig) = match kubeconfig {
        Some(text) => (Some(added::seal(&web, &name, &text)), Some(text)),
        None => (before.sealed.clone(), added::kubeconfig(&web, &before)?),
    };
    let mut record = ClusterRecord {
        description: body.description.clone(),
        settings: body.settings(),
        sealed,
        ..before.clone()
    };
    let executor = added::check(&web, &record, kubeconfig, found)?;
    let entry = audit::entry(&web, &caller, "cluster.update", &name);
    let entry = entry.before(audited(&before)).after(audited(&record));
    let done = web.store().update_cluster(&record, expected, &entry).await?;
    record.revision = changed(done, "cluster", &name)?;
    web.clusters().put(name, executor);
    web.wake();
    Ok(Tagged(record.revision, record.into()))
}
