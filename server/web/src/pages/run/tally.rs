//! How far a task of several instances is, in a few words.

use super::bar::Bar;
use crate::api::runs::view::TaskCounts;
use crate::pages::Frame;

/// States of instances that did not end well, and the texts for them.
const WRONG: [(&str, &str); 3] = [
    ("failed", "run.tally-failed"),
    ("upstream_failed", "run.tally-upstream"),
    ("cancelled", "run.tally-cancelled"),
];

/// `22/24, 2 failed`: how many ended well, and what became of those that did not.
pub(super) fn tally(frame: &Frame, counts: &TaskCounts) -> String {
    let Bar { done, total, .. } = Bar::of(counts);
    let wrong = WRONG.iter().filter_map(|(state, key)| Some((counts.states.get(*state)?, key)));
    let wrong = wrong.map(|(count, key)| frame.t_with(key, [("n", count)]));
    std::iter::once(format!("{done}/{total}")).chain(wrong).collect::<Vec<_>>().join(", ")
}
