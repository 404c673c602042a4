//! One axis of a search: its values, random samples, and its position on a line.

use std::collections::BTreeMap;

use cubeloom_domain::JsonMap;
use cubeloom_domain::search::{Axis, NumberType, Range, Scale};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::Value;

/// Significant digits of a continuous number: more than a program's result depends on, and few enough to
/// read.
const DIGITS: i32 = 6;
/// Significant digits of a number on a step: neighbours stay distinct, 0.1 + 0.2 becomes 0.3.
const STEP_DIGITS: i32 = 12;

/// The number of values of an axis; `None` if infinite.
fn count(axis: &Axis) -> Option<usize> {
    match axis {
        Axis::Values(values) => Some(values.len()),
        Axis::Range(range) => count_of(range),
    }
}

/// The number of values of a range; `None` if infinite.
fn count_of(range: &Range) -> Option<usize> {
    // A step of 0.1 reaches 1.0 from 0.0 although the sum of ten is slightly less.
    let steps = (range.maximum - range.minimum) / step(range)? + 1e-9;
    Some((steps as usize).saturating_add(1))
}

/// A value of a finite axis, by its index.
fn nth(axis: &Axis, at: usize) -> Value {
    match axis {
        Axis::Values(values) => values[at].clone(),
        Axis::Range(range) => number(range, range.minimum + at as f64 * step(range).unwrap_or(1.0)),
    }
}

/// The distance between neighbours.
fn step(range: &Range) -> Option<f64> {
    range.step.or_else(|| is_whole(range).then_some(1.0))
}

fn is_whole(range: &Range) -> bool {
    range.kind == Some(NumberType::Integer)
}

/// The number of combinations; `None` if infinite.
#[must_use]
pub fn combinations(over: &BTreeMap<String, Axis>) -> Option<usize> {
    over.values().try_fold(1usize, |product, axis| Some(product.saturating_mul(count(axis)?)))
}

/// The first combinations, with the last key changing fastest; none if an axis is infinite.
pub fn grid(over: &BTreeMap<String, Axis>, most: usize) -> Vec<Value> {
    let axes: Option<Vec<_>> = over.iter().map(|(name, axis)| Some((name, axis, count(axis)?))).collect();
    let Some(axes) = axes else { return Vec::new() };
    let all = axes.iter().fold(1usize, |product, (_, _, count)| product.saturating_mul(*count)).min(most);
    let item = |mut at: usize| {
        let value = |(name, axis, count): &(&String, &Axis, usize)| {
            let place = at % count;
            at /= count;
            ((*name).clone(), nth(axis, place))
        };
        let mut values: Vec<_> = axes.iter().rev().map(value).collect();
        values.reverse();
        Value::Object(values.into_iter().collect::<JsonMap>())
    };
    (0..all).map(item).collect()
}

/// A uniformly random value of an axis.
pub fn by_chance(axis: &Axis, random: &mut StdRng) -> Value {
    match axis {
        Axis::Values(values) => values[random.random_range(0..values.len())].clone(),
        Axis::Range(range) => {
            let (start, end) = line(range);
            value(axis, random.random_range(start..end))
        }
    }
}

/// The interval of a range's values, its end excluded. The first and last of discrete values get as much
/// width as the others.
pub fn line(range: &Range) -> (f64, f64) {
    match (range.scale, step(range)) {
        (Some(Scale::Log), Some(step)) => {
            let half = step / 2.0;
            ((range.minimum - half).max(range.minimum / 2.0).ln(), (range.maximum + half).ln())
        }
        (Some(Scale::Log), None) => (range.minimum.ln(), range.maximum.ln()),
        (_, Some(step)) => (range.minimum - step / 2.0, range.maximum + step / 2.0),
        (_, None) => (range.minimum, range.maximum),
    }
}

/// The value at a position on the line; in a list, the position is the index.
pub fn value(axis: &Axis, place: f64) -> Value {
    match axis {
        Axis::Values(values) => values[(place.max(0.0) as usize).min(values.len() - 1)].clone(),
        Axis::Range(range) => {
            let raw = if range.scale == Some(Scale::Log) { place.exp() } else { place };
            let near = step(range).map_or(raw, |step| {
                let steps = ((raw - range.minimum) / step).round();
                let most = count_of(range).unwrap_or(1).saturating_sub(1) as f64;
                range.minimum + steps.clamp(0.0, most) * step
            });
            number(range, near)
        }
    }
}

/// The position of a value on the line; `None` if the axis does not have it.
pub fn place(axis: &Axis, value: &Value) -> Option<f64> {
    match axis {
        // The middle of its segment, so that rounding does not leave it.
        Axis::Values(values) => values.iter().position(|one| one == value).map(|at| at as f64 + 0.5),
        Axis::Range(range) => {
            let raw = value.as_f64()?;
            let (start, end) = line(range);
            let place = if range.scale == Some(Scale::Log) { raw.ln() } else { raw };
            // The end is excluded on the line, and included in the range.
            (place.is_finite()).then(|| place.clamp(start, end.next_down()))
        }
    }
}

/// A number of a range, in the form of documents.
fn number(range: &Range, raw: f64) -> Value {
    if is_whole(range) && range.step.is_none_or(|step| step.fract() == 0.0) {
        return Value::from(raw.round() as i64);
    }
    let digits = if step(range).is_some() { STEP_DIGITS } else { DIGITS };
    let scale = 10f64.powi(digits - 1 - raw.abs().log10().floor().max(-300.0) as i32);
    let rounded = if raw == 0.0 || !scale.is_finite() { raw } else { (raw * scale).round() / scale };
    Value::from(rounded.clamp(range.minimum, range.maximum))
}
