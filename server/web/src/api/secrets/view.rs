//! Views and request bodies of secrets.

use cubeloom_domain::belongings::SealedSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::check::Found;
use crate::time::Time;

/// Maximum length of a description, in characters.
pub(super) const DESCRIPTION: usize = 1000;
/// Maximum size of a value, in bytes.
const LONGEST: usize = 64 << 10;

/// A secret. Its value is never returned.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SecretView {
    /// Name by which tasks refer to it.
    pub name: String,
    /// Description.
    pub description: String,
    /// Creation time.
    pub created_at: Time,
    /// Time of the last change.
    pub updated_at: Time,
    /// User who last updated it.
    pub updated_by: String,
    /// Revision number, incremented with each change. In quotes, it is the ETag.
    pub revision: u64,
}

impl From<SealedSecret> for SecretView {
    fn from(secret: SealedSecret) -> Self {
        Self {
            name: secret.name,
            description: secret.description,
            created_at: Time(secret.created_at),
            updated_at: Time(secret.updated_at),
            updated_by: secret.updated_by,
            revision: secret.revision,
        }
    }
}

/// A new secret.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    /// Name that tasks use: lower-case letters, digits and `-`, at most 63 characters.
    pub name: String,
    /// Value of the secret: text of at most 64 KiB. Values shorter than four bytes cannot be masked in logs.
    pub value: String,
    /// Description.
    #[serde(default)]
    pub description: String,
}

/// New value or description of a secret, or both.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretChange {
    /// New value. If omitted, the current value is kept.
    pub value: Option<String>,
    /// New description. If omitted, the current description is kept.
    pub description: Option<String>,
}

/// Checks that a value can be passed to tasks as a variable or a file.
pub(super) fn check_value(found: &mut Found, value: &str) {
    if value.is_empty() {
        found.wrong("/value", "the value is empty: a secret needs one");
    }
    if value.len() > LONGEST {
        found.wrong("/value", "the value is longer than 64 KiB: put it into a file of a volume");
    }
    if value.contains('\0') {
        found.wrong("/value", "the value contains a NUL byte, which a variable cannot contain");
    }
}

pub(super) fn audited(secret: &SealedSecret) -> Value {
    json!({"description": secret.description})
}
