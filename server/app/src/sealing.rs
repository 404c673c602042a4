//! The keys that secrets are encrypted with: from where the configuration says, or a file of the server's own.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cubeloom_web::secrets::Keyring;

use crate::config::Config;

/// Of a key, in bytes.
const LENGTH: usize = 32;

/// The keys, the newest first.
///
/// # Errors
/// When they cannot be read, or are none.
pub fn keyring(config: &Config) -> anyhow::Result<Keyring> {
    match config.settings.server.key.as_deref() {
        Some(source) => {
            configured(source).with_context(|| format!("the key `{source}` of [server] key cannot be used"))
        }
        None => {
            let folder = config.settings.server.keys.clone().unwrap_or_else(|| config.data.join("keys"));
            let path = folder.join("sealing");
            own(&folder, &path).with_context(|| format!("the key {} cannot be used", path.display()))
        }
    }
}

fn configured(source: &str) -> anyhow::Result<Keyring> {
    match source.split_once(':') {
        Some(("env", name)) => {
            let text = std::env::var(name).context("the variable is not set")?;
            parse(text.as_bytes())
        }
        Some(("file", path)) => parse(&fs::read(PathBuf::from(path))?),
        _ => bail!("write `env:NAME` or `file:/path`, never the key itself"),
    }
}

/// The server's own file; made when it is not there.
fn own(folder: &Path, path: &Path) -> anyhow::Result<Keyring> {
    match fs::read(path) {
        Ok(bytes) => parse(&bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(folder, path)?;
            parse(&fs::read(path)?)
        }
        Err(error) => Err(error.into()),
    }
}

/// Keys in base64, separated by spaces, commas or ends of lines; or the bytes of a single one.
fn parse(bytes: &[u8]) -> anyhow::Result<Keyring> {
    if let Ok(key) = <[u8; LENGTH]>::try_from(bytes) {
        return Keyring::new(&[key]).context("there is no key");
    }
    let text = std::str::from_utf8(bytes).ok().context("it is not text")?;
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let key = |word: &str| {
        let bytes = STANDARD.decode(word).ok().and_then(|bytes| <[u8; LENGTH]>::try_from(bytes).ok());
        bytes.context("a key is 32 random bytes in base64: make one with `openssl rand -base64 32`")
    };
    let keys = words.map(key).collect::<anyhow::Result<Vec<_>>>()?;
    Keyring::new(&keys).context("there is no key in it: make one with `openssl rand -base64 32`")
}

/// Makes a key that appears whole; of two servers that start together, one makes it and both read it.
fn make(folder: &Path, path: &Path) -> anyhow::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut key = [0; LENGTH];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    let fresh = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(format!("{}\n", STANDARD.encode(key)).as_bytes())?;
    file.sync_all()?;
    let linked = fs::hard_link(&fresh, path);
    fs::remove_file(&fresh)?;
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys/sealing");
        let made = format!("{:?}", own(&folder.path().join("keys"), &path).unwrap());
        assert_eq!(format!("{:?}", own(&folder.path().join("keys"), &path).unwrap()), made);
        assert_eq!(fs::read_dir(folder.path().join("keys")).unwrap().count(), 1);
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
