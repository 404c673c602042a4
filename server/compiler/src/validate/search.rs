//! Checks of a search: that it has axes and an objective, and that there are values to try.

use cubeloom_domain::pipeline::Task;
use cubeloom_domain::search::{Axis, Method, NumberType, Range, Scale, Search};
use cubeloom_domain::{Code, Problem};

use crate::path::Path;
use crate::search::{MAX_TRIALS, combinations};

pub fn check(path: &str, task: &Task, problems: &mut Vec<Problem>) {
    let Some(search) = &task.search else { return };
    let path = format!("{path}/search");
    let mut tell = |code, path: String, message: &str| problems.push(Problem::error(code, path, message));
    if task.for_each.is_some() {
        tell(Code::Conflict, path.clone(), "a task has `for_each` or `search`, not both");
    }
    match (&search.maximize, &search.minimize) {
        (None, None) => tell(
            Code::MissingKey,
            path.clone(),
            "write `maximize` or `minimize`, with the name of a metric or an output",
        ),
        (Some(_), Some(_)) => {
            tell(Code::Conflict, path.clone(), "write only one of `maximize` and `minimize`")
        }
        _ => {}
    }
    for (name, axis) in &search.over {
        let mut place = Path::at(format!("{path}/over"));
        place.push_key(name);
        if let Err((code, key, message)) = sensible(axis, search) {
            tell(code, format!("{}{key}", place.pointer()), &message);
        }
    }
    count(&path, search, problems);
}

/// Whether every axis has a value to try.
pub fn can_be_tried(search: &Search) -> bool {
    !search.over.is_empty() && search.over.values().all(|axis| sensible(axis, search).is_ok())
}

/// The problem of an axis, and its key.
fn sensible(axis: &Axis, search: &Search) -> Result<(), (Code, &'static str, String)> {
    let range = match axis {
        Axis::Values(values) if values.is_empty() => {
            return Err((Code::InvalidValue, "", "a list of values to try must not be empty".into()));
        }
        Axis::Values(_) => return Ok(()),
        Axis::Range(range) => range,
    };
    let Range { minimum, maximum, .. } = *range;
    if minimum >= maximum {
        let message = format!("`minimum` ({minimum}) must be less than `maximum` ({maximum})");
        return Err((Code::Conflict, "", message));
    }
    let whole = range.kind == Some(NumberType::Integer);
    let fraction = [minimum, maximum].into_iter().find(|end| end.fract() != 0.0 || end.abs() > 9e15);
    if let Some(end) = fraction.filter(|_| whole) {
        return Err((Code::InvalidValue, "", format!("{end} is not a whole number")));
    }
    if range.scale == Some(Scale::Log) && minimum <= 0.0 {
        let message = "a logarithmic range must begin above 0".into();
        return Err((Code::InvalidValue, "/minimum", message));
    }
    match range.step {
        // The difference is slightly less than a step added to the minimum.
        Some(step) if step <= 0.0 || step > (maximum - minimum) * (1.0 + 1e-9) => Err((
            Code::InvalidValue,
            "/step",
            format!("{step} is not allowed: must be above 0 and within the range"),
        )),
        Some(step) if whole && step.fract() != 0.0 => {
            Err((Code::InvalidValue, "/step", format!("{step} is not a whole number")))
        }
        Some(_) if range.scale == Some(Scale::Log) => Err((
            Code::Conflict,
            "/step",
            "a logarithmic range cannot have a `step`; write a list of values".into(),
        )),
        None if search.method == Some(Method::Grid) && !whole => {
            let message = "a grid needs a finite number of values: write a list, or a `step`".into();
            Err((Code::MissingKey, "", message))
        }
        _ => Ok(()),
    }
}

fn count(path: &str, search: &Search, problems: &mut Vec<Problem>) {
    let place = format!("{path}/trials");
    let all = combinations(&search.over);
    let count = match (search.trials, search.method) {
        (Some(trials), _) => Some(trials as usize),
        (None, Some(Method::Grid)) => all,
        (None, _) => {
            problems.push(Problem::error(Code::MissingKey, path, "set the number of `trials`"));
            None
        }
    };
    if let Some(count) = count.filter(|count| *count > MAX_TRIALS) {
        let message = format!("{count} trials are too many; at most {MAX_TRIALS} are allowed");
        problems.push(Problem::error(Code::TooLarge, place, message));
    }
}
