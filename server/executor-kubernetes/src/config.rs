//! What the executor for a Kubernetes cluster is told.

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

/// Whose a project's files are, where the server has given them an owner of their own: the uid, and the gid.
#[derive(Clone)]
pub struct Owners(pub Arc<OwnerOf>);

/// The owner of a project's files.
pub type OwnerOf = dyn Fn(&str) -> Option<u32> + Send + Sync;

impl Default for Owners {
    /// Nobody's in particular.
    fn default() -> Self {
        Self(Arc::new(|_| None))
    }
}

impl fmt::Debug for Owners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Owners")
    }
}

/// What somebody else measures of a job's cards: the executor sees no cards of nodes.
#[derive(Clone)]
pub struct CardMeter {
    /// For how long they worked.
    pub worked: Arc<CardsWorked>,
    /// What they did, over time.
    pub lines: Arc<CardLines>,
}

/// For how long the cards of the job whose objects have a name worked between two moments; `None` where nobody measured it.
pub type CardsWorked =
    dyn Fn(String, (Timestamp, Timestamp)) -> BoxFuture<'static, Option<CardTime>> + Send + Sync;

/// What somebody else measures of a job's pods: not every cluster has an API for it.
#[derive(Clone)]
pub struct PodMeter(pub Arc<PodsUsed>);

/// What each container of the pods of the job whose objects have a name used between two moments; none where nobody measured it.
pub type PodsUsed = dyn Fn(String, (Timestamp, Timestamp)) -> BoxFuture<'static, Vec<PodUse>> + Send + Sync;

impl fmt::Debug for PodMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PodMeter")
    }
}
/// What the cards of the workers of the job whose objects have a name did between two moments; nothing of those of which nobody
/// tells, or a sentence why that is not known.
pub type CardLines = dyn Fn(String, (Timestamp, Timestamp)) -> BoxFuture<'static, Result<Vec<WorkerLines>, String>>
    + Send
    + Sync;

impl fmt::Debug for CardMeter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CardMeter")
    }
}

/// The settings of [`crate::KubernetesExecutor`].
#[derive(Clone, Debug)]
pub struct KubernetesConfig {
    /// The cluster's name.
    pub name: String,
    /// Access method.
    pub access: Access,
    /// What is configured of it; what can be found out (kinds, cards) is added. `{project}` in it stands for a project's
    /// name.
    pub facts: KubernetesFacts,
    /// The server's data folder, absolute: logs are kept there.
    pub data: PathBuf,
    /// The projects' workspaces as this server sees them, one folder a project: the same files as in the claims.
    pub workspace: PathBuf,
    /// Copies of pipelines' folders, one a digest.
    pub code: PathBuf,
    /// Whose files they are: workers run as them, else as the facts say.
    pub owners: Owners,
    /// Where the secrets of projects and people are.
    pub vault: Option<Arc<dyn Vault>>,
    /// Who measures cards, where somebody does.
    pub cards: Option<CardMeter>,
    /// Who measures pods where the cluster itself does not, where somebody does.
    pub pods: Option<PodMeter>,
    /// How long the objects of a job that has ended are kept, unless its project wants otherwise.
    pub keep: Duration,
    /// What projects want kept.
    pub keeps: Option<Arc<dyn Keeps>>,
    /// How long a pod may wait for what does not come by itself: an image, a volume, a Secret.
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

    /// Keeps something that is known of the cluster for the next server. That it cannot be written is only said.
    pub(crate) fn keep(&self, what: &str, known: &impl Serialize) {
        let file = self.file(what);
        let written = serde_json::to_vec(known).map_err(io::Error::other).and_then(|text| {
            own::create_dir_all(file.parent().unwrap_or(&file))?;
            let aside = file.with_extension("part");
            own::write(&aside, text)?;
            own::rename(aside, &file)
        });
        if let Err(error) = written {
            tracing::warn!(cluster = self.name, what, %error, "what is known of a cluster cannot be written down");
        }
    }

    /// What an earlier server has kept; the default when that is nothing.
    #[must_use]
    pub(crate) fn kept<T: DeserializeOwned + Default>(&self, what: &str) -> T {
        let text = own::read(self.file(what)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}
