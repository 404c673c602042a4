//! Imports documents of other platforms. Pure: text in, documents and a report out.
//!
//! Every value of the input is used, or the report says what happened to it.

pub mod cube_studio;

use serde::Serialize;

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imported {
    pub documents: Vec<ImportedDocument>,
    /// Everything that could not be carried over unchanged.
    pub report: Vec<ReportLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedDocument {
    pub kind: DocumentKind,
    pub name: String,
    pub document: String,
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    Pipeline,
    TaskTemplate,
}

/// The outcome for a value of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is carried over in another form.
    Changed,
    /// It is not carried over; nothing depends on it.
    LeftOut,
    /// A manual change is required before the document works as the original did.
    Problem,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportLine {
    pub fate: Fate,
    /// Position in the input: a JSON pointer, prefixed with `templates:` for the second file.
    pub path: String,
    pub message: String,
}
