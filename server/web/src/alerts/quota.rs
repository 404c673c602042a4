//! How much of their quotas projects hold, for those who want to hear when that is nearly all.

use cubeloom_domain::alert::AlertKind;
use cubeloom_domain::quota::standing::{resources, shares};
use cubeloom_domain::quota::{Pool, Queue, Resource};
use cubeloom_store::QuotaUse;

use crate::api::quotas::view::number;
use crate::error::ApiResult;
use crate::quotas::Present;
use crate::state::Web;

/// Notes it, and tells what has been nearly used for long enough.
///
/// # Errors
/// When the database, or a cluster, does not answer.
pub(super) async fn raise(web: &Web) -> ApiResult<()> {
    if web.store().is_wanted(AlertKind::QuotaNearlyUsed).await? {
        web.store().raise_quotas(&uses(&Present::of(web).await?), web.now()).await?;
    }
    Ok(())
}

fn uses(present: &Present) -> Vec<QuotaUse> {
    let Present { queues, rooms, running } = present;
    let pools: std::collections::BTreeSet<&Pool> =
        rooms.keys().chain(queues.iter().flat_map(|one| one.quotas.keys())).collect();
    let mut uses = Vec::new();
    for pool in pools {
        for resource in resources(queues, rooms, running, pool) {
            for (queue, share) in shares(queues, rooms, running, pool, &resource) {
                let (Queue::Project(project), Some(most)) = (queue, share.most) else { continue };
                uses.push(used(project, pool, &resource, share.held, most));
            }
        }
    }
    uses
}

fn used(project: String, pool: &Pool, resource: &Resource, held: u64, most: u64) -> QuotaUse {
    // Of nothing, nothing can be held: it is no news that it is all.
    let percent = held.saturating_mul(100).checked_div(most).unwrap_or(0);
    let amount = |amount| match resource {
        Resource::Memory => format!("{:.1} GiB", amount as f64 / f64::from(1 << 30)),
        _ => number(resource, amount).to_string(),
    };
    let sentence = format!("it holds {} of {} of {resource} on {pool}", amount(held), amount(most));
    QuotaUse { project, pool: pool.to_string(), resource: resource.to_string(), percent, sentence }
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
                expected("cpu", 87, "it holds 3.5 of 4 of cpu on local"),
                expected("memory", 93, "it holds 7.5 GiB of 8.0 GiB of memory on local"),
            ]
        );
        // Who may hold any amount is never near its end.
        assert!(uses(&present).iter().all(|one| one.project == "shop"));
    }

    #[test]
    fn of_nothing_nothing_is_used() {
        let nothing = used("shop".into(), &pool(), &Resource::Gpus, 0, 0);
        assert_eq!((nothing.percent, nothing.sentence.as_str()), (0, "it holds 0 of 0 of gpus on local"));
    }
}
