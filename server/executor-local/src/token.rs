//! `CUBELOOM_JOB_TOKEN`: the token by which the workers of one attempt authenticate to each other.
//!
//! It is derived from a secret of the server and the attempt's key. A worker that starts later, or by another
//! server on the same data folder, gets the same token, and no run has to store it.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::failpoint::hit;
use cubeloom_files::own;
use sha2::{Digest, Sha256};

use crate::error::LocalError;

/// The secret's length in bytes.
const LENGTH: usize = 32;

/// Derives tokens.
pub(crate) struct Tokens {
    secret: Vec<u8>,
}

impl Tokens {
    /// Loads the secret, or creates one.
    pub(crate) fn load(keys: &Path) -> Result<Self, LocalError> {
        let path = keys.join("token.key");
        let secret = match own::read(&path) {
            Ok(secret) if secret.len() == LENGTH => Ok(secret),
            Ok(_) => make(&path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path),
            Err(error) => Err(error),
        };
        secret.map(|secret| Self { secret }).map_err(LocalError::file(path))
    }

    /// The token of one attempt, 64 hexadecimal digits.
    pub(crate) fn of(&self, key: &AttemptKey) -> String {
        let hash =
            Sha256::new().chain_update(&self.secret).chain_update(key.to_string()).chain_update(&self.secret);
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn make(path: &Path) -> io::Result<Vec<u8>> {
    let mut secret = vec![0; LENGTH];
    own::open("/dev/urandom")?.read_exact(&mut secret)?;
    let fresh = path.with_extension("tmp");
    let _ = own::remove_file(&fresh);
    own::open_with(OpenOptions::new().write(true).create_new(true).mode(0o600), &fresh)?
        .write_all(&secret)?;
    hit("local.token.before");
    own::rename(&fresh, path)?;
    hit("local.token.after");
    Ok(secret)
}
