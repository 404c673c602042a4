//! Position of a log reader: the attempt, and an offset for each of its streams.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::{LogName, LogStream};
use cubeloom_domain::outcome::WorkerName;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, ApiResult};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The attempt. 0 before the first one.
    pub attempt: u32,
    /// Offset of the next byte, for each stream that was read.
    pub offsets: BTreeMap<LogName, u64>,
    /// Where the other streams begin: at the first line of this time or later. `None`: at their beginning.
    pub since: Option<Timestamp>,
}

/// Serialized form, before base64.
#[derive(Serialize, Deserialize)]
struct Written(u32, Vec<(String, u32, bool, u64)>, #[serde(default)] Option<i64>);

impl Cursor {
    /// Start of an attempt's logs.
    pub(crate) fn start(attempt: u32) -> Self {
        Self { attempt, offsets: BTreeMap::new(), since: None }
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
        encoded(&Written(self.attempt, offsets.collect(), self.since.map(|since| since.0)))
    }

    /// The cursor in a query parameter.
    pub(crate) fn decode(parameter: &str, text: &str) -> ApiResult<Self> {
        let Written(attempt, offsets, since) = decoded(parameter, text)?;
        let offsets =
            offsets.into_iter().map(|(role, index, stderr, offset)| (name(role, index, stderr), offset));
        Ok(Self { attempt, offsets: offsets.collect(), since: since.map(Timestamp) })
    }
}

/// Where a search continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchCursor {
    pub attempt: u32,
    /// Offset and number of the next line of each stream. The others begin at their first line.
    pub lines: BTreeMap<LogName, (u64, u64)>,
}

/// Serialized form of a search's cursor.
#[derive(Serialize, Deserialize)]
struct WrittenSearch(u32, Vec<(String, u32, bool, u64, u64)>);

impl SearchCursor {
    pub(crate) fn encode(&self) -> String {
        let lines = self.lines.iter().map(|(name, (offset, number))| {
            let stderr = name.stream == LogStream::Stderr;
            (name.worker.role.clone(), name.worker.index, stderr, *offset, *number)
        });
        encoded(&WrittenSearch(self.attempt, lines.collect()))
    }

    pub(crate) fn decode(text: &str) -> ApiResult<Self> {
        let WrittenSearch(attempt, lines) = decoded("/cursor", text)?;
        let lines = lines
            .into_iter()
            .map(|(role, index, stderr, offset, number)| (name(role, index, stderr), (offset, number)));
        Ok(Self { attempt, lines: lines.collect() })
    }
}

fn name(role: String, index: u32, stderr: bool) -> LogName {
    let stream = if stderr { LogStream::Stderr } else { LogStream::Stdout };
    LogName { worker: WorkerName { role, index }, stream }
}

fn encoded(written: &impl Serialize) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(written).unwrap_or_default())
}

fn decoded<T: DeserializeOwned>(parameter: &str, text: &str) -> ApiResult<T> {
    let wrong = || ApiError::field(parameter, "the cursor is not from these logs: start without one");
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
    serde_json::from_slice(&bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was() {
        let mut cursor = Cursor::start(2);
        let mut search = SearchCursor { attempt: 2, ..SearchCursor::default() };
        for (index, stream) in [(0, LogStream::Stdout), (0, LogStream::Stderr), (11, LogStream::Stdout)] {
            let worker = WorkerName { role: "worker".into(), index };
            let (name, offset) = (LogName { worker, stream }, 70_000 + u64::from(index));
            search.lines.insert(name.clone(), (offset, 900));
            cursor.offsets.insert(name, offset);
        }
        assert_eq!(Cursor::decode("/cursor", &cursor.encode()).unwrap(), cursor);
        cursor.since = Some(Timestamp(1_700_000_000_000_000));
        assert_eq!(Cursor::decode("/cursor", &cursor.encode()).unwrap(), cursor);
        assert_eq!(SearchCursor::decode(&search.encode()).unwrap(), search);
        for wrong in ["", "!", "AAAA", "W10"] {
            assert!(Cursor::decode("/before", wrong).is_err_and(|error| error.detail().contains("/before")));
            assert!(SearchCursor::decode(wrong).is_err(), "{wrong}");
        }
    }
}
