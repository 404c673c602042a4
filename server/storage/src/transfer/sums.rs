//! SHA-256 checksums: parses user input, and computes those of files.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::error::TransferError;
use super::input::hex;

/// The checksum in lower case, if it is valid.
pub(crate) fn check(text: &str) -> Result<String, TransferError> {
    let sum = text.trim().strip_prefix("sha256:").unwrap_or(text.trim());
    if sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(sum.to_ascii_lowercase());
    }
    Err(TransferError::Manifest(format!("{text:?} is not a SHA-256 checksum; write 64 hexadecimal digits")))
}

/// The checksum of an open file, read from the start.
pub(crate) async fn of_file(file: Arc<File>, path: &Path) -> Result<String, TransferError> {
    let path = path.to_owned();
    super::blocking(move || {
        let mut hasher = Sha256::new();
        let mut block = vec![0; 1 << 20];
        let mut at = 0;
        loop {
            match file.read_at(&mut block, at) {
                Ok(0) => return Ok(hex(&hasher.finalize())),
                Ok(count) => {
                    hasher.update(&block[..count]);
                    at += count as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TransferError::io(&path, 0, error)),
            }
        }
    })
    .await
}

/// Compares with the given checksum, if any.
pub(crate) fn verify(url: &str, expected: Option<&str>, actual: &str) -> Result<(), TransferError> {
    match expected {
        Some(expected) if expected != actual => Err(TransferError::Checksum {
            url: url.to_owned(),
            expected: expected.to_owned(),
            actual: actual.to_owned(),
        }),
        _ => Ok(()),
    }
}
