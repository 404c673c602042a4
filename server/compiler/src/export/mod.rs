//! Exports our documents in the formats of other platforms. Pure.

pub mod argo;

use serde::Serialize;

/// A document in another platform's format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// YAML, with the report as comments at its top.
    pub document: String,
    /// Sentences about everything that could not be expressed or needs a manual step.
    pub report: Vec<String>,
}
