//! Views and request bodies of concurrency limits.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::quotas::view::JobView;

/// All limits.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LimitsView {
    /// Limits by name.
    pub items: Vec<LimitView>,
    /// Limits that tasks reference but that do not exist. They restrict nothing. Visible to administrators only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingLimitView>,
}

/// Concurrency limit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LimitView {
    /// Name by which tasks reference the limit.
    pub name: String,
    /// Maximum number of concurrent jobs. If omitted, the number is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// Maximum number of jobs started per minute. If omitted, the number is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a_minute: Option<u32>,
    /// Description of what the limit protects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Number of jobs that use the limit now, in all projects and on all clusters.
    pub held: usize,
    /// Number of jobs started with the limit in the last minute.
    pub started: usize,
    /// Number of pending jobs that reference the limit, among the thousand that have waited longest.
    pub waiting: usize,
    /// Jobs that use the limit: the newest twenty that you may see.
    pub holders: Vec<JobView>,
    /// Revision number, used as the ETag.
    pub revision: u64,
}

/// Referenced limit that does not exist.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MissingLimitView {
    /// Name.
    pub name: String,
    /// Number of running jobs that reference it.
    pub held: usize,
    /// Number of pending jobs that reference it.
    pub waiting: usize,
}

/// Definition of a concurrency limit. Set at least one of `at_once` and `a_minute`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitBody {
    /// Maximum number of concurrent jobs. With 0, no job starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// Maximum number of jobs started per minute, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub a_minute: Option<u32>,
    /// What the limit protects, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}
