//! Clusters that were added by administrators: their kubeconfigs, Prometheus credentials, and validation.

use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::belongings::Owner;
use cubeloom_domain::clusters::{AccessKind, ClusterRecord};
use cubeloom_domain::executor::Executor;
use cubeloom_domain::usage::{CardTime, PodUse, WorkerLines};
use cubeloom_monitoring::{Prometheus, exporters};
use cubeloom_store::Store;

use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::secrets::{Keyring, SealError};
use crate::state::Web;

/// Name under which a kubeconfig is encrypted.
pub(crate) const NAME: &str = "kubeconfig";
/// Name under which a Prometheus password or token is encrypted.
pub(crate) const PROMETHEUS: &str = "prometheus";

pub(crate) fn seal(web: &Web, cluster: &str, text: &str) -> String {
    web.keys().sealing.seal(web.random(), &Owner::Cluster(cluster.into()), NAME, text)
}

/// Encrypts the credential of a cluster's Prometheus. `None` without one.
pub(crate) fn seal_prometheus(web: &Web, cluster: &str, secret: Option<&str>) -> Option<String> {
    let secret = secret.map(str::trim).filter(|secret| !secret.is_empty())?;
    let owner = Owner::Cluster(cluster.into());
    Some(web.keys().sealing.seal(web.random(), &owner, PROMETHEUS, secret))
}

/// Exporters with series in a cluster's Prometheus, as text.
///
/// # Errors
/// A message: no Prometheus is configured, or it does not respond as expected.
pub async fn measured(keys: &Keyring, record: &ClusterRecord) -> Result<String, String> {
    let source = prometheus(keys, record)?;
    let source = source.ok_or("no Prometheus is configured: there are no metrics of its nodes and GPUs")?;
    let found = exporters(&source).await.map_err(|error| error.to_string())?;
    let names = found.iter().filter(|(_, series)| *series > 0).map(|(exporter, _)| exporter.name);
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => {
            Err(format!("{} answers, but has no series of this cluster: check the labels", source.address()))
        }
        names => Ok(format!("{} has series of {}", source.address(), names.join(", "))),
    }
}

/// Busy time of the GPUs of a job in a period, in GPU microseconds, from the cluster's Prometheus. `object`
/// names the job's objects. `None` without metrics.
pub async fn cards_worked(
    store: &Store,
    keys: &Keyring,
    cluster: &str,
    object: &str,
    (from, to): (Timestamp, Timestamp),
) -> Option<CardTime> {
    let record = store.cluster(cluster).await.ok()??;
    let source = prometheus(keys, &record).ok()??;
    match cubeloom_monitoring::cards_worked(&source, object, from, to).await {
        Ok(worked) => worked,
        Err(error) => {
            tracing::warn!(cluster, object, %error, "cannot read the GPU usage of a job");
            None
        }
    }
}

/// Usage of the pods of a job in a period, from the cluster's Prometheus. `object` names the job's objects.
/// Empty without metrics.
pub async fn pods_used(
    store: &Store,
    keys: &Keyring,
    cluster: &str,
    object: &str,
    (from, to): (Timestamp, Timestamp),
) -> Vec<PodUse> {
    let Ok(Some(record)) = store.cluster(cluster).await else { return Vec::new() };
    let Ok(Some(source)) = prometheus(keys, &record) else { return Vec::new() };
    cubeloom_monitoring::pods_used(&source, object, from, to).await.unwrap_or_else(|error| {
        tracing::warn!(cluster, object, %error, "cannot read the usage of a job's pods");
        Vec::new()
    })
}

/// GPU metrics of such a job over a period. Empty without metrics.
///
/// # Errors
/// A message: the database or Prometheus does not respond as expected.
pub async fn cards_over_time(
    store: &Store,
    keys: &Keyring,
    cluster: &str,
    object: &str,
    (from, to): (Timestamp, Timestamp),
) -> Result<Vec<WorkerLines>, String> {
    let Some(record) = store.cluster(cluster).await.map_err(|error| error.to_string())? else {
        return Ok(Vec::new());
    };
    let Some(source) = prometheus(keys, &record)? else { return Ok(Vec::new()) };
    let found = cubeloom_monitoring::cards_over_time(&source, object, from, to).await;
    found.map_err(|error| error.to_string())
}

/// The Prometheus of a cluster. `None` if none is configured.
///
/// # Errors
/// A message: its credential cannot be decrypted, or its address is invalid.
pub(crate) fn prometheus(keys: &Keyring, record: &ClusterRecord) -> Result<Option<Prometheus>, String> {
    let owner = Owner::Cluster(record.name.clone());
    let sealed = record.sealed_prometheus.as_deref();
    let secret = sealed.map(|sealed| keys.open(&owner, PROMETHEUS, sealed)).transpose();
    let secret = secret.map_err(|error| {
        format!("the password or token for the Prometheus of `{}` cannot be read: {error}", record.name)
    })?;
    Prometheus::of(&record.settings.monitoring, secret).map_err(|error| error.to_string())
}

/// Decrypts a cluster's kubeconfig.
///
/// # Errors
/// It cannot be decrypted.
pub fn open(keys: &Keyring, record: &ClusterRecord) -> Result<Option<String>, SealError> {
    let owner = Owner::Cluster(record.name.clone());
    record.sealed.as_deref().map(|sealed| keys.open(&owner, NAME, sealed)).transpose()
}

/// Decrypts the kubeconfig stored with a cluster.
///
/// # Errors
/// It cannot be decrypted with this server's keys.
pub(crate) fn kubeconfig(web: &Web, record: &ClusterRecord) -> ApiResult<Option<String>> {
    open(&web.keys().sealing, record).map_err(|error| {
        ApiError::unavailable(format!("the kubeconfig of `{}` cannot be read: {error}", record.name))
    })
}

/// Creates the cluster's executor if the record is valid.
///
/// # Errors
/// All problems of the record.
pub(crate) fn check(
    web: &Web,
    record: &ClusterRecord,
    kubeconfig: Option<String>,
    mut found: Found,
) -> ApiResult<Arc<dyn Executor>> {
    let named = kubeconfig.as_deref().is_some_and(|text| !text.trim().is_empty());
    let made = match (record.settings.access, named) {
        (AccessKind::Kubeconfig, false) => Err(("/kubeconfig", "paste a kubeconfig".to_owned())),
        (AccessKind::Slurm, true) => {
            Err(("/kubeconfig", "a Slurm cluster has no kubeconfig: remove it".to_owned()))
        }
        (AccessKind::InCluster, true) => {
            let message = "the server uses its own service account: remove the kubeconfig";
            Err(("/kubeconfig", message.to_owned()))
        }
        _ => web
            .make_cluster(&record.name, &record.settings, kubeconfig)
            .map_err(|fault| (fault.field, fault.message)),
    };
    match made {
        Ok(executor) => found.refuse().map(|()| executor),
        Err((field, message)) => {
            found.wrong(field, message);
            Err(found.refusal())
        }
    }
}
