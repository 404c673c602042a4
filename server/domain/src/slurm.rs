//! What a Slurm cluster has, what a project has there, and how a job is lowered to it.

mod calls;
mod containers;
mod rest;
mod settings;
mod way;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::AttemptKey;
use crate::lowered::LocalJob;
use crate::quantity::is_zero;

pub use calls::SlurmCalls;
pub use containers::{ContainerProgram, SlurmContainers, is_image};
pub use rest::{REST_VERSIONS, RestPlace, SlurmRest};
pub use settings::{SlurmMirror, SlurmSettings};
pub use way::SlurmWay;

/// Files of an attempt in its folder, besides those of its workers.
pub mod files {
    /// The submitted script.
    pub const SCRIPT: &str = "job.sh";
    /// The processes, with tokens for values that only the nodes know: [`super::SlurmJob::job`].
    pub const JOB: &str = "job.json";
    /// A folder that the script creates first. It marks the attempt as begun, so that nothing begins it
    /// again.
    pub const SUBMITTED: &str = "submitted";
    /// Output of Slurm and the script.
    pub const LOG: &str = "slurm.log";
    /// Where the workers are, one line per worker in rank order: rank, node, address, port.
    pub const PLACES: &str = "places";
    /// The token with which the workers authenticate each other; not readable by others.
    pub const TOKEN: &str = "token";
    /// The secrets' values by name, a JSON object; not readable by others, and deleted at the job's end.
    pub const SECRETS: &str = "secrets.json";
    /// Path of the image in which the workers' programs run. Absent if they run directly on the nodes.
    pub const IMAGE: &str = "image";
}

/// Number of ports of a job. They belong to its workers, by rank or, with more workers, by their index on the
/// node. The last one belongs to the job.
pub const PORTS: u32 = 64;
/// The job's port on which the programs of templates meet. It belongs to no worker.
pub const LINK_PORT: u32 = PORTS - 1;
/// The first port of all jobs.
pub const FIRST_PORT: u32 = 10_000;
/// Maximum number of concurrent jobs with their own ports. All ports are below the systems' ephemeral range.
pub const RANGES: u32 = 350;

/// What lowering needs to know of a cluster. Absent components are not installed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmFacts {
    /// The account of the project's jobs. `None` means the user's default. `{project}` is replaced by the
    /// project's name.
    pub account: Option<String>,
    /// The quality of service. `{project}` is replaced by the project's name.
    pub qos: Option<String>,
    /// The partition of jobs without a node group. `None` means the cluster's default.
    pub partition: Option<String>,
    /// Node groups that a placement can refer to.
    pub node_groups: BTreeMap<String, SlurmNodeGroup>,
    /// Node features by the labels of a placement's `selector`: `disk=ssd` -> `ssd`.
    pub features: BTreeMap<String, String>,
    /// GPUs. `None` if there are none.
    pub cards: Option<SlurmCards>,
    /// The generic resource of RDMA devices.
    pub rdma: Option<String>,
    /// The project's workspace, the same folder on every node and on the submitting host. `{project}` is
    /// replaced by the project's name.
    pub workspace: String,
    /// The folder with the templates' copies, readable everywhere. `{project}` is replaced by the project's
    /// name.
    pub templates: String,
    /// The folder with copies of pipelines' folders. Empty means `.code` of the workspace. `{project}` is
    /// replaced by the project's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The path of the `cubeloom` program on every node.
    pub program: String,
    /// Environment variables of every worker, which tasks can override.
    pub env: BTreeMap<String, String>,
    /// Runs a template's image. `None` if programs run directly on the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containers: Option<SlurmContainers>,
    /// Cordoned nodes: no job goes there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aside_nodes: Vec<String>,
    /// Current standby nodes: no job goes there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spare_nodes: Vec<String>,
}

/// A node group that placements can name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmNodeGroup {
    /// Their partition. `None` means the default one of all jobs.
    pub partition: Option<String>,
    pub features: Vec<String>,
    /// Environment variables of the workers there, which tasks can override.
    pub env: BTreeMap<String, String>,
    /// Number of standby nodes, which replace unreachable or cordoned ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub spares: u32,
}

/// How GPUs are requested: as the generic resource `gpu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmCards {
    /// Their types, as named in `gres.conf`.
    pub types: Vec<String>,
    /// Number of shards (the generic resource `shard`) per GPU. `None` if GPUs are allocated whole.
    pub shards: Option<u32>,
}

/// Whether a text is a valid name of an account that jobs may run as.
fn is_account(text: &str) -> bool {
    is_word(text)
        && text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text != "root"
}

impl SlurmFacts {
    /// The same for one project.
    #[must_use]
    pub fn of_project(&self, project: &str) -> Self {
        let named = |text: &str| text.replace("{project}", project);
        Self {
            account: self.account.as_deref().map(named),
            qos: self.qos.as_deref().map(named),
            workspace: named(&self.workspace),
            templates: named(&self.templates),
            code: named(&self.code),
            containers: self.containers.clone().map(|containers| SlurmContainers {
                images: containers.images.as_deref().map(named),
                ..containers
            }),
            ..self.clone()
        }
    }

    /// The same for one account of several: copies created by another account could be modified by it.
    #[must_use]
    pub fn of_account(&self, account: &str) -> Self {
        Self {
            templates: format!("{}/{account}", self.templates),
            code: format!("{}/{account}", self.code_above()),
            containers: self.containers.clone().map(|containers| SlurmContainers {
                pulled: format!("{}/{account}", containers.pulled_above()),
                ..containers
            }),
            ..self.clone()
        }
    }

    fn code_above(&self) -> String {
        if self.code.is_empty() { format!("{}/.code", self.workspace) } else { self.code.clone() }
    }

    /// The folder with the copy of a pipeline's folder, by digest.
    #[must_use]
    pub fn code_folder(&self, digest: &str) -> String {
        format!("{}/{digest}", self.code_above())
    }

    /// Settings that cannot be written into a script, one sentence each that begins with the field. All of
    /// them are checked here, so that no configured text can inject shell code.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut word = |field: String, value: &str, project: bool| {
            let value = if project { value.replace("{project}", "p") } else { value.to_owned() };
            if !is_word(&value) {
                found.push(format!(
                    "{field}: write letters, digits and `._-+` only, without `-` at the beginning"
                ));
            }
        };
        let named = [("account", &self.account, true), ("qos", &self.qos, true)];
        let named =
            named.into_iter().chain([("partition", &self.partition, false), ("rdma", &self.rdma, false)]);
        for (field, value, project) in named {
            value.iter().for_each(|value| word(field.into(), value, project));
        }
        for (selector, feature) in &self.features {
            word(format!("features.{selector}"), feature, false);
        }
        for (name, group) in &self.node_groups {
            let field = |key: &str| format!("node_groups.{name}.{key}");
            group.partition.iter().for_each(|value| word(field("partition"), value, false));
            group.features.iter().for_each(|value| word(field("features"), value, false));
        }
        self.aside_nodes.iter().for_each(|value| word("aside_nodes".into(), value, false));
        self.spare_nodes.iter().for_each(|value| word("spare_nodes".into(), value, false));
        if let Some(cards) = &self.cards {
            cards.types.iter().for_each(|value| word("cards.types".into(), value, false));
            if cards.shards == Some(0) {
                found.push("cards.shards: must be at least 1".into());
            }
        }
        found.extend(self.containers.iter().flat_map(SlurmContainers::mistakes));
        let code = Some(("code", &self.code)).filter(|(_, code)| !code.is_empty());
        for (field, value) in
            [("workspace", &self.workspace), ("templates", &self.templates), ("program", &self.program)]
                .into_iter()
                .chain(code)
        {
            if !is_path(&value.replace("{project}", "p")) {
                found.push(format!(
                    "{field}: write an absolute path of letters, digits and `/._-+`, the same on every node"
                ));
            }
        }
        found
    }
}

/// Whether a text is one word for Slurm and for a shell.
#[must_use]
pub fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain)
}

/// Whether a text is an absolute path of plain names.
fn is_path(text: &str) -> bool {
    let mut parts = text.split('/');
    text.len() > 1
        && parts.next() == Some("")
        && parts.all(|part| is_word(part) && part != "." && part != "..")
}

/// A job lowered to Slurm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlurmJob {
    pub key: AttemptKey,
    /// Decisions with their reasons, one sentence each.
    pub decisions: Vec<String>,
    /// The attempt's folder, on every node.
    pub folder: String,
    /// The submitted script.
    pub script: String,
    /// Its processes, as on one machine, with tokens for values that only the nodes know.
    pub job: LocalJob,
    /// The folder in the workspace in which its script stores a pulled image. `None` if it pulls none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pulled: Option<String>,
}

/// Tokens in a [`SlurmJob`]'s processes. The nodes replace them by the values.
pub mod tokens {
    #[must_use]
    pub fn address(rank: u32) -> String {
        format!("@cubeloom-address-{rank}@")
    }

    #[must_use]
    pub fn port(rank: u32) -> String {
        format!("@cubeloom-port-{rank}@")
    }

    /// A port after the workers' own, for a process that is not the first of its worker. `at` counts these
    /// over all workers.
    #[must_use]
    pub fn more_port(at: u32) -> String {
        format!("{MORE_PORT}{at}@")
    }

    /// Whether a text contains such a port.
    #[must_use]
    pub fn has_more_ports(text: &str) -> bool {
        text.contains(MORE_PORT)
    }

    const MORE_PORT: &str = "@cubeloom-more-port-";

    /// Path of the image in which the workers' programs run.
    pub const IMAGE: &str = "@cubeloom-image@";
    /// The GPUs that Slurm allocated to the worker that reads it.
    pub const CARDS: &str = "@cubeloom-cards@";
    /// The job's own port, [`super::LINK_PORT`].
    pub const LINK: &str = "@cubeloom-link-port@";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> SlurmFacts {
        SlurmFacts {
            workspace: "/shared/{project}".into(),
            templates: "/shared/templates".into(),
            program: "/opt/cubeloom/cubeloom".into(),
            ..SlurmFacts::default()
        }
    }

    #[test]
    fn what_would_be_more_than_a_word_in_a_script_is_named_with_its_field() {
        assert_eq!(facts().mistakes(), Vec::<String>::new());
        assert_eq!(fields(&SlurmFacts::default().mistakes()), ["workspace", "templates", "program"]);
        let group = SlurmNodeGroup { features: vec!["ib&".into()], ..SlurmNodeGroup::default() };
        let wrong = SlurmFacts {
            account: Some("{project} --uid=0".into()),
            qos: Some("-x".into()),
            partition: Some(String::new()),
            features: [("disk=ssd".to_owned(), "a\n#SBATCH -x".to_owned())].into(),
            node_groups: [("big".to_owned(), group)].into(),
            cards: Some(SlurmCards { types: vec!["a100:2".into()], shards: Some(0) }),
            workspace: "shared".into(),
            templates: "/a/../b".into(),
            program: "/opt/$(id)".into(),
            ..facts()
        };
        assert_eq!(
            fields(&wrong.mistakes()),
            [
                "account",
                "qos",
                "partition",
                "features.disk=ssd",
                "node_groups.big.features",
                "cards.types",
                "cards.shards",
                "workspace",
                "templates",
                "program"
            ]
        );
    }

    #[test]
    fn a_project_has_its_own_account_and_workspace() {
        let of_all = SlurmFacts {
            account: Some("cube-{project}".into()),
            qos: Some("qos-{project}".into()),
            templates: "/shared/{project}/.templates".into(),
            ..facts()
        };
        let facts = of_all.of_project("shop");
        assert_eq!((facts.account.as_deref(), facts.workspace.as_str()), (Some("cube-shop"), "/shared/shop"));
        assert_eq!(
            (facts.qos.as_deref(), facts.templates.as_str()),
            (Some("qos-shop"), "/shared/shop/.templates")
        );
    }

    fn fields(mistakes: &[String]) -> Vec<&str> {
        mistakes.iter().map(|text| text.split(": ").next().unwrap()).collect()
    }

    #[test]
    fn each_account_has_copies_of_its_own() {
        let facts = facts().of_project("shop").of_account("ann");
        assert_eq!(facts.templates, "/shared/templates/ann");
        assert_eq!(facts.code_folder("ab"), "/shared/shop/.code/ann/ab");
        let elsewhere = SlurmFacts { code: "/code/{project}".into(), ..self::facts() };
        assert_eq!(elsewhere.of_project("shop").of_account("ann").code_folder("ab"), "/code/shop/ann/ab");
        assert_eq!(self::facts().of_project("shop").code_folder("ab"), "/shared/shop/.code/ab");
    }
}
