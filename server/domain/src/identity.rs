//! Users, their permissions, and their credentials.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::executor::BoxFuture;
use crate::pipeline::SizingMode;
use crate::quota::Pool;

/// A member's role in a project. Each role includes the permissions of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Read everything except secrets.
    Viewer,
    /// Start runs, change pipelines, use secrets by name.
    Editor,
    /// Change the project, its members and its secrets.
    Owner,
}

impl Role {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }
}

/// A project: a group of people who share pipelines, storage and secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    /// The name: a DNS-1123 label, immutable.
    pub name: String,
    pub label: String,
    pub description: String,
    /// Retention settings for finished jobs.
    pub keeping: Keeping,
    /// Allowed clusters and default placement of its jobs.
    pub places: Places,
    /// Whether CPU and memory are right-sized by usage, for tasks without a setting of their own.
    pub sizing: SizingMode,
    /// Whether the mode was chosen, by a user or by the setting for new projects. Otherwise the owners are
    /// prompted.
    pub sizing_chosen: bool,
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

impl Project {
    /// Whether its owners are prompted to enable right-sizing: the mode was not chosen, and is not `auto`.
    #[must_use]
    pub fn asks_sizing(&self) -> bool {
        !self.sizing_chosen && self.sizing != SizingMode::Auto
    }
}

/// Retention settings of a project for finished jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keeping {
    /// How long their manifests stay on a cluster, in seconds. `None` means as configured for the cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub objects: Option<u64>,
    /// The object store volume that their logs are copied to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub logs: Option<String>,
}

/// Allowed clusters of a project's jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Allowed clusters and node groups. Empty means all. A cluster includes its node groups.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub allowed: Vec<Pool>,
    /// Target of a pipeline that names none. `None` means the first allowed one, or else the default cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usual: Option<Pool>,
}

impl Places {
    /// Target of a pipeline that names none.
    #[must_use]
    pub fn usual(&self) -> Option<&Pool> {
        self.usual.as_ref().or_else(|| self.allowed.first())
    }

    /// Whether jobs may go to at least some nodes of a cluster.
    #[must_use]
    pub fn allow_any_of(&self, cluster: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed.cluster == cluster)
    }

    /// Whether jobs may go to a pool.
    #[must_use]
    pub fn allow(&self, place: &Pool) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed.has(place))
    }
}

/// The port to the projects' retention settings.
pub trait Keeps: Debug + Send + Sync {
    /// Retention settings of the project that a run, by its id, belongs to. The default if the run does not
    /// exist.
    ///
    /// # Errors
    /// A sentence if they cannot be read at present.
    fn of_run<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Keeping, String>>;
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// A ULID.
    pub id: String,
    /// Login name: lower-case, unique, immutable.
    pub name: String,
    pub display_name: String,
    pub email: Option<String>,
    /// Whether the user is a platform administrator.
    pub admin: bool,
    /// Whether sign-in is disabled for the user.
    pub disabled: bool,
    /// The OpenID Connect issuer, and their subject there.
    pub federated: Option<Federated>,
    pub created_at: Timestamp,
    /// Time of the user's last activity.
    pub seen_at: Option<Timestamp>,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// Whether they get email about their own runs, at `email`.
    pub mails: bool,
}

/// A user's identity at an OpenID Connect provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Federated {
    /// The provider's issuer URL.
    pub issuer: String,
    /// The provider's name for the user (`sub`).
    pub subject: String,
}

/// A user's membership in a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub project: String,
    pub user: User,
    pub role: Role,
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// A browser session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// A ULID.
    pub id: String,
    pub user_id: String,
    /// The id of the current cookie; any other is rejected.
    pub key: String,
    /// The previous cookie, valid until the given time.
    pub previous: Option<(String, Timestamp)>,
    pub created_at: Timestamp,
    /// When the cookie was last replaced.
    pub renewed_at: Timestamp,
    /// Maximum lifetime.
    pub expires_at: Timestamp,
    /// When it was ended. `None` if it was not.
    pub revoked_at: Option<Timestamp>,
    /// Address from which the user signed in.
    pub address: String,
    /// Browser, as it identifies itself.
    pub agent: String,
}

/// What a token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read only.
    Read,
    /// Read, and start and stop runs.
    Run,
    /// Everything that its user may do in projects.
    Write,
    /// Everything that its user may do.
    Admin,
}

impl Scope {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// A token for programs. Only a hash of its secret part is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// A ULID.
    pub id: String,
    pub user_id: String,
    pub name: String,
    /// SHA-256 of the secret part, in hexadecimal.
    pub hash: String,
    /// Its permissions.
    pub scope: Scope,
    /// Project to which the token is restricted, if set.
    pub project: Option<String>,
    pub created_at: Timestamp,
    /// Expiry time. `None` means that it never expires.
    pub expires_at: Option<Timestamp>,
    /// Time of last use, to the minute.
    pub used_at: Option<Timestamp>,
    /// When it was revoked. `None` if it was not.
    pub revoked_at: Option<Timestamp>,
}

/// Effect of a one-time link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkPurpose {
    /// Creates the first administrator.
    First,
    /// Creates an account, optionally with a membership in a project.
    Invite {
        /// The project, and the role in it.
        place: Option<(String, Role)>,
        /// Whether the user becomes a platform administrator.
        admin: bool,
    },
    /// Sets a new password.
    Reset {
        /// The user whose password it sets.
        user_id: String,
    },
}

/// A one-time link. Only a hash of its secret is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// A ULID.
    pub id: String,
    /// SHA-256 of the secret, in hexadecimal.
    pub hash: String,
    pub purpose: LinkPurpose,
    /// Recipient, as noted by the creator.
    pub note: String,
    /// Name of the user who created it.
    pub created_by: String,
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Timestamp,
    /// When it was used. `None` if it was not.
    pub used_at: Option<Timestamp>,
}

/// A command line's request for a token, which a user decides in a browser (RFC 8628). Only a hash of its
/// secret is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCode {
    /// A ULID.
    pub id: String,
    /// SHA-256 of the secret, in hexadecimal.
    pub hash: String,
    /// The code that the user confirms, as shown: `BCDF-GHJK`.
    pub user_code: String,
    /// The program and its machine, as described by itself.
    pub client: String,
    /// IP address of the program.
    pub address: String,
    pub created_at: Timestamp,
    /// Expiry time.
    pub expires_at: Timestamp,
    /// The user's decision. `None` while it is pending.
    pub decision: Option<DeviceDecision>,
}

/// A user's decision about a command line's request for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceDecision {
    /// It gets a token of this user.
    Approved {
        user_id: String,
        /// Permissions of the token.
        scope: Scope,
        /// Project to which the token is restricted, if set.
        project: Option<String>,
    },
    Denied,
}

/// A change in the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// A ULID, so that entries sort by time.
    pub id: String,
    pub at: Timestamp,
    /// The user's id. `None` for an actor without an account.
    pub user_id: Option<String>,
    /// The user's name.
    pub user_name: String,
    /// Channel: `session`, `token <name>`, `device <description>`, `hook <name>`, `command line`, `run`,
    /// `server`.
    pub via: String,
    /// IP address. Empty on the server's own machine.
    pub address: String,
    pub project: Option<String>,
    /// The action, `<thing>.<verb>`: `pipeline.update`, `member.add`, ...
    pub action: String,
    /// Name or id of the changed object.
    pub subject: String,
    /// State before; secrets and passwords are never included.
    pub before: Option<Value>,
    /// State after.
    pub after: Option<Value>,
}
