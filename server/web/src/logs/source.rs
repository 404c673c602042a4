//! Reads from a cursor: all streams together, in the order of their lines' times. Without times the streams
//! take turns, so that no worker's log delays the others.

use std::collections::{BTreeMap, VecDeque};

use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::{Log, LogMark, LogName};

use super::cut::{LONGEST, cut};
use super::{Chosen, Cursor};
use crate::api::logs::view::{LineTime, LogChunk};
use crate::error::ApiResult;
use crate::time::Time;

/// Minimum size of a read of one stream, in bytes.
const LEAST: usize = 4 << 10;

/// A chunk that was read.
#[derive(Debug)]
pub(crate) struct Told {
    pub chunk: LogChunk,
    pub name: LogName,
    /// Offset after the chunk.
    pub next: u64,
}

/// Result of a read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Chunks in the order to return them.
    pub told: Vec<Told>,
    /// Streams with more data than returned: an incomplete line, or data beyond the limit. The value is the
    /// length seen.
    pub left: BTreeMap<LogName, u64>,
    /// Whether the limit was reached.
    pub full: bool,
}

struct Stream {
    log: Log,
    /// Offset of the next read.
    next: u64,
    /// Complete lines that were read and not yet returned.
    parts: VecDeque<Part>,
    /// Bytes returned.
    told: usize,
    /// No more data for now.
    dry: bool,
}

/// Lines that were written at the same time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub offset: u64,
    pub bytes: Vec<u8>,
    pub at: Option<Timestamp>,
}

impl Chosen {
    /// Reads from a cursor and advances it, about `limit` bytes at most. `all` selects the streams whose
    /// incomplete lines are returned, too.
    pub(crate) async fn read_on(
        &self,
        cursor: &mut Cursor,
        limit: usize,
        all: impl Fn(&LogName) -> bool,
    ) -> ApiResult<Read> {
        let mut read = Read::default();
        let mut streams: Vec<Stream> =
            self.list().await?.into_iter().filter_map(|log| Stream::open(log, cursor)).collect();
        let share = (limit / streams.len().max(1)).clamp(LEAST, LONGEST);
        let mut room = limit;
        loop {
            for stream in streams.iter_mut().filter(|stream| stream.parts.is_empty() && !stream.dry) {
                let all = all(&stream.log.name);
                self.fill(stream, share, all, &mut read.left).await?;
            }
            let Some(first) = streams.iter_mut().min_by_key(|stream| stream.turn()) else { break };
            let Some(part) = first.parts.pop_front() else { break };
            first.told += part.bytes.len();
            room = room.saturating_sub(part.bytes.len());
            cursor.offsets.insert(first.log.name.clone(), part.offset + part.bytes.len() as u64);
            read.tell(&first.log.name, &part);
            if room == 0 {
                read.full = streams.iter().any(|stream| !stream.dry || !stream.parts.is_empty());
                break;
            }
        }
        Ok(read)
    }

    /// Reads the next chunk of a stream.
    async fn fill(
        &self,
        stream: &mut Stream,
        limit: usize,
        all: bool,
        left: &mut BTreeMap<LogName, u64>,
    ) -> ApiResult<()> {
        let name = &stream.log.name;
        let mut piece = self.read(name, stream.next, limit).await?;
        // The limit must not split a line that fits into a chunk.
        if piece.bytes.len() == limit && limit < LONGEST && !piece.bytes.contains(&b'\n') {
            piece = self.read(name, stream.next, LONGEST).await?;
        }
        let told = match cut(&piece.bytes, false) {
            0 if all || piece.ended => cut(&piece.bytes, true),
            // The next turn reads the rest.
            told => told,
        };
        let told = if told == 0 && piece.ended { piece.bytes.len() } else { told };
        if told < piece.bytes.len() {
            left.insert(name.clone(), stream.next + piece.bytes.len() as u64);
        } else {
            left.remove(name);
        }
        stream.parts = parts(stream.next, &piece.bytes[..told], &piece.marks);
        stream.next += told as u64;
        stream.dry = told == 0 || stream.next >= stream.log.length;
        Ok(())
    }
}

impl Stream {
    /// The stream, if it has data after the cursor.
    fn open(log: Log, cursor: &Cursor) -> Option<Self> {
        let next = cursor.offset(&log.name);
        (log.length > next).then(|| Self { log, next, parts: VecDeque::new(), told: 0, dry: false })
    }

    /// Sort key of the next stream: with data first, then by the data's time, then by bytes returned.
    fn turn(&self) -> (bool, Option<Timestamp>, usize) {
        let part = self.parts.front();
        (part.is_none(), part.and_then(|part| part.at), self.told)
    }
}

impl Read {
    /// Appends lines to the last chunk if it is of the same stream and not full, or starts a new chunk.
    pub(super) fn tell(&mut self, name: &LogName, part: &Part) {
        let text = String::from_utf8_lossy(&part.bytes);
        let next = part.offset + part.bytes.len() as u64;
        let goes_on = |last: &&mut Told| {
            let dated = part.at.is_some() || last.chunk.times.is_empty();
            last.name == *name && dated && last.next - last.chunk.offset + text.len() as u64 <= LONGEST as u64
        };
        if let Some(last) = self.told.last_mut().filter(goes_on) {
            let line = last.chunk.text.matches('\n').count();
            last.chunk.times.extend(time(line, part.at));
            last.chunk.text.push_str(&text);
            last.next = next;
            return;
        }
        let chunk = LogChunk {
            worker: name.worker.to_string(),
            stream: name.stream.as_str().into(),
            offset: part.offset,
            text: text.into_owned(),
            times: time(0, part.at).into_iter().collect(),
        };
        self.told.push(Told { chunk, name: name.clone(), next });
    }
}

fn time(line: usize, at: Option<Timestamp>) -> Option<LineTime> {
    at.map(|at| LineTime { line: u32::try_from(line).unwrap_or(u32::MAX), at: Time(at) })
}

/// Groups lines by time. The time of a line is that of its first byte.
pub(super) fn parts(offset: u64, bytes: &[u8], marks: &[LogMark]) -> VecDeque<Part> {
    let mut parts: VecDeque<Part> = VecDeque::new();
    let (mut offset, mut marks) = (offset, marks);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let passed = marks.iter().take_while(|mark| mark.end <= offset).count();
        marks = &marks[passed..];
        let at = marks.first().map(|mark| mark.at);
        match parts.back_mut().filter(|last| last.at == at) {
            Some(last) => last.bytes.extend_from_slice(line),
            None => parts.push_back(Part { offset, bytes: line.to_vec(), at }),
        }
        offset += line.len() as u64;
    }
    parts
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::logs::LogStream;
    use cubeloom_domain::outcome::WorkerName;

    use super::*;

    fn name(index: u32) -> LogName {
        LogName { worker: WorkerName { role: "worker".into(), index }, stream: LogStream::Stdout }
    }

    fn part(offset: u64, text: &str, at: Option<i64>) -> Part {
        Part { offset, bytes: text.into(), at: at.map(Timestamp) }
    }

    #[test]
    fn lines_are_taken_apart_by_when_they_came() {
        let marks = [(14, 1), (18, 2), (22, 3)].map(|(end, at)| LogMark { end, at: Timestamp(at) });
        let found = parts(10, b"one\ntwo\nsix\nfour", &marks);
        // `two` started before the first mark. `four` came after the last one.
        let expected = [
            part(10, "one\n", Some(1)),
            part(14, "two\n", Some(2)),
            part(18, "six\n", Some(3)),
            part(22, "four", None),
        ];
        assert_eq!(found, expected);
        assert_eq!(parts(0, b"a\nb\n", &[]), [part(0, "a\nb\n", None)]);
    }

    #[test]
    fn a_piece_says_from_which_line_on_which_time_holds() {
        let mut read = Read::default();
        read.tell(&name(0), &part(0, "one\ntwo\n", Some(1)));
        read.tell(&name(0), &part(8, "six\n", Some(2)));
        read.tell(&name(1), &part(0, "other\n", Some(3)));
        read.tell(&name(0), &part(12, "ten\n", Some(4)));
        let told: Vec<(&str, Vec<(u32, i64)>)> = read
            .told
            .iter()
            .map(|told| {
                (
                    told.chunk.text.as_str(),
                    told.chunk.times.iter().map(|time| (time.line, time.at.0.0)).collect(),
                )
            })
            .collect();
        let expected =
            [("one\ntwo\nsix\n", vec![(0, 1), (2, 2)]), ("other\n", vec![(0, 3)]), ("ten\n", vec![(0, 4)])];
        assert_eq!(told, expected);
        assert_eq!(read.told.iter().map(|told| told.next).collect::<Vec<_>>(), [12, 6, 16]);
    }
}
