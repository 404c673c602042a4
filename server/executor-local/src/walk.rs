//! The size of a folder that programs write into, counted in steps, so that a large one does not take one
//! long run.
//!
//! Nothing in the folder is trusted. Each folder is opened by its single name relative to its parent's
//! descriptor, and symlinks are not followed. So whatever a program swaps meanwhile, the walk never leaves
//! the folder. A walk holds one descriptor per level of depth.

use std::collections::HashSet;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// Folders nested deeper than this are not entered.
pub(crate) const MAX_DEPTH: usize = 256;
/// Maximum number of remembered hard-linked files; for others each name counts as its share.
const MAX_LINKED: usize = 1 << 20;
/// The unit of `st_blocks`, in bytes.
const BLOCK: u64 = 512;

/// The result of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// Allocated bytes: the blocks of a sparse file, and the blocks of a hard-linked file once.
    pub(crate) bytes: u64,
    /// Number of entries, without the folder itself.
    pub(crate) entries: u64,
    /// Whether folders were nested too deep to be counted.
    pub(crate) too_deep: bool,
}

/// A walk in progress. Mounts below the folder are not entered.
pub(crate) struct Walk {
    levels: Vec<Dir>,
    linked: HashSet<(u64, u64)>,
    size: Size,
}

impl Walk {
    /// Of an open folder.
    pub(crate) fn new(folder: OwnedFd) -> io::Result<Self> {
        let own = rustix::fs::fstat(&folder)?;
        let size = Size { bytes: allocated(&own), ..Size::default() };
        Ok(Self { levels: vec![Dir::new(folder)?], linked: HashSet::new(), size })
    }

    /// Counts this many more entries; returns the size once complete. Skips entries that are unreadable or
    /// vanish.
    pub(crate) fn step(&mut self, names: usize) -> Option<Size> {
        for _ in 0..names {
            let level = self.levels.last_mut()?;
            match level.read() {
                Some(Ok(entry)) if matches!(entry.file_name().to_bytes(), b"." | b"..") => {}
                Some(Ok(entry)) => self.count(entry.file_name()),
                Some(Err(_)) | None => {
                    self.levels.pop();
                    if self.levels.is_empty() {
                        return Some(self.size);
                    }
                }
            }
        }
        None
    }

    fn count(&mut self, name: &CStr) {
        let depth = self.levels.len();
        let Some(Ok(above)) = self.levels.last().map(Dir::fd) else { return };
        let Ok(found) = rustix::fs::statat(above, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
        let folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let below = (folder && depth < MAX_DEPTH).then(|| enter(above, name).and_then(Dir::new));
        self.size.entries += 1;
        self.size.too_deep |= folder && depth >= MAX_DEPTH;
        self.size.bytes = self.size.bytes.saturating_add(self.share(&found, folder));
        if let Some(Ok(below)) = below {
            self.levels.push(below);
        }
    }

    /// The bytes that one name adds.
    fn share(&mut self, found: &Stat, folder: bool) -> u64 {
        #[allow(clippy::useless_conversion, reason = "it is a narrower number on other processors")]
        let names = u64::from(found.st_nlink);
        if folder || names <= 1 {
            return allocated(found);
        }
        if self.linked.len() >= MAX_LINKED {
            return allocated(found) / names;
        }
        if self.linked.insert((found.st_dev, found.st_ino)) { allocated(found) } else { 0 }
    }
}

fn allocated(found: &Stat) -> u64 {
    u64::try_from(found.st_blocks).unwrap_or(0).saturating_mul(BLOCK)
}

/// Opens a direct subfolder.
fn enter(above: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(above.as_fd(), name, flags, Mode::empty(), how) {
        // A container's seccomp filter may not know the call; with a single name, the older one is equally
        // safe.
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(above, name, flags, Mode::empty()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs::{self, File};
    use std::os::unix::fs::{FileExt, MetadataExt, symlink};
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::*;

    fn opened(folder: &Path) -> OwnedFd {
        File::open(folder).unwrap().into()
    }

    fn counted(folder: &Path, names: usize) -> Size {
        let mut walk = Walk::new(opened(folder)).unwrap();
        loop {
            if let Some(size) = walk.step(names) {
                return size;
            }
        }
    }

    /// The same by paths and recursion, as `du` counts.
    fn truth(folder: &Path) -> Size {
        fn add(path: &Path, seen: &mut BTreeMap<(u64, u64), u64>, entries: &mut u64) {
            let found = fs::symlink_metadata(path).unwrap();
            seen.insert((found.dev(), found.ino()), found.blocks() * BLOCK);
            if found.is_dir() {
                for entry in fs::read_dir(path).unwrap() {
                    *entries += 1;
                    add(&entry.unwrap().path(), seen, entries);
                }
            }
        }
        let (mut seen, mut entries) = (BTreeMap::new(), 0);
        add(folder, &mut seen, &mut entries);
        Size { bytes: seen.values().sum(), entries, too_deep: false }
    }

    /// An entry that a program creates: its parent folder, and its kind.
    #[derive(Clone, Debug)]
    enum Made {
        Folder,
        File(usize),
        Sparse(u64),
        Link(&'static str),
        Name(usize),
    }

    fn made() -> impl Strategy<Value = Made> {
        prop_oneof![
            3 => Just(Made::Folder),
            3 => (0..40_000_usize).prop_map(Made::File),
            1 => (0..1_u64 << 40).prop_map(Made::Sparse),
            2 => prop_oneof![Just("/"), Just(".."), Just("."), Just("/proc/self/root"), Just("none")]
                .prop_map(Made::Link),
            2 => any::<usize>().prop_map(Made::Name),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_walk_counts_what_du_counts(
            tree in prop::collection::vec((any::<usize>(), made()), 0..60), names in 1..50_usize
        ) {
            let root = tempfile::tempdir().unwrap();
            let (mut folders, mut files) = (vec![root.path().to_owned()], Vec::<PathBuf>::new());
            for (at, (above, made)) in tree.into_iter().enumerate() {
                let path = folders[above % folders.len()].join(format!("n{at}"));
                match made {
                    Made::Folder => {
                        fs::create_dir(&path).unwrap();
                        folders.push(path);
                    }
                    Made::File(bytes) => {
                        fs::write(&path, vec![1; bytes]).unwrap();
                        files.push(path);
                    }
                    Made::Sparse(offset) => {
                        File::create(&path).unwrap().write_all_at(b"end", offset).unwrap();
                        files.push(path);
                    }
                    Made::Link(target) => symlink(target, &path).unwrap(),
                    Made::Name(_) if files.is_empty() => {}
                    Made::Name(of) => fs::hard_link(&files[of % files.len()], &path).unwrap(),
                }
            }
            prop_assert_eq!(counted(root.path(), names), truth(root.path()));
        }
    }

    #[test]
    fn folders_nested_too_deep_are_said_to_be() {
        let root = tempfile::tempdir().unwrap();
        let mut path = root.path().to_owned();
        for _ in 0..MAX_DEPTH {
            path.push("d");
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(!counted(root.path(), 100).too_deep);
        fs::create_dir(&path).unwrap();
        assert!(counted(root.path(), 100).too_deep);
    }

    #[test]
    fn a_folder_that_becomes_a_link_during_the_walk_leads_nowhere() {
        let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(other.path().join("large"), vec![1; 1 << 20]).unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        let above = opened(root.path());
        assert!(enter(above.as_fd(), c"a").is_ok());
        fs::remove_dir(root.path().join("a")).unwrap();
        symlink(other.path(), root.path().join("a")).unwrap();
        assert!(enter(above.as_fd(), c"a").is_err());
        assert!(counted(root.path(), 100).bytes < 1 << 20);
    }
}
