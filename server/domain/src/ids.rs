//! Ids and keys. An attempt's key identifies everything that it creates, on every cluster.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::clock::Timestamp;

/// The id of a run: a ULID, so that ids sort by creation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// A new id from the current time and 80 random bits (the upper 48 of `entropy` are ignored).
    #[must_use]
    pub fn new(now: Timestamp, entropy: u128) -> Self {
        let millis = u64::try_from(now.0 / 1000).unwrap_or(0);
        Self(ulid::Ulid::from_parts(millis, entropy).to_string().to_lowercase())
    }

    /// The id as a number: those of later runs are larger.
    #[must_use]
    pub fn number(&self) -> u128 {
        ulid::Ulid::from_string(&self.0).map(u128::from).unwrap_or_default()
    }

    /// The id as text, 26 lower-case characters of Crockford's base 32.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is not an id or a key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not {1}")]
pub struct BadId(String, &'static str);

impl FromStr for RunId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        match ulid::Ulid::from_string(text) {
            Ok(_) => Ok(Self(text.to_lowercase())),
            Err(_) => Err(BadId(text.into(), "a run id (26 letters and digits)")),
        }
    }
}

/// The index of a task in its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TaskIx(pub u32);

impl TaskIx {
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The index of an instance in its task's expansion; 0 for a task without `for_each`.
pub type InstanceIx = u32;

/// Whether a text is a DNS-1123 label: lower-case letters, digits and `-`, at most 63.
#[must_use]
pub fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// One instance of one task, within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InstanceKey {
    pub task: TaskIx,
    pub instance: InstanceIx,
}

/// `<run>.<task>.<instance>.<n>`: one attempt of one instance. It is executed at most once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AttemptKey {
    pub run: RunId,
    /// The task's name, a DNS-1123 label.
    pub task: String,
    pub instance: InstanceIx,
    /// The number of the attempt, from 1.
    pub n: u32,
}

impl AttemptKey {
    /// The name of the object on a cluster: `cl-<slug, at most 16>-<hash, 10>`, a DNS-1035 label.
    #[must_use]
    pub fn object_name(&self) -> String {
        let slug: String = self.task.chars().take(16).collect();
        let hash = Sha256::digest(self.to_string().as_bytes());
        let hex: String = hash.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
        format!("cl-{}-{hex}", slug.trim_end_matches('-'))
    }
}

impl fmt::Display for AttemptKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}.{}", self.run, self.task, self.instance, self.n)
    }
}

impl From<AttemptKey> for String {
    fn from(key: AttemptKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for AttemptKey {
    type Error = BadId;

    fn try_from(text: String) -> Result<Self, BadId> {
        text.parse()
    }
}

impl FromStr for AttemptKey {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let bad = || BadId(text.into(), "an attempt key (<run>.<task>.<instance>.<n>)");
        let mut parts = text.split('.');
        let mut next = || parts.next().filter(|part| !part.is_empty()).ok_or_else(bad);
        let key = Self {
            run: next()?.parse()?,
            task: next()?.into(),
            instance: next()?.parse().map_err(|_| bad())?,
            n: next()?.parse().map_err(|_| bad())?,
        };
        if parts.next().is_some() { Err(bad()) } else { Ok(key) }
    }
}
