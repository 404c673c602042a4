//! Figures: measured values with their unit and goal, medians of them, and the machine they were measured on.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use serde::{Deserialize, Serialize};

use super::cases::Case;

/// One measured value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// What it should be, as text, where there is a goal.
    pub goal: Option<String>,
}

impl Figure {
    /// A value without a goal, e.g. a baseline.
    pub fn new(name: &str, value: f64, unit: &str) -> Self {
        Self { name: name.into(), value, unit: unit.into(), goal: None }
    }

    /// The same with a goal.
    pub fn goal(self, goal: &str) -> Self {
        Self { goal: Some(goal.into()), ..self }
    }
}

/// The middle of the values; the mean of the middle two when their number is even.
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

/// The value that 99 of 100 do not exceed.
pub fn p99(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * 0.99).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// A case as rows of a Markdown table: median, least and most of its rounds.
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
        let goal = figures.first().and_then(|figure| figure.goal.clone()).unwrap_or_default();
        let median = median(&values);
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

/// Three significant digits, thousands without any after the point.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The machine, and how the database writes.
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
