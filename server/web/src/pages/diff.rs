//! Lines of a diff: unified (`templates/diff.html`), with unchanged lines far from a change omitted, or in
//! two columns.

use crate::pipelines::{Hunk, HunkKind, difference};
use crate::templates::BeforeAfter;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 4;

/// A line of a diff.
pub(super) enum Line {
    /// In both versions, with line numbers.
    Equal(usize, usize, String),
    Removed(usize, String),
    Added(usize, String),
    /// Number of omitted unchanged lines.
    Skipped(usize),
}

pub(super) fn lines(hunks: &[Hunk]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (at, hunk) in hunks.iter().enumerate() {
        let texts: Vec<&str> = hunk.text.lines().collect();
        for (n, text) in texts.iter().enumerate() {
            let text = (*text).to_owned();
            match hunk.kind {
                HunkKind::Removed => lines.push(Line::Removed(hunk.old_line + n, text)),
                HunkKind::Added => lines.push(Line::Added(hunk.new_line + n, text)),
                HunkKind::Equal => {
                    let near_before = at > 0 && n < CONTEXT;
                    let near_after = at + 1 < hunks.len() && n + CONTEXT >= texts.len();
                    if near_before || near_after {
                        lines.push(Line::Equal(hunk.old_line + n, hunk.new_line + n, text));
                    } else if let Some(Line::Skipped(count)) = lines.last_mut() {
                        *count += 1;
                    } else {
                        lines.push(Line::Skipped(1));
                    }
                }
            }
        }
    }
    lines
}

/// A line of one column.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Half {
    /// `equal`, `removed`, `added`, or `none` if only the other column has a line.
    pub(super) kind: &'static str,
    pub(super) text: String,
}

/// Both programs, aligned at unchanged lines.
pub(super) fn sides(twice: &BeforeAfter) -> [Vec<Half>; 2] {
    let [mut left, mut right]: [Vec<Half>; 2] = [Vec::new(), Vec::new()];
    for hunk in &difference(&twice.before, &twice.after, ("", "")).hunks {
        let halves = |kind| hunk.text.lines().map(move |text| Half { kind, text: text.to_owned() });
        match hunk.kind {
            HunkKind::Removed => left.extend(halves("removed")),
            HunkKind::Added => right.extend(halves("added")),
            HunkKind::Equal => {
                level(&mut left, &mut right);
                left.extend(halves("equal"));
                right.extend(halves("equal"));
            }
        }
    }
    level(&mut left, &mut right);
    [left, right]
}

/// Pads both columns to the same length.
fn level(left: &mut Vec<Half>, right: &mut Vec<Half>) {
    let longest = left.len().max(right.len());
    for side in [left, right] {
        side.resize_with(longest, || Half { kind: "none", text: String::new() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_stand_beside_each_other() {
        let twice = BeforeAfter { before: "a\nb\nz\n".into(), after: "new\na\nB\nB2\nz\n".into() };
        let column = |side: &[Half]| {
            side.iter().map(|half| format!("{} {}", half.kind, half.text)).collect::<Vec<_>>()
        };
        let [left, right] = sides(&twice);
        assert_eq!(column(&left), ["none ", "equal a", "removed b", "none ", "equal z"]);
        assert_eq!(column(&right), ["added new", "equal a", "added B", "added B2", "equal z"]);
    }
}
