//! Views of logs.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::time::Time;

/// Selects the logs.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LogQuery {
    /// Task.
    pub task: String,
    /// Instance. Defaults to 0.
    pub instance: Option<u32>,
    /// Attempt. Defaults to the last one.
    #[param(minimum = 1)]
    pub attempt: Option<u32>,
    /// Worker, e.g. `worker-0`. Defaults to all workers.
    pub worker: Option<String>,
    /// Stream: `stdout` or `stderr`. Defaults to both.
    pub stream: Option<String>,
}

/// Log streams of an attempt.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogStreams {
    /// Attempt that the logs belong to.
    pub attempt: u32,
    /// Whether the attempt has ended. Nothing is added after that.
    pub ended: bool,
    /// Streams by rank.
    pub streams: Vec<LogStreamView>,
}

/// A log stream of a worker.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogStreamView {
    /// Worker.
    pub worker: String,
    /// Stream: `stdout` or `stderr`.
    pub stream: String,
    /// Current length of the stream, in bytes.
    pub length: u64,
}

/// Part of the logs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogText {
    /// Attempt that the logs belong to.
    pub attempt: u32,
    /// Chunks of the streams, in reading order.
    pub chunks: Vec<LogChunk>,
    /// Cursor to continue from: `cursor` of the next request, or `Last-Event-ID` of the event stream.
    pub cursor: String,
    /// Cursor to read backwards from: `before` of the next request. Omitted at the beginning of the logs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<String>,
    /// Whether this is the end of the logs. Nothing more will be added.
    pub ended: bool,
}

/// Chunk of one stream. It contains whole lines, except when a line is longer than 64 KiB or incomplete for a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogChunk {
    /// Worker.
    pub worker: String,
    /// Stream: `stdout` or `stderr`.
    pub stream: String,
    /// Start position of the chunk in the stream, in bytes.
    pub offset: u64,
    /// Text, including line endings. Bytes that are not valid UTF-8 are replaced by U+FFFD.
    pub text: String,
    /// Arrival times of the lines, accurate to about a tenth of a second while the worker writes, and to a second
    /// after a silence. Omitted for logs written before times were recorded.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub times: Vec<LineTime>,
}

/// Arrival time of all lines from this line up to the start of the next entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineTime {
    /// Line in the text, starting at 0.
    pub line: u32,
    /// Arrival time.
    pub at: Time,
}

/// Result of a log search.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogMatches {
    /// Matching lines, by their arrival times, then by rank.
    pub matches: Vec<LogMatch>,
    /// Whether the search covered all logs. If not, there may be more matches.
    pub complete: bool,
    /// Number of bytes searched.
    pub searched: u64,
    /// Number of lines searched.
    pub lines: u64,
    /// Cursor to continue an incomplete search: `cursor` of the next request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// Matching line.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogMatch {
    /// Worker.
    pub worker: String,
    /// Stream: `stdout` or `stderr`.
    pub stream: String,
    /// Start position of the line in its stream, in bytes.
    pub offset: u64,
    /// Number of the line in its stream, starting at 1.
    pub line: u64,
    /// Line, truncated after 2,000 characters. Text before a carriage return is omitted.
    pub text: String,
    /// Arrival time of the line, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Time>,
    /// Cursor of the line: `cursor` or `before` of a request for the logs around it, with the same worker and stream.
    pub cursor: String,
}
