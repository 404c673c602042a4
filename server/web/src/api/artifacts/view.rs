//! What a run left, as the API shows it.

use cubeloom_domain::JsonMap;
use serde::Serialize;
use utoipa::ToSchema;

/// What a task reported.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OutputsView {
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// Outputs by name.
    #[schema(value_type = Object)]
    pub outputs: JsonMap,
    /// What of its reports could not be read: a sentence each.
    pub warnings: Vec<String>,
}

/// A file worth showing.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ArtifactView {
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// What it is called.
    pub name: String,
    /// Where it lies, below the run's folder.
    pub path: String,
    /// Its length in bytes; absent when the file is not there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// The type of its content, by its name.
    pub content_type: String,
    /// How it can be shown: `image`, `text`, `csv`, `json`, `html`, `directory` or `none`.
    pub preview: String,
    /// How large it is, of a picture that says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pixels: Option<Pixels>,
}

/// How large a picture is, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pixels {
    /// From left to right.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}
