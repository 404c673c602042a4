//! Configuration of the Kubernetes executor.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::identity::Keeps;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::usage::{CardTime, PodUse, WorkerLines};
use cubeloom_domain::vault::Vault;
use cubeloom_files::own;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access::Access;

/// Owner of a project's files, as uid and gid, where the server has assigned one.
#[derive(Clone)]
pub struct Owners(pub Arc<OwnerOf>);

pub type OwnerOf = dyn Fn(&str) -> Option<u32> + Send + Sync;

impl Default for Owners {
    /// No project has an assigned owner.
    fn default() -> Self {
        Self(Arc::new(|_| None))
    }
}

impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owners")
    }
}

/// An external meter of jobs' GPUs: the executor cannot measure GPUs of nodes itself.
#[derive(Clone)]
pub struct CardMeter {
    /// GPU busy time.
    pub worked: Arc<CardsWorked>,
    /// GPU metrics over time.
    pub lines: Arc<CardLines>,
}

/// GPU busy time of the job with this object name, between two moments; `None` if not measured.
pub type CardsWorked =
    dyn Fn(String, (Timestamp, Timestamp)) -> BoxFuture<'static, Option<CardTime>> + Send + Sync;

/// An external meter of jobs' pods, for clusters without a metrics API.
#[derive(Clone)]
pub struct PodMeter(pub Arc<PodsUsed>);

/// Usage of each container in the pods of the job with this object name, between two moments; empty if not
/// measured.
pub type PodsUsed = dyn Fn(String, (Timestamp, Timestamp)) -> BoxFuture<'static, Vec<PodUse>> + Send + Sync;

impl fmt::Debug for PodMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PodMeter")
    }
}
/// GPU metrics of the workers of the job with this object name, between two moments. Workers without metrics
/// are absent; an error says why none are known.
pub type CardLines = dyn Fn(String, (Timestamp, Timestamp)) -> BoxFuture<'static, Result<Vec<WorkerLines>, String>>
    + Send
    + Sync;

impl fmt::Debug for CardMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CardMeter")
    }
}

#[derive(Clone, Debug)]
pub struct KubernetesConfig {
    pub name: String,
    pub access: Access,
    /// The configured facts; detected ones (kinds, GPUs) are added. `{project}` in them is replaced by the
    /// project's name.
    pub facts: KubernetesFacts,
    /// The server's data folder, absolute; it contains the logs.
    pub data: PathBuf,
    /// The projects' workspaces as mounted on this server, one folder per project: the same files as in the
    /// claims.
    pub workspace: PathBuf,
    /// Copies of pipelines' folders, one per digest.
    pub code: PathBuf,
    /// Owners of projects' files: workers run as them, else as the facts say.
    pub owners: Owners,
    /// Secrets of projects and users.
    pub vault: Option<Arc<dyn Vault>>,
    /// GPU meter, if configured.
    pub cards: Option<CardMeter>,
    /// Pod meter for clusters without a metrics API, if configured.
    pub pods: Option<PodMeter>,
    /// TTL of ended jobs' manifests, unless the project has its own.
    pub keep: Duration,
    /// Retention settings of projects.
    pub keeps: Option<Arc<dyn Keeps>>,
    /// Pending timeout: how long a pod may wait for something that does not resolve itself (an image, a
    /// volume, a Secret).
    pub patience: Duration,
}

impl KubernetesConfig {
    /// The uid and gid of a project's workers.
    #[must_use]
    pub fn uid(&self, project: &str) -> u32 {
        (self.owners.0)(project).unwrap_or(self.facts.uid)
    }

    fn file(&self, what: &str) -> PathBuf {
        self.data.join("clusters").join(format!("{}.{what}.json", self.name))
    }

    /// Saves cluster state for the next server. A write error is only logged.
    pub(crate) fn keep(&self, what: &str, known: &impl Serialize) {
        let file = self.file(what);
        let written = serde_json::to_vec(known).map_err(io::Error::other).and_then(|text| {
            own::create_dir_all(file.parent().unwrap_or(&file))?;
            let aside = file.with_extension("part");
            own::write(&aside, text)?;
            own::rename(aside, &file)
        });
        if let Err(error) = written {
            tracing::warn!(cluster = self.name, what, %error, "the state of a cluster cannot be saved");
        }
    }

    /// Loads the state that an earlier server saved; the default if there is none.
    #[must_use]
    pub(crate) fn kept<T: DeserializeOwned + Default>(&self, what: &str) -> T {
        let text = own::read(self.file(what)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}
