//! Clusters that an administrator has added: their kubeconfigs, and whether they can be used as they are described.

use std::sync::Arc;

use cubeloom_domain::belongings::Owner;
use cubeloom_domain::clusters::{AccessKind, ClusterRecord};
use cubeloom_domain::executor::Executor;

use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::secrets::{Keyring, SealError};
use crate::state::Web;

/// What a kubeconfig is sealed as.
const NAME: &str = "kubeconfig";

/// A kubeconfig as it is stored.
pub(crate) fn seal(web: &Web, cluster: &str, text: &str) -> String {
    web.keys().sealing.seal(web.random(), &Owner::Cluster(cluster.into()), NAME, text)
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
