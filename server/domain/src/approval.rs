//! Tasks that a person does: a question, and what somebody decided.

use serde::{Deserialize, Serialize};

/// What a task asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What there is to decide, for the person.
    pub message: String,
    /// Who may decide, by name; empty for everybody who may work with the project's runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub approvers: Vec<String>,
    /// Who may not: whoever started the run, where a second pair of eyes is asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub barred: Option<String>,
    /// What a no does.
    #[serde(default)]
    pub on_rejection: OnRejection,
}

/// What a no does to a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnRejection {
    /// It fails.
    #[default]
    Fail,
    /// It ends well all the same: later tasks look at what was decided.
    GoOn,
}

/// What somebody decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Whether it is approved.
    pub approved: bool,
    /// Who decided.
    pub by: String,
    /// What they had to say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comment: Option<String>,
}
