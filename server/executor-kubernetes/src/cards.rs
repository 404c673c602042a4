//! Whether a worker failed because its node lost a GPU. NVIDIA's driver reports such faults as XID errors.
//! Node monitors (node-problem-detector, the cloud's own agents) copy them into the node's conditions and
//! events.

use k8s_openapi::api::core::v1::{Event, Node, NodeCondition};
use kube::Api;
use kube::api::ListParams;

use cubeloom_domain::Timestamp;
use cubeloom_domain::monitoring::is_of_the_card;
use cubeloom_workers::ends::End;

use crate::cluster::Cluster;
use crate::pods::{PodState, PodView, moment};

/// How much earlier than the worker's start the fault may have been reported, in microseconds: clocks differ.
const SLACK: i64 = 10_000_000;
/// The namespace of events about nodes, which are cluster-scoped.
const OF_NODES: &str = "default";

/// A lost GPU of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Time of the report.
    pub at: Timestamp,
    /// The report, verbatim.
    pub message: String,
}

/// Whether a pod resource is a GPU or a GPU slice.
#[must_use]
pub fn is_card(resource: &str) -> bool {
    resource.starts_with("nvidia.com/") || resource.ends_with("/gpu")
}

/// The XID error in a text, unless it is one that programs cause: `NVRM: Xid (PCI:0000:3b:00): 79, pid=…`,
/// `NvidiaXID79Error`.
fn xid(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let after = |at: usize| {
        let rest = lower[at + "xid".len()..].trim_start();
        // The GPU's PCI address.
        let rest = rest.strip_prefix('(').map_or(Some(rest), |rest| Some(rest.split_once(')')?.1))?;
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let rest = rest.strip_prefix("error").unwrap_or(rest);
        let rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let found: Option<u32> = lower.match_indices("xid").find_map(|(at, _)| after(at));
    found.filter(|xid| is_of_the_card(*xid))
}

/// The GPU fault in a node's conditions.
#[must_use]
pub fn trouble(node: &Node) -> Option<Trouble> {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().find_map(of_condition)
}

fn of_condition(condition: &NodeCondition) -> Option<Trouble> {
    let (reason, message) = (condition.reason.as_deref(), condition.message.as_deref());
    // Some conditions are healthy when true: `AcceleratedHardwareReady`.
    let is_good = ["Ready", "Healthy"].iter().any(|end| condition.type_.ends_with(end));
    if condition.status != if is_good { "False" } else { "True" } {
        return None;
    }
    let texts = [message, reason, Some(condition.type_.as_str())];
    texts.into_iter().flatten().find_map(xid)?;
    let said = texts.into_iter().flatten().find(|text| !text.trim().is_empty())?;
    Some(Trouble { at: moment(condition.last_transition_time.as_ref()), message: said.trim().to_owned() })
}

fn of_event(event: &Event) -> Option<Trouble> {
    let texts = [event.message.as_deref(), event.reason.as_deref()];
    texts.into_iter().flatten().find_map(xid)?;
    let at = event.last_timestamp.as_ref().or(event.metadata.creation_timestamp.as_ref());
    Some(Trouble { at: moment(at), message: texts.into_iter().flatten().next()?.trim().to_owned() })
}

/// Replaces the end of a pod by the loss of a GPU, if its program failed on a node that lost one during the
/// run.
pub async fn explained(cluster: &Cluster, mut pod: PodView) -> PodView {
    let PodState::Ended {
        end: end @ (End::Exit { .. } | End::Signal { .. }), started_at: Some(began), ..
    } = &mut pod.state
    else {
        return pod;
    };
    let (true, Some(node)) = (pod.has_cards, &pod.node) else { return pod };
    let found = match cluster.trouble(node) {
        Some(trouble) => Some(trouble),
        None => told(cluster, node).await,
    };
    if let Some(trouble) = found.filter(|trouble| trouble.at.0 >= began.0 - SLACK) {
        *end = End::CardLost { message: trouble.message };
    }
    pod
}

/// The GPU fault in a node's events. Not every service account may read events, and nothing else depends on
/// them.
async fn told(cluster: &Cluster, node: &str) -> Option<Trouble> {
    let api: Api<Event> = Api::namespaced(cluster.client().await, OF_NODES);
    let params =
        ListParams::default().fields(&format!("involvedObject.kind=Node,involvedObject.name={node}"));
    let events = cluster.ask("reading events of a node", api.list(&params)).await.ok()?;
    events.items.iter().filter_map(of_event).max_by_key(|trouble| trouble.at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn xids_are_found_however_they_are_written() {
        for (text, expected) in [
            ("NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.", Some(79)),
            ("NvidiaXID79Error", Some(79)),
            ("XID error 48 on GPU 3", Some(48)),
            ("xid=119", Some(119)),
            // A program's own page fault.
            ("NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=python, Ch 00000008", None),
            ("no XID errors", None),
            ("taxidermy 12", None),
            ("Xid (PCI:0000", None),
            ("kubelet is posting ready status", None),
        ] {
            assert_eq!(xid(text), expected, "{text}");
        }
    }

    #[test]
    fn a_node_tells_of_a_lost_card_in_a_condition_that_holds() {
        let node = |kind: &str, status: &str, reason: &str, message: &str| {
            let condition = json!({"type": kind, "status": status, "reason": reason, "message": message,
                "lastTransitionTime": "2026-01-01T00:00:00Z"});
            let node = json!({"metadata": {"name": "n"}, "status": {"conditions": [condition]}});
            trouble(&serde_json::from_value(node).unwrap()).map(|trouble| trouble.message)
        };
        let fallen = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
        assert_eq!(node("GpuXidError", "True", "Xid79", fallen).as_deref(), Some(fallen));
        assert_eq!(node("GpuXidError", "False", "NoXid", fallen), None);
        assert_eq!(
            node("AcceleratedHardwareReady", "False", "NvidiaXID79Error", "").as_deref(),
            Some("NvidiaXID79Error")
        );
        assert_eq!(node("AcceleratedHardwareReady", "True", "NvidiaXID79Error", ""), None);
        assert_eq!(node("Ready", "False", "KubeletNotReady", "stopped posting"), None);
    }
}
