//! Passwords: argon2id, with the parameters that OWASP recommends (19 MiB, two passes, one lane).

use std::sync::LazyLock;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::secret;
use crate::error::{ApiError, ApiResult};

/// Memory in KiB, passes, lanes.
const COST: (u32, u32, u32) = (19 * 1024, 2, 1);
/// Concurrent hashes, so that sign-ins do not take all memory or CPUs.
static AT_ONCE: Semaphore = Semaphore::const_new(2);
/// Minimum length of a password, in characters.
pub(crate) const SHORTEST: usize = 10;
/// Maximum length of a password, in characters. More is no safer.
const LONGEST: usize = 1024;

/// Hash of a random password: an unknown user takes the same work.
static NOBODY: LazyLock<Option<String>> = LazyLock::new(|| compute(&secret::new()).ok());

/// Why a new password is too weak. `None` if it is strong enough.
pub(crate) fn weakness(password: &str, name: &str) -> Option<String> {
    let length = password.chars().count();
    if length < SHORTEST {
        Some(format!("the password has {length} characters: use {SHORTEST} or more, such as four words"))
    } else if length > LONGEST {
        Some(format!("the password has {length} characters: use at most {LONGEST}"))
    } else if password.to_lowercase() == name.to_lowercase() || all_one(password) {
        Some("the password is too easy to guess: use several words".into())
    } else {
        None
    }
}

fn all_one(password: &str) -> bool {
    let mut characters = password.chars();
    let first = characters.next();
    characters.all(|character| Some(character) == first)
}

/// Hash of a password, to store.
pub(crate) async fn hash(password: String) -> ApiResult<String> {
    let computed = aside(move || compute(&password)).await?;
    computed.map_err(|error| ApiError::internal(Refused(error)))
}

/// Whether a password matches a hash. Without a hash, `false` after the same time.
pub(crate) async fn fits(password: String, kept: Option<String>) -> ApiResult<bool> {
    aside(move || {
        let (real, nobody) = (kept.is_some(), NOBODY.clone());
        let Some(kept) = kept.or(nobody) else { return false };
        let parsed = PasswordHash::new(&kept);
        parsed.is_ok_and(|kept| Argon2::default().verify_password(password.as_bytes(), &kept).is_ok()) && real
    })
    .await
}

fn compute(password: &str) -> Result<String, argon2::password_hash::Error> {
    let params = Params::new(COST.0, COST.1, COST.2, None)?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let salt = secret::random::<16>();
    Ok(argon2.hash_password_with_salt(password.as_bytes(), &salt)?.to_string())
}

/// Runs on a blocking thread once a permit is free.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> ApiResult<T> {
    let turn = AT_ONCE.acquire().await.map_err(ApiError::internal)?;
    // The permit moves along: the request may be cancelled before the work ends.
    spawn_blocking(move || (work(), turn).0).await.map_err(ApiError::internal)
}

#[derive(Debug, thiserror::Error)]
#[error("the password cannot be hashed: {0}")]
struct Refused(argon2::password_hash::Error);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_fits_and_nobody_has_one() {
        let kept = hash("four words of mine".into()).await.unwrap();
        assert!(kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{kept}");
        assert!(fits("four words of mine".into(), Some(kept.clone())).await.unwrap());
        assert!(!fits("four words of yours".into(), Some(kept)).await.unwrap());
        assert!(!fits("four words of mine".into(), None).await.unwrap());
    }

    #[test]
    fn weak_ones_are_told_why() {
        assert!(weakness("short", "ada").unwrap().contains("10 or more"));
        assert!(
            weakness("aaaaaaaaaaaa", "ada").is_some() && weakness("Ada-Lovelace", "ada-lovelace").is_some()
        );
        assert_eq!(weakness("four words of mine", "ada"), None);
        assert_eq!(weakness("正确的马电池订书钉密码", "ada"), None);
    }
}
