//! Progress of a task with several instances, as short text.

use super::bar::Bar;
use crate::api::runs::view::TaskCounts;
use crate::pages::Frame;

/// Unsuccessful states of instances, and their texts.
const WRONG: [(&str, &str); 3] = [
    ("failed", "run.tally-failed"),
    ("upstream_failed", "run.tally-upstream"),
    ("cancelled", "run.tally-cancelled"),
];

/// `22/24, 2 failed`: successful instances, and unsuccessful ones by state.
pub(super) fn tally(frame: &Frame, counts: &TaskCounts) -> String {
    let Bar { done, total, .. } = Bar::of(counts);
    let wrong = WRONG.iter().filter_map(|(state, key)| Some((counts.states.get(*state)?, key)));
    let wrong = wrong.map(|(count, key)| frame.t_with(key, [("n", count)]));
    std::iter::once(format!("{done}/{total}")).chain(wrong).collect::<Vec<_>>().join(", ")
}
