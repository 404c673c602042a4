//! Where the files of workers are, and how they are opened: as they lie there, or, where they belong to somebody whom the
//! server must not trust, beneath a folder that no link leads out of, and none but plain files of that account.

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

/// More of a worker's records is not read, in bytes.
pub const MOST_OF_A_RECORD: u64 = 4 << 20;
/// More entries of a folder are not looked at.
const MOST_ENTRIES: usize = 100_000;

/// A folder whose content belongs to an account that is not trusted. What is above it is trusted.
#[derive(Debug)]
pub struct Guard {
    folder: Dir,
    path: PathBuf,
    /// The account's uid; whoever's, where the file system gives owners of its own.
    owner: Option<u32>,
}

impl Guard {
    /// Of a folder, of which only files of this uid are read, if one is given.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn new(path: &Path, owner: Option<u32>) -> io::Result<Self> {
        Ok(Self { folder: Dir::open(path)?, path: path.into(), owner })
    }

    /// Opens what lies below, whatever it is. No link is followed, and nothing waits.
    fn enter(&self, path: &Path, flags: OFlags) -> io::Result<File> {
        let below = path.strip_prefix(&self.path).map_err(|_| refused("it lies elsewhere"))?;
        // To look waits for nobody by itself.
        let waits = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NONBLOCK };
        match self.folder.at(below, flags | waits, Links::Refused) {
            Ok(found) => Ok(found.into()),
            Err(Errno::LOOP | Errno::XDEV | Errno::NXIO) => Err(refused("a link or a device stands there")),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether an opened thing is the account's.
    fn owns(&self, found: &Metadata) -> io::Result<()> {
        if self.owner.is_none_or(|owner| found.uid() == owner) {
            Ok(())
        } else {
            Err(refused("it belongs to another account"))
        }
    }
}

/// Somebody has put there what does not belong there.
fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// A file or a folder.
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
    /// What lies below a guard's folder.
    #[must_use]
    pub fn guarded(guard: Arc<Guard>, path: &Path) -> Self {
        Self { path: path.into(), guard: Some(guard) }
    }

    /// Another place under the same guard.
    #[must_use]
    pub fn other(&self, path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().into(), guard: self.guard.clone() }
    }

    /// What is called so in this folder.
    #[must_use]
    pub fn join(&self, name: impl AsRef<Path>) -> Self {
        self.other(self.path.join(name))
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file to be read.
    ///
    /// # Errors
    /// There is none, or it is none that may be read: then the kind is `InvalidData`.
    pub fn open(&self) -> io::Result<File> {
        let Some(guard) = &self.guard else { return own::open(&self.path) };
        let file = guard.enter(&self.path, OFlags::RDONLY)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(refused("it is no plain file"));
        }
        guard.owns(&found)?;
        Ok(file)
    }

    /// All of a file of at most so many bytes.
    ///
    /// # Errors
    /// As [`Self::open`]; also where it is longer, which is `InvalidData`, too.
    pub fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(refused("it is too long"));
        }
        Ok(bytes)
    }

    /// What is known of a file.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn metadata(&self) -> io::Result<Metadata> {
        match &self.guard {
            None => own::metadata(&self.path),
            Some(_) => self.open()?.metadata(),
        }
    }

    /// Whether something is there, of whatever kind.
    ///
    /// # Errors
    /// It cannot be found out.
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

    /// The same where what cannot be found out is as good as nothing.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.found().unwrap_or(false)
    }

    /// Whether it is a folder of the account's, or of any where there is no guard.
    #[must_use]
    pub fn is_own_folder(&self) -> bool {
        let Some(guard) = &self.guard else { return self.path.is_dir() };
        let found =
            guard.enter(&self.path, OFlags::PATH | OFlags::DIRECTORY).and_then(|file| file.metadata());
        found.is_ok_and(|found| guard.owns(&found).is_ok())
    }

    /// The names in a folder, the first many of them.
    ///
    /// # Errors
    /// It cannot be read.
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

/// Whether an error says that nothing is there that counts, not that it cannot be seen now.
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
        assert!(is_absent(&place.other(&secret).open().unwrap_err()), "it lies elsewhere");

        let others = guarded(&inside, owner + 1);
        assert!(is_absent(&others.join("worker-0/stdout").read(10).unwrap_err()));
        assert!(!others.join("worker-0").is_own_folder() && place.join("worker-0").is_own_folder());
    }

    #[test]
    fn a_file_without_an_end_is_not_read_to_it() {
        let top = tempfile::tempdir().unwrap();
        let endless = top.path().join("exit.json");
        // A terabyte that holds nothing.
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
