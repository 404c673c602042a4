//! Clusters that an administrator has added: their kubeconfigs, what their Prometheus wants to know, and whether they can be used as they are described.

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

/// What a kubeconfig is sealed as.
pub(crate) const NAME: &str = "kubeconfig";
/// What a password or a token for Prometheus is sealed as.
pub(crate) const PROMETHEUS: &str = "prometheus";

/// A kubeconfig as it is stored.
pub(crate) fn seal(web: &Web, cluster: &str, text: &str) -> String {
    web.keys().sealing.seal(web.random(), &Owner::Cluster(cluster.into()), NAME, text)
}

/// What a cluster's Prometheus wants, as it is stored; `None` where it is nothing.
pub(crate) fn seal_prometheus(web: &Web, cluster: &str, secret: Option<&str>) -> Option<String> {
    let secret = secret.map(str::trim).filter(|secret| !secret.is_empty())?;
    let owner = Owner::Cluster(cluster.into());
    Some(web.keys().sealing.seal(web.random(), &owner, PROMETHEUS, secret))
}

/// Which exporters' series a cluster's Prometheus has, in words.
///
/// # Errors
/// A sentence: nobody measures the cluster, or Prometheus does not answer as it should.
pub async fn measured(keys: &Keyring, record: &ClusterRecord) -> Result<String, String> {
    let source = prometheus(keys, record)?;
    let source = source.ok_or("no Prometheus is named: nobody measures what its nodes and GPUs do")?;
    let found = exporters(&source).await.map_err(|error| error.to_string())?;
    let names = found.iter().filter(|(_, series)| *series > 0).map(|(exporter, _)| exporter.name);
    let names: Vec<&str> = names.collect();
    match names.as_slice() {
        [] => Err(format!(
            "{} answers, but has no series of this cluster: look at the labels",
            source.address()
        )),
        names => Ok(format!("{} has series of {}", source.address(), names.join(", "))),
    }
}

/// For how long the cards of a job of a cluster, whose objects have this name, worked between two moments, in microseconds of one
/// card, as the cluster's Prometheus tells; `None` where nobody does.
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
            tracing::warn!(cluster, object, %error, "what a job's GPUs did is not known");
            None
        }
    }
}

/// What the pods of a job of a cluster, whose objects have this name, used between two moments, as the cluster's Prometheus tells;
/// nothing where nobody does.
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
        tracing::warn!(cluster, object, %error, "what a job's pods used is not known");
        Vec::new()
    })
}

/// What the cards of such a job did between two moments; nothing where nobody measures them.
///
/// # Errors
/// A sentence: the database or Prometheus does not answer as it should.
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

/// The Prometheus of a cluster; `None` where none is named.
///
/// # Errors
/// A sentence: what is kept for it does not open, or its address is none.
pub(crate) fn prometheus(keys: &Keyring, record: &ClusterRecord) -> Result<Option<Prometheus>, String> {
    let owner = Owner::Cluster(record.name.clone());
    let sealed = record.sealed_prometheus.as_deref();
    let secret = sealed.map(|sealed| keys.open(&owner, PROMETHEUS, sealed)).transpose();
    let secret = secret.map_err(|error| {
        format!("the password or token for the Prometheus of `{}` cannot be read: {error}", record.name)
    })?;
    Prometheus::of(&record.settings.monitoring, secret).map_err(|error| error.to_string())
}

/// The kubeconfig of a cluster.
///
/// # Errors
/// It does not open.
pub fn open(keys: &Keyring, record: &ClusterRecord) -> Result<Option<String>, SealError> {
    let owner = Owner::Cluster(record.name.clone());
    record.sealed.as_deref().map(|sealed| keys.open(&owner, NAME, sealed)).transpose()
}

/// The kubeconfig that is stored with a cluster.
///
/// # Errors
/// It does not open with this server's keys.
pub(crate) fn kubeconfig(web: &Web, record: &ClusterRecord) -> ApiResult<Option<String>> {
    open(&web.keys().sealing, record).map_err(|error| {
        ApiError::unavailable(format!("the kubeconfig of `{}` cannot be read: {error}", record.name))
    })
}

/// Its executor, when nothing is wrong with it.
///
/// # Errors
/// All mistakes.
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
            Err(("/kubeconfig", "a Slurm cluster has none: leave the kubeconfig out".to_owned()))
        }
        (AccessKind::InCluster, true) => {
            let message = "the server's own service account is used: leave the kubeconfig out";
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
