//! The variables of a role's pods: the same contract as on one machine, in one template for all pods of the
//! role.
//!
//! The workers of a role differ in their index, which a pod has in its metadata, or in their rank.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::job::{Job, JobRole};
use cubeloom_domain::kubernetes::TOKEN_KEY;
use cubeloom_domain::lowered::LocalPaths;
use serde_json::{Value, json};

use super::Frame;
use super::notes::Notes;
use super::operator::Numbers;
use super::volumes::outputs_file;
use super::words::{Part, Shell, escape, parts, plain};
use crate::frameworks::{Crew, Identity, Member};
use crate::lower::common::{Variables, common, pairs, with_code};
use crate::lower::compatibility;
use crate::lower::processes::{self, Signals, Table};
use crate::lower::told::{Sample, Told, told};

/// Variables that are computed if the cluster counts from 1. The second is the counted number itself. The
/// first is no pod field in that case.
const COUNTED: [&str; 2] = ["CUBELOOM_INDEX", "CUBELOOM_RANK"];

pub struct Environment {
    /// The container's `env`.
    pub list: Vec<Value>,
    /// Variables that a shell adds.
    pub shell: Shell,
    pub names: BTreeSet<String>,
    /// The names that the kubelet cannot resolve.
    pub late: BTreeSet<String>,
    /// The names that differ between the processes of one worker: their launcher resolves them.
    pub own: BTreeSet<String>,
}

impl Environment {
    /// The names that a shell would have to resolve for a program of these words.
    pub fn late_names(&self, words: &[String]) -> BTreeSet<String> {
        let known = |name: &str| self.names.contains(name);
        let parts = words.iter().flat_map(|word| parts(word, known, &self.late));
        let parts = parts.chain(self.shell.texts.values().flatten().cloned());
        let named = parts.filter_map(|part| match part {
            Part::Late(name) => Some(name),
            Part::Text(_) => None,
        });
        named.chain(self.shell.ranks.keys().cloned()).collect()
    }
}

/// The inputs of a role's variables.
pub struct Setting<'a> {
    pub frame: &'a Frame<'a>,
    pub crew: &'a Crew<'a>,
    pub paths: &'a LocalPaths,
    pub role: &'a JobRole,
    /// The table of a worker's processes, if it has several.
    pub table: Option<&'a Table>,
}

impl Setting<'_> {
    /// The variables, and the framework's files for the workers of this role.
    pub fn environment(&self, notes: &mut Notes) -> (Environment, BTreeMap<String, String>) {
        let (who, identity) = self.who(notes);
        let given = self.frame.given();
        let mut made = Environment {
            list: Vec::new(),
            shell: Shell::default(),
            names: given.iter().map(|name| (*name).to_owned()).collect(),
            late: BTreeSet::new(),
            own: self.table.map(Table::own).unwrap_or_default(),
        };
        if let Some(table) = self.table {
            let text = table.written(Signals::ReachFirst);
            made.list.push(value(processes::VARIABLE, &escape(&text)));
        }
        self.add_who(&who, &mut made);
        let mut late = made.late.clone();
        late.extend(given.iter().map(|name| (*name).to_owned()));
        self.add_settings(&who, &identity, &late, &mut made);
        self.add_secrets(&mut made);
        (made, identity.files)
    }

    /// The identity of this role's workers, as far as no operator sets it, with the framework's settings and
    /// files.
    fn who(&self, notes: &mut Notes) -> (BTreeMap<String, Told>, Identity) {
        let members: Vec<&Member> = self.crew.of_role(&self.role.name).collect();
        let given = self.frame.given();
        let counted = matches!(self.frame.numbers(&self.role.name), Numbers::Count(_))
            && self.frame.framework.may_be_many(&self.role.name);
        let sample = |member: &Member| {
            let identity = (self.frame.framework.identity)(self.crew, member);
            let outputs = outputs_file(self.frame, &member.role, member.index, !counted);
            let mut all = common(self.frame.job, self.paths, member, outputs, self.crew.members.len());
            all.extend(identity.variables.clone());
            // The pod's own address is unknown before it exists.
            all.retain(|name, _| name != "CUBELOOM_HOST" && !given.contains(&name.as_str()));
            (all, identity)
        };
        // With many workers, the first two and the last show the differences.
        let chosen = members.iter().take(2).chain(members.iter().skip(2).last()).copied();
        let samples: Vec<Sample<'_>> = chosen.map(|member| (member, sample(member))).collect();
        let mut who = BTreeMap::new();
        for name in samples.iter().flat_map(|(_, (variables, _))| variables.keys()) {
            let count = counted && COUNTED.contains(&name.as_str());
            let found = if count { Some(Told::Count) } else { told(name, &samples) };
            match found {
                Some(told) => drop(who.insert(name.clone(), told)),
                None => notes
                    .refuse("template", format!("the variable {name} cannot be passed to pods of one role")),
            }
        }
        (who, samples.into_iter().next().map(|(_, (_, identity))| identity).unwrap_or_default())
    }

    fn add_who(&self, who: &BTreeMap<String, Told>, made: &mut Environment) {
        let first = self.crew.of_role(&self.role.name).next().map_or(0, |member| member.rank);
        let (Numbers::Index(path) | Numbers::Count(path)) = self.frame.numbers(&self.role.name);
        let mut within = Vec::new();
        made.list.push(field("CUBELOOM_HOST", "status.podIP"));
        made.names.insert("CUBELOOM_HOST".into());
        for (name, told) in who {
            made.names.insert(name.clone());
            match told {
                Told::Text(text) => made.list.push(value(name, &escape(text))),
                Told::Index | Told::Count => made.list.push(field(name, path)),
                Told::Within(before, after) => {
                    let text = format!("{}$(CUBELOOM_INDEX){}", escape(before), escape(after));
                    within.push(value(name, &text));
                }
                Told::Rank => {
                    made.late.insert(name.clone());
                    made.shell.ranks.insert(name.clone(), first);
                }
            }
        }
        // A variable may refer to earlier ones.
        made.list.extend(within);
    }

    /// The settings that the task may override, and the task's own variables.
    fn add_settings(
        &self,
        who: &BTreeMap<String, Told>,
        identity: &Identity,
        late: &BTreeSet<String>,
        made: &mut Environment,
    ) {
        let job = self.frame.job;
        let mut fixed = compatibility::variables(job, &self.paths.workspace, &self.role.resources);
        fixed.extend(self.platform());
        fixed.extend(identity.settings.clone());
        fixed.extend(self.of_nodes());
        fixed.retain(|name, _| !job.env.contains_key(name));
        let mut all: BTreeMap<String, Vec<Part>> =
            fixed.into_iter().map(|(name, text)| (name, vec![Part::Text(escape(&text))])).collect();
        // A value may refer to the worker's identity, whether lowering or the operator sets it.
        let own = made.own.clone();
        let known = |name: &str| {
            !own.contains(name) && (who.contains_key(name) || name == "CUBELOOM_HOST" || late.contains(name))
        };
        all.extend(job.env.iter().map(|(name, text)| {
            let text = self.table.map_or(text.into(), |table| table.guarded_env(name, text));
            (name.clone(), parts(&text, known, late))
        }));
        self.add_code(&mut all);
        for (name, parts) in all {
            if who.contains_key(&name) || self.frame.given().contains(&name.as_str()) {
                continue;
            }
            made.names.insert(name.clone());
            match plain(&parts) {
                Some(text) => made.list.push(value(&name, &text)),
                None => {
                    made.late.insert(name.clone());
                    made.shell.texts.insert(name, parts);
                }
            }
        }
    }

    /// Puts the pipeline's own modules first.
    fn add_code(&self, all: &mut BTreeMap<String, Vec<Part>>) {
        if self.paths.code.is_empty() {
            return;
        }
        let own = all.remove("PYTHONPATH").unwrap_or_default();
        let mut parts = own.into_iter();
        let path = match parts.next() {
            Some(Part::Text(text)) => vec![Part::Text(with_code(&self.paths.code, Some(&text)))],
            Some(late) => vec![Part::Text(format!("{}:", self.paths.code)), late],
            None => vec![Part::Text(with_code(&self.paths.code, None))],
        };
        all.insert("PYTHONPATH".into(), path.into_iter().chain(parts).collect());
    }

    /// Settings that follow from the pod. The image's own PATH stays.
    fn platform(&self) -> Variables {
        let threads = self.role.resources.threads();
        let facts = self.frame.facts;
        let mut settings = pairs([
            ("GPU_RESOURCE_NAME", facts.cards.resource.clone()),
            ("HOME", self.below("work")),
            ("KFJ_ENVIRONMENT", "kubernetes".into()),
            ("KFJ_NAMESPACE", facts.namespace.clone()),
            ("LANG", "C.UTF-8".into()),
            ("OMP_NUM_THREADS", threads.to_string()),
            ("TMPDIR", self.below("work")),
        ]);
        if let Some(rdma) = &facts.rdma {
            settings.insert("RDMA_RESOURCE_NAME".into(), rdma.clone());
        }
        if self.role.resources.gpu.is_none() {
            // With NVIDIA's runtime as the node's default, images that request all GPUs would get them.
            settings.insert("NVIDIA_VISIBLE_DEVICES".into(), "void".into());
        }
        settings
    }

    /// Variables that the target nodes require.
    fn of_nodes(&self) -> Variables {
        let group = self.frame.job.placement.node_group.as_ref();
        let group = group.and_then(|name| self.frame.facts.node_groups.get(name));
        group.map_or_else(Variables::new, |group| group.env.clone())
    }

    fn below(&self, name: &str) -> String {
        format!("{}/{name}", self.paths.attempt_dir)
    }

    /// Secrets are referenced, never written: the executor creates a Secret with the job's name.
    fn add_secrets(&self, made: &mut Environment) {
        let job = self.frame.job;
        let mut add = |name: &str, key: &str| {
            made.list.retain(|entry| entry["name"] != name);
            made.shell.texts.remove(name);
            made.names.insert(name.to_owned());
            let source = json!({"secretKeyRef": {"name": self.frame.name, "key": key}});
            made.list.push(json!({"name": name, "valueFrom": source}));
        };
        if has_token(job) {
            add("CUBELOOM_JOB_TOKEN", TOKEN_KEY);
        }
        for secret in &job.secrets {
            if let Some(name) = &secret.env {
                add(name, &secret.name);
            }
        }
        if job.secrets.iter().any(|secret| secret.file.is_some()) {
            made.list.push(value("CUBELOOM_SECRETS", &self.below("secrets")));
            made.names.insert("CUBELOOM_SECRETS".into());
        }
    }
}

/// Whether there are several workers, which must authenticate to each other.
fn has_token(job: &Job) -> bool {
    job.workers() > 1
}

fn value(name: &str, text: &str) -> Value {
    json!({"name": name, "value": text})
}

fn field(name: &str, path: &str) -> Value {
    json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}})
}
