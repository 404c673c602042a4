//! Concurrency limits that hold across pipelines, projects and clusters: `hdfs-prod`, ten at once, or a
//! hundred a minute.

use serde::{Deserialize, Serialize};

/// A concurrency limit that tasks name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    pub name: String,
    /// Maximum number of jobs at once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at_once: Option<u32>,
    /// Maximum number of starts per minute.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub a_minute: Option<u32>,
    /// Description of what the limit protects.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Revision number, incremented on each change.
    pub revision: u64,
}
