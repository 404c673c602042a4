//! Position of a log reader: the attempt, and an offset for each of its streams.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cubeloom_domain::logs::{LogName, LogStream};
use cubeloom_domain::outcome::WorkerName;
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, ApiResult};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The attempt. 0 before the first one.
    pub attempt: u32,
    /// Offset of the next byte, for each stream that was read.
    pub offsets: BTreeMap<LogName, u64>,
}

/// Serialized form, before base64.
#[derive(Serialize, Deserialize)]
struct Written(u32, Vec<(String, u32, bool, u64)>);

impl Cursor {
    /// Start of an attempt's logs.
    pub(crate) fn start(attempt: u32) -> Self {
        Self { attempt, offsets: BTreeMap::new() }
    }

    /// Offset of the next byte of a stream.
    pub(crate) fn offset(&self, name: &LogName) -> u64 {
        self.offsets.get(name).copied().unwrap_or(0)
    }

    /// Encodes the cursor as opaque text.
    pub(crate) fn encode(&self) -> String {
        let offsets = self.offsets.iter().map(|(name, offset)| {
            (name.worker.role.clone(), name.worker.index, name.stream == LogStream::Stderr, *offset)
        });
        let written = Written(self.attempt, offsets.collect());
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&written).unwrap_or_default())
    }

    pub(crate) fn decode(text: &str) -> ApiResult<Self> {
        let wrong = || ApiError::field("/cursor", "the cursor is not from these logs: start without one");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
        let Written(attempt, offsets) = serde_json::from_slice(&bytes).map_err(|_| wrong())?;
        let offsets = offsets.into_iter().map(|(role, index, stderr, offset)| {
            let stream = if stderr { LogStream::Stderr } else { LogStream::Stdout };
            (LogName { worker: WorkerName { role, index }, stream }, offset)
        });
        Ok(Self { attempt, offsets: offsets.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was() {
        let mut cursor = Cursor::start(2);
        for (index, stream) in [(0, LogStream::Stdout), (0, LogStream::Stderr), (11, LogStream::Stdout)] {
            let worker = WorkerName { role: "worker".into(), index };
            cursor.offsets.insert(LogName { worker, stream }, 70_000 + u64::from(index));
        }
        assert_eq!(Cursor::decode(&cursor.encode()).unwrap(), cursor);
        for wrong in ["", "!", "AAAA", "W10"] {
            assert!(Cursor::decode(wrong).is_err(), "{wrong}");
        }
    }
}
