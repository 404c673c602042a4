//! Alerts about projects that have nearly used up their quotas.

use cubeloom_domain::alert::AlertKind;
use cubeloom_domain::quota::standing::{resources, shares};
use cubeloom_domain::quota::tree::Tree;
use cubeloom_domain::quota::{Pool, Queue, Resource};
use cubeloom_store::QuotaUse;

use crate::api::quotas::view::number;
use crate::error::ApiResult;
use crate::quotas::Present;
use crate::state::Web;

/// Records quota usage, and raises alerts for quotas that were nearly used up for long enough.
///
/// # Errors
/// The database or a cluster is unreachable.
pub(super) async fn raise(web: &Web) -> ApiResult<()> {
    if web.store().is_wanted(AlertKind::QuotaNearlyUsed).await? {
        web.store().raise_quotas(&uses(&Present::of(web).await?), web.now()).await?;
    }
    Ok(())
}

fn uses(present: &Present) -> Vec<QuotaUse> {
    let Present { queues, rooms, running } = present;
    let tree = Tree::of(queues);
    let pools: std::collections::BTreeSet<&Pool> =
        rooms.keys().chain(queues.iter().flat_map(|one| one.quotas.keys())).collect();
    let mut uses = Vec::new();
    for pool in pools {
        for resource in resources(queues, rooms, running, pool) {
            let shares = shares(queues, rooms, running, pool, &resource);
            for queue in shares.keys() {
                let Queue::Project(project) = queue else { continue };
                // Limits of parent groups apply, too: report the fullest one.
                let bounds = tree.path(project).into_iter().map(|one| &one.queue);
                let bounds = bounds.filter_map(|queue| Some((queue, shares.get(queue)?)));
                let used = bounds.filter_map(|(queue, share)| {
                    Some(used(project, queue, (pool, &resource), share.held, share.most?))
                });
                uses.extend(used.max_by_key(|one| one.percent));
            }
        }
    }
    uses
}

/// Allocated share of the limit of a project or of its parent group.
fn used(
    project: &str,
    queue: &Queue,
    (pool, resource): (&Pool, &Resource),
    held: u64,
    most: u64,
) -> QuotaUse {
    // A limit of 0 counts as unused: there is nothing to report.
    let percent = held.saturating_mul(100).checked_div(most).unwrap_or(0);
    let amount = |amount| match resource {
        Resource::Memory => format!("{:.1} GiB", amount as f64 / f64::from(1 << 30)),
        _ => number(resource, amount).to_string(),
    };
    let (held, most) = (amount(held), amount(most));
    let sentence = match queue {
        Queue::Project(_) => format!("it uses {held} of {most} of {resource} on {pool}"),
        Queue::Group(group) => format!("its group {group} uses {held} of {most} of {resource} on {pool}"),
    };
    QuotaUse {
        project: project.to_owned(),
        pool: pool.to_string(),
        resource: resource.to_string(),
        percent,
        sentence,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cubeloom_domain::executor::NodeFacts;
    use cubeloom_domain::quota::held::Job;
    use cubeloom_domain::quota::room::Room;
    use cubeloom_domain::quota::{Amounts, QueueRecord, Quota};
    use cubeloom_domain::{Bytes, Cpu, Timestamp};

    use super::*;

    const GIB: u64 = 1 << 30;

    fn pool() -> Pool {
        Pool { cluster: "local".into(), node_group: None }
    }

    fn limited(project: &str, limit: &[(Resource, u64)]) -> QueueRecord {
        let limit = limit.iter().cloned().collect();
        let quotas = BTreeMap::from([(pool(), Quota { limit, ..Quota::default() })]);
        QueueRecord { queue: Queue::Project(project.into()), parent: None, quotas, revision: 1 }
    }

    fn job(project: &str, amounts: &[(Resource, u64)]) -> Job {
        Job {
            run: "01J00000000000000000000001".parse().unwrap(),
            task: "work".into(),
            instance: 0,
            project: project.into(),
            pipeline: "p".into(),
            user: "ada".into(),
            pool: pool(),
            amounts: amounts.iter().cloned().collect::<Amounts>(),
            since: Timestamp(0),
        }
    }

    #[test]
    fn what_jobs_hold_is_compared_with_the_most_that_their_project_may() {
        let node = NodeFacts { cpu: Cpu(8000), memory: Bytes(32 * GIB), ..NodeFacts::default() };
        let present = Present {
            queues: vec![limited("shop", &[(Resource::Cpu, 4000), (Resource::Memory, 8 * GIB)])],
            rooms: BTreeMap::from([(pool(), Room::of([&node]))]),
            running: vec![
                job("shop", &[(Resource::Cpu, 1500), (Resource::Memory, 6 * GIB)]),
                job("shop", &[(Resource::Cpu, 2000), (Resource::Memory, GIB + GIB / 2)]),
                job("free", &[(Resource::Cpu, 4000)]),
            ],
        };
        let mut found: Vec<(String, String, u64, String)> = uses(&present)
            .into_iter()
            .filter(|one| one.project == "shop")
            .map(|one| (one.pool, one.resource, one.percent, one.sentence))
            .collect();
        found.sort();
        let expected = |resource: &str, percent, sentence: &str| {
            ("local".to_owned(), resource.to_owned(), percent, sentence.to_owned())
        };
        assert_eq!(
            found,
            [
                expected("cpu", 87, "it uses 3.5 of 4 of cpu on local"),
                expected("memory", 93, "it uses 7.5 GiB of 8.0 GiB of memory on local"),
            ]
        );
        // Unlimited projects are never near their limit.
        assert!(uses(&present).iter().all(|one| one.project == "shop"));
    }

    #[test]
    fn a_group_that_is_nearly_full_is_told_to_its_projects() {
        let mut group = limited("", &[(Resource::Cpu, 4000)]);
        group.queue = Queue::Group("retail".into());
        let of_it = |project| QueueRecord { parent: Some("retail".into()), ..limited(project, &[]) };
        let present = Present {
            queues: vec![group, of_it("shop"), of_it("bank")],
            rooms: BTreeMap::new(),
            running: vec![job("shop", &[(Resource::Cpu, 3800)])],
        };
        let found = uses(&present);
        let told: Vec<_> =
            found.iter().map(|one| (one.project.as_str(), one.percent, one.sentence.as_str())).collect();
        let sentence = "its group retail uses 3.8 of 4 of cpu on local";
        assert_eq!(told, [("bank", 95, sentence), ("shop", 95, sentence)]);
    }

    #[test]
    fn of_nothing_nothing_is_used() {
        let queue = Queue::Project("shop".into());
        let nothing = used("shop", &queue, (&pool(), &Resource::Gpus), 0, 0);
        assert_eq!((nothing.percent, nothing.sentence.as_str()), (0, "it uses 0 of 0 of gpus on local"));
    }
}
