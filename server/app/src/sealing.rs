//! The encryption keys of secrets: from the configured source, or a file of the server.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cubeloom_web::secrets::Keyring;

use crate::config::Config;

/// The length of a key, in bytes.
const LENGTH: usize = 32;

const NONE: &str = "it has no key: create one with `openssl rand -base64 32`";

/// The keys, newest first.
pub fn keyring(config: &Config) -> anyhow::Result<Keyring> {
    let source = Source::of(config);
    source.keyring().with_context(|| source.complaint())
}

/// Puts a new key before the others, and returns the key file; `None` if the keys come from a variable.
pub fn add_key(config: &Config) -> anyhow::Result<Option<PathBuf>> {
    Source::of(config).change(|mut keys| {
        keys.insert(0, new_key()?);
        Ok(keys)
    })
}

/// Removes all keys but the newest; returns the number of removed keys.
///
/// # Errors
/// When the keys come from a variable, or the file cannot be written.
pub fn forget_older(config: &Config) -> anyhow::Result<usize> {
    let mut forgotten = 0;
    let file = Source::of(config).change(|mut keys| {
        forgotten = keys.len() - 1;
        keys.truncate(1);
        Ok(keys)
    })?;
    file.context("the keys come from a variable: remove the older ones from it")?;
    Ok(forgotten)
}

/// The source of the keys.
enum Source {
    /// The server's own file.
    Own(PathBuf),
    /// The configured source.
    Configured(String),
}

impl Source {
    fn of(config: &Config) -> Self {
        let folder = config.settings.server.keys.clone().unwrap_or_else(|| config.data.join("keys"));
        config.settings.server.key.clone().map_or_else(|| Self::Own(folder.join("sealing")), Self::Configured)
    }

    fn complaint(&self) -> String {
        match self {
            Self::Own(path) => format!("the key {} cannot be used", path.display()),
            Self::Configured(source) => format!("the key `{source}` of [server] key cannot be used"),
        }
    }

    /// The file, if it is one.
    fn file(&self) -> Option<&Path> {
        match self {
            Self::Own(path) => Some(path),
            Self::Configured(source) => source.strip_prefix("file:").map(Path::new),
        }
    }

    fn keyring(&self) -> anyhow::Result<Keyring> {
        if let Self::Own(path) = self
            && !path.exists()
        {
            make(path.parent().unwrap_or(Path::new("/")), path)?;
        }
        let Some(file) = self.file() else { return Keyring::new(&self.read()?).context(NONE) };
        let (file, seen) = (file.to_owned(), Mutex::new(stamp(file)));
        let keys = self.read()?;
        // An incomplete or missing file changes nothing.
        let changed = move || {
            let now = stamp(&file);
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if now == *seen {
                return None;
            }
            let keys = parse(&fs::read(&file).ok()?).ok()?;
            *seen = now;
            Some(keys)
        };
        Keyring::changing(&keys, changed).context(NONE)
    }

    fn read(&self) -> anyhow::Result<Vec<[u8; LENGTH]>> {
        match (self.file(), self) {
            (Some(file), _) => parse(&fs::read(file)?),
            (None, Self::Configured(source)) if source.starts_with("env:") => {
                let text = std::env::var(&source["env:".len()..]).context("the variable is not set")?;
                parse(text.as_bytes())
            }
            _ => bail!("write `env:NAME` or `file:/path`, never the key itself"),
        }
    }

    /// Replaces the keys in the file atomically; `None` without a file.
    fn change(
        &self,
        change: impl FnOnce(Vec<[u8; LENGTH]>) -> anyhow::Result<Vec<[u8; LENGTH]>>,
    ) -> anyhow::Result<Option<PathBuf>> {
        let Some(file) = self.file() else { return Ok(None) };
        let changed = || {
            let keys = change(self.read()?)?;
            let fresh = write_beside(file, &keys)?;
            Ok::<(), anyhow::Error>(fs::rename(fresh, file)?)
        };
        changed().with_context(|| self.complaint())?;
        Ok(Some(file.to_owned()))
    }
}

/// Distinguishes versions of a file, which is only replaced, never modified.
fn stamp(file: &Path) -> Option<(u64, i64, i64)> {
    fs::metadata(file).ok().map(|found| (found.ino(), found.mtime(), found.mtime_nsec()))
}

/// Keys in base64, separated by spaces, commas or line ends; or the bytes of a single one.
fn parse(bytes: &[u8]) -> anyhow::Result<Vec<[u8; LENGTH]>> {
    if let Ok(key) = <[u8; LENGTH]>::try_from(bytes) {
        return Ok(vec![key]);
    }
    let text = std::str::from_utf8(bytes).ok().context("it is not text")?;
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let key = |word: &str| {
        let bytes = STANDARD.decode(word).ok().and_then(|bytes| <[u8; LENGTH]>::try_from(bytes).ok());
        bytes.context("a key is 32 random bytes in base64: create one with `openssl rand -base64 32`")
    };
    let keys = words.map(key).collect::<anyhow::Result<Vec<_>>>()?;
    if keys.is_empty() {
        bail!(NONE);
    }
    Ok(keys)
}

/// Creates a key file atomically; of two servers that start together, one creates it and both read it.
fn make(folder: &Path, path: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let fresh = write_beside(path, &[new_key()?])?;
    let linked = fs::hard_link(&fresh, path);
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

fn new_key() -> anyhow::Result<[u8; LENGTH]> {
    let mut key = [0; LENGTH];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    Ok(key)
}

/// Writes keys into a temporary file for a rename, and returns its path.
fn write_beside(path: &Path, keys: &[[u8; LENGTH]]) -> std::io::Result<PathBuf> {
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    for key in keys {
        writeln!(file, "{}", STANDARD.encode(key))?;
    }
    file.sync_all()?;
    Ok(fresh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys/sealing");
        let source = Source::Own(path.clone());
        let made = source.keyring().unwrap().newest();
        assert_eq!(source.keyring().unwrap().newest(), made);
        assert_eq!(fs::read_dir(folder.path().join("keys")).unwrap().count(), 1);
    }

    #[test]
    fn a_keyring_has_the_keys_that_are_in_its_file_now() {
        let folder = tempfile::tempdir().unwrap();
        let source = Source::Own(folder.path().join("sealing"));
        let keys = source.keyring().unwrap();
        let before = keys.newest();
        source.change(|keys| Ok([vec![[7; LENGTH]], keys].concat())).unwrap();
        assert_ne!(keys.newest(), before);
        assert_eq!(source.read().unwrap().len(), 2);
        fs::remove_file(folder.path().join("sealing")).unwrap();
        assert_ne!(keys.newest(), before, "a file that is gone changes nothing");
        assert!(matches!(Source::Configured("env:A".into()).change(Ok), Ok(None)));
    }

    #[test]
    fn several_keys_are_read_and_what_is_no_key_is_refused() {
        let one = STANDARD.encode([1; 32]);
        let two = STANDARD.encode([2; 32]);
        assert!(parse(format!("{one}\n{two}\n").as_bytes()).is_ok());
        assert!(parse(&[7; 32]).is_ok());
        for text in ["", "  \n", "short", &format!("{one} nonsense")] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
