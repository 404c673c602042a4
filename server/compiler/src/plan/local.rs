//! Requests of a document that have no effect on a single machine's processes. They cause a warning, because
//! a refusal would be better than a key that silently has no effect. They cause no refusal, because the same
//! document runs elsewhere.

use cubeloom_domain::pipeline::{Placement, SpreadBy, Task};
use cubeloom_domain::resources::ResourceRequest;
use cubeloom_domain::{Code, Problem};

use super::Planner;

impl Planner<'_> {
    /// Warns of each key of a task that has no effect on this machine.
    pub fn check_local_effects(&mut self, prefix: &str, task: &Task) {
        if self.facts.kind != "local" {
            return;
        }
        let idle_resources = |request: &ResourceRequest| idle_resources(request, self.facts.dedicates_cpus);
        let of_task = task.resources.as_deref().into_iter().map(|request| ("resources".to_owned(), request));
        let of_roles =
            task.role_resources.iter().map(|(role, request)| (format!("role_resources/{role}"), request));
        let mut idle: Vec<String> = of_task
            .chain(of_roles)
            .flat_map(|(path, request)| {
                idle_resources(request).into_iter().map(move |key| format!("{path}/{key}"))
            })
            .collect();
        let placement = task.placement.as_deref().into_iter().flat_map(idle_placement);
        idle.extend(placement.map(|key| format!("placement/{key}")));
        for key in idle {
            let message = "it has no effect here: this cluster is a single machine".to_owned();
            self.problems.push(Problem::warning(Code::Suspicious, format!("{prefix}/{key}"), message));
        }
    }
}

/// Keys of a request without effect on a single machine.
fn idle_resources(request: &ResourceRequest, dedicates_cpus: bool) -> Vec<&'static str> {
    let keys = [
        ("rdma", request.rdma.is_some_and(|devices| devices > 0)),
        ("cpu_exclusive", request.cpu_exclusive == Some(true) && !dedicates_cpus),
    ];
    keys.into_iter().filter(|(_, set)| *set).map(|(key, _)| key).collect()
}

/// Keys of a placement that choose between nodes.
fn idle_placement(placement: &Placement) -> Vec<&'static str> {
    let keys = [
        ("selector", !placement.selector.is_empty()),
        ("tolerations", !placement.tolerations.is_empty()),
        ("workers", placement.workers.is_some()),
        ("spread_by", placement.spread_by == Some(SpreadBy::Zone)),
    ];
    keys.into_iter().filter(|(_, set)| *set).map(|(key, _)| key).collect()
}
