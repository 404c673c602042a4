//! Compares two texts line by line.

use std::time::Duration;

use serde::Serialize;
use similar::{Algorithm, ChangeTag, TextDiff};
use utoipa::ToSchema;

/// Time limit. After it, the rest is shown as removed and added completely.
const PATIENCE: Duration = Duration::from_millis(300);

/// Difference between two texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Difference {
    /// Whether the texts are the same.
    pub same: bool,
    /// Difference in the format of `diff -u`. Empty if the texts are the same.
    pub unified: String,
    /// Hunks that cover both texts from beginning to end.
    pub hunks: Vec<Hunk>,
}

/// Consecutive lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Hunk {
    /// Location.
    pub kind: HunkKind,
    /// Lines, verbatim.
    pub text: String,
    /// Number of the first line in the old text, from 1. For added lines, the number of the line that follows them.
    pub old_line: usize,
    /// Number of the first line in the new text, from 1. For removed lines, the number of the line that follows them.
    pub new_line: usize,
}

/// Which of the texts has the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HunkKind {
    /// In both texts.
    Equal,
    /// Only in the old text.
    Removed,
    /// Only in the new text.
    Added,
}

/// Compares two texts. `names` are the file names of the unified format.
pub(crate) fn difference(old: &str, new: &str, names: (&str, &str)) -> Difference {
    let found = TextDiff::configure().algorithm(Algorithm::Patience).timeout(PATIENCE).diff_lines(old, new);
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut old_line, mut new_line) = (1, 1);
    for change in found.iter_all_changes() {
        let kind = match change.tag() {
            ChangeTag::Equal => HunkKind::Equal,
            ChangeTag::Delete => HunkKind::Removed,
            ChangeTag::Insert => HunkKind::Added,
        };
        match hunks.last_mut().filter(|last| last.kind == kind) {
            Some(last) => last.text.push_str(change.value()),
            None => hunks.push(Hunk { kind, text: change.value().into(), old_line, new_line }),
        }
        old_line += usize::from(kind != HunkKind::Added);
        new_line += usize::from(kind != HunkKind::Removed);
    }
    let same = old == new;
    let unified = if same {
        String::new()
    } else {
        found.unified_diff().context_radius(3).header(names.0, names.1).to_string()
    };
    Difference { same, unified, hunks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_hold_both_texts_whole() {
        let (old, new) = ("a\nb\nc\n", "a\nB\nc\nd");
        let found = difference(old, new, ("version 1", "version 2"));
        let side = |without: HunkKind| -> String {
            found.hunks.iter().filter(|hunk| hunk.kind != without).map(|hunk| hunk.text.as_str()).collect()
        };
        assert_eq!((side(Added).as_str(), side(Removed).as_str()), (old, new));
        let places: Vec<_> =
            found.hunks.iter().map(|hunk| (hunk.kind, hunk.old_line, hunk.new_line)).collect();
        use HunkKind::{Added, Equal, Removed};
        assert_eq!(places, [(Equal, 1, 1), (Removed, 2, 2), (Added, 3, 2), (Equal, 3, 3), (Added, 4, 4)]);
        assert!(
            found.unified.starts_with("--- version 1\n+++ version 2\n@@ -1,3 +1,4 @@\n"),
            "{}",
            found.unified
        );
    }

    #[test]
    fn equal_texts_have_no_difference() {
        let found = difference("a\r\n", "a\r\n", ("x", "y"));
        assert!(found.same && found.unified.is_empty());
        assert!(difference("", "", ("x", "y")).hunks.is_empty());
    }
}
