//! Views of a run's results.

use cubeloom_domain::JsonMap;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Outputs that a task reported.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OutputsView {
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Outputs, by name.
    #[schema(value_type = Object)]
    pub outputs: JsonMap,
    /// Parts of its reports that could not be read, one message each.
    pub warnings: Vec<String>,
}

/// An artifact: a file to display.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ArtifactView {
    /// Task.
    pub task: String,
    /// Instance.
    pub instance: u32,
    /// Name.
    pub name: String,
    /// Path relative to the run's folder.
    pub path: String,
    /// Size, in bytes. Omitted if the file does not exist.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub size: Option<u64>,
    /// Content type, derived from the file name.
    pub content_type: String,
    /// Preview type: `image`, `text`, `csv`, `json`, `html`, `directory` or `none`.
    pub preview: String,
    /// Dimensions, if it is an image that states them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pixels: Option<Pixels>,
}

/// Dimensions of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pixels {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}
