//! What is installed on a Kubernetes cluster, what a project has there, and how a job is lowered to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use sha2::{Digest, Sha256};

use crate::ids::AttemptKey;
use crate::pipeline::Toleration;
use crate::quantity::is_zero;
use crate::quota::Queue;

/// Labels of every object and pod of a job.
pub mod labels {
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
    /// The value of [`MANAGED_BY`].
    pub const CUBELOOM: &str = "cubeloom";
    pub const RUN: &str = "cubeloom/run";
    /// The outermost run, which anti-affinity applies to: a task of a run may have started another run.
    pub const ROOT_RUN: &str = "cubeloom/root-run";
    pub const TASK: &str = "cubeloom/task";
    pub const INSTANCE: &str = "cubeloom/instance";
    pub const ATTEMPT: &str = "cubeloom/attempt";
    pub const JOB: &str = "cubeloom/job";
    pub const ROLE: &str = "cubeloom/role";
    /// A pod's index within its role, if no controller sets it.
    pub const INDEX: &str = "cubeloom/index";
    /// A terminal's id: its manifests and its pod belong to no attempt.
    pub const TERMINAL: &str = "cubeloom/terminal";
    /// The attempt's complete key. An annotation, not a label, because of its length.
    pub const KEY: &str = "cubeloom/key";
    /// The namespace of the jobs of the server that created a queue. It distinguishes servers that share a
    /// cluster.
    pub const NAMESPACE: &str = "cubeloom/namespace";
}

/// Names of the container with a worker's program: operators require their own. Sidecars that others inject
/// come before or after it.
pub const PROGRAMS: [&str; 10] = [
    "worker",
    "pytorch",
    "tensorflow",
    "xgboost",
    "jax",
    "paddle",
    "mpi",
    "ray",
    "spark-kubernetes-driver",
    "spark-kubernetes-executor",
];

/// The key, in a job's Secret, of the token by which its workers authenticate each other. No secret of a
/// project begins with a dot.
pub const TOKEN_KEY: &str = ".job-token";

/// The folder of an attempt in its project's workspace. Each worker has its own folder below,
/// `<role>-<index>`, with its reports in [`OUTPUTS`].
#[must_use]
pub fn attempt_folder(key: &AttemptKey) -> String {
    format!("runs/{}/.attempts/{}/{}/{}", key.run, key.task, key.instance, key.n)
}

/// The file that a worker reports to.
pub const OUTPUTS: &str = "outputs.jsonl";

/// The folder of a project's workspace with the code of its pipelines.
pub const CODE: &str = ".code";

/// The folder of a pipeline's code in its project's workspace, by digest.
#[must_use]
pub fn code_folder(digest: &str) -> String {
    format!("{CODE}/{digest}")
}

/// What lowering needs to know of a cluster. Absent components are not installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KubernetesFacts {
    /// The project's namespace. `{project}` is replaced by the project's name.
    pub namespace: String,
    /// The service account of its pods, which needs no permissions.
    pub service_account: String,
    /// The claim with the project's workspace, in the namespace. It must be writable from many nodes.
    pub workspace_claim: String,
    /// The folder of the claim with the project's workspace; empty for the whole claim. `{project}` is
    /// replaced by the project's name.
    pub workspace_path: String,
    /// The uid and gid of its workers; not 0.
    pub uid: u32,
    /// Secrets in the namespace used to pull images.
    pub pull_secrets: Vec<String>,
    /// Kinds served by operators: `<plural>.<group>/<version>`, e.g. `pytorchjobs.kubeflow.org/v1`.
    pub kinds: BTreeMap<String, OperatorFacts>,
    /// Volcano: its scheduler and its Jobs.
    pub volcano: Option<QueueFacts>,
    pub kueue: Option<QueueFacts>,
    pub cards: CardFacts,
    /// The resource name of RDMA devices, e.g. `rdma/hca`.
    pub rdma: Option<String>,
    /// Whether pods may use the node's own network.
    pub host_network: bool,
    /// The service account, in the namespace, of Spark drivers: it may create pods, Services, ConfigMaps and
    /// claims there. Without it no driver starts executors on its own.
    pub spark_account: Option<String>,
    /// Node groups that a placement can refer to.
    pub node_groups: BTreeMap<String, NodeGroupFacts>,
    /// Current standby nodes: no pod goes there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spare_nodes: Vec<String>,
    /// Cordoned nodes: no pod goes there either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aside_nodes: Vec<String>,
}

/// Configuration of an operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OperatorFacts {
    /// Whether it creates a Volcano PodGroup for each job (`--gang-scheduler-name=volcano` or similar).
    pub gang: bool,
}

/// Where the project's jobs queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueFacts {
    /// Volcano's or KAI-Scheduler's Queue, or Kueue's LocalQueue.
    pub queue: String,
    /// A PriorityClass, or Kueue's WorkloadPriorityClass.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority_class: Option<String>,
}

/// How GPUs are requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CardFacts {
    /// The resource of whole GPUs.
    pub resource: String,
    /// The node label with the GPU model.
    pub product_label: String,
    /// Its values on this cluster.
    pub products: Vec<String>,
    /// Whether HAMi shares GPUs, with its fixed resource names. Pods placed by Volcano cannot use them:
    /// HAMi's own scheduler allocates its shares.
    pub hami: bool,
    /// Whether Volcano shares GPUs: nodes offer `volcano.sh/vgpu-number`.
    pub vgpu: bool,
    /// The queue of pods with GPU fractions, if KAI-Scheduler allocates them. `{project}` is replaced by the
    /// project's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kai: Option<QueueFacts>,
    /// MIG profiles that nodes offer as resources of their own, e.g. `1g.10gb`.
    pub mig: Vec<String>,
}

/// Definition of the nodes of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeGroupFacts {
    /// Labels of the nodes.
    pub selector: BTreeMap<String, String>,
    /// Taints of the nodes that jobs of the group tolerate.
    pub tolerations: Vec<Toleration>,
    /// Environment variables of workers on these nodes, such as NCCL variables for their network. Tasks
    /// can override them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Number of standby nodes, which replace unreachable or cordoned ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub spares: u32,
}

impl Default for KubernetesFacts {
    /// A cluster without operators.
    fn default() -> Self {
        Self {
            namespace: "cubeloom-default".into(),
            service_account: "cubeloom-worker".into(),
            workspace_claim: "workspace".into(),
            workspace_path: String::new(),
            uid: 10_000,
            pull_secrets: Vec::new(),
            kinds: BTreeMap::new(),
            volcano: None,
            kueue: None,
            cards: CardFacts::default(),
            rdma: None,
            host_network: false,
            spark_account: None,
            node_groups: BTreeMap::new(),
            spare_nodes: Vec::new(),
            aside_nodes: Vec::new(),
        }
    }
}

impl KubernetesFacts {
    /// The same for one project.
    #[must_use]
    pub fn of_project(&self, project: &str) -> Self {
        let named = |text: &str| text.replace("{project}", project);
        Self {
            namespace: named(&self.namespace),
            workspace_path: named(&self.workspace_path),
            cards: CardFacts {
                kai: self.cards.kai.clone().map(|kai| QueueFacts { queue: named(&kai.queue), ..kai }),
                ..self.cards.clone()
            },
            ..self.clone()
        }
    }
}

impl Default for CardFacts {
    /// NVIDIA's device plugin and feature discovery, whole GPUs only.
    fn default() -> Self {
        Self {
            resource: "nvidia.com/gpu".into(),
            product_label: "nvidia.com/gpu.product".into(),
            products: Vec::new(),
            hami: false,
            vgpu: false,
            kai: None,
            mig: Vec::new(),
        }
    }
}

impl CardFacts {
    /// The vendor in resource names: `nvidia.com`.
    #[must_use]
    pub fn vendor(&self) -> &str {
        self.resource.split('/').next().unwrap_or_default()
    }

    /// The resource of a MIG profile's slices.
    #[must_use]
    pub fn slices(&self, profile: &str) -> String {
        format!("{}/mig-{profile}", self.vendor())
    }
}

/// Maximum length of a label value: a queue's name is one on its pods.
const LONGEST_LABEL: usize = 63;

/// The name of a queue of the quota tree on a cluster: `cubeloom-project-shop`, `cubeloom-group-vision`.
/// Longer names are truncated, with a hash to keep them unique.
#[must_use]
pub fn queue_name(queue: &Queue) -> String {
    let kind = match queue {
        Queue::Group(_) => "group",
        Queue::Project(_) => "project",
    };
    let whole = format!("cubeloom-{kind}-{}", queue.name());
    if whole.len() <= LONGEST_LABEL {
        return whole;
    }
    let hash = Sha256::digest(whole.as_bytes());
    let hex: String = hash.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
    let head: String = whole.chars().take(LONGEST_LABEL - hex.len() - 1).collect();
    format!("{}-{hex}", head.trim_end_matches('-'))
}

/// The Secret for pulling the image, named like a job's object.
#[must_use]
pub fn pull_secret(object: &str) -> String {
    format!("{object}-pull")
}

/// A job lowered to Kubernetes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KubernetesJob {
    pub key: AttemptKey,
    /// Decisions with their reasons, one sentence each.
    pub decisions: Vec<String>,
    /// The manifests, in the order in which they are applied. The last one is the job.
    pub objects: Vec<Value>,
}
