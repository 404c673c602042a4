//! Tasks whose work is a run of another pipeline.

use serde::{Deserialize, Serialize};

use crate::JsonMap;

/// The run that a task starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its pipeline.
    pub of: Called,
    /// Its parameters. Strings are parsed by the declared types.
    #[serde(skip_serializing_if = "JsonMap::is_empty", default)]
    pub parameters: JsonMap,
    /// Time zone of the calling run's dates, for a pipeline whose schedule has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timezone: Option<String>,
}

/// What a task starts a run of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Called {
    /// A pipeline of the project.
    Pipeline {
        name: String,
        /// The version. `None` means the newest when the task starts.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        version: Option<u32>,
    },
    /// A document in the folder of the run, by its path there.
    File(String),
}

/// Outputs of a task that starts another pipeline.
pub mod outputs {
    /// The id of the run.
    pub const RUN: &str = "run";
    /// What the run's tasks reported, by task and output name.
    pub const TASKS: &str = "tasks";
}
