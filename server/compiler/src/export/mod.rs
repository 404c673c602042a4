//! Our documents as those of other platforms, for those who leave. Pure.

pub mod argo;

use serde::Serialize;

/// A document as another platform's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// The text, YAML; the report is in comments at its top.
    pub document: String,
    /// What could not be said, or has to be done: a sentence each.
    pub report: Vec<String>,
}
