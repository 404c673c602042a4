//! GPU-hours that were allocated and not used, with their cost.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cubeloom_domain::accounting::{Day, Money, PriceList};
use cubeloom_domain::gpu_series::{GpuUse, moment_of};
use cubeloom_store::GpuPart;

use super::groups::{GpuKey, sees};
use super::span::{GROUPED, Span};
use crate::api::monitoring::gpu_view::{IdleGpusGroup, IdleGpusQuery, IdleGpusView};
use crate::auth::{self, Caller};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Maximum number of groups that are listed.
const MOST: usize = 100;

/// Thousandths of a GPU times minutes in a GPU-hour.
const HOUR: i64 = 60_000;

/// Sums of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Idle {
    gpus: GpuUse,
    /// Idle amount times the price of an hour.
    cost: i128,
    /// Whether there was a price.
    priced: bool,
}

impl Idle {
    fn add(&mut self, gpus: GpuUse, price: Option<Money>) {
        self.gpus = self.gpus.plus(gpus);
        if let Some(price) = price {
            self.priced = true;
            self.cost += i128::from(gpus.idle()) * i128::from(price.0);
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            gpus: self.gpus.plus(other.gpus),
            cost: self.cost + other.cost,
            priced: self.priced || other.priced,
        }
    }

    fn is_measured(&self) -> bool {
        self.gpus.measured > 0
    }

    fn money(&self) -> Money {
        Money(i64::try_from(self.cost / i128::from(HOUR)).unwrap_or(i64::MAX))
    }

    fn view(&self, key: &GpuKey) -> IdleGpusGroup {
        let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let hours = |amount: i64| amount as f64 / HOUR as f64;
        IdleGpusGroup {
            project: named(&key.project),
            user: named(&key.user),
            pipeline: named(&key.pipeline),
            task: named(&key.task),
            gpu_hours: hours(self.gpus.allocated),
            measured_gpu_hours: hours(self.gpus.measured),
            idle_gpu_hours: self.is_measured().then(|| hours(self.gpus.idle())),
            idle_cost: (self.priced && self.is_measured()).then(|| self.money().to_string()),
        }
    }
}

/// Idle GPU-hours by group, most first. Projects that `caller` cannot see are summed up.
///
/// # Errors
/// No cluster has this name, or the range is empty or too long.
pub(crate) async fn idle_gpus(web: &Web, caller: &Caller, query: &IdleGpusQuery) -> ApiResult<IdleGpusView> {
    let span = Span::of(web.now(), query.from, query.until, GROUPED)?;
    let projects = auth::projects_of(web, caller).await?;
    let prices: PriceList = web.store().prices().await?.into_iter().collect();
    let by = query.by.unwrap_or_default();
    let mut sums: BTreeMap<Option<GpuKey>, Idle> = BTreeMap::new();
    for cluster in wanted(web, query.cluster.as_deref())? {
        let rows = web.store().gpu_series(&span.range(&cluster, GpuPart::Allocations)).await?;
        for row in &rows {
            let day = Day::of(moment_of(row.minute));
            for (of, gpus) in &row.allocations {
                let key = sees(projects.as_deref(), &of.project).then(|| GpuKey::of(of, by));
                let price = prices.since(&cluster, &of.node_group, day).map(|(_, rates)| rates.gpu);
                sums.entry(key).or_default().add(*gpus, price);
            }
        }
    }
    let (groups, others) = most_first(sums);
    Ok(IdleGpusView {
        from: span.first(),
        until: span.end(),
        currency: web.settings().currency.clone(),
        groups: groups.iter().map(|(key, idle)| idle.view(key)).collect(),
        others: others.map(|idle| idle.view(&GpuKey::default())),
    })
}

/// One cluster, or all.
fn wanted(web: &Web, only: Option<&str>) -> ApiResult<Vec<String>> {
    let names: Vec<String> = web.clusters().all().into_iter().map(|(name, _)| name).collect();
    let Some(only) = only else { return Ok(names) };
    if names.iter().any(|name| name == only) {
        Ok(vec![only.to_owned()])
    } else {
        Err(ApiError::not_found("cluster", only))
    }
}

/// The groups with the most idle GPU-hours, and the sum of all others. Unknown groups come last.
fn most_first(mut sums: BTreeMap<Option<GpuKey>, Idle>) -> (Vec<(GpuKey, Idle)>, Option<Idle>) {
    let mut others = sums.remove(&None);
    let mut groups: Vec<(GpuKey, Idle)> =
        sums.into_iter().filter_map(|(key, idle)| Some((key?, idle))).collect();
    groups.sort_by_key(|(_, idle)| Reverse((idle.is_measured(), idle.gpus.idle(), idle.gpus.allocated)));
    for (_, idle) in groups.split_off(groups.len().min(MOST)) {
        others = Some(others.unwrap_or_default().plus(idle));
    }
    (groups, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(project: &str) -> Option<GpuKey> {
        Some(GpuKey { project: project.into(), ..GpuKey::default() })
    }

    fn idle(hours: i64, measured: bool) -> Idle {
        let allocated = hours * HOUR;
        let gpus = GpuUse { allocated, measured: if measured { allocated } else { 0 }, ..GpuUse::default() };
        Idle { gpus, ..Idle::default() }
    }

    #[test]
    fn the_most_wasteful_comes_first_and_the_unknown_last() {
        let sums = BTreeMap::from([
            (None, idle(7, true)),
            (key("unknown"), idle(9, false)),
            (key("little"), idle(1, true)),
            (key("much"), idle(4, true)),
        ]);
        let (groups, others) = most_first(sums);
        let names: Vec<&str> = groups.iter().map(|(key, _)| key.project.as_str()).collect();
        assert_eq!((names, others), (vec!["much", "little", "unknown"], Some(idle(7, true))));
        assert_eq!(groups[2].1.view(&groups[2].0).idle_gpu_hours, None, "it is not idle");
    }

    #[test]
    fn the_rest_is_added_to_what_the_caller_does_not_see() {
        let many = (0..MOST as i64 + 3).map(|n| (key(&format!("p{n:03}")), idle(n + 1, true)));
        let (groups, others) = most_first(many.collect());
        assert_eq!((groups.len(), others), (MOST, Some(idle(1 + 2 + 3, true))));
    }

    #[test]
    fn cost_is_that_of_idle_hours_with_a_price() {
        let gpus =
            |used: i64| GpuUse { total: 0, allocated: 4 * HOUR, measured: 4 * HOUR, used: used * HOUR };
        let mut sum = Idle::default();
        sum.add(gpus(1), None);
        assert_eq!(sum.view(&GpuKey::default()).idle_cost, None);
        sum.add(gpus(2), Some(Money(2_500_000)));
        let view = sum.view(&GpuKey::default());
        assert_eq!((view.gpu_hours, view.idle_gpu_hours), (8.0, Some(5.0)));
        assert_eq!(view.idle_cost.as_deref(), Some("5.00"), "two of the five have a price");
    }
}
