//! Placement of workers: partitions and features, anti-affinity of the tasks of a run, packing or spreading
//! the workers of a task.

use cubeloom_domain::pipeline::{Spread, SpreadBy, WorkerPlacement};
use cubeloom_domain::resources::Resources;
use cubeloom_domain::slurm::SlurmNodeGroup;

use super::Frame;
use crate::lower::notes::Notes;
use crate::nearest::listing;

/// The node group that the job names, if the facts describe it.
pub fn group<'f>(frame: &'f Frame<'_>) -> Option<&'f SlurmNodeGroup> {
    frame.facts.node_groups.get(frame.job.placement.node_group.as_ref()?)
}

/// Whether the job has exclusive nodes, shared with no other task of its run or of any other.
pub fn whole_nodes(frame: &Frame<'_>) -> bool {
    frame.job.placement.spread == Some(Spread::Required)
}

/// Option lines for a component of so many workers. `alone`: each has a whole node.
pub fn asked(
    frame: &Frame<'_>,
    workers: u32,
    each: &Resources,
    alone: bool,
    notes: &mut Notes,
) -> Vec<String> {
    let mut asked = Vec::new();
    let partition =
        group(frame).and_then(|group| group.partition.as_ref()).or(frame.facts.partition.as_ref());
    asked.extend(partition.map(|partition| format!("--partition={partition}")));
    let features = features(frame, notes);
    if !features.is_empty() {
        asked.push(format!("--constraint={}", features.join("&")));
    }
    asked.extend(kept_off(frame, notes));
    apart(frame, &mut asked, notes);
    if workers > 1 && !alone {
        // Workers with GPUs communicate a lot and are packed; others share each node's resources, and are
        // spread.
        let usual = if each.gpu.is_some() { WorkerPlacement::Pack } else { WorkerPlacement::Spread };
        asked.push(match frame.job.placement.workers.unwrap_or(usual) {
            WorkerPlacement::Pack => format!("--nodes=1-{workers} --use-min-nodes"),
            WorkerPlacement::Spread => "--spread-job".into(),
        });
    }
    asked
}

/// The excluded nodes.
fn kept_off(frame: &Frame<'_>, notes: &mut Notes) -> Option<String> {
    let (aside, spares) = (&frame.facts.aside_nodes, &frame.facts.spare_nodes);
    if !aside.is_empty() {
        notes.decide(format!("it does not use cordoned nodes: {}", aside.join(",")));
    }
    if !spares.is_empty() {
        notes.decide(format!("it does not use standby nodes: {}", spares.join(", ")));
    }
    let all: Vec<&str> = aside.iter().chain(spares).map(String::as_str).collect();
    (!all.is_empty()).then(|| format!("--exclude={}", all.join(",")))
}

/// The features that nodes must have, without duplicates.
fn features(frame: &Frame<'_>, notes: &mut Notes) -> Vec<String> {
    let placement = &frame.job.placement;
    if let Some(name) = placement.node_group.as_ref().filter(|_| group(frame).is_none()) {
        let groups = &frame.facts.node_groups;
        let has = match groups.is_empty() {
            true => "it has none, remove `node_group`".to_owned(),
            false => format!("it has: {}", listing(groups.keys().map(String::as_str))),
        };
        notes.refuse("placement/node_group", format!("this cluster has no node group `{name}`; {has}"));
    }
    let mut features = group(frame).map(|group| group.features.clone()).unwrap_or_default();
    for (key, value) in &placement.selector {
        let wanted = format!("{key}={value}");
        match frame.facts.features.get(&wanted) {
            Some(feature) => features.push(feature.clone()),
            None => {
                let known = listing(frame.facts.features.keys().map(String::as_str));
                let has =
                    if known.is_empty() { "it lists none".into() } else { format!("it lists: {known}") };
                notes.refuse(
                    format!("placement/selector/{key}"),
                    format!("the cluster's facts list no feature for `{wanted}`; {has}"),
                );
            }
        }
    }
    if !placement.tolerations.is_empty() {
        notes.decide("`tolerations` have no effect here: partitions control who may use which nodes");
    }
    features.sort();
    features.dedup();
    features
}

/// Anti-affinity of the tasks of a run. Slurm does not know runs: only an exclusive node is certainly free of
/// their other tasks.
fn apart(frame: &Frame<'_>, asked: &mut Vec<String>, notes: &mut Notes) {
    let placement = &frame.job.placement;
    if placement.spread == Some(Spread::Preferred) {
        notes.decide("`spread: preferred` has no effect here: Slurm does not know runs, and a node is exclusive or shared");
    }
    if !whole_nodes(frame) {
        return;
    }
    if placement.spread_by == Some(SpreadBy::Zone) {
        notes.refuse("placement/spread_by", "Slurm has no zones: spread by `host`, or not at all");
        return;
    }
    asked.push("--exclusive".into());
    notes.decide("it has exclusive nodes with all of their memory, so no other task of its run is on them");
}
