//! Reported metrics as series for charts.

use std::collections::BTreeMap;

use cubeloom_domain::RunId;
use cubeloom_domain::executor::Metric;
use cubeloom_domain::json::measured::word;
use cubeloom_domain::{TaskIx, plan::RunPlan};

use crate::api::metrics::view::{MetricsView, NotFiniteView, SeriesView};
use crate::error::ApiResult;
use crate::state::Web;

/// Maximum number of points of a series.
const POINTS: usize = 1_000;
/// Maximum number of series in a response.
const SERIES: usize = 200;
/// Instances read at a time, and maximum number of running attempts that are read.
const TOGETHER: usize = 200;
const RUNNING: usize = 50;

/// Values of each metric, by name, task position and instance.
type Values = BTreeMap<(String, u32, u32), Vec<[f64; 2]>>;

/// Metrics of a run, including those of running attempts.
pub(crate) async fn metrics(
    web: &Web,
    run: &RunId,
    plan: &RunPlan,
    task: Option<TaskIx>,
    name: Option<&str>,
) -> ApiResult<MetricsView> {
    let mut values = Values::new();
    let wanted = |metric: &&Metric| name.is_none_or(|name| name == metric.name);
    let mut after = None;
    // Stop at the response's limit. A filter by task or metric finds the others.
    while values.len() <= SERIES {
        let instances = web.store().reported(run, task, after, TOGETHER).await?;
        for one in &instances {
            after = Some((one.task.0, one.instance));
            add(&mut values, one.task, one.instance, one.report.metrics.iter().filter(wanted));
        }
        if instances.len() < TOGETHER {
            break;
        }
    }
    let executor = web.clusters().get(&plan.cluster);
    if let Some(logs) = executor.as_ref().and_then(|executor| executor.logs()) {
        for attempt in web.store().live_attempts(run, RUNNING).await? {
            if task.is_none_or(|task| task == attempt.task)
                && let Ok(reports) = logs.reported(&attempt.key).await
            {
                let metrics = reports.iter().flat_map(|report| &report.metrics).filter(wanted);
                add(&mut values, attempt.task, attempt.key.instance, metrics);
            }
        }
    }
    let truncated = values.len() > SERIES;
    let series = values.into_iter().take(SERIES).map(|((name, task, instance), points)| {
        let task = plan.task(TaskIx(task)).name.clone();
        series(name, task, instance, points)
    });
    Ok(MetricsView { series: series.collect(), truncated })
}

fn add<'m>(values: &mut Values, task: TaskIx, instance: u32, metrics: impl Iterator<Item = &'m Metric>) {
    for metric in metrics {
        let points = values.entry((metric.name.clone(), task.0, instance)).or_default();
        let at = metric.step.unwrap_or(points.len() as f64);
        points.push([at, metric.value]);
    }
}

fn series(name: String, task: String, instance: u32, mut points: Vec<[f64; 2]>) -> SeriesView {
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    let last = points.last().and_then(|point| finite(point[1]));
    let all = || points.iter().filter_map(|point| finite(point[1]));
    let (min, max) = (all().reduce(f64::min), all().reduce(f64::max));
    // Values are grouped by worker.
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut others = points.iter().filter(|point| !point[1].is_finite());
    let first = others.next();
    let rest = others.count() as u64;
    let not_finite =
        first.map(|[step, value]| NotFiniteView { count: 1 + rest, step: *step, value: word(*value) });
    let count = points.len() as u64;
    let points = thin(&points, POINTS).into_iter().map(|[step, value]| (step, finite(value))).collect();
    SeriesView { name, task, instance, count, last, min, max, not_finite, points }
}

/// Reduces a series to at most `most` points. Each interval keeps its minimum and maximum, so that no peak is
/// lost.
pub(crate) fn thin(points: &[[f64; 2]], most: usize) -> Vec<[f64; 2]> {
    if points.len() <= most {
        return points.to_vec();
    }
    let stretch = points.len().div_ceil(most / 2);
    let mut kept = Vec::with_capacity(most);
    for part in points.chunks(stretch) {
        let by = |a: &(usize, &[f64; 2]), b: &(usize, &[f64; 2])| a.1[1].total_cmp(&b.1[1]);
        let smallest = part.iter().enumerate().min_by(by).map(|(at, _)| at);
        let largest = part.iter().enumerate().max_by(by).map(|(at, _)| at);
        let (Some(smallest), Some(largest)) = (smallest, largest) else { continue };
        kept.push(part[smallest.min(largest)]);
        if smallest != largest {
            kept.push(part[smallest.max(largest)]);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_series_keeps_its_peaks_and_its_order() {
        let mut points: Vec<[f64; 2]> = (0..100_000).map(|at| [f64::from(at), f64::from(at % 7)]).collect();
        points[54_321][1] = 1e6;
        points[77_777][1] = -1e6;
        let thinned = thin(&points, POINTS);
        assert!(thinned.len() <= POINTS, "{}", thinned.len());
        assert!(thinned.contains(&[54_321.0, 1e6]) && thinned.contains(&[77_777.0, -1e6]));
        assert!(thinned.windows(2).all(|two| two[0][0] < two[1][0]));
        assert_eq!(thin(&points[..1000], POINTS), points[..1000]);
        assert!(thin(&points[..1001], POINTS).len() <= POINTS);
    }

    #[test]
    fn what_is_not_finite_is_told_and_hides_nothing_else() {
        let metric = |value| Metric { name: "loss".into(), value, step: None };
        let mut values = Values::new();
        add(&mut values, TaskIx(0), 0, [metric(3.0), metric(f64::NAN), metric(f64::INFINITY)].iter());
        let (_, points) = values.into_iter().next().unwrap();
        let series = series("loss".into(), "train".into(), 0, points);
        assert_eq!(series.points, [(0.0, Some(3.0)), (1.0, None), (2.0, None)]);
        assert_eq!((series.count, series.last, series.min, series.max), (3, None, Some(3.0), Some(3.0)));
        assert_eq!(series.not_finite, Some(NotFiniteView { count: 2, step: 1.0, value: "NaN" }));
    }

    #[test]
    fn what_has_no_step_stands_at_its_position() {
        let metric = |value| Metric { name: "loss".into(), value, step: None };
        let mut values = Values::new();
        add(&mut values, TaskIx(0), 0, [metric(3.0), metric(1.0), metric(2.0)].iter());
        let (_, points) = values.into_iter().next().unwrap();
        let series = series("loss".into(), "train".into(), 0, points);
        assert_eq!(series.points, [(0.0, Some(3.0)), (1.0, Some(1.0)), (2.0, Some(2.0))]);
        assert_eq!((series.count, series.last, series.min, series.max), (3, Some(2.0), Some(1.0), Some(3.0)));
        assert_eq!(series.not_finite, None);
    }
}
