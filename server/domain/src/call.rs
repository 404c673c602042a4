//! Tasks whose work is a run of another pipeline.

use serde::{Deserialize, Serialize};

use crate::JsonMap;

/// The run that a task wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// What it is a run of.
    pub of: Called,
    /// Its parameters; texts are read by the declared types.
    #[serde(skip_serializing_if = "JsonMap::is_empty", default)]
    pub parameters: JsonMap,
    /// The time zone of the calling run's dates, for a pipeline whose schedule names none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub timezone: Option<String>,
}

/// What a task runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Called {
    /// A pipeline of the project.
    Pipeline {
        /// Name.
        name: String,
        /// Its version; the newest of when the task starts, where none is named.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        version: Option<u32>,
    },
    /// A document in the folder that the run came with, by its path there.
    File(String),
}

/// The outputs of a task that has run another pipeline.
pub mod outputs {
    /// The id of the run.
    pub const RUN: &str = "run";
    /// What the run's tasks reported, by task and name.
    pub const TASKS: &str = "tasks";
}
