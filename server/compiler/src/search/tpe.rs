//! The tree-structured Parzen estimator: Bergstra et al. (2011), "Algorithms for Hyper-Parameter
//! Optimization". Each axis is modelled independently.

use cubeloom_domain::search::{Axis, Goal, PlannedSearch};
use rand::rngs::StdRng;
use serde_json::Value;

use super::{Trial, axis, item};

/// The most promising values after these trials. An axis without data is sampled at random.
pub fn suggest(search: &PlannedSearch, trials: &[Trial<'_>], random: &mut StdRng) -> Value {
    let names: Vec<&String> = search.over.keys().collect();
    let mut at = 0;
    item(search, |axis| {
        let name = names[at];
        at += 1;
        place(search, name, axis, trials, random)
            .map_or_else(|| axis::by_chance(axis, random), |place| axis::value(axis, place))
    })
}

fn place(
    search: &PlannedSearch,
    name: &str,
    axis: &Axis,
    trials: &[Trial<'_>],
    random: &mut StdRng,
) -> Option<f64> {
    let (estimator, line) = match axis {
        Axis::Values(values) => (tpe::histogram_estimator(), tpe::categorical_range(values.len()).ok()?),
        Axis::Range(range) => {
            let (start, end) = axis::line(range);
            (tpe::parzen_estimator(), tpe::range(start, end).ok()?)
        }
    };
    let mut optimizer = tpe::TpeOptimizer::new(estimator, line);
    for trial in trials {
        let Some((value, place)) =
            trial.value.zip(trial.item.get(name).and_then(|value| axis::place(axis, value)))
        else {
            continue;
        };
        // The estimator minimizes.
        let loss = if search.goal == Goal::Maximize { -value } else { value };
        optimizer.tell(place, loss).ok()?;
    }
    optimizer.ask(random).ok()
}
