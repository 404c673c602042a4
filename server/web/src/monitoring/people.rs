//! Current allocations on all clusters, by cluster, project and user.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::resources::Amount;
use cubeloom_store::Holding;

use super::holders::view;
use crate::api::monitoring::holders::HoldsView;
use crate::auth::{Caller, visible};
use crate::clusters;
use crate::error::ApiResult;
use crate::page::{Page, PageQuery};
use crate::state::Web;
use crate::time::Time;

/// Maximum number of attempts listed per entry.
const NAMED: usize = 20;

/// A page of allocations by cluster, project and user. Projects that `caller` cannot see are summed up per
/// cluster.
///
/// # Errors
/// The cursor is invalid.
pub(crate) async fn holders(web: &Web, caller: &Caller, query: &PageQuery) -> ApiResult<Page<HoldsView>> {
    let projects = visible(web, caller).await?.into_iter().map(|project| project.name).collect();
    let holding = web.store().holding().await?;
    let mut found = Vec::new();
    for (name, executor) in web.clusters().all() {
        let facts = clusters::facts(&executor).await?;
        let there = holding.iter().filter(|held| clusters::is_on(held, &facts));
        found.extend(of_cluster(&name, there, &projects));
    }
    page(found, query)
}

/// A page of all clusters' allocations. Sort keys of a cluster can precede those of one with a shorter name.
fn page(mut found: Vec<HoldsView>, query: &PageQuery) -> ApiResult<Page<HoldsView>> {
    found.sort_by_cached_key(place);
    Page::cut(found, query, place)
}

/// Sort key: cluster, project and user. The sum of other projects sorts last within its cluster.
fn place(holds: &HoldsView) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "~".into());
    format!("{}/{}/{}", holds.cluster, name(&holds.project), name(&holds.user))
}

/// Allocations on a cluster: by user in `projects`, all others as a sum.
fn of_cluster<'h>(
    cluster: &str,
    holding: impl Iterator<Item = &'h Holding>,
    projects: &BTreeSet<String>,
) -> Vec<HoldsView> {
    let mut sums: BTreeMap<Option<(&str, &str)>, Vec<&Holding>> = BTreeMap::new();
    for held in holding {
        let own = projects.contains(&held.project).then_some((held.project.as_str(), held.user.as_str()));
        sums.entry(own).or_default().push(held);
    }
    let sum = |(own, held): (Option<(&str, &str)>, Vec<&Holding>)| {
        let amount = held.iter().fold(Amount::default(), |sum, held| sum.plus(held.attempt.amount));
        let since = held.iter().filter_map(|held| held.attempt.state.started_at()).min();
        HoldsView {
            cluster: cluster.to_owned(),
            project: own.map(|(project, _)| project.to_owned()),
            user: own.map(|(_, user)| user.to_owned()),
            attempts: held.len(),
            requested: amount.into(),
            since: since.map(Time),
            tasks: held.iter().filter(|_| own.is_some()).take(NAMED).map(|held| view(held)).collect(),
        }
    };
    sums.into_iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_leave_nobody_out_where_the_name_of_a_cluster_begins_that_of_another() {
        let holds = |cluster: &str, user: Option<&str>| HoldsView {
            cluster: cluster.into(),
            project: user.map(|_| "shop".into()),
            user: user.map(str::to_owned),
            attempts: 1,
            requested: Amount::default().into(),
            since: None,
            tasks: Vec::new(),
        };
        // In the order in which they are collected: by cluster name.
        let found = || {
            let of = |cluster| [None, Some("ada"), Some("emil")].map(|user| holds(cluster, user));
            ["east", "east-2"].into_iter().flat_map(of).collect::<Vec<_>>()
        };
        let mut query = PageQuery { limit: Some(1), cursor: None };
        let mut seen = Vec::new();
        loop {
            let part = page(found(), &query).unwrap();
            seen.extend(part.items.iter().map(place));
            let Some(next) = part.next_cursor else { break };
            query.cursor = Some(next);
        }
        let places = ["shop/ada", "shop/emil", "~/~"];
        let expected = ["east-2", "east"].map(|cluster| places.map(|place| format!("{cluster}/{place}")));
        assert_eq!(seen, expected.concat());
    }
}
