//! Creates folders and writes files below an administrator's folder that several accounts may share. Follows
//! no symlinks, and passes through no folder in which another account could replace entries.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};

use cubeloom_files::{Dir, Links, own};
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::SlurmError;

/// Mode bits with which others can replace entries.
const OTHERS_WRITE: u32 = 0o022;
/// With the sticky bit, only the owner of an entry, or of the folder, can.
const STICKY: u32 = 0o1000;

/// An open folder.
#[derive(Debug)]
pub struct Beneath {
    folder: Dir,
    path: PathBuf,
    /// Owner of the administrator's folder: below it, only this user, root and this process's account are
    /// trusted.
    keeper: u32,
}

impl Beneath {
    /// Opens an administrator's folder, and creates it if missing. The folders above it are trusted as well.
    ///
    /// # Errors
    /// It cannot be opened, or others may change its entries.
    pub fn top(path: &Path) -> Result<Self, SlurmError> {
        let opened = own::create_dir_all(path).and_then(|()| {
            let folder = Dir::open(path)?;
            let stat = rustix::fs::fstat(&folder)?;
            Ok((folder, stat))
        });
        let (folder, stat) = opened.map_err(SlurmError::file(path))?;
        let entered = Self { folder, path: path.into(), keeper: stat.st_uid };
        entered.trust(&stat)?;
        Ok(entered)
    }

    /// Opens a folder below, and creates it with its parents if missing.
    ///
    /// # Errors
    /// The path leads out, a symlink or another user's folder is in the way, or it cannot be created.
    pub fn make(&self, below: &Path, mode: u32) -> Result<Self, SlurmError> {
        self.walk(below, |at, name| {
            match rustix::fs::mkdirat(at.folder.as_fd(), name, Mode::from_raw_mode(mode)) {
                Err(error) if error != Errno::EXIST => Err(error.into()),
                _ => Ok(()),
            }
        })
    }

    /// Opens an existing folder below.
    ///
    /// # Errors
    /// As [`Self::make`]; also if it does not exist.
    pub fn enter(&self, below: &Path) -> Result<Self, SlurmError> {
        self.walk(below, |_, _| Ok(()))
    }

    fn walk(
        &self,
        below: &Path,
        prepare: impl Fn(&Self, &OsStr) -> io::Result<()>,
    ) -> Result<Self, SlurmError> {
        let own = self.folder.enter(Path::new(""), Links::Refused).map_err(io::Error::from);
        let folder = own.map_err(SlurmError::file(&self.path))?;
        let mut at = Self { folder, path: self.path.clone(), keeper: self.keeper };
        for part in below.components() {
            let Component::Normal(name) = part else {
                return Err(SlurmError::form(below, "it leads out of its folder"));
            };
            let path = at.path.join(name);
            prepare(&at, name).map_err(SlurmError::file(&path))?;
            let (folder, stat) = at.open_folder(name).map_err(SlurmError::file(&path))?;
            at = Self { folder, path, keeper: self.keeper };
            at.trust(&stat)?;
        }
        Ok(at)
    }

    fn open_folder(&self, name: &OsStr) -> io::Result<(Dir, Stat)> {
        let folder = self.folder.enter(Path::new(name), Links::Refused)?;
        let stat = rustix::fs::fstat(&folder)?;
        Ok((folder, stat))
    }

    /// Checks that no one else can replace entries of this folder.
    fn trust(&self, stat: &Stat) -> Result<(), SlurmError> {
        let own = rustix::process::geteuid().as_raw();
        if ![own, 0, self.keeper].contains(&stat.st_uid) {
            let why = format!(
                "it belongs to the account {}, which could change what others run there",
                stat.st_uid
            );
            return Err(SlurmError::form(&self.path, why));
        }
        if stat.st_mode & OTHERS_WRITE != 0 && stat.st_mode & STICKY == 0 {
            let why = "others may change its contents: ask an administrator to set its sticky bit (chmod +t)";
            return Err(SlurmError::form(&self.path, why));
        }
        Ok(())
    }

    /// Whether an entry exists, including a symlink.
    pub fn has(&self, name: &str) -> bool {
        self.folder.stat(OsStr::new(name)).is_ok()
    }

    /// Writes a file atomically: readers see all of it or nothing.
    pub fn put(&self, name: &str, content: impl Read, mode: u32) -> Result<(), SlurmError> {
        self.try_put(name, content, mode).map_err(SlurmError::file(&self.path.join(name)))
    }

    fn try_put(&self, name: &str, mut content: impl Read, mode: u32) -> io::Result<()> {
        let aside = beside(name);
        let mut file = self.folder.write(OsStr::new(&aside), OFlags::EXCL, mode)?;
        io::copy(&mut content, &mut file)?;
        file.flush()?;
        Ok(self.folder.rename(OsStr::new(&aside), OsStr::new(name))?)
    }

    /// Removes a file, if it exists.
    pub fn remove(&self, name: &str) -> Result<(), SlurmError> {
        match rustix::fs::unlinkat(self.folder.as_fd(), name, AtFlags::empty()) {
            Err(error) if error != Errno::NOENT => Err(SlurmError::file(&self.path.join(name))(error.into())),
            _ => Ok(()),
        }
    }

    /// Renames a folder here, unless the new name exists; returns whether it did.
    pub fn rename(&self, from: &str, to: &str) -> Result<bool, SlurmError> {
        match self.folder.rename(OsStr::new(from), OsStr::new(to)) {
            Ok(()) => Ok(true),
            Err(_) if self.has(to) => Ok(false),
            Err(error) => Err(SlurmError::file(&self.path.join(to))(error.into())),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A temporary name that is unique to this process.
pub fn beside(name: &str) -> String {
    format!(".{name}.{}.part", std::process::id())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn no_link_is_followed_and_no_file_of_others_is_written_to() {
        let all = tempfile::tempdir().unwrap();
        let (top, elsewhere) = (all.path().join("top"), all.path().join("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("job.sh"), "theirs").unwrap();
        let beneath = Beneath::top(&top).unwrap();
        symlink(&elsewhere, top.join("runs")).unwrap();
        assert!(beneath.make(Path::new("runs/one"), 0o750).is_err());
        assert!(beneath.make(Path::new("../out"), 0o750).unwrap_err().to_string().contains("leads out"));
        assert!(!elsewhere.join("one").exists() && !all.path().join("out").exists());

        let own = beneath.make(Path::new("own/one"), 0o750).unwrap();
        symlink(elsewhere.join("job.sh"), top.join("own/one/job.sh")).unwrap();
        symlink(elsewhere.join("new"), top.join("own/one").join(beside("job.sh"))).unwrap();
        own.put("job.sh", &b"mine"[..], 0o640).unwrap();
        assert_eq!(fs::read_to_string(top.join("own/one/job.sh")).unwrap(), "mine");
        assert_eq!(fs::read_to_string(elsewhere.join("job.sh")).unwrap(), "theirs");
        assert!(!elsewhere.join("new").exists());
    }

    #[test]
    fn a_folder_in_which_others_can_replace_things_is_not_used_unless_it_is_sticky() {
        let all = tempfile::tempdir().unwrap();
        let top = all.path().join("top");
        fs::create_dir(&top).unwrap();
        let set = |mode| fs::set_permissions(&top, Permissions::from_mode(mode)).unwrap();
        set(0o2770);
        assert!(Beneath::top(&top).unwrap_err().to_string().contains("sticky"));
        set(0o3770);
        let beneath = Beneath::top(&top).unwrap();
        fs::create_dir(top.join("open")).unwrap();
        fs::set_permissions(top.join("open"), Permissions::from_mode(0o777)).unwrap();
        assert!(beneath.make(Path::new("open/one"), 0o750).unwrap_err().to_string().contains("sticky"));
        if rustix::process::geteuid().is_root() {
            fs::create_dir(top.join("theirs")).unwrap();
            std::os::unix::fs::chown(top.join("theirs"), Some(12_345), None).unwrap();
            let why = beneath.enter(Path::new("theirs")).unwrap_err().to_string();
            assert!(why.contains("belongs to the account 12345"), "{why}");
        }
    }
}
