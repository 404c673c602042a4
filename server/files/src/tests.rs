use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

/// A folder of a project, next to files that must not be reachable from it.
struct Scene {
    all: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let all = tempfile::tempdir().unwrap();
        for folder in ["keys", "project/own/deep"] {
            fs::create_dir_all(all.path().join(folder)).unwrap();
        }
        fs::write(all.path().join("keys/sealing"), "secret").unwrap();
        fs::set_permissions(all.path().join("keys"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(all.path().join("project/own/file"), "plain").unwrap();
        let links = [
            ("out", "../keys"),
            ("far", "/etc"),
            ("in", "own"),
            ("own/up", ".."),
            ("own/deep/key", "../../../keys/sealing"),
            ("round", "round"),
            ("magic", "/proc/self/cwd"),
        ];
        for (name, to) in links {
            symlink(to, all.path().join("project").join(name)).unwrap();
        }
        rustix::fs::mkfifoat(rustix::fs::CWD, all.path().join("project/pipe"), Mode::from_raw_mode(0o600))
            .unwrap();
        Self { all }
    }

    fn dir(&self) -> Dir {
        Dir::open(&self.all.path().join("project")).unwrap()
    }

    /// Everything outside of the project: owner, mode and content by path.
    fn beside(&self) -> BTreeMap<PathBuf, (u32, u32, Vec<u8>)> {
        let keys = self.all.path().join("keys");
        let mut found: BTreeMap<_, _> = fs::read_dir(&keys)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .chain([keys.clone(), self.all.path().to_owned()])
            .map(|path| {
                let meta = fs::symlink_metadata(&path).unwrap();
                let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                (path, (meta.uid(), meta.mode(), content))
            })
            .collect();
        let names = fs::read_dir(self.all.path()).unwrap().map(|entry| entry.unwrap().path());
        found.extend(names.map(|path| (path.join("name"), (0, 0, Vec::new()))));
        found
    }
}

fn path() -> impl Strategy<Value = PathBuf> {
    let part = prop::sample::select(vec![
        "..", ".", "", "own", "deep", "file", "out", "far", "in", "up", "key", "keys", "round", "magic",
        "pipe", "new", "sealing", "/",
    ]);
    prop::collection::vec(part, 0..6).prop_map(|parts| PathBuf::from(parts.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_path_reaches_beside_the_folder(below in path(), inside in any::<bool>()) {
        let scene = Scene::new();
        let (dir, before) = (scene.dir(), scene.beside());
        let user = rustix::process::geteuid().is_root().then_some(61_001);
        let links = if inside { Links::Inside } else { Links::Refused };
        if let Ok(mut file) = dir.read(&below, links) {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            prop_assert_eq!(text, "plain");
        }
        if let Ok(made) = dir.make(&below, 0o750, |made| give(made, user)) {
            let _ = made.write(OsStr::new("sealing"), OFlags::empty(), 0o644);
            let _ = made.write(OsStr::new("file"), OFlags::EXCL, 0o644);
            let _ = made.remove(OsStr::new("keys"));
        }
        if let Some(name) = below.file_name() {
            let _ = dir.write(name, OFlags::APPEND, 0o600);
            let _ = dir.remove(name);
        }
        prop_assert_eq!(scene.beside(), before);
    }
}

#[test]
fn links_are_followed_inside_or_not_at_all() {
    let scene = Scene::new();
    let dir = scene.dir();
    let read = |path: &str, links| {
        dir.read(Path::new(path), links).map(|_| ()).map_err(|error| error.raw_os_error())
    };
    let errno = |errno: Errno| Err(Some(errno.raw_os_error()));
    assert_eq!(read("in/file", Links::Inside), Ok(()));
    assert_eq!(read("own/up/in/file", Links::Inside), Ok(()));
    assert_eq!(read("in/file", Links::Refused), errno(Errno::LOOP));
    assert_eq!(read("out/sealing", Links::Inside), errno(Errno::XDEV));
    assert_eq!(read("own/deep/key", Links::Inside), errno(Errno::XDEV));
    assert_eq!(read("magic", Links::Inside), errno(Errno::XDEV));
    assert_eq!(read("round", Links::Inside), errno(Errno::LOOP));
    assert_eq!(read("pipe", Links::Refused), Err(None));
    assert_eq!(read("own", Links::Refused), Err(None));
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let scene = Scene::new();
    let dir = scene.dir();
    assert!(dir.write(OsStr::new("pipe"), OFlags::APPEND, 0o644).is_err());
    dir.write(OsStr::new("pipe"), OFlags::EXCL, 0o644).unwrap();
    assert!(fs::symlink_metadata(scene.all.path().join("project/pipe")).unwrap().is_file());
}

#[test]
fn folders_get_their_mode_and_owner_once() {
    let scene = Scene::new();
    let project = scene.all.path().join("project");
    let given = std::cell::Cell::new(0);
    let count = |_: BorrowedFd<'_>| {
        given.set(given.get() + 1);
        Ok(())
    };
    scene.dir().make(Path::new("new/deep"), 0o2775, count).unwrap();
    assert_eq!(given.get(), 2);
    for path in ["new", "new/deep"] {
        assert_eq!(fs::metadata(project.join(path)).unwrap().mode() & 0o7777, 0o2775, "{path}");
    }
    // Permissions that its owner restricted stay that way, and a folder opened by someone else stays theirs.
    fs::set_permissions(project.join("new"), fs::Permissions::from_mode(0o777)).unwrap();
    scene.dir().make(Path::new("new"), 0o750, count).unwrap();
    assert_eq!((given.get(), fs::metadata(project.join("new")).unwrap().mode() & 0o777), (2, 0o777));
    for path in ["in/new", "out/new", "../new", "/new", "own/file/new"] {
        assert!(scene.dir().make(Path::new(path), 0o750, count).is_err(), "{path}");
    }
}

#[test]
fn of_a_link_the_link_is_removed_and_of_a_folder_everything() {
    let scene = Scene::new();
    for name in ["out", "own", "pipe"] {
        scene.dir().remove(OsStr::new(name)).unwrap();
        assert!(fs::symlink_metadata(scene.all.path().join("project").join(name)).is_err(), "{name}");
    }
    assert_eq!(fs::read_to_string(scene.all.path().join("keys/sealing")).unwrap(), "secret");
}
