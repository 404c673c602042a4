//! What is installed on a Kubernetes cluster, what a project has there, and what a job becomes on it.

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
    /// Name of the creator.
    pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
    /// The value of [`MANAGED_BY`].
    pub const CUBELOOM: &str = "cubeloom";
    /// Run.
    pub const RUN: &str = "cubeloom/run";
    /// The outermost run, by which tasks are kept apart: a task of a run may have started another run.
    pub const ROOT_RUN: &str = "cubeloom/root-run";
    /// Task.
    pub const TASK: &str = "cubeloom/task";
    /// Instance.
    pub const INSTANCE: &str = "cubeloom/instance";
    /// Attempt number.
    pub const ATTEMPT: &str = "cubeloom/attempt";
    /// The job's name.
    pub const JOB: &str = "cubeloom/job";
    /// A pod's role.
    pub const ROLE: &str = "cubeloom/role";
    /// A pod's index within its role, where no controller notes it.
    pub const INDEX: &str = "cubeloom/index";
    /// A terminal's id: its objects and its pod belong to no attempt.
    pub const TERMINAL: &str = "cubeloom/terminal";
    /// An annotation, not a label, as it may be long: the attempt's whole key.
    pub const KEY: &str = "cubeloom/key";
    /// The namespace of the jobs of whoever made a queue: it tells servers apart that share a cluster.
    pub const NAMESPACE: &str = "cubeloom/namespace";
}

/// The names that the container of a worker's program has: operators ask for their own. What others put into a pod stands before
/// it or behind it.
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

/// The key, in a job's Secret, by which its workers know each other. No secret of a project begins with a dot.
pub const TOKEN_KEY: &str = ".job-token";

/// The folder of an attempt in its project's workspace; each of its workers has one of its own below, `<role>-<index>`,
/// with what it reports in [`OUTPUTS`].
#[must_use]
pub fn attempt_folder(key: &AttemptKey) -> String {
    format!("runs/{}/.attempts/{}/{}/{}", key.run, key.task, key.instance, key.n)
}

/// The file that a worker reports into.
pub const OUTPUTS: &str = "outputs.jsonl";

/// The folder of a project's workspace that holds the code of its pipelines.
pub const CODE: &str = ".code";

/// The folder of a pipeline's code in its project's workspace, by the code's digest.
#[must_use]
pub fn code_folder(digest: &str) -> String {
    format!("{CODE}/{digest}")
}

/// A cluster as far as lowering must know it. What is absent is not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KubernetesFacts {
    /// The project's namespace. `{project}` in it stands for the project's name.
    pub namespace: String,
    /// The account of its pods. It needs no right.
    pub service_account: String,
    /// The claim, in the namespace, that holds the project's workspace; many nodes must be able to write to it.
    pub workspace_claim: String,
    /// The folder of the claim that is the project's workspace; empty for the whole claim. `{project}` in it stands for
    /// the project's name.
    pub workspace_path: String,
    /// The uid and gid of its workers; not 0.
    pub uid: u32,
    /// Secrets in the namespace used to pull images.
    pub pull_secrets: Vec<String>,
    /// Kinds that operators serve: `<plural>.<group>/<version>`, e.g. `pytorchjobs.kubeflow.org/v1`.
    pub kinds: BTreeMap<String, OperatorFacts>,
    /// Volcano: its scheduler and its Jobs.
    pub volcano: Option<QueueFacts>,
    /// Kueue.
    pub kueue: Option<QueueFacts>,
    /// GPUs.
    pub cards: CardFacts,
    /// The resource that RDMA devices are asked for by, e.g. `rdma/hca`.
    pub rdma: Option<String>,
    /// Whether pods may use the node's own network.
    pub host_network: bool,
    /// The account, in the namespace, of Spark's drivers: it may make pods, Services, ConfigMaps and claims there.
    /// Without one no driver starts executors by itself.
    pub spark_account: Option<String>,
    /// Node groups that a placement can refer to.
    pub node_groups: BTreeMap<String, NodeGroupFacts>,
    /// Nodes that are spares at present: no pod goes there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spare_nodes: Vec<String>,
    /// Nodes that are set aside: no pod goes there either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aside_nodes: Vec<String>,
}

/// How an operator was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OperatorFacts {
    /// Whether it makes a PodGroup of Volcano for each job (`--gang-scheduler-name=volcano` and the like).
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

/// How GPUs are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CardFacts {
    /// The resource of whole cards.
    pub resource: String,
    /// The label that names a node's cards.
    pub product_label: String,
    /// Its values on this cluster.
    pub products: Vec<String>,
    /// Whether HAMi shares cards: its resource names are then known. They are not for pods that Volcano places: HAMi's
    /// own scheduler hands its shares out.
    pub hami: bool,
    /// Whether Volcano shares cards: nodes offer `volcano.sh/vgpu-number`.
    pub vgpu: bool,
    /// Where pods with parts of cards queue, where KAI-Scheduler hands them out; absent where it does not. `{project}` in it
    /// stands for the project's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kai: Option<QueueFacts>,
    /// Profiles of MIG that nodes offer as resources of their own, e.g. `1g.10gb`.
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
    /// Environment variables of workers on these nodes, such as NCCL variables for their network. Tasks can override
    /// them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How many of them are kept free, to take the place of others that are away or set aside.
    #[serde(skip_serializing_if = "is_zero")]
    pub spares: u32,
}

impl Default for KubernetesFacts {
    /// A cluster with no operator on it.
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
    /// NVIDIA's device plugin and feature discovery, whole cards only.
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
    /// Whose cards they are, as resources say it: `nvidia.com`.
    #[must_use]
    pub fn vendor(&self) -> &str {
        self.resource.split('/').next().unwrap_or_default()
    }

    /// The resource of slices of a profile of MIG.
    #[must_use]
    pub fn slices(&self, profile: &str) -> String {
        format!("{}/mig-{profile}", self.vendor())
    }
}

/// The most letters that a label's value may have: pods have their queue's name as one.
const LONGEST_LABEL: usize = 63;

/// The name that a queue of the tree of quotas has on a cluster: `cubeloom-project-shop`, `cubeloom-group-vision`. What would
/// be too long is cut, and told apart by a hash.
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

/// The Secret, of the name of a job's object, that its image is pulled with.
#[must_use]
pub fn pull_secret(object: &str) -> String {
    format!("{object}-pull")
}

/// What a job becomes on Kubernetes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KubernetesJob {
    /// Attempt.
    pub key: AttemptKey,
    /// What was chosen and why, a sentence each.
    pub decisions: Vec<String>,
    /// The objects, in the order in which they are applied; the last is the job.
    pub objects: Vec<Value>,
}
