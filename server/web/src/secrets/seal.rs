//! Encrypts secrets: XChaCha20-Poly1305 with a random nonce, bound to owner and name. A row that is copied to
//! another owner or name cannot be decrypted.
//!
//! A sealed value is `v1:<key>:<nonce>:<ciphertext>`: eight hexadecimal digits of the key's id, then base64.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use cubeloom_domain::belongings::Owner;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Format version of sealed values.
const VERSION: &str = "v1";

/// Encryption keys: the newest encrypts, all decrypt. Cheap to clone.
#[derive(Clone)]
pub struct Keyring(Arc<Ring>);

struct Ring {
    keys: RwLock<Arc<[Key]>>,
    /// Returns the keys if they have changed, else `None`.
    changed: Box<dyn Fn() -> Option<Vec<[u8; 32]>> + Send + Sync>,
}

struct Key {
    /// Prefix of the key's digest: identifies the key without disclosing it.
    id: String,
    cipher: XChaCha20Poly1305,
}

impl Key {
    fn of(bytes: &[u8; 32]) -> Self {
        let digest = Sha256::digest(bytes);
        let id = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Self { id, cipher: XChaCha20Poly1305::new(&(*bytes).into()) }
    }
}

/// Why a sealed value cannot be decrypted. It discloses nothing about the value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SealError {
    /// Encrypted with an unknown key.
    #[error(
        "it was encrypted with the key {0}, which this server does not have: add that key to [server] key, or set the secret again"
    )]
    UnknownKey(String),
    /// Modified, or moved from another place.
    #[error("the stored value was changed in the database: set the secret again")]
    Broken,
}

impl Keyring {
    /// From 32-byte keys, the newest first. `None` if there are none.
    #[must_use]
    pub fn new(keys: &[[u8; 32]]) -> Option<Self> {
        Self::changing(keys, || None)
    }

    /// The same for keys that may change during use. `changed` is called before each use, and returns all
    /// keys after a change.
    #[must_use]
    pub fn changing(
        keys: &[[u8; 32]],
        changed: impl Fn() -> Option<Vec<[u8; 32]>> + Send + Sync + 'static,
    ) -> Option<Self> {
        let ring = Ring { keys: RwLock::new(keys.iter().map(Key::of).collect()), changed: Box::new(changed) };
        (!keys.is_empty()).then(|| Self(Arc::new(ring)))
    }

    fn keys(&self) -> Arc<[Key]> {
        if let Some(keys) = (self.0.changed)().filter(|keys| !keys.is_empty()) {
            *self.0.keys.write().unwrap_or_else(PoisonError::into_inner) = keys.iter().map(Key::of).collect();
        }
        Arc::clone(&self.0.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Id of the newest key, which discloses nothing about the key.
    #[must_use]
    pub fn newest(&self) -> String {
        self.keys()[0].id.clone()
    }

    /// Whether a value is encrypted with the newest key.
    #[must_use]
    pub fn is_newest(&self, sealed: &str) -> bool {
        sealed.split(':').nth(1) == Some(&self.newest())
    }

    /// Encrypts a value. `nonce` must be random.
    #[must_use]
    pub fn seal(&self, nonce: [u8; 24], owner: &Owner, name: &str, value: &str) -> String {
        let keys = self.keys();
        let key = &keys[0];
        let place = place(owner, name);
        let payload = Payload { msg: value.as_bytes(), aad: &place };
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload);
        // Encryption fails only for values of more than 256 GiB.
        let sealed = sealed.unwrap_or_default();
        format!("{VERSION}:{}:{}:{}", key.id, STANDARD.encode(nonce), STANDARD.encode(sealed))
    }

    /// Decrypts a value.
    ///
    /// # Errors
    /// The key is unknown, or the value was not encrypted for this owner and name.
    pub fn open(&self, owner: &Owner, name: &str, sealed: &str) -> Result<String, SealError> {
        let parts: Vec<&str> = sealed.split(':').collect();
        let [VERSION, id, nonce, text] = parts[..] else { return Err(SealError::Broken) };
        let keys = self.keys();
        let key = keys.iter().find(|key| key.id == id);
        let key = key.ok_or_else(|| SealError::UnknownKey(id.into()))?;
        let decode = |text: &str| STANDARD.decode(text).map_err(|_| SealError::Broken);
        let nonce: [u8; 24] = decode(nonce)?.try_into().map_err(|_| SealError::Broken)?;
        let (text, place) = (decode(text)?, place(owner, name));
        let payload = Payload { msg: &text, aad: &place };
        let opened = key.cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| SealError::Broken)?;
        String::from_utf8(opened).map_err(|_| SealError::Broken)
    }
}

/// Omits the keys.
impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys().iter().map(|key| &key.id)).finish()
    }
}

/// Associated data of the encryption. Names and ids contain no zero byte.
fn place(owner: &Owner, name: &str) -> Vec<u8> {
    let (kind, owner) = match owner {
        Owner::Project(project) => ("project", project),
        Owner::User(user) => ("user", user),
        Owner::Cluster(cluster) => ("cluster", cluster),
    };
    [kind, owner, name].join("\0").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: [u8; 32] = [1; 32];
    const NEW: [u8; 32] = [2; 32];
    const NONCE: [u8; 24] = [7; 24];

    fn ring(keys: &[[u8; 32]]) -> Keyring {
        Keyring::new(keys).unwrap()
    }

    fn project(name: &str) -> Owner {
        Owner::Project(name.into())
    }

    #[test]
    fn what_was_sealed_opens_and_does_not_show() {
        let sealed = ring(&[OLD]).seal(NONCE, &project("p"), "token", "tops3cret");
        assert!(sealed.starts_with("v1:") && !sealed.contains("tops3cret"), "{sealed}");
        assert_eq!(ring(&[OLD]).open(&project("p"), "token", &sealed).unwrap(), "tops3cret");
    }

    #[test]
    fn it_opens_nowhere_else() {
        let sealed = ring(&[OLD]).seal(NONCE, &project("p"), "token", "tops3cret");
        for (owner, name) in
            [(project("q"), "token"), (project("p"), "other"), (Owner::User("p".into()), "token")]
        {
            assert_eq!(ring(&[OLD]).open(&owner, name, &sealed), Err(SealError::Broken));
        }
    }

    #[test]
    fn a_new_key_seals_and_the_old_one_still_opens() {
        let old = ring(&[OLD]).seal(NONCE, &project("p"), "token", "tops3cret");
        let both = ring(&[NEW, OLD]);
        assert_eq!(both.open(&project("p"), "token", &old).unwrap(), "tops3cret");
        let new = both.seal(NONCE, &project("p"), "token", "tops3cret");
        assert_eq!(ring(&[NEW]).open(&project("p"), "token", &new).unwrap(), "tops3cret");
        assert!(matches!(ring(&[NEW]).open(&project("p"), "token", &old), Err(SealError::UnknownKey(_))));
    }

    #[test]
    fn what_was_changed_does_not_open() {
        let sealed = ring(&[OLD]).seal(NONCE, &project("p"), "token", "tops3cret");
        let cut = &sealed[..sealed.len() - 4];
        for text in ["", "v1:::", "v2:a:b:c", cut] {
            assert!(ring(&[OLD]).open(&project("p"), "token", text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_keyring_shows_no_key() {
        assert!(!format!("{:?}", ring(&[OLD])).contains("1, 1"));
    }
}
