//! Detects changes of a folder of templates.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::SystemTime;

/// Files deeper than this belong to no template.
const DEPTH: usize = 8;

/// A number that changes with the name, size or time of any file below `root`. Unreadable files count as
/// absent.
pub fn stamp(root: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    add(root, DEPTH, &mut hasher);
    hasher.finish()
}

fn add(folder: &Path, depth: usize, hasher: &mut DefaultHasher) {
    let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(metadata) = entry.metadata() else { continue };
        entry.file_name().hash(hasher);
        if metadata.is_dir() {
            if depth > 0 {
                add(&entry.path(), depth - 1, hasher);
            }
        } else {
            let modified =
                metadata.modified().ok().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
            (metadata.len(), modified).hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_a_changed_and_a_removed_file_are_seen() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("one")).unwrap();
        let empty = stamp(root.path());
        fs::write(root.path().join("one/template.yaml"), "a").unwrap();
        let first = stamp(root.path());
        fs::write(root.path().join("one/template.yaml"), "ab").unwrap();
        let second = stamp(root.path());
        assert_eq!(second, stamp(root.path()));
        assert!(empty != first && first != second);
        fs::remove_file(root.path().join("one/template.yaml")).unwrap();
        assert_eq!(stamp(root.path()), empty);
    }
}
