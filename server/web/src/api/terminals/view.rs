//! Terminals as the API shows them, and what is said over their WebSockets beside bytes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::time::Time;

/// A terminal that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TerminalView {
    /// What it is called.
    pub id: String,
    /// The attempt that it is opened at.
    pub attempt: u32,
    /// The worker that it stands for, e.g. `worker-0`.
    pub worker: String,
    /// The path, on this server, at which a WebSocket connects to it. It has to come from the same person.
    pub socket: String,
    /// When it ends at the latest.
    pub ends_at: Time,
}

/// Why a terminal has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminalEnd {
    /// Its shell has ended.
    Exited,
    /// Somebody has closed it, or has deleted its run.
    Closed,
    /// Its time is over.
    Limit,
    /// Nothing was typed or shown for too long.
    Idle,
    /// Its person did not come back.
    Away,
    /// Its person may not have it any more.
    Revoked,
    /// The server ends.
    Stopping,
}

/// What a terminal says beside the bytes that it shows, which are binary messages: texts in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TerminalEvent {
    /// It ends soon.
    Warning {
        /// In so many seconds.
        seconds: u64,
    },
    /// It has ended; nothing follows.
    Ended {
        /// Why.
        why: TerminalEnd,
    },
    /// Its person has connected to it from elsewhere; nothing follows here.
    Replaced {},
}

/// What is said to a terminal beside the bytes that are typed, which are binary messages: texts in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TerminalMessage {
    /// It is now as large as this.
    Resize {
        /// Characters in a line, from 1.
        columns: u16,
        /// Lines, from 1.
        rows: u16,
    },
    /// So many more of the bytes that were sent have been shown. At most 262,144 bytes are sent ahead of this.
    Shown {
        /// How many.
        bytes: usize,
    },
}
