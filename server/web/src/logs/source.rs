//! Reads on from a cursor: all streams in turn, so that no worker's log keeps the others' waiting.

use std::collections::BTreeMap;

use cubeloom_domain::logs::{Log, LogName};

use super::cut::{LONGEST, cut};
use super::{Chosen, Cursor};
use crate::api::logs::view::LogChunk;
use crate::error::ApiResult;

/// A piece that was read.
#[derive(Debug)]
pub(crate) struct Told {
    /// The piece.
    pub chunk: LogChunk,
    /// Of which log.
    pub name: LogName,
    /// Where the log goes on.
    pub next: u64,
}

/// What was read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Pieces, in the order in which they are to be told.
    pub told: Vec<Told>,
    /// Streams that have more than was told: a line that has not ended, or what was beyond the limit.
    pub left: BTreeMap<LogName, u64>,
    /// Whether the limit was reached.
    pub full: bool,
}

impl Chosen {
    /// Reads on from a cursor and moves it, at most about `limit` bytes. `all` also tells lines that have not ended, of
    /// the streams that it accepts.
    pub(crate) async fn read_on(
        &self,
        cursor: &mut Cursor,
        limit: usize,
        all: impl Fn(&LogName) -> bool,
    ) -> ApiResult<Read> {
        let mut read = Read::default();
        let mut room = limit;
        let mut open: Vec<Log> = self.list().await?;
        open.retain(|log| log.length > cursor.offset(&log.name));
        while !open.is_empty() {
            let mut still = Vec::new();
            for log in open {
                if room == 0 {
                    read.full = true;
                    return Ok(read);
                }
                let told = self.piece(&log, cursor, room, all(&log.name), &mut read).await?;
                room = room.saturating_sub(told);
                if told > 0 && cursor.offset(&log.name) < log.length {
                    still.push(log);
                }
            }
            open = still;
        }
        Ok(read)
    }

    /// One piece of one log; how many bytes it had.
    async fn piece(
        &self,
        log: &Log,
        cursor: &mut Cursor,
        room: usize,
        all: bool,
        read: &mut Read,
    ) -> ApiResult<usize> {
        let offset = cursor.offset(&log.name);
        // A limit must not keep a line back for ever.
        let limit = room.clamp(1024, LONGEST);
        let piece = self.read(&log.name, offset, limit).await?;
        let forced = all || piece.ended || (limit < LONGEST && piece.bytes.len() == limit);
        let told = match cut(&piece.bytes, false) {
            0 if forced => cut(&piece.bytes, true),
            // The rest of it is read in the next turn.
            told => told,
        };
        let told = if told == 0 && piece.ended { piece.bytes.len() } else { told };
        if told < piece.bytes.len() {
            read.left.insert(log.name.clone(), offset + piece.bytes.len() as u64);
        } else {
            read.left.remove(&log.name);
        }
        if told > 0 {
            let next = offset + told as u64;
            let chunk = LogChunk {
                worker: log.name.worker.to_string(),
                stream: log.name.stream.as_str().into(),
                offset,
                text: String::from_utf8_lossy(&piece.bytes[..told]).into_owned(),
            };
            read.told.push(Told { chunk, name: log.name.clone(), next });
            cursor.offsets.insert(log.name.clone(), next);
        }
        Ok(told)
    }
}
