//! What is wrong with a document: a code for programs, a path for the editor, a sentence for the person.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a problem stops the document from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It runs, and probably not as meant.
    Warning,
    /// It does not run.
    Error,
}

/// What kind of mistake it is. The texts are stable: the editor and translations are keyed by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The text is not YAML or JSON.
    Syntax,
    /// The document is larger, deeper or more aliased than is allowed.
    TooLarge,
    /// `apiVersion` or `kind` is not one that this version reads.
    UnknownVersion,
    /// A key that does not exist here.
    UnknownKey,
    /// The same key twice in one mapping.
    DuplicateKey,
    /// A required key is missing.
    MissingKey,
    /// A value of another type than the one expected.
    WrongType,
    /// A value outside of what is allowed.
    InvalidValue,
    /// A name that is not a DNS-1123 label.
    InvalidName,
    /// The same name twice.
    DuplicateName,
    /// A need that is no task of this pipeline.
    UnknownTask,
    /// Tasks that need each other.
    Cycle,
    /// A template that is not installed.
    UnknownTemplate,
    /// A CPU, memory or time amount that cannot be read.
    InvalidQuantity,
    /// An expression that cannot be parsed or evaluated.
    InvalidExpression,
    /// An expression that names something undeclared.
    UndefinedName,
    /// A task's output is read where only planning values are known, or from a task that is not needed.
    OutputNotAvailable,
    /// An argument that the template's schema refuses.
    InvalidArgument,
    /// A run parameter that is missing, unknown or of the wrong type.
    InvalidParameter,
    /// A schedule that cannot be read.
    InvalidSchedule,
    /// A secret that this place does not have.
    UnknownSecret,
    /// A volume that this place does not have.
    UnknownVolume,
    /// A model, or a version of one, that the project does not have.
    UnknownModel,
    /// A pipeline that the project does not have.
    UnknownPipeline,
    /// A priority class that does not exist.
    UnknownPriority,
    /// A cluster, node group or framework that does not exist here.
    UnknownPlace,
    /// More than any node, or all nodes together, have.
    NeverFits,
    /// Software that the cluster lacks.
    MissingSoftware,
    /// Two settings that exclude each other.
    Conflict,
    /// Something that will probably not do what was meant.
    Suspicious,
}

/// One mistake in a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// What kind it is.
    pub code: Code,
    /// Where it is, as a JSON pointer (RFC 6901), e.g. `/tasks/3/resources/cpu`; empty for the whole document.
    pub path: String,
    /// Message that states the problem and how to fix it.
    pub message: String,
    /// The line in the text, from 1, where the text is at hand.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// Column in the line, starting at 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u32>,
}

impl Problem {
    /// A problem that stops the document.
    pub fn error(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            path: path.into(),
            message: message.into(),
            line: None,
            column: None,
        }
    }

    /// A problem that does not stop it.
    pub fn warning(code: Code, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, path, message) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "{line}:{column}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}
