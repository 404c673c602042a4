//! What a Slurm cluster has, what a project has there, and what a job becomes on it.

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

/// The files of an attempt in its folder, beside those of its workers.
pub mod files {
    /// The script that is submitted.
    pub const SCRIPT: &str = "job.sh";
    /// The processes, with tokens for what only the nodes know: [`super::SlurmJob::job`].
    pub const JOB: &str = "job.json";
    /// A folder that the script makes first: the attempt was begun, and nothing begins it again.
    pub const SUBMITTED: &str = "submitted";
    /// What Slurm and the script say.
    pub const LOG: &str = "slurm.log";
    /// Where the workers are, a line each in rank order: rank, node, address, port.
    pub const PLACES: &str = "places";
    /// By what it holds the workers know each other; nobody else may read it.
    pub const TOKEN: &str = "token";
    /// The secrets' values by name, a JSON object; nobody else may read it, and it goes with the job's end.
    pub const SECRETS: &str = "secrets.json";
    /// Where the image is in which the workers' programs run; absent where they run on the nodes themselves.
    pub const IMAGE: &str = "image";
}

/// How many ports a job has: the workers' own, by rank or, of more workers, by their number on the node, and as the last one
/// that of the job.
pub const PORTS: u32 = 64;
/// The port, of a job's, on which the programs of templates meet: no worker's own.
pub const LINK_PORT: u32 = PORTS - 1;
/// The first port of all jobs.
pub const FIRST_PORT: u32 = 10_000;
/// How many jobs have ports of their own at a time: all of them below those that systems hand out themselves.
pub const RANGES: u32 = 350;

/// A cluster as far as lowering must know it. What is absent is not there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmFacts {
    /// The account that the project's jobs are counted for; the user's default where it is absent. `{project}` in it stands
    /// for the project's name.
    pub account: Option<String>,
    /// The quality of service; `{project}` in it stands for the project's name.
    pub qos: Option<String>,
    /// The partition of jobs that name no node group; the cluster's default where it is absent.
    pub partition: Option<String>,
    /// Node groups that a placement can refer to.
    pub node_groups: BTreeMap<String, SlurmNodeGroup>,
    /// Features of nodes by what a placement's `selector` asks for: `disk=ssd` -> `ssd`.
    pub features: BTreeMap<String, String>,
    /// GPUs; absent where there are none.
    pub cards: Option<SlurmCards>,
    /// The generic resource that RDMA devices are asked for by.
    pub rdma: Option<String>,
    /// The project's workspace, the same folder on every node and where jobs are submitted. `{project}` in it stands for the
    /// project's name.
    pub workspace: String,
    /// The folder of the templates' copies, as readable everywhere. `{project}` in it stands for the project's name.
    pub templates: String,
    /// The folder of copies of pipelines' folders; `.code` of the workspace where it is empty. `{project}` in it stands for the
    /// project's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The `cubeloom` program on every node.
    pub program: String,
    /// Variables of every worker, which tasks may set otherwise.
    pub env: BTreeMap<String, String>,
    /// What runs a template's image; absent where programs run on the nodes themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containers: Option<SlurmContainers>,
    /// Nodes to which no job goes: those that are set aside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aside_nodes: Vec<String>,
    /// Nodes to which no job goes as they are spares at present.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spare_nodes: Vec<String>,
}

/// The nodes that a placement may name together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmNodeGroup {
    /// Their partition; that of all jobs where it is absent.
    pub partition: Option<String>,
    /// Features that they have.
    pub features: Vec<String>,
    /// Variables of the workers there, which tasks may set otherwise.
    pub env: BTreeMap<String, String>,
    /// How many of them are kept free, to take the place of others that are away or set aside.
    #[serde(skip_serializing_if = "is_zero")]
    pub spares: u32,
}

/// How GPUs are asked for: as the generic resource `gpu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmCards {
    /// Their types, as `gres.conf` names them.
    pub types: Vec<String>,
    /// Into how many shards (the generic resource `shard`) each card is divided; absent where cards are handed out whole.
    pub shards: Option<u32>,
}

/// Whether a text is the name of an account that jobs may run as.
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

    /// The same for one account of several: copies that another account made could become something else.
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

    /// Where the copy of a pipeline's folder is, by its digest.
    #[must_use]
    pub fn code_folder(&self, digest: &str) -> String {
        format!("{}/{digest}", self.code_above())
    }

    /// What cannot be written into a script, a sentence each that begins with the field. All of it is checked here, so that
    /// no text of a configuration becomes a word of a shell.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut word = |field: String, value: &str, project: bool| {
            let value = if project { value.replace("{project}", "p") } else { value.to_owned() };
            if !is_word(&value) {
                found.push(format!("{field}: write letters, digits and `._-+` only, and begin with no `-`"));
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
                found.push("cards.shards: a GPU has at least one".into());
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

/// What a job becomes on Slurm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlurmJob {
    /// Attempt.
    pub key: AttemptKey,
    /// What was chosen and why, a sentence each.
    pub decisions: Vec<String>,
    /// The attempt's folder, on every node.
    pub folder: String,
    /// The script that is submitted.
    pub script: String,
    /// Its processes, as on one machine, with tokens for what only the nodes know.
    pub job: LocalJob,
    /// The folder, in the workspace, in which its script keeps an image that it takes from a registry; absent where it takes
    /// none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pulled: Option<String>,
}

/// The tokens in a [`SlurmJob`]'s processes. What they stand for is found out on the nodes.
pub mod tokens {
    /// Where a worker is.
    #[must_use]
    pub fn address(rank: u32) -> String {
        format!("@cubeloom-address-{rank}@")
    }

    /// The port that is a worker's own.
    #[must_use]
    pub fn port(rank: u32) -> String {
        format!("@cubeloom-port-{rank}@")
    }

    /// A port after the workers' own, for a process that is not the first of its worker; `at` counts these over all workers.
    #[must_use]
    pub fn more_port(at: u32) -> String {
        format!("{MORE_PORT}{at}@")
    }

    /// Whether a text holds such a port.
    #[must_use]
    pub fn has_more_ports(text: &str) -> bool {
        text.contains(MORE_PORT)
    }

    const MORE_PORT: &str = "@cubeloom-more-port-";

    /// Where the image is in which the workers' programs run.
    pub const IMAGE: &str = "@cubeloom-image@";
    /// The cards that Slurm gave to the worker that reads it.
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
