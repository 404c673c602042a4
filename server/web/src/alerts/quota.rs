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
