//! Approval tasks: a question, and a user's decision.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question, for the user.
    pub message: String,
    /// Names of the users who may decide. Empty means everyone who may operate the project's runs.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub approvers: Vec<String>,
    /// The user who may not decide: the one who started the run, if the task requires another person's
    /// approval.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub barred: Option<String>,
    /// Effect of a rejection.
    #[serde(default)]
    pub on_rejection: OnRejection,
}

/// Effect of a rejection on a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnRejection {
    #[default]
    Fail,
    /// It succeeds anyway: downstream tasks read the decision.
    GoOn,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub approved: bool,
    /// The user who decided.
    pub by: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comment: Option<String>,
}
