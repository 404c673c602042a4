//! `PUT /clusters/{cluster}`

use axum::extract::State;
use cubeloom_domain::clusters::ClusterRecord;
use cubeloom_domain::monitoring::MonitoringSettings;

use super::settings::{AddedClusterView, ClusterChange, audited};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::clusters::added;
use crate::error::{ApiError, ApiResult};
use crate::etag::{IfMatch, Tagged, changed};
use crate::extract::{Json, Path};
use crate::monitoring;
use crate::state::Web;

/// Updates the settings of a cluster that was added.
///
/// Running jobs continue as they were submitted.
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
    Json(ClusterChange { kubeconfig, prometheus_secret, settings: body }): Json<ClusterChange>,
) -> ApiResult<Tagged<AddedClusterView>> {
    let before = web.store().cluster(&name).await?;
    let before = before.ok_or_else(|| ApiError::not_found("cluster", &name))?;
    let mut found = Found::default();
    body.check(&mut found);
    let (sealed, kubeconfig) = match kubeconfig {
        Some(text) => (Some(added::seal(&web, &name, &text)), Some(text)),
        None => (before.sealed.clone(), added::kubeconfig(&web, &before)?),
    };
    let settings = body.settings();
    let sealed_prometheus = match prometheus_secret {
        Some(secret) => added::seal_prometheus(&web, &name, Some(&secret)),
        None => kept(&before, &settings.monitoring, &mut found),
    };
    let mut record = ClusterRecord {
        description: body.description.clone(),
        settings,
        sealed,
        sealed_prometheus,
        ..before.clone()
    };
    let executor = added::check(&web, &record, kubeconfig, found)?;
    let entry = audit::entry(&web, &caller, "cluster.update", &name);
    let entry = entry.before(audited(&before)).after(audited(&record));
    let done = web.store().update_cluster(&record, expected, &entry).await?;
    record.revision = changed(done, "cluster", &name)?;
    web.clusters().put(name, executor);
    web.wake();
    monitoring::look_at_changed(&web, record.clone());
    Ok(Tagged(record.revision, record.into()))
}

/// The Prometheus credential is valid only for the address that it was given for. Otherwise, changing the
/// address would disclose it.
fn kept(before: &ClusterRecord, after: &MonitoringSettings, found: &mut Found) -> Option<String> {
    after.prometheus.as_ref()?;
    let sealed = before.sealed_prometheus.clone()?;
    let login = |monitoring: &MonitoringSettings| (monitoring.prometheus.clone(), monitoring.user.clone());
    if login(after) != login(&before.settings.monitoring) {
        found.wrong("/prometheus_secret", "enter it again: the stored one is for another address or user");
    }
    Some(sealed)
}
