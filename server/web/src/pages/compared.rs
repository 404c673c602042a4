//! Comparison of two runs, shared by the pages that compare runs and versions (`templates/compared.html`).

use serde_json::Value;

use super::Frame;
use super::asked_for::{self, AskedFor};
use super::diff::{self, Line};
use crate::api::compare::view::{ComparisonView, MetricPair, TaskPair, TaskSide, ValuePair};
use crate::api::runs::view::RunView;
use crate::pipelines::difference;
use crate::readable;
use crate::show;

/// Durations below this many seconds are not compared by ratio.
const MOMENT: f64 = 0.1;

/// Two runs and their differences.
pub(super) struct Compared {
    pub(super) view: ComparisonView,
    /// Names of the runs, the left one first.
    pub(super) names: [String; 2],
    pub(super) rows: Vec<Row>,
    /// Requested resources of each task's workers.
    pub(super) asked: Vec<AskedFor>,
    /// Changed arguments.
    pub(super) arguments: Vec<Changed>,
    /// Changed outputs of tasks: the task, the output.
    pub(super) outputs: Vec<(String, ValuePair)>,
    /// Final values of metrics. The page's script draws the charts.
    pub(super) measured: Vec<Measured>,
}

/// Last value of a metric in both runs.
pub(super) struct Measured {
    pub(super) name: String,
    /// `train`, or `train#2` for a task with several instances.
    pub(super) task: String,
    pub(super) last: [Option<f64>; 2],
}

impl Measured {
    /// Difference of the left value to the right one: `+0.02`. Empty if they are equal or not comparable.
    pub(super) fn difference(&self) -> String {
        match self.last {
            [Some(left), Some(right)] if left > right => format!("+{}", show::number(left - right)),
            [Some(left), Some(right)] if left < right => format!("−{}", show::number(right - left)),
            _ => String::new(),
        }
    }
}

/// A task, with bars of 100 units for its times.
pub(super) struct Row {
    pub(super) pair: TaskPair,
    pub(super) left: f64,
    pub(super) right: f64,
}

/// A changed argument, from the other run to this one.
pub(super) struct Changed {
    pub(super) task: String,
    pub(super) argument: String,
    pub(super) lines: Vec<Line>,
}

impl Row {
    /// `1.25×`. More than 1 is slower than before.
    pub(super) fn ratio(&self) -> String {
        // Ratios of very short times mean nothing.
        let times = self.sides().map(|side| side.and_then(|side| side.run_seconds).unwrap_or_default());
        if times.iter().all(|seconds| *seconds < MOMENT) {
            return String::new();
        }
        self.pair.ratio.map(|ratio| format!("{ratio:.2}×")).unwrap_or_default()
    }

    /// Whether the time changed significantly.
    pub(super) fn differs(&self) -> bool {
        let times =
            [&self.pair.left, &self.pair.right].map(|side| side.as_ref().and_then(|side| side.run_seconds));
        let [Some(left), Some(right)] = times else { return false };
        (left - right).abs() > 1.0 && self.pair.ratio.is_some_and(|ratio| !(0.8..=1.25).contains(&ratio))
    }

    pub(super) fn sides(&self) -> [Option<&TaskSide>; 2] {
        [self.pair.left.as_ref(), self.pair.right.as_ref()]
    }
}

impl Compared {
    /// Two runs with these names.
    pub(super) fn new(frame: &Frame, mut view: ComparisonView, names: [String; 2]) -> Self {
        let rows = rows(std::mem::take(&mut view.tasks));
        let differ = |row: &Row| {
            let task = row.pair.name.clone();
            let outputs = row.pair.outputs.iter().filter(|pair| !pair.same);
            outputs.map(|pair| (task.clone(), pair.clone())).collect::<Vec<_>>()
        };
        Self {
            asked: rows.iter().flat_map(|row| asked_for::of_task(frame, &row.pair)).collect(),
            outputs: rows.iter().flat_map(differ).collect(),
            arguments: rows.iter().flat_map(|row| changed(&row.pair)).collect(),
            measured: measured(&view.metrics),
            rows,
            names,
            view,
        }
    }

    /// Both runs, the left one first.
    pub(super) fn runs(&self) -> [&RunView; 2] {
        [&self.view.left, &self.view.right]
    }

    /// A value as text. Empty for null.
    pub(super) fn value(&self, value: &Value) -> String {
        if value.is_null() { String::new() } else { readable::value(value) }
    }
}

/// Last values of all metrics.
fn measured(pairs: &[MetricPair]) -> Vec<Measured> {
    let several = |pair: &MetricPair| {
        pairs.iter().any(|other| {
            (&other.name, &other.task) == (&pair.name, &pair.task) && other.instance != pair.instance
        })
    };
    let of_pair = |pair: &MetricPair| Measured {
        name: pair.name.clone(),
        task: if several(pair) { format!("{}#{}", pair.task, pair.instance) } else { pair.task.clone() },
        last: [&pair.left, &pair.right].map(|side| side.as_ref().and_then(|series| series.last)),
    };
    pairs.iter().map(of_pair).collect()
}

/// Changed arguments, line by line.
fn changed(pair: &TaskPair) -> Vec<Changed> {
    let text = |value: &Value| if value.is_null() { String::new() } else { readable::value(value) };
    let of_argument = |argument: &ValuePair| {
        let found = difference(&text(&argument.right), &text(&argument.left), ("", ""));
        let lines = diff::lines(&found.hunks);
        Changed { task: pair.name.clone(), argument: argument.name.clone(), lines }
    };
    pair.arguments.iter().map(of_argument).collect()
}

fn rows(pairs: Vec<TaskPair>) -> Vec<Row> {
    let seconds = |side: &Option<TaskSide>| side.as_ref().and_then(|side| side.run_seconds).unwrap_or(0.0);
    let longest =
        pairs.iter().flat_map(|pair| [seconds(&pair.left), seconds(&pair.right)]).fold(0.0, f64::max);
    let unit = if longest > 0.0 { 100.0 / longest } else { 0.0 };
    let row =
        |pair: TaskPair| Row { left: seconds(&pair.left) * unit, right: seconds(&pair.right) * unit, pair };
    pairs.into_iter().map(row).collect()
}
