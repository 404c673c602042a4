//! Cleans up after terminals of an earlier server: only needed if a shim was killed or the machine lost
//! power.

use std::path::Path;

use cubeloom_files::own;

use crate::cgroup::Hierarchy;
use crate::look::{Found, look};
use crate::watch::end_left;

/// The control group of a terminal, by its name.
pub(super) fn group_name(id: &str) -> String {
    format!("terminal-{id}")
}

/// Ends and removes entries of `folder` without a live shim. Blocking.
pub(crate) fn sweep(folder: &Path, hierarchy: &Hierarchy) {
    for scratch in own::read_dir(folder).into_iter().flatten().flatten() {
        let path = scratch.path();
        let workers: Vec<_> =
            own::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        let lives = |worker: &std::path::PathBuf| {
            matches!(look(worker), Ok(Found::Running(_) | Found::Locked) | Err(_))
        };
        if workers.iter().any(lives) {
            continue;
        }
        let group = hierarchy.group(&group_name(&scratch.file_name().to_string_lossy()));
        for worker in &workers {
            end_left(group.as_ref(), &worker.join("outputs.jsonl"));
        }
        if let Err(error) = own::remove_dir_all(&path) {
            tracing::warn!(folder = %path.display(), %error, "the scratch folder of a terminal is not removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_no_shim_has_is_removed_and_what_one_has_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (dead, living) = (folder.path().join("dead/worker-0"), folder.path().join("living/worker-0"));
        for worker in [&dead, &living] {
            fs::create_dir_all(worker.join("secrets")).unwrap();
        }
        let lock = fs::File::open(&living).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
        sweep(folder.path(), &Hierarchy::None(String::new()));
        assert!(!dead.exists() && living.exists());
        drop(lock);
        sweep(folder.path(), &Hierarchy::None(String::new()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
