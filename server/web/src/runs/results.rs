//! Results of several runs as single values: the last value of each metric, and outputs that are numbers. Tasks
//! with several instances are left out, as one value does not describe them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use cubeloom_domain::executor::{Metric, Report};
use cubeloom_domain::json::measured::word;
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::FirstReport;
use moka::sync::Cache;
use serde_json::{Number, Value};

use super::grid::{self, GridTask, by_run};
use crate::error::ApiResult;
use crate::state::Web;

/// Maximum number of values of all cached runs.
const VALUES: u64 = 200_000;
/// Maximum number of metrics, and of outputs, of a run.
const NAMES: usize = 500;
/// Maximum number of running attempts that are read per run.
const RUNNING: usize = 50;

/// A value that a task reported.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TaskValue {
    pub(crate) task: Arc<str>,
    pub(crate) name: String,
    /// A number, or the word of a value that is not finite.
    pub(crate) value: Value,
}

/// Results of a run, in document order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunResults {
    /// Last values of metrics.
    pub(crate) metrics: Vec<TaskValue>,
    /// Outputs that are numbers.
    pub(crate) outputs: Vec<TaskValue>,
}

impl RunResults {
    fn of(plan: &[GridTask], mut reports: Vec<FirstReport>) -> Self {
        reports.sort_by_key(|one| one.task.0);
        let mut results = Self::default();
        for one in &reports {
            if let Some(task) = plain(plan, one.task.0) {
                results.measure(&task.name, &one.report.metrics);
                results.produce(&task.name, &one.report);
            }
        }
        results
    }

    /// Takes the last value of each metric. A running attempt replaces the values of the one before.
    fn measure<'m>(&mut self, task: &Arc<str>, metrics: impl IntoIterator<Item = &'m Metric>) {
        let last: BTreeMap<&str, f64> =
            metrics.into_iter().map(|metric| (metric.name.as_str(), metric.value)).collect();
        for (name, value) in last {
            let value = Number::from_f64(value).map_or_else(|| word(value).into(), Value::Number);
            match self.metrics.iter().position(|known| known.task == *task && known.name == name) {
                Some(at) => self.metrics[at].value = value,
                None if self.metrics.len() < NAMES => {
                    self.metrics.push(TaskValue { task: Arc::clone(task), name: name.to_owned(), value });
                }
                None => {}
            }
        }
    }

    fn produce(&mut self, task: &Arc<str>, report: &Report) {
        let numbers = report.outputs.iter().filter(|(_, value)| value.is_number());
        for (name, value) in numbers.take(NAMES.saturating_sub(self.outputs.len())) {
            self.outputs.push(TaskValue { task: Arc::clone(task), name: name.clone(), value: value.clone() });
        }
    }
}

/// A task that has one instance.
fn plain(plan: &[GridTask], index: u32) -> Option<&GridTask> {
    plan.get(index as usize).filter(|task| task.plain)
}

/// Cached results of runs that have ended: they change only when a run is resumed.
pub(super) struct ResultCache(Cache<(RunId, Timestamp), Arc<RunResults>>);

impl Default for ResultCache {
    fn default() -> Self {
        let weight = |_: &(RunId, Timestamp), results: &Arc<RunResults>| {
            u32::try_from(results.metrics.len() + results.outputs.len() + 1).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().max_capacity(VALUES).weigher(weight).build())
    }
}

impl ResultCache {
    fn get(&self, run: &RunRecord) -> Option<Arc<RunResults>> {
        self.0.get(&grid::key(run)?)
    }

    fn keep(&self, run: &RunRecord, results: &Arc<RunResults>) {
        if let Some(key) = grid::key(run) {
            self.0.insert(key, Arc::clone(results));
        }
    }
}

/// Results of the first tasks of each of these runs, as far as their tasks have ended.
pub(crate) async fn stored(web: &Web, runs: &[RunRecord]) -> ApiResult<Vec<Arc<RunResults>>> {
    let cache = &web.runs().results;
    let mut found: HashMap<&RunId, Arc<RunResults>> = HashMap::new();
    let mut unknown: Vec<&RunRecord> = Vec::new();
    for run in runs {
        match cache.get(run) {
            Some(results) => {
                found.insert(&run.id, results);
            }
            None => unknown.push(run),
        }
    }
    for part in unknown.chunks(grid::AT_ONCE) {
        let ids: Vec<&RunId> = part.iter().map(|run| &run.id).collect();
        let plans = grid::plans(web, &ids).await?;
        let mut reports = by_run(web.store().first_reports(&ids).await?, |one| &one.run);
        for run in part {
            let plan = plans.get(&run.id).map(|plan| plan.as_slice()).unwrap_or_default();
            let results = Arc::new(RunResults::of(plan, reports.remove(&run.id).unwrap_or_default()));
            cache.keep(run, &results);
            found.insert(&run.id, results);
        }
    }
    Ok(runs.iter().map(|run| found.remove(&run.id).unwrap_or_default()).collect())
}

/// Adds the metrics of attempts that are running on this cluster.
pub(crate) async fn with_running(
    web: &Web,
    run: &RunRecord,
    cluster: &str,
    stored: &RunResults,
) -> ApiResult<RunResults> {
    let mut results = stored.clone();
    let executor = web.clusters().get(cluster).filter(|_| !run.state.is_final());
    let Some(logs) = executor.as_ref().and_then(|executor| executor.logs()) else { return Ok(results) };
    let plans = grid::plans(web, &[&run.id]).await?;
    let plan = plans.get(&run.id).map(|plan| plan.as_slice()).unwrap_or_default();
    for attempt in web.store().live_attempts(&run.id, RUNNING).await? {
        let Some(task) = plain(plan, attempt.task.0) else { continue };
        if let Ok(reports) = logs.reported(&attempt.key).await {
            results.measure(&task.name, reports.iter().flat_map(|report| &report.metrics));
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::TaskIx;
    use serde_json::json;

    use super::*;

    fn report(task: u32, report: Value) -> FirstReport {
        let report = serde_json::from_value(report).unwrap();
        FirstReport { run: RunId::new(Timestamp(0), 7), task: TaskIx(task), report }
    }

    #[test]
    fn a_run_has_the_last_value_of_each_metric_and_its_outputs_of_numbers() {
        let metric = |name: &str, value: f64| Metric { name: name.into(), value, step: None };
        let mut results = RunResults::default();
        let task: Arc<str> = "learn".into();
        results.measure(&task, &[metric("loss", 3.0), metric("auc", 0.5), metric("loss", f64::NAN)]);
        let shown = |results: &RunResults| -> Vec<(String, Value)> {
            results.metrics.iter().map(|one| (one.name.clone(), one.value.clone())).collect()
        };
        assert_eq!(shown(&results), [("auc".to_owned(), json!(0.5)), ("loss".to_owned(), json!("NaN"))]);
        results.measure(&task, &[metric("loss", 1.0)]);
        assert_eq!(shown(&results), [("auc".to_owned(), json!(0.5)), ("loss".to_owned(), json!(1.0))]);
        let one = report(0, json!({"outputs": {"rows": 3, "path": "/a", "auc": 0.5}}));
        results.produce(&task, &one.report);
        let mut names: Vec<&str> = results.outputs.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["auc", "rows"]);
    }

    #[test]
    fn only_tasks_of_one_instance_have_results() {
        let task = |name: &str, plain| GridTask { name: name.into(), plain, empty: false, search: None };
        let plan = [task("each", false), task("one", true)];
        let rows = |task| report(task, json!({"outputs": {"rows": 3}}));
        let results = RunResults::of(&plan, vec![rows(2), rows(1), rows(0)]);
        let found: Vec<&str> = results.outputs.iter().map(|one| one.task.as_ref()).collect();
        assert_eq!(found, ["one"]);
    }
}
