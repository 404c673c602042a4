//! What a Slurm cluster has, what a project has there, and what a job becomes on it.

mod calls;
mod containers;
mod rest;
mod settings;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::AttemptKey;
use crate::lowered::LocalJob;
use crate::quantity::is_zero;

pub use calls::SlurmCalls;
pub use containers::{ContainerProgram, SlurmContainers, is_image};
pub use rest::{REST_VERSIONS, RestPlace, SlurmRest};
pub use settings::{SlurmMirror, SlurmSettings};

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

/// How graphics cards are asked for: as the generic resource `gpu`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmCards {
    /// Their types, as `gres.conf` names them.
    pub types: Vec<String>,
    /// Into how many shards (the generic resource `shard`) each card is divided; absent where cards are handed out whole.
    pub shards: Option<u32>,
}

/// The entry of `accounts` for whom no other names.
const OTHERS: &str = "*";
/// What stands for the person's name in it.
const PERSON: &str = "{person}";

/// As whom a cluster's jobs run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmWay {
    /// The account of the cluster that each person's jobs run as, by the person's name here. `*` stands for whom no other entry
    /// names: `{person}` in it stands for the person's name. Who has none runs nothing there.
    pub accounts: BTreeMap<String, String>,
    /// The account of what acts for no person (schedules, hooks, tokens of a project), by project.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub projects: BTreeMap<String, String>,
    /// What was said here once, and is said in the server's settings now.
    #[serde(rename = "become", skip_serializing_if = "Option::is_none")]
    become_account: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conf: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Value>,
}

impl SlurmWay {
    /// As these accounts.
    #[must_use]
    pub fn of_accounts(accounts: BTreeMap<String, String>) -> Self {
        Self { accounts, ..Self::default() }
    }

    /// The account that a person's jobs run as, and the entry of `accounts` that says so: their own before the rule `*`. Nobody
    /// has one by the rule whose name would make none, or root's.
    #[must_use]
    pub fn account_of(&self, person: &str) -> Option<(&str, String)> {
        let own = self.accounts.get_key_value(person).filter(|(name, _)| *name != OTHERS);
        if let Some((name, account)) = own {
            return Some((name.as_str(), account.clone()));
        }
        let account = self.accounts.get(OTHERS)?.replace(PERSON, person);
        is_account(&account).then_some((OTHERS, account))
    }

    /// The accounts that entries name, without those that the rule `*` gives.
    pub fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        let named = self.accounts.iter().filter(|(name, _)| *name != OTHERS);
        named.map(|(name, account)| (name.as_str(), account.as_str()))
    }

    /// Whether the rule `*` gives an account to somebody, whoever that is. Slurm keeps names without capitals: so they are
    /// compared.
    #[must_use]
    pub fn rule_gives(&self, account: &str) -> bool {
        let rule = self.accounts.get(OTHERS).map(|rule| rule.to_lowercase());
        let Some((before, behind)) = rule.as_deref().and_then(|rule| rule.split_once(PERSON)) else {
            return false;
        };
        let lower = account.to_lowercase();
        let person = lower.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
        is_account(account) && person.is_some_and(|person| !person.is_empty())
    }

    /// What is wrong with it, a sentence each that begins with the field.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let programs = [("become", &self.become_account), ("conf", &self.conf), ("path", &self.path)];
        let said = programs.into_iter().filter(|(_, value)| value.is_some());
        let mut found: Vec<String> = said
            .map(|(field, _)| {
                format!(
                    "{field}: only the server's settings say it, in the section of the cluster: leave it out"
                )
            })
            .collect();
        let fields = [("accounts", &self.accounts), ("projects", &self.projects)];
        for (field, name, account) in fields
            .into_iter()
            .flat_map(|(field, all)| all.iter().map(move |(name, account)| (field, name, account)))
        {
            if field == "accounts" && name == OTHERS {
                if !is_rule(account) {
                    found.push(format!(
                        "{field}.{name}: write `{PERSON}` once, for the person's name, and beside it letters, digits and `._-+` only"
                    ));
                }
            } else if !is_account(account) {
                found.push(format!(
                    "{field}.{name}: write an account's name: a letter or `_` first, then letters, digits and `._-+`; no number, and not `root`"
                ));
            }
        }
        found
    }
}

/// Whether a text makes names of accounts of names of persons.
fn is_rule(text: &str) -> bool {
    text.matches(PERSON).count() == 1 && is_account(&text.replace(PERSON, "p"))
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
                found.push("cards.shards: a card has at least one".into());
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
    fn an_account_has_a_name_that_is_no_option_no_number_and_not_roots() {
        let accounts =
            [("ann", "-x"), ("bob", "root"), ("cid", "1000"), ("dot", ".a"), ("eve", "eve-2"), ("fox", "")];
        let way = SlurmWay {
            accounts: accounts.map(|(person, account)| (person.to_owned(), account.to_owned())).into(),
            projects: [("vision".to_owned(), "0".to_owned()), ("audio".to_owned(), "svc-audio".to_owned())]
                .into(),
            ..SlurmWay::default()
        };
        let wrong = [
            "accounts.ann",
            "accounts.bob",
            "accounts.cid",
            "accounts.dot",
            "accounts.fox",
            "projects.vision",
        ];
        assert_eq!(fields(&way.mistakes()), wrong);
    }

    fn by_rule(rule: &str) -> SlurmWay {
        let accounts = [("*", rule), ("bob", "rlee")];
        let accounts = accounts.map(|(name, account)| (name.to_owned(), account.to_owned()));
        SlurmWay::of_accounts(accounts.into())
    }

    #[test]
    fn whom_no_entry_names_has_the_account_that_the_rule_makes_of_the_name() {
        let way = by_rule("{person}");
        assert_eq!(way.mistakes(), Vec::<String>::new());
        let of = |person: &str| way.account_of(person);
        assert_eq!(of("ann"), Some(("*", "ann".to_owned())));
        assert_eq!(of("bob"), Some(("bob", "rlee".to_owned())), "their own entry goes before it");
        for nobody in ["root", "*", "", "1000", "-x", ".a", "a b", "a;b", "a@b", "schedule:nightly"] {
            assert_eq!(of(nobody), None, "{nobody:?}");
        }
        assert_eq!(by_rule("roo{person}").account_of("t"), None, "no rule makes root");
        assert_eq!(by_rule("u-{person}").account_of("7"), Some(("*", "u-7".to_owned())));
        assert_eq!(SlurmWay::default().account_of("ann"), None, "there is no rule");
        assert_eq!(way.named().collect::<Vec<_>>(), [("bob", "rlee")]);
    }

    #[test]
    fn a_rule_has_the_persons_name_in_it_once() {
        for wrong in ["ann", "", "*", "{person}{person}", "1{person}", "-{person}", "{person} x", "{user}"] {
            assert_eq!(fields(&by_rule(wrong).mistakes()), ["accounts.*"], "{wrong:?}");
        }
        for well in ["{person}", "u-{person}", "{person}.x"] {
            assert_eq!(by_rule(well).mistakes(), Vec::<String>::new(), "{well:?}");
        }
        let way = by_rule("U-{person}");
        let given: Vec<&str> =
            ["u-ann", "U-Bob", "u-", "ann", "root"].into_iter().filter(|name| way.rule_gives(name)).collect();
        assert_eq!(given, ["u-ann", "U-Bob"]);
        assert!(by_rule("{person}").rule_gives("ann") && !by_rule("{person}").rule_gives("root"));
        assert!(!SlurmWay::default().rule_gives("ann"));
        // A rule is of people's names alone.
        let way =
            SlurmWay { projects: [("*".to_owned(), "{person}".to_owned())].into(), ..SlurmWay::default() };
        assert_eq!(fields(&way.mistakes()), ["projects.*"]);
    }

    #[test]
    fn programs_are_none_of_who_adds_a_cluster() {
        let said =
            serde_json::json!({"become": ["sh", "{account}"], "path": "/tmp", "conf": "/tmp/slurm.conf"});
        let way: SlurmWay = serde_json::from_value(said).unwrap();
        assert_eq!(fields(&way.mistakes()), ["become", "conf", "path"]);
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
