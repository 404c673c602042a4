//! Limits as the API takes and shows them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::quotas::view::JobView;

/// All limits.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LimitsView {
    /// Them, by name.
    pub items: Vec<LimitView>,
    /// Names that tasks have and no limit has: they hold nothing back. Administrators see them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingLimitView>,
}

/// A limit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LimitView {
    /// The name by which tasks have it.
    pub name: String,
    /// How many jobs may hold it at once; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// How many may be started with it in a minute; absent: any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a_minute: Option<u32>,
    /// What it protects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many jobs hold it now, of all projects and on all clusters.
    pub held: usize,
    /// How many were started with it within the last minute.
    pub started: usize,
    /// How many wait and name it, of the thousand that have waited longest.
    pub waiting: usize,
    /// Who holds it: the newest twenty that you may see.
    pub holders: Vec<JobView>,
    /// Counts its changes; its ETag.
    pub revision: u64,
}

/// A name that no limit has.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MissingLimitView {
    /// The name.
    pub name: String,
    /// How many jobs that run have it.
    pub held: usize,
    /// How many that wait have it.
    pub waiting: usize,
}

/// What somebody says of a limit. At least one of its numbers is said.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitBody {
    /// How many jobs may hold it at once; 0 lets none start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// How many may be started with it in a minute, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub a_minute: Option<u32>,
    /// What it protects, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
