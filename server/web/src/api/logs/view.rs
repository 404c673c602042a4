//! Logs as the API shows them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::time::Time;

/// Which logs are meant.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LogQuery {
    /// The task.
    pub task: String,
    /// The instance; 0 when absent.
    pub instance: Option<u32>,
    /// The attempt; the last one when absent.
    #[param(minimum = 1)]
    pub attempt: Option<u32>,
    /// Only this worker's, e.g. `worker-0`; all workers' when absent.
    pub worker: Option<String>,
    /// Only `stdout` or `stderr`; both when absent.
    pub stream: Option<String>,
}

/// The streams that an attempt has.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogStreams {
    /// The attempt that is meant.
    pub attempt: u32,
    /// Whether the attempt has ended: nothing is added any more.
    pub ended: bool,
    /// The streams, by rank.
    pub streams: Vec<LogStreamView>,
}

/// One stream of one worker.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogStreamView {
    /// The worker.
    pub worker: String,
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Its length so far, in bytes.
    pub length: u64,
}

/// A part of the logs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogText {
    /// The attempt that is meant.
    pub attempt: u32,
    /// Pieces of streams, in the order in which they are to be read.
    pub chunks: Vec<LogChunk>,
    /// Where to go on: `cursor` of the next question, or `Last-Event-ID` of the stream of events.
    pub cursor: String,
    /// Whether that was all, and nothing will be added.
    pub ended: bool,
}

/// A piece of one stream: whole lines, but where a line is longer than 64 KiB or has not ended for a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogChunk {
    /// The worker.
    pub worker: String,
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Where it begins in the stream, in bytes.
    pub offset: u64,
    /// The text, line ends included; what is not UTF-8 shows as U+FFFD.
    pub text: String,
    /// When its lines came, each to about a tenth of a second while the worker speaks, a second after a silence. Absent of
    /// logs that were written before there were times.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub times: Vec<LineTime>,
}

/// From a line on, up to where the next one of these begins, all lines came at this time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineTime {
    /// The line in the text, from 0.
    pub line: u32,
    /// When it came.
    pub at: Time,
}

/// What was found in the logs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogMatches {
    /// The lines, in the order of ranks.
    pub matches: Vec<LogMatch>,
    /// Whether everything was looked at; otherwise there may be more.
    pub complete: bool,
    /// How many bytes were looked at.
    pub searched: u64,
}

/// A line that was found.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LogMatch {
    /// The worker.
    pub worker: String,
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Where the line begins in its stream, in bytes.
    pub offset: u64,
    /// The line's number in its stream, from 1.
    pub line: u64,
    /// The line, cut after 2,000 characters.
    pub text: String,
}
