//! What a Slurm cluster has, what a project has there, and what a job becomes on it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ids::AttemptKey;
use crate::lowered::LocalJob;

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
    /// The quality of service.
    pub qos: Option<String>,
    /// The partition of jobs that name no node group; the cluster's default where it is absent.
    pub partition: Option<String>,
    /// Node groups that a placement may name.
    pub node_groups: BTreeMap<String, SlurmNodeGroup>,
    /// Features of nodes by what a placement's `selector` asks for: `disk=ssd` -> `ssd`.
    pub features: BTreeMap<String, String>,
    /// Graphics cards; absent where there are none.
    pub cards: Option<SlurmCards>,
    /// The generic resource that RDMA devices are asked for by.
    pub rdma: Option<String>,
    /// The project's workspace, the same folder on every node and where jobs are submitted. `{project}` in it stands for the
    /// project's name.
    pub workspace: String,
    /// The folder of the templates' copies, as readable everywhere. `{project}` in it stands for the project's name.
    pub templates: String,
    /// The `cubeloom` program on every node.
    pub program: String,
    /// Variables of every worker, which tasks may set otherwise.
    pub env: BTreeMap<String, String>,
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
}

/// How graphics cards are asked for: as the generic resource `gpu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmCards {
    /// Their types, as `gres.conf` names them.
    pub types: Vec<String>,
    /// Into how many shards (the generic resource `shard`) each card is divided; absent where cards are handed out whole.
    pub shards: Option<u32>,
}

/// What an administrator says of a Slurm cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmSettings {
    /// What is there. `{project}` in it stands for a project's name.
    pub facts: SlurmFacts,
    /// How its commands are called.
    #[serde(default)]
    pub way: SlurmWay,
}

impl SlurmSettings {
    /// What is wrong with it, a sentence each that begins with the field.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let facts = self.facts.mistakes().into_iter().map(|mistake| format!("facts.{mistake}"));
        facts.chain(self.way.mistakes().into_iter().map(|mistake| format!("way.{mistake}"))).collect()
    }
}

/// How a cluster's commands are called on the server's machine, and as whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmWay {
    /// The words before a command by which it runs as another account, `{account}` in them: `[sudo, -n, -u, "{account}", --]`.
    /// Empty where all jobs run as the server's own account.
    #[serde(rename = "become")]
    pub become_account: Vec<String>,
    /// The account of the cluster that each person's jobs run as, by the person's name here. Who has none runs nothing there.
    pub accounts: BTreeMap<String, String>,
    /// The configuration file (`SLURM_CONF`); Slurm's usual one where it is absent.
    pub conf: Option<String>,
    /// Where commands are looked for.
    pub path: String,
}

impl Default for SlurmWay {
    fn default() -> Self {
        Self {
            become_account: Vec::new(),
            accounts: BTreeMap::new(),
            conf: None,
            path: "/usr/local/bin:/usr/bin:/bin".into(),
        }
    }
}

impl SlurmWay {
    /// What is wrong with it, a sentence each that begins with the field.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let leads = self.become_account.iter().any(|word| word.contains("{account}"));
        if !leads && !self.become_account.is_empty() {
            found.push("become: name the account in it, as `{account}`".into());
        }
        if self.become_account.is_empty() && self.accounts.values().collect::<BTreeSet<_>>().len() > 1 {
            found.push("become: it is needed where people have accounts of their own".into());
        }
        for (person, account) in &self.accounts {
            if !is_word(account) || account == "root" {
                found.push(format!(
                    "accounts.{person}: write an account's name, letters, digits and `._-+`, and not `root`"
                ));
            }
        }
        if let Some(conf) = self.conf.as_ref().filter(|conf| !is_path(conf)) {
            found.push(format!("conf: `{conf}` is no absolute path of letters, digits and `/._-+`"));
        }
        if !self.path.split(':').all(is_path) {
            found.push("path: write absolute folders with `:` between them".into());
        }
        found
    }
}

impl SlurmFacts {
    /// The same for one project.
    #[must_use]
    pub fn of_project(&self, project: &str) -> Self {
        let named = |text: &str| text.replace("{project}", project);
        Self {
            account: self.account.as_deref().map(named),
            workspace: named(&self.workspace),
            templates: named(&self.templates),
            ..self.clone()
        }
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
        let named = [("account", &self.account, true), ("qos", &self.qos, false)];
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
        if let Some(cards) = &self.cards {
            cards.types.iter().for_each(|value| word("cards.types".into(), value, false));
            if cards.shards == Some(0) {
                found.push("cards.shards: a card has at least one".into());
            }
        }
        for (field, value) in
            [("workspace", &self.workspace), ("templates", &self.templates), ("program", &self.program)]
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
fn is_word(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(plain)
}

/// Whether a text is an absolute path of plain names.
fn is_path(text: &str) -> bool {
    let mut parts = text.split('/');
    parts.next() == Some("") && parts.all(|part| is_word(part) && part != "." && part != "..")
}

/// What a job becomes on Slurm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlurmJob {
    /// The attempt.
    pub key: AttemptKey,
    /// What was chosen and why, a sentence each.
    pub decisions: Vec<String>,
    /// The attempt's folder, on every node.
    pub folder: String,
    /// The script that is submitted.
    pub script: String,
    /// Its processes, as on one machine, with tokens for what only the nodes know.
    pub job: LocalJob,
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
        let fields: Vec<String> =
            wrong.mistakes().iter().map(|text| text.split(": ").next().unwrap().to_owned()).collect();
        assert_eq!(
            fields,
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
            templates: "/shared/{project}/.templates".into(),
            ..facts()
        };
        let facts = of_all.of_project("shop");
        assert_eq!((facts.account.as_deref(), facts.workspace.as_str()), (Some("cube-shop"), "/shared/shop"));
        assert_eq!(facts.templates, "/shared/shop/.templates");
    }

    #[test]
    fn accounts_are_led_to_by_words_that_name_them() {
        assert_eq!(SlurmWay::default().mistakes(), Vec::<String>::new());
        let accounts = |names: &[(&str, &str)]| {
            names.iter().map(|(person, account)| ((*person).to_owned(), (*account).to_owned())).collect()
        };
        let fields = |way: SlurmWay| -> Vec<String> {
            way.mistakes().iter().map(|text| text.split(": ").next().unwrap().to_owned()).collect()
        };
        let two = SlurmWay { accounts: accounts(&[("ann", "a"), ("bob", "b")]), ..SlurmWay::default() };
        assert_eq!(fields(two.clone()), ["become"]);
        let led = ["sudo", "-n", "-u", "{account}", "--"].map(ToOwned::to_owned).to_vec();
        assert_eq!(fields(SlurmWay { become_account: led, ..two }), Vec::<String>::new());
        let wrong = SlurmWay {
            become_account: vec!["sudo".into()],
            accounts: accounts(&[("ann", "-x"), ("bob", "root")]),
            conf: Some("slurm.conf".into()),
            path: "bin".into(),
        };
        assert_eq!(fields(wrong), ["become", "accounts.ann", "accounts.bob", "conf", "path"]);
    }
}
