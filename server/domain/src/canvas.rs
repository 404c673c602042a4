//! The drawing of a pipeline: positions, frames and notes. No plan and no cache key depends on it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// Maximum distance from the origin, in pixels.
pub const MAX_COORDINATE: f64 = 10_000_000.0;
/// Maximum number of tasks with a position.
pub const MAX_POSITIONS: usize = 100_000;
/// Maximum number of frames and notes together.
pub const MAX_ITEMS: usize = 10_000;
/// Maximum length of a note, in characters.
pub const MAX_NOTE: usize = 10_000;
/// Maximum length of a frame's title, in characters.
pub const MAX_TITLE: usize = 200;

/// Layout of the pipeline on the canvas. It does not affect runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Canvas {
    /// Direction in which later tasks are placed; `right` when absent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub direction: Option<Direction>,
    /// Upper left corner of each task's node. A task without one is placed by the automatic layout.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub positions: BTreeMap<String, Point>,
    /// Frames with a title around tasks, by an id of their own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub frames: BTreeMap<String, Frame>,
    /// Texts on the canvas, by an id of their own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub notes: BTreeMap<String, Note>,
}

impl Canvas {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Direction in which later tasks are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// To the right of earlier ones.
    Right,
    /// Below earlier ones.
    Down,
}

/// Two numbers, in pixels: a position (right, down), or a width and a height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(with = "[f64; 2]")]
pub struct Point(pub f64, pub f64);

impl Serialize for Point {
    /// As `[120, 80.5]`: integers without a fraction, as people and browsers write them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [self.0, self.1].map(number).serialize(serializer)
    }
}

fn number(value: f64) -> serde_json::Value {
    // Integers this small are exact as `i64`, too.
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        #[allow(clippy::cast_possible_truncation)]
        return serde_json::Value::from(value as i64);
    }
    serde_json::Value::from(value)
}

/// Tasks drawn with a frame and a title around them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The title, at most 200 characters.
    pub title: String,
    /// The tasks in it; a task is in one frame at most.
    pub tasks: Vec<String>,
}

/// A text on the canvas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The text, at most 10,000 characters.
    pub text: String,
    /// Its left upper corner.
    pub at: Point,
    /// Its width and height.
    pub size: Point,
}
