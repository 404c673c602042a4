//! Locations of workers' files, and how they are opened. Trusted files are opened directly. Files of an
//! untrusted account are opened beneath a folder that no link can leave, and only if they are regular files
//! of that account.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cubeloom_files::{Dir, Links, own};
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Maximum size that is read of a worker's records, in bytes.
pub const MOST_OF_A_RECORD: u64 = 4 << 20;
/// Maximum number of folder entries that are read.
const MOST_ENTRIES: usize = 100_000;

/// A folder with content of an untrusted account. Its parents are trusted.
#[derive(Debug)]
pub struct Guard {
    folder: Dir,
    path: PathBuf,
    /// The account's uid. `None` if the file system assigns owners of its own.
    owner: Option<u32>,
}

impl Guard {
    /// Guards a folder. With a uid, only files of that owner are read.
    pub fn new(path: &Path, owner: Option<u32>) -> io::Result<Self> {
        Ok(Self { folder: Dir::open(path)?, path: path.into(), owner })
    }

    /// Opens anything below. Never follows a link, and never blocks.
    fn enter(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        let below = path.strip_prefix(&self.path).map_err(|_| refused("it is in another folder"))?;
        // `O_PATH` never blocks.
        let waits = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK };
        match self.folder.at(below, flags | waits, Links::Refused) {
            Ok(found) => Ok(found.into()),
            Err(Errno::LOOP | Errno::XDEV | Errno::NXIO) => Err(refused("it is a link or a device")),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether an opened file belongs to the account.
    fn owns(&self, found: &Metadata) -> io::Result<()> {
        if self.owner.is_none_or(|owner| found.uid() == owner) {
            Ok(())
        } else {
            Err(refused("it belongs to another account"))
        }
    }
}

/// An untrusted entry that does not belong there.
fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    guard: Option<Arc<Guard>>,
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Place {
    fn from(path: &P) -> Self {
        Self { path: path.as_ref().into(), guard: None }
    }
}

impl From<PathBuf> for Place {
    fn from(path: PathBuf) -> Self {
        Self { path, guard: None }
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Self {
        place.clone()
    }
}

impl Place {
    /// A path below a guard's folder.
    #[must_use]
    pub fn guarded(guard: Arc<Guard>, path: &Path) -> Self {
        Self { path: path.into(), guard: Some(guard) }
    }

    /// Another path under the same guard.
    #[must_use]
    pub fn other(&self, path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().into(), guard: self.guard.clone() }
    }

    /// An entry of this folder.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> Self {
        self.other(self.path.join(name))
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// It does not exist; `InvalidData` if it must not be read.
    pub fn open(&self) -> io::Result<File> {
        let Some(guard) = &self.guard else { return own::open(&self.path) };
        let file = guard.enter(&self.path, OFlags::RDONLY)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(refused("it is not a regular file"));
        }
        guard.owns(&found)?;
        Ok(file)
    }

    /// The content of a file of at most `most` bytes.
    ///
    /// # Errors
    /// As [`Self::open`]; also `InvalidData` if it is longer.
    pub fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(refused("it is too long"));
        }
        Ok(bytes)
    }

    /// Metadata of a file.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn metadata(&self) -> io::Result<Metadata> {
        match &self.guard {
            None => own::metadata(&self.path),
            Some(_) => self.open()?.metadata(),
        }
    }

    /// Whether it exists, as any kind of file.
    ///
    /// # Errors
    /// It cannot be determined.
    pub fn found(&self) -> io::Result<bool> {
        let found = match &self.guard {
            None => own::metadata(&self.path).map(|_| ()),
            Some(guard) => guard.enter(&self.path, OFlags::PATH).map(|_| ()),
        };
        match found {
            Ok(()) => Ok(true),
            Err(error) if is_absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The same, with errors treated as absence.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.found().unwrap_or(false)
    }

    /// Whether it is a folder of the account, or of any owner without a guard.
    #[must_use]
    pub fn is_own_folder(&self) -> bool {
        let Some(guard) = &self.guard else { return self.path.is_dir() };
        let found =
            guard.enter(&self.path, OFlags::PATH | OFlags::DIRECTORY).and_then(|file| file.metadata());
        found.is_ok_and(|found| guard.owns(&found).is_ok())
    }

    /// Names of the folder's entries, up to the maximum number.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let Some(guard) = &self.guard else {
            return own::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name())).collect();
        };
        let folder = guard.enter(&self.path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let named = rustix::fs::Dir::read_from(&folder)?.take(MOST_ENTRIES).map(|entry| {
            let name = entry?.file_name().to_bytes().to_vec();
            Ok(OsString::from_vec(name))
        });
        let all: io::Result<Vec<OsString>> = named.collect();
        Ok(all?.into_iter().filter(|name| name != "." && name != "..").collect())
    }
}

/// Whether an error means that there is no valid file, as opposed to a temporary failure.
#[must_use]
pub fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidData
    )
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn guarded(top: &Path, owner: u32) -> Place {
        Place::guarded(Arc::new(Guard::new(top, Some(owner)).unwrap()), top)
    }

    #[test]
    fn nothing_but_plain_files_of_the_account_beneath_its_folder_is_read() {
        let top = tempfile::tempdir().unwrap();
        let inside = top.path().join("in");
        fs::create_dir_all(inside.join("worker-0")).unwrap();
        let secret = top.path().join("secret");
        fs::write(&secret, "swordfish").unwrap();
        fs::write(inside.join("worker-0/stdout"), "said").unwrap();
        let owner = fs::metadata(&inside).unwrap().uid();
        let place = guarded(&inside, owner);
        assert_eq!(place.join("worker-0/stdout").read(10).unwrap(), b"said");
        assert_eq!(place.join("worker-0").names().unwrap(), ["stdout"]);

        symlink(&secret, inside.join("absolute")).unwrap();
        symlink("../secret", inside.join("relative")).unwrap();
        symlink(top.path(), inside.join("above")).unwrap();
        symlink("worker-0/stdout", inside.join("within")).unwrap();
        mknodat(CWD, inside.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        for name in ["absolute", "relative", "above/secret", "within", "pipe", "worker-0", "../secret"] {
            let error = place.join(name).read(100).unwrap_err();
            assert!(is_absent(&error), "{name}: {error}");
        }
        assert!(place.join("above").names().is_err());
        assert!(is_absent(&place.other(&secret).open().unwrap_err()), "it is in another folder");

        let others = guarded(&inside, owner + 1);
        assert!(is_absent(&others.join("worker-0/stdout").read(10).unwrap_err()));
        assert!(!others.join("worker-0").is_own_folder() && place.join("worker-0").is_own_folder());
    }

    #[test]
    fn a_file_without_an_end_is_not_read_to_it() {
        let top = tempfile::tempdir().unwrap();
        let endless = top.path().join("exit.json");
        // A sparse file of a terabyte.
        File::create(&endless).unwrap().set_len(1 << 40).unwrap();
        let owner = fs::metadata(&endless).unwrap().uid();
        let error = guarded(top.path(), owner).join("exit.json").read(1 << 10).unwrap_err();
        assert!(is_absent(&error), "{error}");
    }

    #[test]
    fn what_is_not_there_is_told_from_what_cannot_be_seen() {
        let top = tempfile::tempdir().unwrap();
        let place = guarded(top.path(), 0);
        assert!(!place.join("none").found().unwrap());
        assert!(!place.join("none/below").found().unwrap());
        let long = "n".repeat(300);
        assert!(place.join(long).found().is_err(), "that is no answer");
    }
}
