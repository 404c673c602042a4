//! The search for good values: one instance of a task, a trial, for each combination that is tried.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::InstanceIx;
use crate::executor::Report;
use crate::state::InstanceState;

/// How a task is tried with different values. Each trial is an instance; what it tries is its `item`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// What is tried: a list of values, or a range of numbers, under the key that `item` has for it.
    pub over: BTreeMap<String, Axis>,
    /// The metric, or output, that should be large.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub maximize: Option<String>,
    /// The metric, or output, that should be small.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub minimize: Option<String>,
    /// How trials are chosen; `tpe` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<Method>,
    /// How many trials there are; of a grid, every combination when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trials: Option<u32>,
    /// How many trials may run at the same time; of `tpe` 4 when absent, otherwise no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parallelism: Option<u32>,
    /// The same seed chooses the same random values; the run's own when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u32>,
    /// Trials that fall behind are stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub early_stop: Option<EarlyStop>,
    /// How many trials may fail before the task does; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_failures: Option<u32>,
}

/// The values of one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Axis {
    /// These.
    Values(Vec<Value>),
    /// Numbers of a range.
    Range(Range),
}

/// A range of numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// `integer`, or `number` when absent.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<NumberType>,
    /// The smallest.
    pub minimum: f64,
    /// The largest.
    pub maximum: f64,
    /// The distance between neighbours, from the smallest on; of integers 1 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<f64>,
    /// How values are spread; `linear` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scale: Option<Scale>,
}

/// The type of a range's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NumberType {
    /// Whole numbers.
    Integer,
    /// Any.
    Number,
}

/// How the values of a range are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    Linear,
    /// Evenly in their logarithm: as many between 0.001 and 0.01 as between 0.01 and 0.1.
    Log,
}

/// How trials are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Every combination, the last key changing fastest.
    Grid,
    /// By chance.
    Random,
    /// By what earlier trials gave: a tree-structured Parzen estimator.
    #[default]
    Tpe,
}

/// Asynchronous successive halving (ASHA): a trial goes on beyond a step only among the best of all that have reached
/// it. Looked at are the steps `min_steps`, `min_steps * factor`, `min_steps * factor^2` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EarlyStop {
    /// No trial is stopped before this step of the metric.
    pub min_steps: u32,
    /// One of so many goes on; 3 when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub factor: Option<u32>,
}

impl EarlyStop {
    /// One of so many goes on.
    #[must_use]
    pub fn factor(&self) -> u32 {
        self.factor.unwrap_or(3).max(2)
    }
}

/// What is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Large values.
    Maximize,
    /// Small values.
    Minimize,
}

impl Goal {
    /// A measured value as it is compared with those of other trials: one that is not finite is worse than all.
    #[must_use]
    pub fn comparable(self, value: f64) -> f64 {
        match self {
            _ if value.is_finite() => value,
            Self::Maximize => f64::NEG_INFINITY,
            Self::Minimize => f64::INFINITY,
        }
    }

    /// Whether one value is better than another.
    #[must_use]
    pub fn prefers(self, value: f64, other: f64) -> bool {
        match self {
            Self::Maximize => value > other,
            Self::Minimize => value < other,
        }
    }

    /// The word for it, as documents have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Maximize => "maximize",
            Self::Minimize => "minimize",
        }
    }
}

/// A search with nothing left open but what its trials give.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedSearch {
    /// What is tried; no list is empty, no range is upside down.
    pub over: BTreeMap<String, Axis>,
    /// What is good.
    pub goal: Goal,
    /// Metric or output that measures the quality of a trial.
    pub of: String,
    /// How trials are chosen.
    pub method: Method,
    /// How many there are; no more than there are combinations.
    pub trials: u32,
    /// The same seed chooses the same random values; the run's own when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u32>,
    /// Trials that fall behind are stopped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub early_stop: Option<EarlyStop>,
    /// How many trials may fail.
    pub max_failures: u32,
}

impl PlannedSearch {
    /// How good a trial was: the metric's value at its last step, of the lowest rank that reported it there, or where it has
    /// no steps the last value; or else the output of this name, where it is a number. A value that is not finite is none.
    #[must_use]
    pub fn value(&self, report: &Report) -> Option<f64> {
        self.last(report).filter(|value| value.is_finite())
    }

    /// The same, also where it is NaN or infinite.
    #[must_use]
    pub fn last(&self, report: &Report) -> Option<f64> {
        let values = || report.metrics.iter().filter(|metric| metric.name == self.of);
        let stepped = values().filter_map(|metric| Some((metric.step?, metric.value)));
        let last = stepped.reduce(|last, next| if next.0 > last.0 { next } else { last });
        let last = last.map(|(_, value)| value).or_else(|| values().next_back().map(|metric| metric.value));
        last.or_else(|| report.outputs.get(&self.of)?.as_f64())
    }

    /// Whether enough of its trials, which have all ended, ended well: one at least, and no more failed than may.
    pub fn has_succeeded<'a>(&self, trials: impl Iterator<Item = &'a InstanceState>) -> bool {
        self.has_succeeded_by(trials.map(|state| (state.as_str(), 1)))
    }

    /// The same, from how many trials are in which state, by the word for it.
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

    /// The best of its trials that ran to their end; of equals, the first.
    pub fn best<'a>(&self, trials: impl Iterator<Item = Trial<'a>>) -> Option<Best<'a>> {
        let known = trials.filter(|trial| matches!(trial.state, InstanceState::Succeeded { .. }));
        let known = known.filter_map(|trial| Some(Best { value: self.value(trial.report)?, trial }));
        known.reduce(|best, next| if self.goal.prefers(next.value, best.value) { next } else { best })
    }
}

/// A trial, as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// Its number.
    pub instance: InstanceIx,
    /// What it tries.
    pub item: &'a Value,
    /// Where it stands.
    pub state: &'a InstanceState,
    /// Reported outputs.
    pub report: &'a Report,
}

/// The best trial.
#[derive(Clone, Copy, Debug)]
pub struct Best<'a> {
    /// How good it was.
    pub value: f64,
    /// The trial.
    pub trial: Trial<'a>,
}

impl Best<'_> {
    /// The name of the output that a task with a search has by itself.
    pub const OUTPUT: &'static str = "best";

    /// As later tasks see it: `tasks.NAME.outputs.best`.
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
