//! Measured values with unit and goal, their medians, and the machine that they were measured on.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs;

use serde::{Deserialize, Serialize};

use super::cases::Case;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: String,
    /// The goal, if any.
    pub goal: Option<Goal>,
    /// The direction of an improvement. A baseline has none: it describes the machine or the case.
    pub better: Option<Better>,
}

/// A bound for a measured value, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// The direction of an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    Lower,
    Higher,
}

impl Goal {
    /// Whether the value meets the bound.
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(formatter, "at most {most}"),
            Self::AtLeast(least) => write!(formatter, "at least {least}"),
        }
    }
}

impl Figure {
    /// A value without a goal; lower is better.
    pub fn new(name: &str, value: f64, unit: &str) -> Self {
        Self { name: name.into(), value, unit: unit.into(), goal: None, better: Some(Better::Lower) }
    }

    /// A value that describes the machine or the case: comparisons show it but do not judge it.
    pub fn baseline(name: &str, value: f64, unit: &str) -> Self {
        Self { better: None, ..Self::new(name, value, unit) }
    }

    /// The same with an upper bound.
    pub fn at_most(self, most: f64) -> Self {
        Self { goal: Some(Goal::AtMost(most)), better: Some(Better::Lower), ..self }
    }

    /// The same with a lower bound: higher is better.
    pub fn at_least(self, least: f64) -> Self {
        Self { goal: Some(Goal::AtLeast(least)), better: Some(Better::Higher), ..self }
    }
}

/// The median; for an even number of values, the mean of the middle two.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.len(), sorted.len() % 2) {
        (0, _) => f64::NAN,
        (_, 1) => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The 99th percentile.
pub fn p99(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * 0.99).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// A case as rows of a Markdown table: median, minimum and maximum of its rounds.
pub fn report(case: &Case, rounds: BTreeMap<String, Vec<Figure>>) -> String {
    let mut text = format!(
        "\n### {}: {}\n\n| figure | median | min - max | goal |\n|---|---|---|---|\n",
        case.name, case.about
    );
    for (name, figures) in rounds {
        let values: Vec<f64> = figures.iter().map(|figure| figure.value).collect();
        let (least, most) = values
            .iter()
            .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(*value), most.max(*value)));
        let unit = figures.first().map_or("", |figure| figure.unit.as_str());
        let median = median(&values);
        let goal = figures.first().and_then(|figure| figure.goal).map_or_else(String::new, |goal| {
            format!("{goal}{}", if goal.is_met(median) { "" } else { " (missed)" })
        });
        let _ = writeln!(
            text,
            "| {name} | {} {unit} | {} - {} | {goal} |",
            short(median),
            short(least),
            short(most)
        );
    }
    text
}

/// Three significant digits; thousands without decimals.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The machine, and the database's write settings.
pub fn machine() -> String {
    let field = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let value = text.lines().find_map(|line| {
            line.strip_prefix(key).map(|rest| rest.trim_start_matches([' ', '\t', ':']).to_owned())
        });
        value.unwrap_or_else(|| "unknown".into())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "Cubeloom {}; {cores} cores of {}, {} of memory, Linux {}. SQLite: WAL, synchronous=FULL. PostgreSQL: fsync on.",
        env!("CARGO_PKG_VERSION"),
        field("/proc/cpuinfo", "model name"),
        field("/proc/meminfo", "MemTotal"),
        kernel.trim(),
    )
}

/// A line of `/proc/<pid>/status` in MiB, e.g. `VmHWM`.
pub fn status_mib(pid: u32, key: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    let kib: f64 =
        line.trim_start_matches(':').split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    kib / 1024.0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn a_goal_is_met_at_its_bound_and_missed_beyond_it() {
        assert!(Goal::AtMost(3.0).is_met(3.0) && !Goal::AtMost(3.0).is_met(3.1));
        assert!(Goal::AtLeast(5000.0).is_met(5000.0) && !Goal::AtLeast(5000.0).is_met(4999.0));
    }

    #[test]
    fn figures_are_written_as_tools_bench_reads_them() {
        let written = |figure: Figure| serde_json::to_value(figure).unwrap();
        assert_eq!(
            written(Figure::new("dispatches", 1.5, "/s").at_least(1.0)),
            json!({"name": "dispatches", "value": 1.5, "unit": "/s", "goal": {"at_least": 1.0}, "better": "higher"})
        );
        assert_eq!(
            written(Figure::baseline("bare loop", 2.0, "s")),
            json!({"name": "bare loop", "value": 2.0, "unit": "s", "goal": null, "better": null})
        );
    }

    #[test]
    fn the_report_names_a_missed_goal() {
        let case = &super::super::cases::CASES[0];
        let figure = |value| Figure::new("time", value, "s").at_most(1.0);
        let rounds = BTreeMap::from([("time".to_owned(), vec![figure(0.9), figure(1.2), figure(1.1)])]);
        assert!(report(case, rounds).contains("| time | 1.10 s | 0.900 - 1.20 | at most 1 (missed) |"));
    }
}
