//! Tokens of `auth/jwt`: HS256, with the claims `exp`, `iat` and `sun`, as
//! <https://slurm.schedmd.com/jwt.html> describes.

use cubeloom_domain::Timestamp;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde::Serialize;

/// Lifetime of a token, in seconds: it is created for one call.
const LIFE: i64 = 60;

#[derive(Serialize)]
struct Claims<'a> {
    exp: i64,
    iat: i64,
    sun: &'a str,
}

/// A token for an account. Reads the key each time, so that a new key takes effect at once.
///
/// # Errors
/// The key's file is unreadable or invalid; a sentence.
#[expect(clippy::disallowed_methods, reason = "the configuration names it")]
pub async fn signed(key: &str, account: &str, now: Timestamp) -> Result<String, String> {
    let secret = tokio::fs::read(key).await.map_err(|error| format!("{key} cannot be read: {error}"))?;
    if secret.is_empty() {
        return Err(format!("{key} is empty"));
    }
    let iat = now.0 / 1_000_000;
    let claims = Claims { exp: iat + LIFE, iat, sun: account };
    encode(&Header::new(Algorithm::HS256), &claims, &EncodingKey::from_secret(&secret))
        .map_err(|error| format!("{key} cannot sign tokens: {error}"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use jsonwebtoken::{DecodingKey, Validation, decode};
    use serde_json::Value;

    use super::*;

    #[tokio::test]
    async fn a_token_is_one_accounts_for_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, b"0123456789abcdef0123456789abcdef").unwrap();
        let token = signed(key.to_str().unwrap(), "ann", Timestamp(1_700_000_000_900_000)).await.unwrap();
        let mut how = Validation::new(Algorithm::HS256);
        how.validate_exp = false;
        how.required_spec_claims = HashSet::new();
        let known = DecodingKey::from_secret(b"0123456789abcdef0123456789abcdef");
        let claims = decode::<Value>(&token, &known, &how).unwrap().claims;
        assert_eq!(claims, serde_json::json!({"exp": 1_700_000_060, "iat": 1_700_000_000, "sun": "ann"}));
        assert!(decode::<Value>(&token, &DecodingKey::from_secret(b"another"), &how).is_err());
    }

    #[tokio::test]
    async fn a_key_that_is_not_there_is_named() {
        let missing = signed("/no/such/key", "ann", Timestamp(0)).await.unwrap_err();
        assert!(missing.contains("/no/such/key"), "{missing}");
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, b"").unwrap();
        assert!(signed(key.to_str().unwrap(), "ann", Timestamp(0)).await.unwrap_err().ends_with("is empty"));
    }
}
