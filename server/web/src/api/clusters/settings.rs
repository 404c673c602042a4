//! Administrators' settings of a cluster: view and request body.

use std::collections::BTreeMap;

use cubeloom_domain::clusters::{AccessKind, ClusterRecord, ClusterSettings};
use cubeloom_domain::kubernetes::{CardFacts, KubernetesFacts, NodeGroupFacts, OperatorFacts, QueueFacts};
use cubeloom_domain::monitoring::MonitoringSettings;
use cubeloom_domain::pipeline::Toleration;
use cubeloom_domain::slurm::SlurmSettings;
use cubeloom_monitoring::Prometheus;
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::check::Found;
use crate::time::Time;

/// Maximum length of names and paths, in characters.
const LONGEST: usize = 253;
/// Maximum length of a label's value, in characters.
const LONGEST_LABEL: usize = 63;

/// Kubernetes cluster that was added, without its kubeconfig.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AddedClusterView {
    /// Name.
    pub name: String,
    /// Cluster settings.
    #[serde(flatten)]
    pub settings: ClusterBody,
    /// Registration time.
    pub created_at: Time,
    /// When the cluster was decommissioned. Omitted if it is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up_at: Option<Time>,
    /// Revision number, incremented with each change. In quotes, it is the ETag.
    pub revision: u64,
}

impl From<ClusterRecord> for AddedClusterView {
    fn from(record: ClusterRecord) -> Self {
        Self {
            settings: ClusterBody::of(&record),
            name: record.name,
            created_at: Time(record.created_at),
            given_up_at: record.settings.given_up_at.map(Time),
            revision: record.revision,
        }
    }
}

/// Cluster to add.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewCluster {
    /// Name of the cluster, as used in pipelines: lower-case letters, digits and `-`, at most 63 characters.
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    pub name: String,
    /// Kubeconfig text. Stored encrypted and never returned.
    #[serde(default)]
    pub kubeconfig: Option<String>,
    /// Password for `prometheus_user`, or the Prometheus bearer token if `prometheus_user` is omitted. Stored
    /// encrypted and never returned.
    #[serde(default)]
    pub prometheus_secret: Option<String>,
    /// Cluster settings.
    #[serde(flatten)]
    pub settings: ClusterBody,
}

/// Changes to a cluster.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ClusterChange {
    /// New kubeconfig. If omitted, the current one is kept.
    #[serde(default)]
    pub kubeconfig: Option<String>,
    /// New password or token for Prometheus. If omitted, the current one is kept; if empty, it is removed.
    #[serde(default)]
    pub prometheus_secret: Option<String>,
    /// Cluster settings.
    #[serde(flatten)]
    pub settings: ClusterBody,
}

/// Access method of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessWord {
    /// With the service account of the server's pod.
    InCluster,
    /// With a kubeconfig.
    Kubeconfig,
    /// A Slurm cluster, with Slurm's commands on the server's machine.
    Slurm,
}

/// Settings of a cluster. A Slurm cluster uses only `slurm`; other clusters use the remaining fields. In `namespace`
/// and `workspace_path`, `{project}` is replaced by the project's name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ClusterBody {
    /// Description.
    #[serde(default)]
    pub description: String,
    /// Access method.
    pub access: AccessWord,
    /// Properties of a Slurm cluster (`facts`), and the user that its jobs run as (`way`). See docs/slurm.md.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schema(value_type = Option<Object>)]
    pub slurm: Option<SlurmSettings>,
    /// Context of the kubeconfig. Defaults to its current context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub context: Option<String>,
    /// Namespace of a project's jobs.
    #[serde(default = "namespace")]
    pub namespace: String,
    /// Service account of the job pods. It needs no permissions.
    #[serde(default = "service_account")]
    pub service_account: String,
    /// Service account of Spark drivers, which is allowed to create pods in the namespace. If omitted, drivers start
    /// no executors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spark_account: Option<String>,
    /// Persistent volume claim, in the namespace, that holds workspaces. This server must see the same files.
    #[serde(default = "workspace_claim")]
    pub workspace_claim: String,
    /// Folder of the claim that is the project's workspace. If empty, the workspace is the whole claim.
    #[serde(default = "workspace_path")]
    pub workspace_path: String,
    /// UID and GID of workers. Must not be 0.
    #[serde(default = "uid")]
    #[schema(minimum = 1)]
    pub uid: u32,
    /// Secrets in the namespace used to pull images.
    #[serde(default)]
    pub pull_secrets: Vec<String>,
    /// Whether the operators on the cluster were started with Volcano gang scheduling.
    #[serde(default)]
    pub operators_gang: bool,
    /// Volcano queue for the jobs, used if Volcano is installed.
    #[serde(default = "volcano_queue")]
    pub volcano_queue: String,
    /// Kueue local queue for the jobs. Kueue is used if this field is set and Volcano is not installed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kueue_queue: Option<String>,
    /// KAI-Scheduler queue for pods that request a GPU fraction. `{project}` is replaced by the project's name.
    /// KAI-Scheduler shares GPUs if it is installed, this field is set, and Volcano is not installed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kai_queue: Option<String>,
    /// Priority class of the jobs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priority_class: Option<String>,
    /// Whether pods may use the host network.
    #[serde(default)]
    pub host_network: bool,
    /// Node groups that a placement can refer to.
    #[serde(default)]
    pub node_groups: BTreeMap<String, NodeGroupBody>,
    /// Retention of the manifests of a finished job, in seconds.
    #[serde(default = "keep")]
    #[schema(maximum = 2592000)]
    pub keep_seconds: u64,
    /// Pending timeout: maximum time that a pod may wait for a missing dependency (an image, a volume, a Secret), in
    /// seconds.
    #[serde(default = "patience")]
    #[schema(maximum = 86400)]
    pub patience_seconds: u64,
    /// Prometheus with the cluster's metrics: `http://prometheus.monitoring:9090`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prometheus: Option<String>,
    /// User name for Prometheus, used with a password. If omitted, the stored bearer token is sent, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub prometheus_user: Option<String>,
    /// Labels of the cluster's series in Prometheus, if it holds series of several clusters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub prometheus_labels: BTreeMap<String, String>,
    /// URL of a Grafana page about the cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub grafana: Option<String>,
}

/// Definition of the nodes of a group.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeGroupBody {
    /// Labels of the nodes.
    pub selector: BTreeMap<String, String>,
    /// Taints of the nodes that jobs of the group tolerate.
    #[schema(value_type = Vec<Object>)]
    pub tolerations: Vec<Toleration>,
    /// Environment variables of workers on these nodes, such as NCCL variables for their network. Tasks can override
    /// them.
    pub env: BTreeMap<String, String>,
    /// Number of standby nodes, kept free to replace nodes that are unreachable or cordoned. At least one node
    /// remains available to jobs, regardless of this value.
    #[schema(maximum = 1000)]
    pub spares: u32,
}

fn namespace() -> String {
    "cubeloom-jobs".into()
}
fn service_account() -> String {
    "cubeloom-worker".into()
}
fn workspace_claim() -> String {
    "cubeloom-workspace".into()
}
fn workspace_path() -> String {
    "{project}".into()
}
fn uid() -> u32 {
    10_000
}
fn volcano_queue() -> String {
    "default".into()
}
fn keep() -> u64 {
    3600
}
fn patience() -> u64 {
    600
}

impl ClusterBody {
    fn of(record: &ClusterRecord) -> Self {
        let ClusterSettings { access, context, facts, slurm, keep, patience, monitoring, .. } =
            record.settings.clone();
        let group = |group: NodeGroupFacts| NodeGroupBody {
            selector: group.selector,
            tolerations: group.tolerations,
            env: group.env,
            spares: group.spares,
        };
        let volcano = facts.volcano.unwrap_or_default();
        let kueue = facts.kueue.unwrap_or_default();
        Self {
            description: record.description.clone(),
            access: match access {
                AccessKind::InCluster => AccessWord::InCluster,
                AccessKind::Kubeconfig => AccessWord::Kubeconfig,
                AccessKind::Slurm => AccessWord::Slurm,
            },
            slurm,
            context,
            namespace: facts.namespace,
            service_account: facts.service_account,
            spark_account: facts.spark_account,
            workspace_claim: facts.workspace_claim,
            workspace_path: facts.workspace_path,
            uid: facts.uid,
            pull_secrets: facts.pull_secrets,
            operators_gang: facts.kinds.values().any(|kind| kind.gang),
            volcano_queue: volcano.queue,
            kueue_queue: Some(kueue.queue).filter(|queue| !queue.is_empty()),
            kai_queue: facts.cards.kai.map(|kai| kai.queue),
            priority_class: volcano.priority_class,
            host_network: facts.host_network,
            node_groups: facts.node_groups.into_iter().map(|(name, facts)| (name, group(facts))).collect(),
            keep_seconds: keep,
            patience_seconds: patience,
            prometheus: monitoring.prometheus,
            prometheus_user: monitoring.user,
            prometheus_labels: monitoring.labels,
            grafana: monitoring.grafana,
        }
    }

    /// Converts to the stored settings.
    #[must_use]
    pub fn settings(&self) -> ClusterSettings {
        let queue = |queue: String| QueueFacts { queue, priority_class: text(self.priority_class.as_ref()) };
        let group = |group: &NodeGroupBody| NodeGroupFacts {
            selector: group.selector.clone(),
            tolerations: group.tolerations.clone(),
            env: group.env.clone(),
            spares: group.spares,
        };
        let kinds = BTreeMap::from([("*".to_owned(), OperatorFacts { gang: self.operators_gang })]);
        ClusterSettings {
            access: match self.access {
                AccessWord::InCluster => AccessKind::InCluster,
                AccessWord::Kubeconfig => AccessKind::Kubeconfig,
                AccessWord::Slurm => AccessKind::Slurm,
            },
            slurm: self.slurm.clone(),
            context: text(self.context.as_ref()),
            facts: KubernetesFacts {
                namespace: self.namespace.clone(),
                service_account: self.service_account.clone(),
                spark_account: text(self.spark_account.as_ref()),
                workspace_claim: self.workspace_claim.clone(),
                workspace_path: self.workspace_path.trim_matches('/').to_owned(),
                uid: self.uid,
                pull_secrets: self.pull_secrets.clone(),
                kinds,
                volcano: Some(queue(self.volcano_queue.clone())),
                kueue: text(self.kueue_queue.as_ref()).map(queue),
                // Pod priority classes have another meaning for KAI.
                cards: CardFacts {
                    kai: text(self.kai_queue.as_ref())
                        .map(|queue| QueueFacts { queue, priority_class: None }),
                    ..CardFacts::default()
                },
                rdma: None,
                host_network: self.host_network,
                node_groups: self
                    .node_groups
                    .iter()
                    .map(|(name, body)| (name.clone(), group(body)))
                    .collect(),
                spare_nodes: Vec::new(),
                aside_nodes: Vec::new(),
            },
            keep: self.keep_seconds,
            patience: self.patience_seconds,
            monitoring: self.monitoring(),
            given_up_at: None,
        }
    }

    fn monitoring(&self) -> MonitoringSettings {
        MonitoringSettings {
            prometheus: text(self.prometheus.as_ref()),
            user: text(self.prometheus_user.as_ref()),
            labels: self.prometheus_labels.clone(),
            grafana: text(self.grafana.as_ref()),
        }
    }

    /// Validates the settings.
    pub(super) fn check(&self, found: &mut Found) {
        found.text("/description", &self.description, 2000);
        if matches!(self.access, AccessWord::Slurm) {
            // Pod settings do not apply to Slurm.
            self.check_slurm(found);
            return self.check_monitoring(found);
        }
        found.name("/namespace", &self.namespace.replace("{project}", "p"), 63);
        for (path, name) in
            [("/service_account", &self.service_account), ("/workspace_claim", &self.workspace_claim)]
        {
            found.name(path, name, LONGEST);
        }
        if let Some(name) = self.spark_account.as_ref().filter(|name| !name.trim().is_empty()) {
            found.name("/spark_account", name, LONGEST);
        }
        self.check_queues(found);
        found.text("/workspace_path", &self.workspace_path, LONGEST);
        let leaves = self.workspace_path.split('/').any(|part| part == "..");
        if leaves || self.workspace_path.starts_with('/') {
            found.wrong(
                "/workspace_path",
                "enter a folder in the PVC, without `..` and without a leading `/`",
            );
        }
        if self.uid == 0 {
            found.wrong("/uid", "workers do not run as root: write a uid other than 0");
        }
        self.pull_secrets.iter().enumerate().for_each(|(at, name)| {
            found.name(&format!("/pull_secrets/{at}"), name, LONGEST);
        });
        for (name, group) in &self.node_groups {
            found.name(&format!("/node_groups/{name}"), name, 63);
            if group.spares > 1000 {
                found.wrong(&format!("/node_groups/{name}/spares"), "a group has at most 1000 standby nodes");
            }
            for variable in group.env.keys().filter(|name| !may_set(name)) {
                found.wrong(
                    &format!("/node_groups/{name}/env/{variable}"),
                    format!("`{variable}` is not a variable name that can be set: use one such as NCCL_SOCKET_IFNAME"),
                );
            }
        }
        if self.keep_seconds > 30 * 24 * 3600 {
            found.wrong("/keep_seconds", "the TTL after finish is at most 30 days");
        }
        if self.patience_seconds > 24 * 3600 {
            found.wrong("/patience_seconds", "the pending timeout is at most one day");
        }
        self.check_slurm(found);
        self.check_monitoring(found);
    }

    /// Queues are objects of the cluster. Jobs name them in labels, whose maximum length is shorter than that
    /// of names.
    fn check_queues(&self, found: &mut Found) {
        found.dotted_name("/volcano_queue", &self.volcano_queue, LONGEST_LABEL);
        if let Some(queue) = text(self.kueue_queue.as_ref()) {
            found.dotted_name("/kueue_queue", &queue, LONGEST_LABEL);
        }
        if let Some(queue) = text(self.kai_queue.as_ref()) {
            found.dotted_name("/kai_queue", &queue.replace("{project}", "p"), LONGEST_LABEL);
        }
    }

    fn check_slurm(&self, found: &mut Found) {
        match (self.access, &self.slurm) {
            (AccessWord::Slurm, Some(slurm)) => {
                for mistake in slurm.mistakes() {
                    let (field, sentence) = mistake.split_once(": ").unwrap_or(("", &mistake));
                    found.wrong(&format!("/slurm/{}", field.replacen('.', "/", 2)), sentence);
                }
            }
            (_, Some(_)) => found.wrong("/slurm", "only a cluster with the access `slurm` has it: remove it"),
            // If it is missing, creating the executor fails with a message.
            (_, None) => {}
        }
    }

    fn check_monitoring(&self, found: &mut Found) {
        let monitoring = self.monitoring();
        if let Err(error) = Prometheus::of(&monitoring, None) {
            found.wrong("/prometheus", error.to_string());
        }
        if monitoring.user.as_ref().is_some_and(|user| user.contains(':') || user.chars().count() > LONGEST) {
            found.wrong("/prometheus_user", "use at most 253 characters, without `:`");
        }
        for label in monitoring.labels.keys().filter(|label| !is_variable(label)) {
            found.wrong(
                &format!("/prometheus_labels/{label}"),
                format!("`{label}` is not a label name: use letters, digits and `_`"),
            );
        }
        let is_page = |address: &String| {
            Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        };
        if monitoring.grafana.as_ref().is_some_and(|address| !is_page(address)) {
            found.wrong("/grafana", "write an address that begins with http:// or https://");
        }
    }
}

/// The text, unless it is empty.
fn text(said: Option<&String>) -> Option<String> {
    said.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Letters, digits and `_`, not starting with a digit: an environment variable or a Prometheus label.
fn is_variable(name: &str) -> bool {
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(letters) && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit()
}

/// Whether a variable may be set: its name is valid and not reserved by the platform.
fn may_set(name: &str) -> bool {
    is_variable(name) && !cubeloom_compiler::is_reserved(name)
}

/// Audit log representation, without the kubeconfig.
pub(super) fn audited(record: &ClusterRecord) -> serde_json::Value {
    serde_json::json!({"description": record.description, "settings": record.settings})
}
