//! Secrets, as the API takes and shows them.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use cubeloom_domain::Timestamp;
use cubeloom_domain::belongings::SealedSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};
use crate::etag::etag;
use crate::extract::Json;

/// The longest value, in bytes.
const LONGEST: usize = 64 << 10;

/// A secret, without its value: that is never shown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SecretView {
    /// The name that tasks use.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Since when there is one.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
    /// By whom.
    pub updated_by: String,
    /// Counts its changes; in quotes it is the ETag.
    pub revision: u64,
}

impl From<SealedSecret> for SecretView {
    fn from(secret: SealedSecret) -> Self {
        Self {
            name: secret.name,
            description: secret.description,
            created_at: secret.created_at,
            updated_at: secret.updated_at,
            updated_by: secret.updated_by,
            revision: secret.revision,
        }
    }
}

/// One secret, with its ETag.
impl IntoResponse for SecretView {
    fn into_response(self) -> Response {
        ([(header::ETAG, etag(self.revision))], Json(self)).into_response()
    }
}

/// A new secret.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    /// The name that tasks use: lower-case letters, digits and `-`, at most 63.
    pub name: String,
    /// The value: text of at most 64 KiB. Whatever is shorter than four bytes cannot be masked in logs.
    pub value: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
}

/// A secret's new value, new description, or both.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretChange {
    /// The new value; the present one stays when absent.
    pub value: Option<String>,
    /// What it is for; the present description stays when absent.
    pub description: Option<String>,
}

/// What tasks can be given in a variable or a file.
pub(super) fn check_value(value: &str) -> ApiResult<()> {
    if value.is_empty() {
        return Err(ApiError::field("/value", "the value is empty: a secret needs one"));
    }
    if value.len() > LONGEST {
        return Err(ApiError::field("/value", "the value is longer than 64 KiB: put it into a file of a volume"));
    }
    if value.contains('\0') {
        return Err(ApiError::field("/value", "the value holds a zero byte, which no variable can hold"));
    }
    Ok(())
}

/// As the audit log has it.
pub(super) fn audited(secret: &SealedSecret) -> Value {
    json!({"description": secret.description})
}
