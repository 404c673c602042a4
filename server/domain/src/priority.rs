//! Priority classes: names for priorities, and whether jobs of a class preempt others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The priority of a task as its document defines it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Priority {
    /// A number between -1000 and 1000; larger goes first. It preempts no jobs.
    Number(i32),
    /// The name of a priority class.
    Class(String),
}

/// A named priority, defined by administrators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorityClass {
    pub name: String,
    /// Between -1000 and 1000; larger goes first.
    pub priority: i32,
    /// Which jobs are preempted for one of this class.
    pub preempts: Preempts,
    /// A one-line description.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

/// Which jobs are preempted for one without capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preempts {
    /// None: its priority only orders the queue.
    #[default]
    Never,
    /// Jobs of a lower priority.
    Lower,
}

impl Preempts {
    /// The stored and written name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Lower => "lower",
        }
    }
}

impl std::str::FromStr for Preempts {
    /// The text, which is not a valid name.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Never, Self::Lower].into_iter().find(|one| one.name() == text).ok_or_else(|| text.to_owned())
    }
}
