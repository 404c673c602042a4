//! Documents of other platforms as ours. Pure: text in, documents and a report out.
//!
//! Nothing is dropped silently: every value of the input is used, or the report says what became of it.

pub mod cube_studio;

use serde::Serialize;

/// What an import gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imported {
    /// The documents.
    pub documents: Vec<ImportedDocument>,
    /// What became of everything that could not be carried over as it was.
    pub report: Vec<ReportLine>,
}

/// A document that an import made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedDocument {
    /// What it is.
    pub kind: DocumentKind,
    /// Name.
    pub name: String,
    /// YAML document.
    pub document: String,
    /// Report messages about it.
    pub notes: Vec<String>,
}

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// A pipeline.
    Pipeline,
    /// A task template.
    TaskTemplate,
}

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is carried over as something else.
    Changed,
    /// It is not carried over; nothing depends on it.
    LeftOut,
    /// Somebody has to do something before the document does what it did.
    Problem,
}

/// One line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportLine {
    /// What became of it.
    pub fate: Fate,
    /// Where it stands in the input: a JSON pointer, of the second file with `templates:` before it.
    pub path: String,
    /// Message.
    pub message: String,
}
