//! GPUs of a cluster over time.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::executor::Facts;
use cubeloom_domain::gpu_series::{GpuRow, GpuTotals, GpuUse};
use cubeloom_domain::monitoring::Reading;
use cubeloom_store::GpuPart;

use super::groups::{GpuKey, Grouping};
use super::node::{largest_gang, nodes};
use super::span::{GROUPED, POINTS, Span};
use crate::api::monitoring::gpu_view::{
    GangView, GpuGroupView, GpuGrouping, GpuHistoryQuery, GpuHistoryView, GpusNowView,
};
use crate::auth::{self, Caller};
use crate::clusters;
use crate::error::{ApiError, ApiResult};
use crate::monitoring::holders::Holders;
use crate::monitoring::seen;
use crate::state::Web;

/// Values of the intervals of a range.
type Values = Vec<Option<f64>>;

/// The history of a cluster. Projects that `caller` cannot see are summed up.
///
/// # Errors
/// No cluster has this name, or the range is empty or too long.
pub(crate) async fn gpu_history(
    web: &Web,
    caller: &Caller,
    cluster: &str,
    query: &GpuHistoryQuery,
) -> ApiResult<GpuHistoryView> {
    let executor = web.clusters().get(cluster).ok_or_else(|| ApiError::not_found("cluster", cluster))?;
    let most = if query.by.is_some() { GROUPED } else { POINTS };
    let span = Span::of(web.now(), query.from, query.until, most)?;
    let part = query.by.map_or(GpuPart::Totals, Grouping::part);
    let rows = web.store().gpu_series(&span.range(cluster, part)).await?;
    let facts = clusters::facts(&executor).await?;
    let mut view = totals(cluster, &span, &rows);
    match query.by {
        Some(by) => {
            let projects = auth::projects_of(web, caller).await?;
            let node_groups: BTreeMap<&str, String> =
                facts.nodes.iter().map(|node| (node.name.as_str(), node.groups.join(", "))).collect();
            let grouping = Grouping { by, projects: projects.as_deref(), node_groups: &node_groups };
            let table = Table::new(&span, &rows, by);
            let grouped = grouping.group(&rows);
            view.groups = grouped.shown.iter().map(|(key, series)| table.view(key, series)).collect();
            view.others = grouped.others.map(|series| table.view(&GpuKey::default(), &series));
        }
        None => view.now = Some(now(web, cluster, &facts).await?),
    }
    Ok(view)
}

/// The GPUs now, as the last reading has them.
async fn now(web: &Web, cluster: &str, facts: &Facts) -> ApiResult<GpusNowView> {
    let holding = clusters::holding(web, facts).await?;
    let look = seen::last(web, cluster);
    let nothing = Reading::default();
    let reading = look.as_ref().map_or(&nothing, |look| &look.reading);
    let nodes = nodes(facts, reading, &Holders::new(&holding, BTreeSet::new()));
    let sum = nodes.values().fold(GpuUse::default(), |sum, node| sum.plus(node.all));
    // Nothing starts on cordoned nodes, nor on those of an unreachable cluster.
    let free: Vec<u32> = nodes.values().filter(|node| node.is_offered).map(|node| node.free).collect();
    let gang = largest_gang(&free);
    Ok(GpusNowView {
        total: sum.total as f64 / 1000.0,
        allocated: sum.allocated as f64 / 1000.0,
        free: free.iter().fold(0, |sum: u32, free| sum.saturating_add(*free)),
        largest_gang: gang.map(|(nodes, gpus)| GangView { nodes, gpus }),
    })
}

/// Rounded to thousandths: the precision of samples.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// The mean of thousandths of a GPU over some minutes.
fn mean(sum: i64, minutes: i64) -> Option<f64> {
    (minutes > 0).then(|| rounded(sum as f64 / 1000.0 / minutes as f64))
}

fn totals(cluster: &str, span: &Span, rows: &[GpuRow]) -> GpuHistoryView {
    let each = |value: &dyn Fn(&GpuTotals) -> Option<f64>| {
        let mut values: Values = vec![None; span.count()];
        for row in rows {
            if let Some(slot) = span.place(row.minute).and_then(|place| values.get_mut(place)) {
                *slot = value(&row.totals);
            }
        }
        values
    };
    let per = |sum: i64, minutes: i64| (minutes > 0).then(|| rounded(sum as f64 / minutes as f64));
    let powered = rows.iter().any(|row| row.totals.powered > 0);
    let power: i64 = rows.iter().map(|row| row.totals.power).fold(0, i64::saturating_add);
    GpuHistoryView {
        cluster: cluster.to_owned(),
        from: span.first(),
        until: span.end(),
        step_seconds: span.step * 60,
        total: each(&|of| mean(of.gpus.total, of.minutes)),
        allocated: each(&|of| mean(of.gpus.allocated, of.minutes)),
        measured: each(&|of| mean(of.gpus.measured, of.minutes)),
        used: each(&|of| mean(of.gpus.used, of.minutes).filter(|_| of.gpus.measured > 0)),
        power: each(&|of| per(of.power, of.minutes).filter(|_| of.powered > 0)),
        energy_kwh: powered.then(|| rounded(power as f64 / 60.0 / 1000.0)),
        pending_jobs: each(&|of| per(of.pending, of.queue_minutes)),
        pending_gpus: each(&|of| per(of.requested, of.queue_minutes)),
        oldest_wait_seconds: each(&|of| (of.queue_minutes > 0).then_some(of.oldest_wait as f64)),
        groups: Vec::new(),
        others: None,
        now: None,
    }
}

/// Converts the rows of a group to the values of intervals.
struct Table<'s> {
    span: &'s Span,
    /// Number of samples of each interval with one.
    minutes: BTreeMap<i64, i64>,
    by: GpuGrouping,
}

impl<'s> Table<'s> {
    fn new(span: &'s Span, rows: &[GpuRow], by: GpuGrouping) -> Self {
        let minutes = rows.iter().map(|row| (row.minute, row.totals.minutes)).collect();
        Self { span, minutes, by }
    }

    /// A group without GPUs in a sample has none; without a sample it is unknown.
    fn values(&self, series: &BTreeMap<i64, GpuUse>, value: impl Fn(GpuUse, i64) -> Option<f64>) -> Values {
        let mut values = vec![None; self.span.count()];
        for (minute, minutes) in &self.minutes {
            let amount = series.get(minute).copied().unwrap_or_default();
            if let Some(slot) = self.span.place(*minute).and_then(|place| values.get_mut(place)) {
                *slot = value(amount, *minutes);
            }
        }
        values
    }

    fn view(&self, key: &GpuKey, series: &BTreeMap<i64, GpuUse>) -> GpuGroupView {
        let named = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let of_tasks = matches!(self.by, GpuGrouping::Project | GpuGrouping::User | GpuGrouping::Task);
        GpuGroupView {
            project: named(&key.project),
            user: named(&key.user),
            pipeline: named(&key.pipeline),
            task: named(&key.task),
            model: named(&key.model),
            node: named(&key.node),
            node_group: named(&key.node_group),
            total: (!of_tasks).then(|| self.values(series, |of, minutes| mean(of.total, minutes))),
            allocated: self.values(series, |of, minutes| mean(of.allocated, minutes)),
            used: self.values(series, |of, minutes| mean(of.used, minutes).filter(|_| of.measured > 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use cubeloom_domain::gpu_series::moment_of;

    use super::*;
    use crate::time::Time;

    const START: i64 = 20_000 * 24 * 60;

    fn row(minute: i64, minutes: i64, used: i64) -> GpuRow {
        let gpus =
            GpuUse { total: 8000 * minutes, allocated: 4000 * minutes, measured: 4000 * minutes, used };
        let totals = GpuTotals {
            minutes,
            gpus,
            power: 600 * minutes,
            powered: 8000 * minutes,
            queue_minutes: minutes,
            pending: 3 * minutes,
            requested: 9 * minutes,
            oldest_wait: 90,
        };
        let nodes = BTreeMap::from([("n1".into(), gpus)]);
        GpuRow { minute, totals, nodes, ..GpuRow::default() }
    }

    fn span(minutes: i64) -> Span {
        let [from, until] = [START, START + minutes].map(|minute| Some(Time(moment_of(minute))));
        let now: Timestamp = moment_of(START + minutes);
        Span::of(now, from, until, POINTS).unwrap()
    }

    #[test]
    fn values_are_means_and_gaps_are_unknown() {
        let rows = [row(START, 1, 1000), row(START + 2, 1, 2000)];
        let view = totals("far", &span(3), &rows);
        assert_eq!(view.used, [Some(1.0), None, Some(2.0)]);
        assert_eq!(
            (view.total[0], view.allocated[0], view.pending_gpus[0]),
            (Some(8.0), Some(4.0), Some(9.0))
        );
        assert_eq!((view.power[1], view.oldest_wait_seconds[2]), (None, Some(90.0)));
        assert_eq!(view.energy_kwh, Some(0.02), "two minutes of 600 W");
        let unknown = GpuRow { totals: GpuTotals { minutes: 1, ..GpuTotals::default() }, ..row(START, 1, 0) };
        let view = totals("far", &span(3), &[unknown]);
        assert_eq!((view.used[0], view.power[0], view.pending_jobs[0]), (None, None, None));
        assert_eq!((view.total[0], view.energy_kwh), (Some(0.0), None));
    }

    #[test]
    fn a_group_without_gpus_has_none_where_there_was_a_sample() {
        let rows = [row(START, 1, 1000), row(START + 2, 1, 2000)];
        let span = span(3);
        let table = Table::new(&span, &rows, GpuGrouping::Project);
        let series = BTreeMap::from([(START, GpuUse { allocated: 2000, ..GpuUse::default() })]);
        let key = GpuKey { project: "shop".into(), ..GpuKey::default() };
        let view = table.view(&key, &series);
        assert_eq!((view.allocated, view.total), (vec![Some(2.0), None, Some(0.0)], None));
        assert_eq!(view.used, [None; 3], "nothing is measured");
        assert_eq!((view.project.as_deref(), view.user), (Some("shop"), None));
    }
}
