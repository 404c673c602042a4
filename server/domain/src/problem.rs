//! Problems of a document: a code for programs, a path for the editor, a sentence for the user.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a problem stops the document from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It runs, but probably not as intended.
    Warning,
    /// It does not run.
    Error,
}

/// Kind of the problem. The texts are stable: the editor and translations use them as keys.
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
    /// A value outside of the allowed range.
    InvalidValue,
    /// A name that is not a DNS-1123 label.
    InvalidName,
    /// The same name twice.
    DuplicateName,
    /// A dependency that is not a task of this pipeline.
    UnknownTask,
    /// Tasks that depend on each other.
    Cycle,
    /// A template that is not installed.
    UnknownTemplate,
    /// A CPU, memory or time amount that cannot be read.
    InvalidQuantity,
    /// An expression that cannot be parsed or evaluated.
    InvalidExpression,
    /// An expression that names something undeclared.
    UndefinedName,
    /// A task's output is read where only planning values are known, or from a task that is not upstream.
    OutputNotAvailable,
    /// An argument that violates the template's schema.
    InvalidArgument,
    /// A run parameter that is missing, unknown or of the wrong type.
    InvalidParameter,
    /// A schedule that cannot be read.
    InvalidSchedule,
    /// A secret that does not exist here.
    UnknownSecret,
    /// A volume that does not exist here.
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
    /// Something that will probably not work as intended.
    Suspicious,
}

/// One problem of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    pub severity: Severity,
    pub code: Code,
    /// Its location, as a JSON pointer (RFC 6901), e.g. `/tasks/3/resources/cpu`. Empty for the whole
    /// document.
    pub path: String,
    /// Message that states the problem and how to fix it.
    pub message: String,
    /// Line in the text, starting at 1, if the text is available.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// Column in the line, starting at 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u32>,
}

impl Problem {
    /// A problem that prevents runs.
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

    /// A problem that does not prevent runs.
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
