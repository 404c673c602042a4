//! Creates folders, and gives them to a project's uid.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cubeloom_files::{Dir, is_as_made, own};
use rustix::fs::OFlags;

/// Everyone may enter, but not list: folders between the data folder and a project's own.
pub(crate) const PASSABLE: u32 = 0o711;
/// Folders owned by the project.
pub(crate) const OWN: u32 = 0o750;
/// Owned by the server; the project may enter and open files by name, but not list.
pub(crate) const ENTERED: u32 = 0o710;
/// Everyone may read.
pub(crate) const OPEN: u32 = 0o755;
/// For the server only.
pub(crate) const PRIVATE: u32 = 0o700;

/// Creates one folder whose parent exists; returns `false` if it exists.
pub(crate) fn make(path: &Path, mode: u32) -> io::Result<bool> {
    match own::create_dir_with(DirBuilder::new().mode(mode), path) {
        Ok(()) => {
            // Under a strict umask, workers could not enter the server's folders.
            if mode & umask() != 0 {
                own::set_permissions(path, fs::Permissions::from_mode(mode))?;
            }
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Temporary path next to `place`, to rename to it later. It is unique, since concurrent jobs may create the
/// same things.
pub(crate) fn aside(place: &Path) -> PathBuf {
    static TURNS: AtomicU64 = AtomicU64::new(0);
    let turn = TURNS.fetch_add(1, Ordering::Relaxed);
    place.with_extension(format!("new-{}-{turn}", std::process::id()))
}

/// The server's umask, which never changes.
fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    *UMASK.get_or_init(|| {
        let status = own::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("Umask:"));
        line.and_then(|value| u32::from_str_radix(value.trim(), 8).ok()).unwrap_or(0o777)
    })
}

/// Creates a folder and its missing parents, which everyone may enter.
pub(crate) fn make_all(path: &Path, mode: u32) -> io::Result<bool> {
    match make(path, mode) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(parent) = path.parent() {
                make_all(parent, PASSABLE)?;
            }
            make(path, mode)
        }
        other => other,
    }
}

/// Creates a folder owned by `user`, if the server may change owners. An existing folder keeps its owner,
/// unless a server died right after it had created it.
pub(crate) fn make_owned(path: &Path, user: Option<u32>) -> io::Result<()> {
    if make_all(path, OWN)? || (user.is_some() && !is_given(path)) {
        give(path, user)?;
    }
    Ok(())
}

/// Creates a folder below `root` with all parents, and gives `user` each that has no owner yet. Workers can
/// have put symlinks there, and users supply such paths: it follows no symlink, and no `..`. A path outside
/// `root` comes from the configuration.
pub(crate) fn make_below(root: &Path, path: &Path, user: Option<u32>) -> io::Result<()> {
    match path.strip_prefix(root) {
        Ok(inside) => folder_below(root, inside, user).map(|_| ()),
        Err(_) => make_owned(path, user),
    }
}

/// Creates a file below `root` with the same care, opens it for writing and gives it to `user`. With `EXCL`
/// it replaces any existing file.
pub(crate) fn open_below(root: &Path, path: &Path, flags: OFlags, user: Option<u32>) -> io::Result<File> {
    let leads_out = || {
        let name = path.display();
        io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` leads out of the folder"))
    };
    let inside = path.strip_prefix(root).map_err(|_| leads_out())?;
    let (Some(above), Some(name)) = (inside.parent(), inside.file_name()) else { return Err(leads_out()) };
    let file = folder_below(root, above, user)?.write(name, flags, 0o644)?;
    cubeloom_files::give(&file, user)?;
    Ok(file)
}

fn folder_below(root: &Path, inside: &Path, user: Option<u32>) -> io::Result<Dir> {
    Dir::open(root)?.make(inside, OWN, |made| cubeloom_files::give(made, user))
}

/// Whether a folder exists and has its owner. A server that died, or has just created the folder, may not
/// have set it.
pub(crate) fn is_given(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|found| !is_as_made(&found, OWN))
}

/// Changes the owner of a file or folder. Does not follow symlinks: workers may have put one there.
pub(crate) fn give(path: &Path, user: Option<u32>) -> io::Result<()> {
    user.map_or(Ok(()), |user| own::chown(path, Some(user), Some(user)))
}

/// The first folder on the path that `user` may not enter.
pub(crate) fn closed_parent(path: &Path, user: u32) -> Option<PathBuf> {
    let mut parents: Vec<&Path> = path.ancestors().collect();
    parents.reverse();
    let closed = |folder: &&Path| {
        own::metadata(folder).is_ok_and(|found| {
            let bit = if found.uid() == user {
                0o100
            } else if found.gid() == user {
                0o010
            } else {
                0o001
            };
            found.mode() & bit == 0
        })
    };
    parents.into_iter().find(closed).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_a_dying_server_had_only_made_is_given_by_the_next() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (half, others) = (folder.path().join("half"), folder.path().join("others"));
        make(&half, OWN).unwrap();
        make(&others, OPEN).unwrap();
        for path in [&half, &others] {
            make_owned(path, Some(61_001)).unwrap();
        }
        assert_eq!(fs::metadata(&half).unwrap().uid(), 61_001);
        assert_eq!(fs::metadata(&others).unwrap().uid(), 0, "somebody chose its mode and owner");
    }

    #[test]
    fn folders_are_given_also_below_those_that_pass_their_group_on() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let workspace = tempfile::tempdir().unwrap();
        let shared = workspace.path().join("runs");
        fs::create_dir(&shared).unwrap();
        // As for workers on Kubernetes.
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o2775)).unwrap();
        let run = shared.join("run");
        make_below(workspace.path(), &run, Some(61_001)).unwrap();
        let found = fs::metadata(&run).unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (61_001, 61_001, 0o2750));
    }

    #[test]
    fn no_path_leads_out_of_its_root() {
        let data = tempfile::tempdir().unwrap();
        let (root, keys) = (data.path().join("worker"), data.path().join("keys"));
        make(&root, ENTERED).unwrap();
        make(&keys, PRIVATE).unwrap();
        std::os::unix::fs::symlink(&keys, root.join("link")).unwrap();
        let user = rustix::process::geteuid().is_root().then_some(61_001);
        let before = fs::metadata(&keys).unwrap();
        for path in ["../keys", "a/../../keys", "../keys/new", "link", "link/new", "../worker-1/work"] {
            assert!(make_below(&root, &root.join(path), user).is_err(), "{path}");
            assert!(open_below(&root, &root.join(path).join("file"), OFlags::EXCL, user).is_err(), "{path}");
        }
        let after = fs::metadata(&keys).unwrap();
        assert_eq!((after.uid(), after.mode()), (before.uid(), before.mode()));
        assert_eq!(fs::read_dir(&keys).unwrap().count(), 0, "nothing was made in it");
    }

    #[test]
    fn what_a_worker_put_in_the_place_of_a_file_is_not_written_through() {
        let data = tempfile::tempdir().unwrap();
        let secret = data.path().join("secret");
        fs::write(&secret, "kept").unwrap();
        std::os::unix::fs::symlink(&secret, data.path().join("code.py")).unwrap();
        open_below(data.path(), &data.path().join("code.py"), OFlags::EXCL, None).unwrap();
        assert_eq!(fs::read_to_string(&secret).unwrap(), "kept");
        assert!(fs::symlink_metadata(data.path().join("code.py")).unwrap().is_file());
        std::os::unix::fs::symlink(&secret, data.path().join("outputs")).unwrap();
        assert!(open_below(data.path(), &data.path().join("outputs"), OFlags::APPEND, None).is_err());
    }
}
