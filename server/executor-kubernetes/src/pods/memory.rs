//! Memory of a container during a resize: its spec has the requested amount, its status the actual one.
//!
//! <https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/#pod-resize-status>

use cubeloom_domain::Bytes;
use k8s_openapi::api::core::v1::{Container, PodCondition, PodStatus};

use super::{Refusal, limit_of};

/// Condition of a resize that the kubelet has not started: `Infeasible`, or `Deferred` until the node has
/// capacity.
const PENDING: &str = "PodResizePending";
/// Condition of a resize in progress. A reason means that it failed and is retried.
const IN_PROGRESS: &str = "PodResizeInProgress";
/// Reason when the node could never fit the request, even when empty.
const INFEASIBLE: &str = "Infeasible";

/// The container's actual memory limit. A kubelet without resize support does not report it: then the spec's
/// value applies.
pub(super) fn had(main: &Container, status: Option<&PodStatus>) -> Bytes {
    let statuses = status.into_iter().flat_map(|status| status.container_statuses.iter().flatten());
    let told = statuses.filter(|one| one.name == main.name).map(|one| limit_of(one.resources.as_ref()));
    told.into_iter().find(|told| *told > Bytes(0)).unwrap_or_else(|| limit_of(main.resources.as_ref()))
}

/// Why a resize is not done.
pub(super) fn refusal(status: &PodStatus) -> Option<Refusal> {
    let conditions = || status.conditions.iter().flatten().filter(|condition| condition.status == "True");
    let pending = conditions().find(|condition| condition.type_ == PENDING);
    let failing =
        || conditions().find(|condition| condition.type_ == IN_PROGRESS && said(condition).is_some());
    let condition = pending.or_else(failing)?;
    Some(Refusal {
        for_good: is_infeasible(condition),
        message: said(condition).unwrap_or_default().to_owned(),
    })
}

/// Whether a resize is infeasible: then the scheduler counts what the pod has, not what was requested.
pub(crate) fn is_refused_for_good(status: Option<&PodStatus>) -> bool {
    let conditions = status.into_iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.status == "True" && is_infeasible(condition))
}

fn is_infeasible(condition: &PodCondition) -> bool {
    condition.type_ == PENDING && condition.reason.as_deref() == Some(INFEASIBLE)
}

/// A condition's message, else its reason.
fn said(condition: &PodCondition) -> Option<&str> {
    let texts = [condition.message.as_deref(), condition.reason.as_deref()];
    texts.into_iter().flatten().find(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Bytes;
    use serde_json::{Value, json};

    use crate::pods::{PodView, Refusal};

    /// A pod whose spec has 768 MiB, and whose node reports this status.
    fn pod(has: Value, conditions: Value) -> PodView {
        let amounts = |memory: &str| json!({"requests": {"memory": memory}, "limits": {"memory": memory}});
        let pod = json!({
            "metadata": {"name": "p", "labels": {"cubeloom/job": "cl-a", "cubeloom/role": "worker"}},
            "spec": {"nodeName": "n", "containers": [{"name": "main", "resources": amounts("768Mi")}]},
            "status": {
                "phase": "Running", "conditions": conditions,
                "containerStatuses": [{"name": "main", "image": "", "imageID": "", "ready": true, "restartCount": 0,
                    "resources": has.as_str().map(amounts), "state": {"running": {}}}],
            },
        });
        PodView::read(&serde_json::from_value(pod).unwrap()).unwrap()
    }

    #[test]
    fn a_worker_has_what_its_node_says_while_a_resize_is_not_done() {
        const MIB: u64 = 1 << 20;
        let condition = |kind: &str, reason: &str, message: &str| {
            json!([{"type": kind, "status": "True",
            "reason": reason, "message": message}])
        };
        let done = pod("768Mi".into(), json!([]));
        assert_eq!((done.limit, done.memory, &done.refused), (Bytes(768 * MIB), Bytes(768 * MIB), &None));
        assert_eq!(pod(Value::Null, json!([])).memory, Bytes(768 * MIB), "it tells nothing");
        let begun = pod("512Mi".into(), condition("PodResizeInProgress", "", ""));
        assert_eq!((begun.limit, begun.memory, begun.refused), (Bytes(768 * MIB), Bytes(512 * MIB), None));
        let deferred = pod("512Mi".into(), condition("PodResizePending", "Deferred", "no room"));
        assert_eq!(deferred.refused, Some(Refusal { for_good: false, message: "no room".into() }));
        let failed = pod("512Mi".into(), condition("PodResizeInProgress", "Error", "cgroup"));
        assert_eq!(failed.refused, Some(Refusal { for_good: false, message: "cgroup".into() }));
        let infeasible = pod("512Mi".into(), condition("PodResizePending", "Infeasible", "node too small"));
        assert_eq!(infeasible.refused, Some(Refusal { for_good: true, message: "node too small".into() }));
        // What the scheduler counts: requested memory stays reserved, unless it is infeasible.
        let takes = [&deferred, &begun_again(), &infeasible].map(|pod| pod.takes.memory.0 / MIB);
        assert_eq!(takes, [768, 768, 512]);
    }

    fn begun_again() -> PodView {
        pod("512Mi".into(), json!([{"type": "PodResizeInProgress", "status": "True"}]))
    }
}
