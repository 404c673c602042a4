//! The right-sizing mode of a project, a pipeline or a task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Right-sizing mode: whether CPU and memory are chosen from the usage of earlier attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizingMode {
    /// Never.
    Off,
    /// Show recommendations only.
    Advise,
    /// Apply recommendations automatically.
    #[default]
    Auto,
}

impl SizingMode {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Advise => "advise",
            Self::Auto => "auto",
        }
    }
}
