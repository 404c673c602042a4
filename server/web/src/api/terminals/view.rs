//! Views of terminals, and control messages of their WebSockets.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::Time;

/// An open terminal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TerminalView {
    /// ID.
    pub id: String,
    /// Attempt that the terminal is opened for.
    pub attempt: u32,
    /// Worker that the terminal represents, e.g. `worker-0`.
    pub worker: String,
    /// WebSocket path on this server. The same person must open the connection.
    pub socket: String,
    /// Latest time at which the terminal ends.
    pub ends_at: Time,
}

/// Reason why a terminal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminalEnd {
    /// The shell has ended.
    Exited,
    /// A user closed it or deleted its run.
    Closed,
    /// The time limit is reached.
    Limit,
    /// Nothing was typed or shown for too long.
    Idle,
    /// The user did not reconnect.
    Away,
    /// The user lost access.
    Revoked,
    /// The server stops.
    Stopping,
}

/// JSON text message from a terminal. Output is sent as binary messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TerminalEvent {
    /// The terminal ends soon.
    Warning {
        /// Seconds until the terminal ends.
        seconds: u64,
    },
    /// The terminal has ended. No messages follow.
    Ended {
        /// Reason.
        why: TerminalEnd,
    },
    /// The same person has connected from elsewhere. No messages follow on this connection.
    Replaced {},
}

/// JSON text message to a terminal. Typed input is sent as binary messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TerminalMessage {
    /// New size of the terminal.
    Resize {
        /// Characters per line, from 1.
        columns: u16,
        /// Number of lines, from 1.
        rows: u16,
    },
    /// Acknowledges that further bytes have been displayed. At most 262,144 bytes are sent ahead of this
    /// acknowledgement.
    Shown {
        /// Count.
        bytes: usize,
    },
}
