//! The quota tree for a user: their projects with parent groups, and sums of all others.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::quota::standing::{Shares, resources, shares};
use cubeloom_domain::quota::tree::Tree;
use cubeloom_domain::quota::{Pool, Queue, QueueRecord, Resource};

use super::Present;
use crate::api::quotas::view::{PoolShareView, PoolView, QueueView, QuotasView, ShareView, body_of, number};
use crate::auth::{Caller, projects_of};
use crate::error::ApiResult;
use crate::state::Web;

/// The tree with what `caller` can see.
pub(crate) async fn shown(web: &Web, caller: &Caller) -> ApiResult<QuotasView> {
    let present = Present::of(web).await?;
    let projects = projects_of(web, caller).await?;
    let tree = Tree::of(&present.queues);
    let seen = seen(&tree, projects.as_deref());
    let mut views: BTreeMap<&Queue, QueueView> =
        tree.all().filter(|one| seen.contains(&one.queue)).map(|one| (&one.queue, view(one))).collect();
    let mut pools = Vec::new();
    for (pool, room) in &present.rooms {
        let mut totals = Vec::new();
        for resource in resources(&present.queues, &present.rooms, &present.running, pool) {
            let found = shares(&present.queues, &present.rooms, &present.running, pool, &resource);
            let capacity = room.get(&resource);
            let held = present.running.iter().filter(|job| pool.has(&job.pool));
            let held: u64 = match resource {
                Resource::Runs => held.map(|job| &job.run).collect::<BTreeSet<_>>().len() as u64,
                _ => held.map(|job| job.amount(&resource)).fold(0, u64::saturating_add),
            };
            totals.push(total(&tree, &resource, (capacity, held), &found));
            for (queue, view) in &mut views {
                let Some(share) = found.get(*queue) else { continue };
                let told = ShareView::new(&resource, share);
                view.shares.entry(pool.to_string()).or_default().push(told);
            }
        }
        pools.push(pool_view(pool, totals));
    }
    Ok(QuotasView { pools, queues: in_order(&tree, &mut views) })
}

/// Visible queues: all, or the user's projects and their parent groups.
fn seen<'t>(tree: &Tree<'t>, projects: Option<&[String]>) -> BTreeSet<&'t Queue> {
    let Some(projects) = projects else { return tree.all().map(|one| &one.queue).collect() };
    projects.iter().flat_map(|name| tree.path(name)).map(|one| &one.queue).collect()
}

fn view(record: &QueueRecord) -> QueueView {
    let (kind, name) = match &record.queue {
        Queue::Group(name) => ("group", name),
        Queue::Project(name) => ("project", name),
    };
    let body = body_of(record);
    QueueView {
        kind: kind.to_owned(),
        name: name.clone(),
        parent: body.parent,
        quotas: body.quotas,
        shares: BTreeMap::new(),
        revision: record.revision,
    }
}

/// Totals of all queues: those of the top level include all others. Allocations of a node group also count
/// for its cluster.
fn total(
    tree: &Tree<'_>,
    resource: &Resource,
    (capacity, held): (Option<u64>, u64),
    found: &Shares,
) -> PoolShareView {
    let top = tree.inside(None).filter_map(|one| found.get(&one.queue));
    let guaranteed = top.map(|share| share.guarantee).fold(0, u64::saturating_add);
    PoolShareView {
        resource: resource.to_string(),
        capacity: capacity.map(|amount| number(resource, amount)),
        guaranteed: number(resource, guaranteed),
        held: number(resource, held),
    }
}

fn pool_view(pool: &Pool, resources: Vec<PoolShareView>) -> PoolView {
    PoolView {
        pool: pool.to_string(),
        cluster: pool.cluster.clone(),
        node_group: pool.node_group.clone(),
        resources,
    }
}

/// Each queue after its group, groups first, by name.
fn in_order(tree: &Tree<'_>, views: &mut BTreeMap<&Queue, QueueView>) -> Vec<QueueView> {
    let mut found = Vec::new();
    let mut next: Vec<&QueueRecord> = tree.inside(None).collect();
    next.reverse();
    while let Some(one) = next.pop() {
        found.extend(views.remove(&one.queue));
        if let Queue::Group(name) = &one.queue {
            let mut inside: Vec<&QueueRecord> = tree.inside(Some(name)).collect();
            inside.reverse();
            next.extend(inside);
        }
    }
    found
}
