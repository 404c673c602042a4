//! `POST /clusters`

use axum::extract::State;
use axum::http::StatusCode;
use cubeloom_domain::clusters::{ClusterRecord, LOCAL};
use cubeloom_store::Created;

use super::settings::{AddedClusterView, NewCluster, audited};
use crate::audit;
use crate::auth::Caller;
use crate::check::Found;
use crate::clusters::added;
use crate::error::{ApiError, ApiResult, ProblemDocument};
use crate::etag::Tagged;
use crate::extract::Json;
use crate::monitoring;
use crate::state::Web;

/// Adds a Kubernetes cluster.
///
/// The cluster itself is not contacted yet. Its Prometheus is contacted, if one is configured. Use the check
/// operation to see whether the cluster responds and which components are missing.
#[utoipa::path(
    post,
    path = "/clusters",
    tag = "clusters",
    request_body = NewCluster,
    responses(
        (status = 201, body = AddedClusterView, headers(("ETag" = String))),
        (status = 409, body = ProblemDocument, content_type = "application/problem+json")
    )
)]
pub(crate) async fn create(
    State(web): State<Web>,
    caller: Caller,
    Json(new): Json<NewCluster>,
) -> ApiResult<(StatusCode, Tagged<AddedClusterView>)> {
    let mut found = Found::default();
    found.name("/name", &new.name, 63);
    new.settings.check(&mut found);
    if new.name == LOCAL {
        found.wrong("/name", format!("`{LOCAL}` is the server's own machine: choose another name"));
    }
    let kubeconfig = new.kubeconfig.as_deref();
    let record = ClusterRecord {
        sealed: kubeconfig.map(|text| added::seal(&web, &new.name, text)),
        sealed_prometheus: added::seal_prometheus(&web, &new.name, new.prometheus_secret.as_deref()),
        settings: new.settings.settings(),
        description: new.settings.description.clone(),
        name: new.name,
        created_at: web.now(),
        revision: 1,
    };
    let executor = added::check(&web, &record, kubeconfig.map(ToOwned::to_owned), found)?;
    let entry = audit::entry(&web, &caller, "cluster.create", &record.name).after(audited(&record));
    match web.store().create_cluster(&record, &entry).await? {
        Created::Yes => {
            web.clusters().put(record.name.clone(), executor);
            web.wake();
            monitoring::look_at_changed(&web, record.clone());
            Ok((StatusCode::CREATED, Tagged(1, record.into())))
        }
        Created::Exists => Err(ApiError::conflict(format!(
            "the cluster `{}` already exists: choose another name",
            record.name
        ))),
    }
}
