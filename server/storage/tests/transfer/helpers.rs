//! Creates files, runs transfers, and checks their results.

use std::path::{Path, PathBuf};

use cubeloom_storage::transfer::{Report, Source, Stop, TransferError, TransferSpec, transfer};
use sha2::{Digest, Sha256};

/// Non-periodic bytes, so that misplaced ranges show; `seed` makes them another file.
pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.as_ref().parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path.as_ref().to_owned()
}

/// Names of everything below `folder`, sorted, without the record of earlier transfers.
pub fn names(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
            match entry.metadata().unwrap().is_dir() {
                true => open.push(entry.path()),
                false => found.push(entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned()),
            }
        }
    }
    found.retain(|name| !name.ends_with(".cubeloom-transfer.jsonl"));
    found.sort();
    found
}

/// Records of uploads are kept beside the first source, if that is a file of this machine.
pub fn spec(from: &[&str], to: impl AsRef<Path>) -> TransferSpec {
    let base = from.first().map(Path::new).filter(|path| path.is_absolute()).and_then(Path::parent);
    let base = base.unwrap_or(Path::new("/nowhere")).to_owned();
    let from = from.iter().map(|url| Source { url: (*url).to_owned(), ..Source::default() }).collect();
    TransferSpec::new(from, to.as_ref().to_str().unwrap(), base)
}

pub async fn copy(spec: &TransferSpec) -> Result<Report, TransferError> {
    transfer(spec, &Stop::default(), |_| {}).await
}
