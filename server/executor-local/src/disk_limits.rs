//! Size limits of attempts' folders and of projects' workspaces. Two threads measure them, each with at most
//! two percent of its time.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;
use std::{io, thread};

use cubeloom_domain::AttemptKey;
use cubeloom_domain::disk::shown;
use cubeloom_files::{Dir, Links, own};
use rustix::fs::OFlags;

use crate::attempt::{Happened, millis};
use crate::machine::{Machine, Slot};
use crate::spec::{StopWhy, StopWish};
use crate::walk::{Size, Walk};

/// Directory entries to count before the thread rests.
const SLICE: usize = 1000;
/// The thread rests this many times as long as a slice took.
const REST: u32 = 49;
/// Folders to count concurrently, so that a large one does not delay the others. Each takes file descriptors.
const SIDE_BY_SIDE: usize = 8;

/// Workspaces over their limit.
#[derive(Default)]
pub(crate) struct Workspaces(Mutex<BTreeMap<String, Size>>);

impl Workspaces {
    /// Projects that may start nothing new, each with the reason.
    pub(crate) fn held(&self, limit: u64) -> BTreeMap<String, String> {
        let over = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        over.iter().map(|(project, size)| (project.clone(), workspace_sentence(*size, limit))).collect()
    }

    /// Records the measured size of a workspace.
    fn found(&self, project: &str, size: Size, limit: u64) {
        let mut over = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if size.is_over(limit) {
            over.insert(project.to_owned(), size);
        } else {
            over.remove(project);
        }
    }

    /// Forgets all others.
    fn keep(&self, there: &[String]) {
        let mut over = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        over.retain(|project, _| there.contains(project));
    }
}

impl Size {
    /// Whether it exceeds the limit. An uncountable size exceeds it.
    fn is_over(self, limit: u64) -> bool {
        self.too_deep || self.bytes > limit
    }
}

fn workspace_sentence(size: Size, limit: u64) -> String {
    if size.too_deep {
        return "the project's workspace has folders nested too deeply to be measured (`workspace` in `[local]`): no task starts until they are deleted"
            .into();
    }
    format!(
        "the project's workspace uses {}, over the limit of {} (`workspace` in `[local]`): no task starts until files are deleted",
        shown(size.bytes),
        shown(limit)
    )
}

/// Why an attempt was stopped that exceeded its folder's limit.
pub(crate) fn attempt_sentence(used: u64, limit: u64) -> String {
    format!(
        "wrote {} into its run folder; the limit is {} (`run_disk` in `[local]`)",
        shown(used),
        shown(limit)
    )
}

/// The same for folders nested too deep.
pub(crate) const TOO_DEEP: &str =
    "has folders nested too deeply to be measured in its run folder (`run_disk` in `[local]`)";

/// Starts measuring, for as long as the machine exists.
pub(crate) fn start(machine: &Arc<Machine>) {
    let spawn = |name: &str, round: fn(&Weak<Machine>)| {
        let (watched, pause) = (Arc::downgrade(machine), machine.config.measured_every);
        let work = move || {
            while watched.strong_count() > 0 {
                round(&watched);
                thread::sleep(pause);
            }
        };
        if let Err(error) = thread::Builder::new().name(name.into()).spawn(work) {
            tracing::error!(%error, "the disk usage of runs and workspaces is not measured: the thread cannot be started");
        }
    };
    if machine.config.run_disk != Some(0) {
        spawn("run-folders", attempts);
    }
    if machine.config.workspace > 0 {
        spawn("workspaces", workspaces);
    }
}

/// Measures the folder of each running attempt once.
fn attempts(watched: &Weak<Machine>) {
    let Some(machine) = watched.upgrade() else { return };
    let Some(limit) = run_limit(&machine) else { return };
    let live = |(key, slot): (&AttemptKey, &Slot)| matches!(slot, Slot::Live(_)).then(|| key.clone());
    let keys: Vec<AttemptKey> = machine.attempts().iter().filter_map(live).collect();
    let data = machine.config.data.clone();
    let folder = |key: &AttemptKey| machine.layout.attempt(key);
    let found = keys.into_iter().map(|key| (folder(&key), key)).collect();
    drop(machine);
    measure(&data, found, |folder, key: AttemptKey, size| {
        // Entries moved during a count may count twice.
        if size.is_over(limit)
            && let Some(again) = again(&data, folder)
            && again.is_over(limit)
            && let Some(machine) = watched.upgrade()
        {
            stop(&machine, &key, again, limit);
        }
    });
}

/// Size limit of one attempt's folder, in bytes; `None` if everything on the disk together is below it.
fn run_limit(machine: &Machine) -> Option<u64> {
    let disk = rustix::fs::statvfs(machine.layout.top("runs")).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
    let limit = machine.config.run_disk.unwrap_or(bytes(disk.f_blocks) / 2);
    let used = bytes(disk.f_blocks.saturating_sub(disk.f_bfree));
    (limit > 0 && used > limit).then_some(limit)
}

fn stop(machine: &Machine, key: &AttemptKey, size: Size, limit: u64) {
    let why = match size.too_deep {
        true => StopWhy::TooDeep,
        false => StopWhy::DiskLimit { used: size.bytes, limit },
    };
    let wish = StopWish { why, grace_ms: millis(machine.config.grace) };
    if let Some(Slot::Live(sender)) = machine.attempts().get(key) {
        let _ = sender.send(Happened::Stop(wish));
    }
}

/// Measures the workspace of each project once.
fn workspaces(watched: &Weak<Machine>) {
    let Some(machine) = watched.upgrade() else { return };
    let (limit, data, top) =
        (machine.config.workspace, machine.config.data.clone(), machine.layout.top("workspace"));
    drop(machine);
    let names = own::read_dir(&top).into_iter().flatten().flatten();
    let names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    if let Some(machine) = watched.upgrade() {
        machine.workspaces.keep(&names);
    }
    let folders = names.into_iter().map(|name| (top.join(&name), name)).collect();
    measure(&data, folders, |_, name: String, size| {
        if let Some(machine) = watched.upgrade() {
            machine.workspaces.found(&name, size, limit);
        }
    });
}

/// Counts folders below `data`, a few concurrently, with rests in between. Skips folders that cannot be
/// opened.
fn measure<K>(data: &Path, folders: Vec<(PathBuf, K)>, mut found: impl FnMut(&Path, K, Size)) {
    let mut waiting = folders.into_iter();
    let mut walks: VecDeque<(Walk, PathBuf, K)> = VecDeque::new();
    loop {
        let began = Instant::now();
        while walks.len() < SIDE_BY_SIDE
            && let Some((folder, key)) = waiting.next()
        {
            match open(data, &folder).and_then(Walk::new) {
                Ok(walk) => walks.push_back((walk, folder, key)),
                Err(error) => {
                    tracing::debug!(folder = %folder.display(), %error, "the disk usage of a folder is not measured")
                }
            }
        }
        let Some((mut walk, folder, key)) = walks.pop_front() else { return };
        match walk.step(SLICE) {
            Some(size) => found(&folder, key, size),
            None => walks.push_back((walk, folder, key)),
        }
        thread::sleep(began.elapsed() * REST);
    }
}

/// Counts one folder, with rests in between.
fn again(data: &Path, folder: &Path) -> Option<Size> {
    let mut walk = open(data, folder).and_then(Walk::new).ok()?;
    loop {
        let began = Instant::now();
        if let Some(size) = walk.step(SLICE) {
            return Some(size);
        }
        thread::sleep(began.elapsed() * REST);
    }
}

/// Opens a folder below the data folder, without following symlinks. It may be on another disk.
fn open(data: &Path, folder: &Path) -> io::Result<OwnedFd> {
    let inside = folder.strip_prefix(data).map_err(io::Error::other)?;
    Ok(Dir::open(data)?.at(inside, OFlags::RDONLY | OFlags::DIRECTORY, Links::Refused)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use cubeloom_testkit::cpu::Spent;

    use super::*;

    #[test]
    fn what_is_over_says_how_much_and_where_the_limit_is_set() {
        assert_eq!(
            attempt_sentence(13_045_000_000, 10 << 30),
            "wrote 12.1 GiB into its run folder; the limit is 10 GiB (`run_disk` in `[local]`)"
        );
        let workspaces = Workspaces::default();
        let size = Size { bytes: 3 << 20, ..Size::default() };
        workspaces.found("shop", size, 2 << 20);
        workspaces.found("deep", Size { too_deep: true, ..Size::default() }, 2 << 20);
        let held = workspaces.held(2 << 20);
        assert!(held["shop"].contains("uses 3 MiB, over the limit of 2 MiB"), "{held:?}");
        assert!(held["deep"].contains("too deep"), "{held:?}");
        workspaces.keep(&["shop".to_owned()]);
        workspaces.found("shop", size, 3 << 20);
        assert!(workspaces.held(3 << 20).is_empty());
    }

    #[test]
    fn a_rest_follows_each_slice_and_links_are_not_counted() {
        let data = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let (plain, link) = (data.path().join("plain"), data.path().join("link"));
        fs::create_dir(&plain).unwrap();
        for name in 0..3 * SLICE {
            fs::write(plain.join(name.to_string()), "").unwrap();
        }
        symlink(other.path(), &link).unwrap();
        let mut sizes = Vec::new();
        let (began, spent) = (Instant::now(), Spent::begin());
        measure(data.path(), vec![(link, 0), (plain.clone(), 1)], |_, key, size| sizes.push((key, size)));
        // A fiftieth of the time; the rest after the last slice counts, too.
        assert!(spent.so_far() * 25 < began.elapsed(), "{:?} of {:?}", spent.so_far(), began.elapsed());
        assert_eq!(sizes.len(), 1);
        assert_eq!((sizes[0].0, sizes[0].1.entries), (1, 3 * SLICE as u64));
        assert_eq!(again(data.path(), &plain), Some(sizes[0].1));
    }
}
