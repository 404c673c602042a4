//! The lines of a difference as pages show them (`templates/diff.html`): what is far from a change is left out.

use crate::pipelines::{Hunk, HunkKind};

/// Equal lines that are shown around a change.
const CONTEXT: usize = 4;

/// A line of a difference.
pub(super) enum Line {
    /// In both, with its numbers.
    Equal(usize, usize, String),
    Removed(usize, String),
    Added(usize, String),
    /// So many equal lines are left out.
    Skipped(usize),
}

/// The lines to show.
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
