//! `POST /clusters/{cluster}/give-up`

use axum::extract::State;
use cubeloom_domain::clusters::Standing;

use super::settings::{AddedClusterView, audited};
use crate::audit;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::{Tagged, changed};
use crate::extract::Path;
use crate::state::Web;

/// Gives up a cluster that was added and will not come back.
///
/// Its attempts end as lost, and their runs end. Then the cluster can be deleted. A cluster that responds cannot be decommissioned. Updating
/// its settings takes the cluster into use again.
#[utoipa::path(
    post,
    path = "/clusters/{cluster}/give-up",
    tag = "clusters",
    params(("cluster" = String, Path)),
    responses(
        (status = 200, body = AddedClusterView, headers(("ETag" = String))),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn give_up(
    State(web): State<Web>,
    caller: Caller,
    Path(name): Path<String>,
) -> ApiResult<Tagged<AddedClusterView>> {
    let before = web.store().cluster(&name).await?;
    let before = before.ok_or_else(|| ApiError::not_found("cluster", &name))?;
    let standing = web.clusters().get(&name).map(|executor| executor.standing());
    if matches!(standing, Some(Standing::Connected)) {
        let message = format!("`{name}` responds: cancel the runs that use it instead");
        return Err(ApiError::conflict(message));
    }
    let mut record = before.clone();
    record.settings.given_up_at.get_or_insert(web.now());
    // Without the kubeconfig: it may be encrypted with a key that is lost, too.
    let executor = web.make_cluster(&record.name, &record.settings, None);
    let executor = executor.map_err(|fault| ApiError::conflict(fault.message))?;
    let entry = audit::entry(&web, &caller, "cluster.give_up", &name);
    let entry = entry.before(audited(&before)).after(audited(&record));
    let done = web.store().update_cluster(&record, Some(before.revision), &entry).await?;
    record.revision = changed(done, "cluster", &name)?;
    web.clusters().put(name, executor);
    web.wake();
    Ok(Tagged(record.revision, record.into()))
}
