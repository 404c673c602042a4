//! Canvas positions of a Cube Studio pipeline's tasks.

use cubeloom_domain::canvas::MAX_COORDINATE;
use serde_json::{Map, Value, json};

use super::ledger::At;
use super::pipeline::TaskNames;
use crate::import::Fate;

/// The positions of tasks, from its list of nodes and edges; `None` if none is known.
pub fn positions(expand: &At<'_>, names: &TaskNames) -> Option<Value> {
    let mut positions = Map::new();
    for (_, at) in expand.entries() {
        if at.get("source").is_some() && at.get("target").is_some() {
            // Edges follow from the tasks' dependencies.
            at.used();
            continue;
        }
        let theirs = [at.get("id"), at.get("data").and_then(|data| data.get("name"))];
        let ours = theirs
            .into_iter()
            .flatten()
            .filter_map(|name| name.text())
            .find_map(|name| names.find(&name).cloned());
        let place = at.get("position");
        let coordinate = |key: &str| {
            let number = place.as_ref()?.value.get(key)?.as_f64()?;
            (number.abs() <= MAX_COORDINATE).then_some(number.round() as i64)
        };
        match (ours, coordinate("x"), coordinate("y")) {
            (Some(ours), Some(x), Some(y)) => {
                // The rest of a node repeats the task.
                at.used();
                positions.insert(ours, json!([x, y]));
            }
            _ => at.tell(Fate::LeftOut, "this drawing has no task, or no position"),
        }
    }
    (!positions.is_empty()).then(|| json!({"direction": "down", "positions": positions}))
}
