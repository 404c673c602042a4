//! Trials of a search as parallel coordinates: an axis per parameter and one for the objective, and a line
//! per trial. Pure.

use std::fmt::Write;

use serde_json::Value;

use crate::api::tasks::view::{AxisView, SearchView, TrialView};
use crate::show;

/// Space left and right of the axes, for the labels.
const MARGIN: f64 = 60.0;
/// Minimum distance of two axes. Few axes are spread to fill the page.
const BETWEEN: f64 = 130.0;
const FAR: f64 = 260.0;
const PAGE: f64 = 1000.0;
/// Top and bottom of axes.
const TOP: f64 = 34.0;
const BOTTOM: f64 = 236.0;
/// Maximum number of lines, to keep them distinguishable. Beyond it, the best are drawn.
const MOST: usize = 300;
/// Maximum number of ticks on an axis.
const MARKS: usize = 9;
/// Number of shades for the objective.
const SHADES: usize = 5;

/// The plot, in units of its view box.
pub(crate) struct Parallel {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// Axes, from left to right.
    pub(crate) axes: Vec<DrawnAxis>,
    /// Better ones come later, so that they are on top.
    pub(crate) lines: Vec<Line>,
    /// Number of trials that are not drawn.
    pub(crate) left_out: usize,
}

pub(crate) struct DrawnAxis {
    /// Distance from the left.
    pub(crate) x: f64,
    /// Parameter or objective.
    pub(crate) name: String,
    /// Positions and labels of the ticks.
    pub(crate) marks: Vec<(f64, String)>,
    /// Whether it is the objective.
    pub(crate) is_goal: bool,
}

/// A trial.
pub(crate) struct Line {
    pub(crate) instance: u32,
    /// `x,y` for each axis that it has a value for.
    pub(crate) points: String,
    /// From 0, the worst, to 4, the best. `None` without an objective value.
    pub(crate) shade: Option<usize>,
    /// Whether it is the best trial.
    pub(crate) is_best: bool,
    /// Parameters and objective, as one line.
    pub(crate) title: String,
}

impl Parallel {
    /// The plot of a search. `None` before the first trial.
    pub(crate) fn of(search: &SearchView) -> Option<Self> {
        let mut trials: Vec<&TrialView> = search.trials.iter().collect();
        if trials.is_empty() {
            return None;
        }
        // The worst first, after those without a value.
        let worth = |trial: &TrialView| {
            trial
                .value
                .map_or(f64::NEG_INFINITY, |value| if search.goal == "minimize" { -value } else { value })
        };
        trials.sort_by(|a, b| worth(a).total_cmp(&worth(b)));
        let left_out = trials.len().saturating_sub(MOST);
        let drawn = &trials[left_out..];
        let goal = Scale::of_values(drawn.iter().filter_map(|trial| trial.value));
        let scales: Vec<Scale> = search.over.iter().map(Scale::of).collect();
        let between = (PAGE / scales.len().max(1) as f64).clamp(BETWEEN, FAR);
        let x = |at: usize| MARGIN + at as f64 * between;
        let axis = |(at, (axis, scale)): (usize, (&AxisView, &Scale))| DrawnAxis {
            x: x(at),
            name: axis.name.clone(),
            marks: scale.marks(),
            is_goal: false,
        };
        let mut axes: Vec<DrawnAxis> = search.over.iter().zip(&scales).enumerate().map(axis).collect();
        axes.push(DrawnAxis {
            x: x(scales.len()),
            name: search.of.clone(),
            marks: goal.marks(),
            is_goal: true,
        });
        let known = drawn.iter().filter(|trial| trial.value.is_some()).count();
        let unknown = drawn.len() - known;
        let best = search.best.as_ref().map(|best| best.instance);
        let lines = drawn.iter().enumerate().map(|(rank, trial)| {
            let own = search
                .over
                .iter()
                .zip(&scales)
                .map(|(axis, scale)| scale.place(trial.parameters.get(&axis.name)?));
            let last = trial.value.map(|value| goal.place_of(value));
            Line {
                instance: trial.instance,
                points: points(own.chain([last]).enumerate().filter_map(|(at, y)| Some((x(at), y?)))),
                shade: trial.value.map(|_| (rank - unknown) * SHADES / known.max(1)),
                is_best: best == Some(trial.instance),
                title: title(search, trial),
            }
        });
        let width = x(scales.len()) + MARGIN;
        Some(Self { width, height: BOTTOM + 14.0, lines: lines.collect(), axes, left_out })
    }

    /// Top of the axes.
    pub(crate) fn top(&self) -> f64 {
        TOP
    }

    /// Bottom of the axes.
    pub(crate) fn bottom(&self) -> f64 {
        BOTTOM
    }
}

fn points(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut text = String::new();
    for (x, y) in places {
        let separator = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{separator}{x:.0},{y:.1}");
    }
    text
}

/// `#3: depth 5, rate 0.1; accuracy 0.97`.
fn title(search: &SearchView, trial: &TrialView) -> String {
    let own = search.over.iter().map(|axis| format!("{} {}", axis.name, text(&trial.parameters[&axis.name])));
    let own = own.collect::<Vec<_>>().join(", ");
    match trial.value {
        Some(value) => format!("#{}: {own}; {} {}", trial.instance, search.of, show::number(value)),
        None => format!("#{}: {own}", trial.instance),
    }
}

/// A value as short text.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), show::number),
        other => other.to_string(),
    }
}

/// Scale of an axis.
enum Scale {
    Values(Vec<Value>),
    Range { minimum: f64, maximum: f64, log: bool },
}

impl Scale {
    fn of(axis: &AxisView) -> Self {
        match (&axis.values, axis.minimum, axis.maximum) {
            (Some(values), ..) => Self::Values(values.clone()),
            (None, minimum, maximum) => Self::Range {
                minimum: minimum.unwrap_or(0.0),
                maximum: maximum.unwrap_or(1.0),
                log: axis.log,
            },
        }
    }

    fn of_values(values: impl Iterator<Item = f64>) -> Self {
        let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (minimum, maximum) = ends.unwrap_or((0.0, 1.0));
        Self::Range { minimum, maximum, log: false }
    }

    fn place(&self, value: &Value) -> Option<f64> {
        match self {
            Self::Values(values) => {
                let at = values.iter().position(|one| one == value)?;
                Some(down(part(at, values.len())))
            }
            Self::Range { .. } => Some(self.place_of(value.as_f64()?)),
        }
    }

    fn place_of(&self, value: f64) -> f64 {
        let Self::Range { minimum, maximum, log } = self else { return TOP };
        let line = |value: f64| if *log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let (low, high) = (line(*minimum), line(*maximum));
        down(if high > low { ((line(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 })
    }

    fn marks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Values(values) => {
                // With many values, only every n-th gets a tick.
                let every = values.len().div_ceil(MARKS).max(1);
                let shown = values.iter().enumerate().filter(|(at, _)| at % every == 0);
                shown.map(|(at, value)| (down(part(at, values.len())), text(value))).collect()
            }
            Self::Range { minimum, maximum, .. } if minimum == maximum => {
                vec![(self.place_of(*minimum), show::number(*minimum))]
            }
            Self::Range { minimum, maximum, log } => {
                let middle =
                    if *log { (minimum * maximum).sqrt() } else { f64::midpoint(*minimum, *maximum) };
                [*minimum, middle, *maximum].map(|value| (self.place_of(value), short(value))).into()
            }
        }
    }
}

/// Label of a tick, with three significant digits.
fn short(value: f64) -> String {
    let digits = 10f64.powi(2 - value.abs().log10().floor().clamp(-300.0, 300.0) as i32);
    show::number(if value == 0.0 { 0.0 } else { (value * digits).round() / digits })
}

fn part(at: usize, of: usize) -> f64 {
    if of > 1 { at as f64 / (of - 1) as f64 } else { 0.5 }
}

/// Converts a fraction of an axis, from the bottom, to a y coordinate.
fn down(part: f64) -> f64 {
    BOTTOM - part * (BOTTOM - TOP)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn search(goal: &str, values: &[Option<f64>]) -> SearchView {
        let trial = |(instance, value): (u32, &Option<f64>)| TrialView {
            instance,
            state: "succeeded".into(),
            parameters: json!({
                "kind": if instance % 2 == 0 { "a" } else { "b" },
                "rate": if instance % 3 == 0 { 1.0 } else if instance % 3 == 1 { 0.1 } else { 0.01 },
            }),
            value: *value,
        };
        let trials: Vec<TrialView> = (0u32..).zip(values).map(trial).collect();
        let range = AxisView {
            name: "rate".into(),
            values: None,
            minimum: Some(0.01),
            maximum: Some(1.0),
            log: true,
        };
        let kinds = Some(vec![json!("a"), json!("b")]);
        let kind = AxisView { name: "kind".into(), values: kinds, minimum: None, maximum: None, log: false };
        SearchView {
            goal: goal.into(),
            of: "loss".into(),
            method: "grid".into(),
            over: vec![kind, range],
            planned: 9,
            max_failures: 3,
            best: trials.first().cloned(),
            trials,
        }
    }

    #[test]
    fn the_better_a_trial_the_later_it_is_drawn() {
        let plot = Parallel::of(&search("minimize", &[Some(1.0), None, Some(3.0), Some(2.0)])).unwrap();
        let order: Vec<(u32, Option<usize>)> =
            plot.lines.iter().map(|line| (line.instance, line.shade)).collect();
        assert_eq!(order, [(1, None), (2, Some(0)), (3, Some(1)), (0, Some(3))]);
        assert!(plot.lines[3].is_best);
        assert_eq!(plot.lines[3].title, "#0: kind a, rate 1; loss 1");
        assert_eq!(plot.lines[0].points, "60,34.0 320,135.0", "without a value it ends before the last axis");
        assert_eq!(plot.lines[3].points, "60,236.0 320,34.0 580,236.0");
        assert_eq!(
            plot.axes[1].marks.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["0.01", "0.1", "1"]
        );
    }

    #[test]
    fn equal_values_and_many_trials_can_be_drawn() {
        let plot = Parallel::of(&search("maximize", &[Some(2.0); 400])).unwrap();
        assert_eq!((plot.lines.len(), plot.left_out), (300, 100));
        assert_eq!(plot.axes[2].marks.len(), 1);
        assert!(Parallel::of(&search("maximize", &[])).is_none());
    }
}
