//! Unpacks untrusted archives. Names stay below the folder, only plain files and folders are created, and
//! decompressed bytes are limited while reading.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use cubeloom_files::own;
use cubeloom_storage::snapshot::Limits;
use flate2::read::GzDecoder;
use tar::{Archive, Entry, EntryType};

use crate::error::{ApiError, Kind};

/// Maximum depth of folders.
const DEPTH: usize = 32;

/// Why an archive is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// The archive is invalid.
    #[error("{0}")]
    Archive(String),
    /// The archive contains too much.
    #[error("{0}")]
    TooLarge(String),
    /// The files cannot be written.
    #[error("the archive cannot be unpacked")]
    Machine(#[source] io::Error),
}

impl From<Refused> for ApiError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Archive(sentence) => Self::new(Kind::Invalid, sentence),
            Refused::TooLarge(sentence) => Self::new(Kind::TooLarge, sentence),
            Refused::Machine(source) => {
                Self::unavailable("the server cannot store the folder now: try again").caused_by(source)
            }
        }
    }
}

/// Unpacks a gzipped tar archive into an empty folder.
///
/// # Errors
/// A message that names the entry.
pub(crate) fn unpack(archive: impl Read, target: &Path, limits: Limits) -> Result<(), Refused> {
    // Headers take space, and long names are entries.
    let most = limits.bytes + 2048 * limits.files as u64;
    let mut archive = Archive::new(Counted { inner: GzDecoder::new(archive), left: most });
    let mut left = Left { bytes: limits.bytes, entries: limits.files, limits };
    for entry in archive.entries().map_err(|error| left.unreadable(&error))? {
        let mut entry = entry.map_err(|error| left.unreadable(&error))?;
        one(&mut entry, target, &mut left)?;
    }
    Ok(())
}

/// Remaining limits.
struct Left {
    bytes: u64,
    entries: usize,
    limits: Limits,
}

impl Left {
    fn too_large(&self) -> Refused {
        let (mebibytes, files) = (self.limits.bytes >> 20, self.limits.files);
        Refused::TooLarge(format!(
            "the archive holds more than {mebibytes} MiB or {files} files: send code only, and bring data in with the \
             template `transfer`"
        ))
    }

    fn unreadable(&self, error: &io::Error) -> Refused {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return self.too_large();
        }
        Refused::Archive(format!(
            "the body is not a gzipped tar archive, or is cut off ({error}): send one made by tar -cz"
        ))
    }
}

/// Fails with its own error at the limit, to distinguish it from a truncated archive.
struct Counted<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        Ok(read)
    }
}

fn one(entry: &mut Entry<'_, impl Read>, target: &Path, left: &mut Left) -> Result<(), Refused> {
    left.entries = left.entries.checked_sub(1).ok_or_else(|| left.too_large())?;
    let name = name(entry)?;
    let path = target.join(&name);
    match entry.header().entry_type() {
        // Metadata entries of archiving tools.
        EntryType::XGlobalHeader => Ok(()),
        EntryType::Directory => folder(&path).map_err(Refused::Machine),
        EntryType::Regular | EntryType::Continuous => {
            folder(path.parent().unwrap_or(target)).map_err(Refused::Machine)?;
            file(entry, &path, &name, left)
        }
        other => {
            let what = match other {
                EntryType::Symlink | EntryType::Link => "a link",
                EntryType::Char | EntryType::Block => "a device",
                EntryType::Fifo => "a pipe",
                _ => "neither a file nor a folder",
            };
            Err(Refused::Archive(format!(
                "`{}` is {what}: send plain files and folders only",
                name.display()
            )))
        }
    }
}

/// Name of the entry, which must stay below the folder.
fn name(entry: &Entry<'_, impl Read>) -> Result<PathBuf, Refused> {
    let bytes = entry.path_bytes();
    let shown = String::from_utf8_lossy(&bytes).into_owned();
    let wrong = |why: &str| Refused::Archive(format!("the archive has an entry `{shown}`: {why}"));
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("names must be UTF-8"))?;
    if text.contains('\0') {
        return Err(wrong("names must not contain NUL"));
    }
    let mut plain = PathBuf::new();
    for part in Path::new(text).components() {
        match part {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            _ => {
                return Err(wrong(
                    "names must stay below the folder, without `..` and without a `/` at the start",
                ));
            }
        }
    }
    if plain.components().count() > DEPTH {
        return Err(wrong("folders are nested too deeply"));
    }
    Ok(plain)
}

fn folder(path: &Path) -> io::Result<()> {
    own::create_dir_with(DirBuilder::new().recursive(true).mode(0o755), path)
}

fn file(entry: &mut Entry<'_, impl Read>, path: &Path, name: &Path, left: &mut Left) -> Result<(), Refused> {
    let executable = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
    let mode = if executable { 0o755 } else { 0o644 };
    let twice = || Refused::Archive(format!("the archive contains `{}` twice", name.display()));
    let mut made = match own::open_with(OpenOptions::new().write(true).create_new(true).mode(mode), path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(twice()),
        other => other.map_err(Refused::Machine)?,
    };
    let copied =
        io::copy(&mut entry.take(left.bytes + 1), &mut made).map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refused::Machine(error),
            _ => left.unreadable(&error),
        })?;
    left.bytes = left.bytes.checked_sub(copied).ok_or_else(|| left.too_large())?;
    Ok(())
}

/// A temporary folder, removed on drop.
pub(crate) struct Scratch(pub PathBuf);

impl Scratch {
    /// Creates an empty folder.
    ///
    /// # Errors
    /// It cannot be created.
    pub fn make(path: PathBuf) -> io::Result<Self> {
        folder(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = own::remove_dir_all(&self.0);
    }
}
