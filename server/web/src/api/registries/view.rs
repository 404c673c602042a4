//! View and request body of a registry.

use cubeloom_domain::belongings::{Owner, Registry};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::check::Found;
use crate::error::ApiResult;
use crate::state::Web;
use crate::time::Time;

/// A container image registry.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RegistryView {
    /// Name of the registry in Cubeloom.
    pub name: String,
    /// Host name, optionally with a port.
    pub host: String,
    /// Account name.
    pub user: String,
    /// Name of the project secret that contains the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Creation time.
    pub created_at: Time,
    /// Revision number, incremented with each change. In quotes, it is the ETag.
    pub revision: u64,
}

impl From<Registry> for RegistryView {
    fn from(registry: Registry) -> Self {
        Self {
            name: registry.name,
            host: registry.host,
            user: registry.user,
            secret: registry.secret,
            created_at: Time(registry.created_at),
            revision: registry.revision,
        }
    }
}

/// A registry to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRegistry {
    /// Name of the registry in the project: lower-case letters, digits and `-`, at most 63 characters.
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    pub name: String,
    /// Host of the registry, optionally with a port: `registry.example.org:5000`.
    pub host: String,
    /// Account on the registry. Empty for a public registry.
    #[serde(default)]
    pub user: String,
    /// Name of the project secret that contains the password.
    pub secret: Option<String>,
}

/// New settings of a registry.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistryChange {
    /// Host name, optionally with a port.
    pub host: String,
    /// Account on the registry. Empty for a public registry.
    #[serde(default)]
    pub user: String,
    /// Name of the project secret that contains the password.
    pub secret: Option<String>,
}

/// Validates a registry.
///
/// # Errors
/// All problems of the registry.
pub(super) async fn check(web: &Web, registry: &Registry, mut found: Found) -> ApiResult<()> {
    if !is_host(&registry.host) {
        found
            .wrong("/host", "write a host, such as `registry.example.org:5000`, without `https://` and path");
    }
    found.text("/user", &registry.user, 255);
    if let Some(secret) = &registry.secret {
        let owner = Owner::Project(registry.project.clone());
        if web.store().secret(&owner, secret).await?.is_none() {
            found.wrong("/secret", format!("the project has no secret `{secret}`: add it first"));
        }
    }
    found.refuse()
}

fn is_host(text: &str) -> bool {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "443"));
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    !host.is_empty()
        && host.len() <= 253
        && host.chars().all(plain)
        && !host.starts_with(['-', '.'])
        && port.parse::<u16>().is_ok_and(|port| port > 0)
}

pub(super) fn audited(registry: &Registry) -> Value {
    json!({"host": registry.host, "user": registry.user, "secret": registry.secret})
}

#[cfg(test)]
mod tests {
    use super::is_host;

    #[test]
    fn hosts_are_told_from_addresses_and_paths() {
        for host in ["registry.example.org", "localhost:5000", "10.0.0.1:443"] {
            assert!(is_host(host), "{host}");
        }
        for text in ["", "https://registry", "registry/path", "a:b", "a:0", "-a", "a b"] {
            assert!(!is_host(text), "{text}");
        }
    }
}
