//! Placement of pods: node groups, GPU types, anti-affinity of the tasks of a run, packing or spreading the
//! workers of a task.

use cubeloom_domain::job::JobRole;
use cubeloom_domain::kubernetes::labels;
use cubeloom_domain::pipeline::{Spread, SpreadBy, Toleration, WorkerPlacement};
use serde_json::{Map, Value, json};

use super::Frame;
use super::amounts::card_nodes;
use super::notes::Notes;

const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";
/// The label for a node group that the facts do not describe.
const GROUP: &str = "cubeloom/node-group";

/// Adds the placement keys to a pod's `spec`.
pub fn place(frame: &Frame<'_>, role: &JobRole, spec: &mut Map<String, Value>, notes: &mut Notes) {
    let placement = &frame.job.placement;
    let mut selector = Map::new();
    let mut tolerations: Vec<&Toleration> = placement.tolerations.iter().collect();
    if let Some(name) = &placement.node_group {
        if let Some(group) = frame.facts.node_groups.get(name) {
            selector.extend(group.selector.iter().map(|(key, value)| (key.clone(), value.as_str().into())));
            tolerations.extend(&group.tolerations);
        } else {
            selector.insert(GROUP.into(), name.as_str().into());
            notes.decide(format!("the node group `{name}` is the nodes with the label {GROUP}={name}"));
        }
    }
    selector.extend(placement.selector.iter().map(|(key, value)| (key.clone(), value.as_str().into())));
    if !selector.is_empty() {
        spec.insert("nodeSelector".into(), selector.into());
    }
    if !tolerations.is_empty() {
        spec.insert("tolerations".into(), tolerations.into_iter().map(toleration).collect());
    }
    let affinity = affinity(frame, role, notes);
    if !affinity.is_empty() {
        spec.insert("affinity".into(), affinity.into());
    }
}

fn toleration(toleration: &Toleration) -> Value {
    let mut value = Map::new();
    value.insert("key".into(), toleration.key.as_str().into());
    value.insert("operator".into(), if toleration.value.is_some() { "Equal" } else { "Exists" }.into());
    value.extend(toleration.value.iter().map(|text| ("value".into(), text.as_str().into())));
    value.extend(toleration.effect.iter().map(|text| ("effect".into(), text.as_str().into())));
    value.into()
}

/// Affinity to nodes and to other pods.
fn affinity(frame: &Frame<'_>, role: &JobRole, notes: &mut Notes) -> Map<String, Value> {
    let mut affinity = Map::new();
    let mut term = Map::new();
    if let Some((label, products)) = card_nodes(&frame.facts.cards, &role.resources, notes) {
        let rule = json!([{"key": label, "operator": "In", "values": products}]);
        term.insert("matchExpressions".into(), rule);
    }
    let (spares, aside) = (&frame.facts.spare_nodes, &frame.facts.aside_nodes);
    if !spares.is_empty() {
        notes.decide(format!("it does not use standby nodes: {}", spares.join(", ")));
    }
    if !aside.is_empty() {
        notes.decide(format!("it does not use cordoned nodes: {}", aside.join(", ")));
    }
    if !spares.is_empty() || !aside.is_empty() {
        // A rule about node names accepts one name.
        let rule = |name: &String| json!({"key": "metadata.name", "operator": "NotIn", "values": [name]});
        term.insert("matchFields".into(), spares.iter().chain(aside).map(rule).collect());
    }
    if !term.is_empty() {
        let node = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}});
        affinity.insert("nodeAffinity".into(), node);
    }
    let (mut required, mut apart, mut together) = (Vec::new(), Vec::new(), Vec::new());
    match frame.job.placement.spread.unwrap_or(Spread::Preferred) {
        Spread::Required => {
            notes.decide(match by(frame) {
                SpreadBy::Host => {
                    "it shares no host with another job of its run; if every host has one, it waits"
                }
                SpreadBy::Zone => {
                    "it shares no zone with another job of its run; if every zone has one, it waits"
                }
            });
            required.push(other_jobs(frame));
        }
        Spread::Preferred => apart.push(json!({"weight": 100, "podAffinityTerm": other_jobs(frame)})),
        Spread::None => {}
    }
    if frame.job.workers() > 1 {
        let weighted = |term: Value| json!({"weight": 50, "podAffinityTerm": term});
        match workers(frame, role) {
            WorkerPlacement::Pack => together.push(weighted(own_job(frame, &packed(frame)))),
            WorkerPlacement::Spread => apart.push(weighted(own_job(frame, &[&role.name]))),
        }
    }
    let rules = |required: Vec<Value>, preferred: Vec<Value>| {
        let named = [("required", required), ("preferred", preferred)];
        let filled = named.into_iter().filter(|(_, rules)| !rules.is_empty());
        filled
            .map(|(name, rules)| (format!("{name}DuringSchedulingIgnoredDuringExecution"), rules.into()))
            .collect::<Map<String, Value>>()
    };
    for (name, rules) in
        [("podAffinity", rules(Vec::new(), together)), ("podAntiAffinity", rules(required, apart))]
    {
        if !rules.is_empty() {
            affinity.insert(name.into(), rules.into());
        }
    }
    affinity
}

/// Workers with GPUs communicate a lot and are packed; others share each node's resources, and are spread.
fn workers(frame: &Frame<'_>, role: &JobRole) -> WorkerPlacement {
    frame.job.placement.workers.unwrap_or(match role.resources.gpu {
        Some(_) => WorkerPlacement::Pack,
        None => WorkerPlacement::Spread,
    })
}

/// The roles whose workers are packed, all of them together. Spread roles are not included: schedulers also
/// apply preferences symmetrically, to pods near which others want to be.
fn packed<'f>(frame: &'f Frame<'_>) -> Vec<&'f str> {
    let roles = frame.job.roles.iter().filter(|role| workers(frame, role) == WorkerPlacement::Pack);
    roles.map(|role| role.name.as_str()).collect()
}

/// The topology that separates the tasks of a run.
fn by(frame: &Frame<'_>) -> SpreadBy {
    frame.job.placement.spread_by.unwrap_or(SpreadBy::Host)
}

/// Pods of the same run, or of a run that a task of it started, *and* of another job. Another job is another
/// task, or another instance of a `for_each` or a search. A rule about the run alone would separate a gang.
fn other_jobs(frame: &Frame<'_>) -> Value {
    let topology = match by(frame) {
        SpreadBy::Host => HOST,
        SpreadBy::Zone => ZONE,
    };
    let selector = json!({"matchExpressions": [
        {"key": labels::ROOT_RUN, "operator": "In", "values": [frame.job.root().as_str()]},
        {"key": labels::JOB, "operator": "NotIn", "values": [frame.name]},
    ]});
    json!({"labelSelector": selector, "topologyKey": topology})
}

/// Pods of this job in these roles.
fn own_job(frame: &Frame<'_>, roles: &[&str]) -> Value {
    let mut selector = json!({"matchLabels": {labels::JOB: frame.name}});
    match roles {
        [role] => selector["matchLabels"][labels::ROLE] = (*role).into(),
        _ if roles.len() == frame.job.roles.len() => {}
        _ => {
            selector["matchExpressions"] = json!([{"key": labels::ROLE, "operator": "In", "values": roles}]);
        }
    }
    json!({"labelSelector": selector, "topologyKey": HOST})
}
