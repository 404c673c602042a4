//! Random values and secrets. Secrets are shown once: only their hash is stored.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cubeloom_domain::Timestamp;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// Random bytes from the kernel.
///
/// # Panics
/// If the kernel provides none: no caller could handle that.
#[must_use]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the kernel gives random bytes");
    bytes
}

/// A new ULID for this time, in lower case.
#[must_use]
pub fn new_id(now: Timestamp) -> String {
    let millis = u64::try_from(now.0 / 1000).unwrap_or(0);
    ulid::Ulid::from_parts(millis, u128::from_le_bytes(random())).to_string().to_lowercase()
}

/// A new secret of 256 random bits, as text.
#[must_use]
pub fn new() -> String {
    URL_SAFE_NO_PAD.encode(random::<32>())
}

/// Hash of a secret, to store: SHA-256 in hexadecimal. It needs no salt and no slow hash, as 256 bits cannot
/// be guessed.
#[must_use]
pub fn hash(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares a secret with a hash, in constant time.
#[must_use]
pub fn fits(secret: &str, kept: &str) -> bool {
    hash(secret).as_bytes().ct_eq(kept.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_fits_its_own_hash_only() {
        let (one, other) = (new(), new());
        assert!(one.len() == 43 && one != other);
        assert!(fits(&one, &hash(&one)));
        assert!(!fits(&other, &hash(&one)) && !fits(&one, "") && !fits("", &hash(&one)));
    }

    #[test]
    fn ids_sort_by_time() {
        let (early, late) =
            (new_id(Timestamp(1_700_000_000_000_000)), new_id(Timestamp(1_700_000_000_001_000)));
        assert!(early < late && early.len() == 26, "{early} {late}");
    }
}
