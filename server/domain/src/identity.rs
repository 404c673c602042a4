//! People, what they may do where, and what they carry to show who they are.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Timestamp;
use crate::executor::BoxFuture;
use crate::pipeline::SizingMode;
use crate::quota::Pool;

/// What a member may do in a project; a later one may do all of the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look at everything but secrets.
    Viewer,
    /// Start runs, change pipelines, use secrets by name.
    Editor,
    /// Change the project, its members and its secrets.
    Owner,
}

impl Role {
    /// The word for it, as stored and shown.
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
    /// The name: a DNS-1123 label, never changed.
    pub name: String,
    /// Name.
    pub label: String,
    /// Description.
    pub description: String,
    /// Retention settings for finished jobs.
    pub keeping: Keeping,
    /// Allowed clusters and default placement of its jobs.
    pub places: Places,
    /// Whether CPU and memory are chosen from real use, for tasks that do not say it.
    pub sizing: SizingMode,
    /// Whether the mode was chosen: by a person, or by the setting for new projects. Else its owners are asked.
    pub sizing_chosen: bool,
    /// Creation time.
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

impl Project {
    /// Whether its owners are asked to turn right-sizing on: the mode was not chosen, and is not `auto`.
    #[must_use]
    pub fn asks_sizing(&self) -> bool {
        !self.sizing_chosen && self.sizing != SizingMode::Auto
    }
}

/// Retention settings of a project for finished jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keeping {
    /// How long their objects stay on a cluster, in seconds; absent: as long as the cluster's settings say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub objects: Option<u64>,
    /// The volume, in an object store, into which their logs are copied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub logs: Option<String>,
}

/// Where a project's jobs may go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The clusters and node groups that it is bound to; empty: every one. A cluster stands for its node groups, too.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub allowed: Vec<Pool>,
    /// Where a pipeline goes that names no place; absent: to the first that is allowed, else to the usual cluster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usual: Option<Pool>,
}

impl Places {
    /// Where a pipeline goes that names no place.
    #[must_use]
    pub fn usual(&self) -> Option<&Pool> {
        self.usual.as_ref().or_else(|| self.allowed.first())
    }

    /// Whether jobs may go to some nodes of a cluster.
    #[must_use]
    pub fn allow_any_of(&self, cluster: &str) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed.cluster == cluster)
    }

    /// Whether jobs may go to a place.
    #[must_use]
    pub fn allow(&self, place: &Pool) -> bool {
        self.allowed.is_empty() || self.allowed.iter().any(|allowed| allowed.has(place))
    }
}

/// The port to what projects want kept.
pub trait Keeps: Debug + Send + Sync {
    /// What the project of a run, by its id, wants; the default when there is no such run.
    ///
    /// # Errors
    /// A sentence when it cannot be known at present.
    fn of_run<'a>(&'a self, run: &'a str) -> BoxFuture<'a, Result<Keeping, String>>;
}

/// A user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// A ULID.
    pub id: String,
    /// What they sign in with: lower-case, unique, never changed.
    pub name: String,
    /// Display name.
    pub display_name: String,
    /// Email address.
    pub email: Option<String>,
    /// Whether the user is a platform administrator.
    pub admin: bool,
    /// Whether sign-in is disabled for the user.
    pub disabled: bool,
    /// The OpenID Connect issuer and their subject there.
    pub federated: Option<Federated>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the user's last activity.
    pub seen_at: Option<Timestamp>,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// Whether they get mail about their own runs, at `email`.
    pub mails: bool,
}

/// Who somebody is at an OpenID Connect provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Federated {
    /// The provider's issuer URL.
    pub issuer: String,
    /// Its name for the person (`sub`).
    pub subject: String,
}

/// A person's place in a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Project.
    pub project: String,
    /// The person.
    pub user: User,
    /// What they may do.
    pub role: Role,
    /// Creation time.
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// Somebody signed in with a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// A ULID.
    pub id: String,
    /// Who.
    pub user_id: String,
    /// The id of the present cookie; another one is refused.
    pub key: String,
    /// The cookie before it, valid until the moment given.
    pub previous: Option<(String, Timestamp)>,
    /// Creation time.
    pub created_at: Timestamp,
    /// When the cookie was last replaced.
    pub renewed_at: Timestamp,
    /// Until when, at the longest.
    pub expires_at: Timestamp,
    /// When it was ended, if it was.
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
    /// Only look.
    Read,
    /// Look, start and stop runs.
    Run,
    /// Everything that its person may do in projects.
    Write,
    /// Everything that its person may do.
    Admin,
}

impl Scope {
    /// The word for it, as stored and shown.
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

/// A token for programs. Its secret part is not kept, only a hash of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// A ULID.
    pub id: String,
    /// Whose.
    pub user_id: String,
    /// Name that the user gave the token.
    pub name: String,
    /// SHA-256 of the secret part, in hexadecimal.
    pub hash: String,
    /// What it may be used for.
    pub scope: Scope,
    /// Project to which the token is restricted, if set.
    pub project: Option<String>,
    /// Creation time.
    pub created_at: Timestamp,
    /// End time.
    pub expires_at: Option<Timestamp>,
    /// Time of last use, to the minute.
    pub used_at: Option<Timestamp>,
    /// When it was ended, if it was.
    pub revoked_at: Option<Timestamp>,
}

/// What a one-time link does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LinkPurpose {
    /// Makes the first administrator.
    First,
    /// Makes an account, with a place in a project perhaps.
    Invite {
        /// The project and the role there.
        place: Option<(String, Role)>,
        /// Whether they will administer the platform.
        admin: bool,
    },
    /// Sets a new password.
    Reset {
        /// Whose.
        user_id: String,
    },
}

/// A one-time link. The secret in it is not kept, only a hash of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// A ULID.
    pub id: String,
    /// SHA-256 of the secret, in hexadecimal.
    pub hash: String,
    /// Description of what it does.
    pub purpose: LinkPurpose,
    /// Whom it is for, as its maker noted.
    pub note: String,
    /// Name of the user who created it.
    pub created_by: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// End time.
    pub expires_at: Timestamp,
    /// When it was used, if it was.
    pub used_at: Option<Timestamp>,
}

/// One change, as the audit log keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// A ULID, so that entries sort by time.
    pub id: String,
    /// Time.
    pub at: Timestamp,
    /// Who: the id, where the person has an account.
    pub user_id: Option<String>,
    /// Who: the name.
    pub user_name: String,
    /// By what: `session`, `token <name>`, `hook <name>`, `command line`, `run`, `server`.
    pub via: String,
    /// From where: an IP address, or empty on the server's own machine.
    pub address: String,
    /// Project, if any.
    pub project: Option<String>,
    /// What was done, `<thing>.<verb>`: `pipeline.update`, `member.add`, ...
    pub action: String,
    /// To what: its name or id.
    pub subject: String,
    /// How it was; secrets and passwords are never in it.
    pub before: Option<Value>,
    /// How it is now.
    pub after: Option<Value>,
}
