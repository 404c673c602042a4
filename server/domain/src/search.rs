//! Hyperparameter search: one instance of a task, a trial, for each tried combination.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::InstanceIx;
use crate::executor::Report;
use crate::state::InstanceState;

/// A search: the task runs with different values. Each trial is an instance with its values as `item`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// The search space: a list of values, or a range of numbers, under their key in `item`.
    pub over: BTreeMap<String, Axis>,
    /// The metric, or output, to maximize.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub maximize: Option<String>,
    /// The metric, or output, to minimize.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub minimize: Option<String>,
    /// How trials are chosen; `tpe` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<Method>,
    /// Maximum number of trials; for a grid, every combination when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trials: Option<u32>,
    /// Maximum number of trials that run concurrently; for `tpe` 4 when absent, otherwise no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// Seed for the random values; the run's own when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u32>,
    /// Trials that fall behind are stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub early_stop: Option<EarlyStop>,
    /// Maximum number of failed trials before the task fails; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_failures: Option<u32>,
}

/// The values of one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Axis {
    /// A list of values.
    Values(Vec<Value>),
    /// A range of numbers.
    Range(Range),
}

/// A range of numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// `integer`, or `number` when absent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<NumberType>,
    /// Minimum.
    pub minimum: f64,
    /// Maximum.
    pub maximum: f64,
    /// The interval between neighbours, starting at the minimum; for integers 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<f64>,
    /// Scale of the values; `linear` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scale: Option<Scale>,
}

/// The type of a range's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NumberType {
    /// Integers.
    Integer,
    /// Any numbers.
    Number,
}

/// Scale of a range's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Evenly on a logarithmic scale: as many between 0.001 and 0.01 as between 0.01 and 0.1.
    Log,
}

/// How trials are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Every combination, the last key changing fastest.
    Grid,
    /// Random.
    Random,
    /// Based on earlier trials: a tree-structured Parzen estimator.
    #[default]
    Tpe,
}

/// Asynchronous successive halving (ASHA): a trial continues beyond a step only if it is among the best of
/// all that have reached it. The compared steps are `min_steps`, `min_steps * factor`, `min_steps * factor^2`
/// and so on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlyStop {
    /// No trial is stopped before this step of the metric.
    pub min_steps: u32,
    /// One in this many continues; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub factor: Option<u32>,
}

impl EarlyStop {
    /// One in this many continues.
    #[must_use]
    pub fn factor(&self) -> u32 {
        self.factor.unwrap_or(3).max(2)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    Maximize,
    Minimize,
}

impl Goal {
    /// A measured value for comparison with other trials: non-finite values are worse than all others.
    #[must_use]
    pub fn comparable(self, value: f64) -> f64 {
        match self {
            _ if value.is_finite() => value,
            Self::Maximize => f64::NEG_INFINITY,
            Self::Minimize => f64::INFINITY,
        }
    }

    #[must_use]
    pub fn prefers(self, value: f64, other: f64) -> bool {
        match self {
            Self::Maximize => value > other,
            Self::Minimize => value < other,
        }
    }

    /// The name in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Maximize => "maximize",
            Self::Minimize => "minimize",
        }
    }
}

/// A search with all settings resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedSearch {
    /// The search space; no list is empty, no range is inverted.
    pub over: BTreeMap<String, Axis>,
    /// The goal.
    pub goal: Goal,
    /// Metric or output that measures the quality of a trial.
    pub of: String,
    /// How trials are chosen.
    pub method: Method,
    /// Number of trials, at most the number of combinations.
    pub trials: u32,
    /// Seed for the random values; the run's own when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u32>,
    /// Trials that fall behind are stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub early_stop: Option<EarlyStop>,
    /// Maximum number of failed trials.
    pub max_failures: u32,
}

impl PlannedSearch {
    /// The result of a trial. It is the metric's value at its last step, from the lowest rank that reported
    /// it there; without steps, the last value. Without the metric, it is the output of this name, if it is a
    /// number. `None` for a non-finite value.
    #[must_use]
    pub fn value(&self, report: &Report) -> Option<f64> {
        self.last(report).filter(|value| value.is_finite())
    }

    /// The same, including NaN and infinity.
    #[must_use]
    pub fn last(&self, report: &Report) -> Option<f64> {
        let values = || report.metrics.iter().filter(|metric| metric.name == self.of);
        let stepped = values().filter_map(|metric| Some((metric.step?, metric.value)));
        let last = stepped.reduce(|last, next| if next.0 > last.0 { next } else { last });
        let last = last.map(|(_, value)| value).or_else(|| values().next_back().map(|metric| metric.value));
        last.or_else(|| report.outputs.get(&self.of)?.as_f64())
    }

    /// Whether enough of its ended trials succeeded: at least one, and no more failed than allowed.
    pub fn has_succeeded<'a>(&self, trials: impl Iterator<Item = &'a InstanceState>) -> bool {
        self.has_succeeded_by(trials.map(|state| (state.as_str(), 1)))
    }

    /// The same, from the number of trials by state name.
    pub fn has_succeeded_by(&self, trials: impl Iterator<Item = (&'static str, u64)>) -> bool {
        let (mut good, mut failed) = (0, 0);
        for (state, count) in trials.filter(|(_, count)| *count > 0) {
            match state {
                "succeeded" | "reused" => good += count,
                "failed" => failed += count,
                "stopped_early" | "skipped" => {}
                _ => return false,
            }
        }
        good > 0 && failed <= u64::from(self.max_failures)
    }

    /// The best of its completed trials; the first one if several are equal.
    pub fn best<'a>(&self, trials: impl Iterator<Item = Trial<'a>>) -> Option<Best<'a>> {
        let known = trials.filter(|trial| matches!(trial.state, InstanceState::Succeeded { .. }));
        let known = known.filter_map(|trial| Some(Best { value: self.value(trial.report)?, trial }));
        known.reduce(|best, next| if self.goal.prefers(next.value, best.value) { next } else { best })
    }
}

/// A stored trial.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    pub instance: InstanceIx,
    pub item: &'a Value,
    pub state: &'a InstanceState,
    pub report: &'a Report,
}

#[derive(Clone, Copy, Debug)]
pub struct Best<'a> {
    /// Its result.
    pub value: f64,
    pub trial: Trial<'a>,
}

impl Best<'_> {
    /// The name of the implicit output of a task with a search.
    pub const OUTPUT: &'static str = "best";

    /// As downstream tasks see it: `tasks.NAME.outputs.best`.
    #[must_use]
    pub fn output(&self) -> Value {
        json!({
            "trial": self.trial.instance,
            "value": self.value,
            "parameters": self.trial.item,
            "outputs": self.trial.report.outputs,
        })
    }
}
