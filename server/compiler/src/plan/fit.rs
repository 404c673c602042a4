//! Requirements on the cluster: room on one node for each worker, room for the gang, volumes, secrets,
//! software.

use std::collections::BTreeSet;

use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::executor::NodeFacts;
use cubeloom_domain::job::VolumeMount;
use cubeloom_domain::pipeline::Task;
use cubeloom_domain::plan::PlannedRole;
use cubeloom_domain::resources::{Amount, Resources};
use cubeloom_domain::shape::Shape;
use cubeloom_domain::{Bytes, Code, Cpu, Problem};

use super::Planner;
use super::cards::{has_cards, lack, short_of_slices};
use super::prepared::Prepared;
use super::roles::Roles;
use crate::frameworks::Doer;
use crate::nearest::{hint, listing};
use crate::validate;

impl<'a> Planner<'a> {
    /// Facts without a cluster's name count as absent: they cause no refusal.
    fn has_facts(&self) -> bool {
        !self.facts.cluster.is_empty()
    }

    pub fn cluster(&mut self) {
        if let Some(name) =
            self.pipeline.cluster.as_ref().filter(|name| self.has_facts() && **name != self.facts.cluster)
        {
            let message = format!("there is no cluster `{name}`; this one is `{}`", self.facts.cluster);
            self.problem(Code::UnknownPlace, "/cluster", message);
        }
        let placement = self.pipeline.placement.as_ref();
        if let Some(group) = placement.and_then(|placement| placement.node_group.as_deref()) {
            self.check_node_group(group, "/placement/node_group".into());
        }
    }

    pub fn check_node_group(&mut self, group: &str, path: String) {
        let groups = &self.facts.node_groups;
        if !self.has_facts() || groups.iter().any(|known| known == group) {
            return;
        }
        let known = || groups.iter().map(String::as_str);
        let hint = match (groups.is_empty(), hint(group, known())) {
            (true, _) => "; it has none, remove `node_group`".into(),
            (false, hint) if hint.is_empty() => format!("; it has: {}", listing(known())),
            (false, hint) => hint,
        };
        let message = format!("the cluster `{}` has no node group `{group}`{hint}", self.facts.cluster);
        self.problem(Code::UnknownPlace, path, message);
    }

    /// Secrets must exist before the run starts.
    pub fn check_secrets(&mut self, prefix: &str, task: &Task) {
        if !self.has_facts() {
            return;
        }
        for (at, secret) in task.secrets.iter().enumerate() {
            let name = validate::secret_mount(secret).name;
            if !self.facts.secrets.contains(&name) {
                let hint = hint(&name, self.facts.secrets.iter().map(String::as_str));
                let message = format!("there is no secret `{name}` here{hint}");
                self.problem(Code::UnknownSecret, format!("{prefix}/secrets/{at}"), message);
            }
        }
    }

    /// The concurrency limits of a task's jobs, without duplicates. A limit that does not exist limits
    /// nothing, so the user gets a warning.
    pub fn limits(&mut self, prefix: &str, task: &Task, doer: Doer) -> Vec<String> {
        if doer != Doer::Workers {
            return Vec::new();
        }
        for (at, name) in task.limits.iter().enumerate() {
            let known = self.facts.limits.as_ref().filter(|known| !known.contains(name));
            if let Some(known) = known {
                let hint = hint(name, known.iter().map(String::as_str));
                let message = format!("there is no concurrency limit `{name}`, so nothing is limited{hint}");
                let path = format!("{prefix}/limits/{at}");
                self.problems.push(Problem::warning(Code::Suspicious, path, message));
            }
        }
        let names: BTreeSet<&String> = task.limits.iter().collect();
        names.into_iter().cloned().collect()
    }

    /// The volumes of a task, with their locations: a run keeps the locations from its planning.
    pub fn volumes(&mut self, prefix: &str, task: &Task) -> Vec<VolumeMount> {
        let mut mounts: Vec<VolumeMount> = task.volumes.iter().map(validate::volume_mount).collect();
        if !self.has_facts() {
            return mounts;
        }
        for (at, mount) in mounts.iter_mut().enumerate() {
            let why = match self.facts.volumes.get(&mount.name) {
                Some(place) if can_be_given(place, &self.facts.kind) => {
                    mount.place = Some(place.clone());
                    continue;
                }
                Some(VolumePlace::ObjectStore { .. }) => format!(
                    "the volume `{}` is a bucket, not a folder: copy its files with the template `transfer`",
                    mount.name
                ),
                Some(_) => format!("the volume `{}` exists on Kubernetes clusters only", mount.name),
                None => {
                    let hint = hint(&mount.name, self.facts.volumes.keys().map(String::as_str));
                    format!("there is no volume `{}` here{hint}", mount.name)
                }
            };
            self.problem(Code::UnknownVolume, format!("{prefix}/volumes/{at}"), why);
        }
        mounts
    }

    /// Debian packages that the template needs without containers.
    pub fn check_software(&mut self, prefix: &str, prepared: &Prepared<'_>) {
        let Some(installed) = &self.facts.installed_apt else { return };
        let needed = prepared.template.local.iter().flat_map(|local| &local.apt);
        let missing: Vec<&str> =
            needed.filter(|name| !installed.contains(name)).map(String::as_str).collect();
        if !missing.is_empty() {
            let packages = missing.join(" ");
            let message = format!(
                "the task template `{}` needs software that is not installed here; install it with: apt-get install {packages}",
                prepared.template.name
            );
            self.problem(Code::MissingSoftware, format!("{prefix}/template"), message);
        }
    }

    /// Whether each worker fits on a node of the target, and the gang on all of them.
    pub fn check_fit(&mut self, prefix: &str, task: &Task, roles: &Roles, elastic_role: Option<&str>) {
        if self.facts.nodes.is_empty() {
            return;
        }
        let (nodes, group) = self.nodes_for(task);
        let mut ours = roles.planned.iter().filter(|role| role.replicas > 0);
        let found = ours.find_map(|role| Some((role, misfit(&role.resources, &nodes)?)));
        if let Some((PlannedRole { name, .. }, reason)) = found {
            let message = match group {
                Some(group) => {
                    format!(
                        "a worker of the role `{name}` can never run in the node group `{group}`: {reason}"
                    )
                }
                None => format!("a worker of the role `{name}` can never run here: {reason}"),
            };
            self.problem(Code::NeverFits, format!("{prefix}/resources"), message);
            return;
        }
        if roles.gang <= 1 {
            return;
        }
        let count = |role: &PlannedRole| least(roles, elastic_role, role);
        let n = roles.gang;
        let gang = Gang { roles: &roles.planned, count: &count };
        let message = match gang.short_of(&nodes) {
            Some(scarce) => {
                let (needed, has) = (scarce.written(&gang.shape(scarce)), scarce.written(&scarce.of(&nodes)));
                match (group, self.largest_group(scarce, group, &nodes)) {
                    (Some(group), Some((other, most))) => format!(
                        "all {n} workers together can never run in the node group `{group}`: they need {needed}, and it has {has}; the largest node group, `{other}`, has {most}"
                    ),
                    (None, Some((group, most))) => format!(
                        "all {n} workers together can never run here: they need {needed}, and the cluster has {has}; its largest node group, `{group}`, has {most}"
                    ),
                    (group, None) => together(n, group, &needed, &has),
                }
            }
            None => match short_of_slices(&roles.planned, count, &nodes) {
                Some((needed, has)) => together(n, group, &needed, &has),
                None => return,
            },
        };
        self.problem(Code::NeverFits, format!("{prefix}/resources"), message);
    }

    /// The node group with the most of a scarce resource, and its nodes in words. `None` if it is `own`, or
    /// if all checked nodes are in it.
    fn largest_group(
        &self,
        scarce: Scarce,
        own: Option<&String>,
        looked_at: &[&NodeFacts],
    ) -> Option<(&'a str, String)> {
        let of = |group: &'a str| {
            let is_of = |node: &&NodeFacts| node.groups.iter().any(|one| one == group);
            (group, scarce.of(&self.facts.nodes.iter().filter(is_of).collect::<Vec<_>>()))
        };
        let groups = self.facts.node_groups.iter().map(|group| of(group));
        let (group, most) = groups.rev().max_by_key(|(_, shape)| shape.sum())?;
        let tells_nothing = most.sum() == 0 || own.is_some_and(|own| own == group);
        let is_all = own.is_none() && most == scarce.of(looked_at);
        (!tells_nothing && !is_all).then(|| (group, scarce.written(&most)))
    }

    /// The candidate nodes of a task, and their node group. A group without nodes is unknown: one that scales
    /// on demand may be empty now.
    fn nodes_for<'t>(&self, task: &'t Task) -> (Vec<&'a NodeFacts>, Option<&'t String>)
    where
        'a: 't,
    {
        let (facts, pipeline) = (self.facts, self.pipeline);
        let placements = [task.placement.as_deref(), pipeline.placement.as_ref()];
        let group = placements.into_iter().flatten().find_map(|placement| placement.node_group.as_ref());
        let of = |group: &String| -> Vec<&'a NodeFacts> {
            facts.nodes.iter().filter(|node| node.groups.contains(group)).collect()
        };
        match group.map(|group| (of(group), group)) {
            Some((nodes, group)) if !nodes.is_empty() => (nodes, Some(group)),
            _ => (facts.nodes.iter().collect(), None),
        }
    }
}

/// Whether a cluster of this kind can mount a volume as a folder for a worker.
fn can_be_given(place: &VolumePlace, kind: &str) -> bool {
    match place {
        VolumePlace::Workspace { .. } | VolumePlace::Folder { .. } => true,
        VolumePlace::Claim { .. } => kind != "local",
        VolumePlace::ObjectStore { .. } => false,
    }
}

/// How many workers of a role need room at once: all, or the minimum of an elastic role.
fn least(roles: &Roles, elastic_role: Option<&str>, role: &PlannedRole) -> u32 {
    match roles.elastic {
        Some(range) if elastic_role == Some(&role.name) => range.min,
        _ => role.replicas,
    }
}

/// The reason why a worker fits on no node; `None` if it fits on one.
fn misfit(resources: &Resources, nodes: &[&NodeFacts]) -> Option<String> {
    let one = Amount::of(resources, 1);
    if nodes.iter().any(|node| one.fits(node.amount()) && has_cards(resources, node)) {
        return None;
    }
    let cpu = nodes.iter().map(|node| node.cpu).max().unwrap_or_default();
    let memory = nodes.iter().map(|node| node.memory).max().unwrap_or_default();
    if one.cpu > cpu {
        return Some(format!("it needs {} CPU, and the largest node has {cpu}", one.cpu));
    }
    if one.memory > memory {
        return Some(format!(
            "it needs {} of memory, and the largest node has {}",
            one.memory,
            readable(memory)
        ));
    }
    if let Some(gpu) = &resources.gpu {
        return Some(lack(gpu, nodes));
    }
    Some("no single node has everything that it needs".into())
}

/// The message for a gang that never fits.
fn together(n: u32, group: Option<&String>, needed: &str, has: &str) -> String {
    match group {
        Some(group) => format!(
            "all {n} workers together can never run in the node group `{group}`: they need {needed}, and it has {has}"
        ),
        None => {
            format!(
                "all {n} workers together can never run here: they need {needed}, and the cluster has {has}"
            )
        }
    }
}

struct Gang<'g> {
    roles: &'g [PlannedRole],
    /// How many workers of a role start together.
    count: &'g dyn Fn(&PlannedRole) -> u32,
}

impl Gang<'_> {
    /// The request of each worker.
    fn shape(&self, scarce: Scarce) -> Shape {
        let one =
            |role: &PlannedRole| (scarce.amount(Amount::of(&role.resources, 1)), (self.count)(role).into());
        Shape::new(self.roles.iter().map(one))
    }

    /// The first resource that these nodes lack in total.
    fn short_of(&self, nodes: &[&NodeFacts]) -> Option<Scarce> {
        let is_short = |scarce: &Scarce| self.shape(*scarce).sum() > scarce.of(nodes).sum();
        [Scarce::Gpus, Scarce::Cpu, Scarce::Memory].into_iter().find(is_short)
    }
}

/// A resource that a gang may lack, in reporting order: scarce ones first.
#[derive(Clone, Copy)]
enum Scarce {
    Gpus,
    Cpu,
    Memory,
}

impl Scarce {
    fn amount(self, amount: Amount) -> u64 {
        match self {
            Self::Gpus => amount.gpus.into(),
            Self::Cpu => amount.cpu.0,
            Self::Memory => amount.memory.0,
        }
    }

    /// The amount on each node.
    fn of(self, nodes: &[&NodeFacts]) -> Shape {
        Shape::new(nodes.iter().map(|node| (self.amount(node.amount()), 1)))
    }

    fn written(self, shape: &Shape) -> String {
        match self {
            Self::Gpus => format!("{} GPUs", shape.written(|count| count.to_string())),
            Self::Cpu => format!("{} CPU", shape.written(|cpu| round(Cpu(cpu)))),
            Self::Memory => format!("{} of memory", shape.written(|memory| readable(Bytes(memory)))),
        }
    }
}

fn round(cpu: Cpu) -> String {
    format!("{}", cpu.0 as f64 / 1000.0)
}

/// Memory in the largest unit of at least 1, with one decimal.
fn readable(memory: Bytes) -> String {
    let units = [("Gi", 30), ("Mi", 20), ("Ki", 10)];
    match units.iter().find(|(_, shift)| memory.0 >= 1 << shift) {
        Some((unit, shift)) => format!("{:.1}{unit}", memory.0 as f64 / f64::from(1u32 << shift)),
        None => memory.to_string(),
    }
}
