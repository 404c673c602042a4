//! Searches the logs of all workers in reading order, within limits of lines, bytes and time.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::{Log, LogName};
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::cursor::SearchCursor;
use super::positions::AFTER_ALL;
use super::scan::{BLOCK, Hit, Scan, Wanted};
use super::{Chosen, Cursor, Pattern};
use crate::api::logs::view::{LogMatch, LogMatches};
use crate::error::{ApiError, ApiResult};
use crate::time::maybe;

/// Maximum number of bytes that one search reads.
const BYTES: usize = 512 << 20;
/// Time limit of a search.
const TIME: Duration = Duration::from_secs(5);

/// Matching lines from a cursor on, at most `limit`.
pub(crate) async fn search(
    chosen: &Chosen,
    pattern: Pattern,
    limit: usize,
    from: &SearchCursor,
) -> ApiResult<LogMatches> {
    let (pattern, until) = (Arc::new(pattern), Instant::now() + TIME);
    let mut search = Search::new(chosen.list().await?, limit, from);
    let mut read = 0;
    while let Some(next) = search.pick() {
        if read >= BYTES || Instant::now() >= until {
            break;
        }
        let stream = &mut search.streams[next];
        let piece = chosen.read(&stream.name, stream.next, BLOCK).await?;
        read += piece.bytes.len();
        stream.next = piece.next;
        stream.is_done = piece.bytes.is_empty();
        let mut scan = std::mem::take(&mut stream.scan);
        let wanted = Wanted { pattern: Arc::clone(&pattern), most: limit, until };
        let work = move || {
            let hits = scan.block(piece, &wanted);
            (scan, hits)
        };
        // A regular expression can be slow on a block: do not block other requests.
        let (scan, hits) = spawn_blocking(work).await.map_err(ApiError::internal)?;
        search.take(next, scan, hits);
    }
    Ok(search.result(chosen.key.n))
}

/// A search of several logs: their matches so far, merged.
struct Search {
    streams: Vec<Stream>,
    found: Vec<Found>,
    limit: usize,
}

struct Stream {
    name: LogName,
    /// Position of the search's first line.
    first: (u64, u64),
    scan: Scan,
    /// Offset of the next block.
    next: u64,
    /// Whether all of it was scanned.
    is_done: bool,
}

struct Found {
    /// Index of its stream.
    stream: usize,
    hit: Hit,
}

/// Place in the reading order: the time, then the rank of the worker.
type Place = (Option<Timestamp>, usize);

impl Found {
    fn place(&self) -> Place {
        (self.hit.reached, self.stream)
    }
}

impl Search {
    /// Logs are by rank.
    fn new(logs: Vec<Log>, limit: usize, from: &SearchCursor) -> Self {
        let stream = |log: Log| {
            let (offset, number) = from.lines.get(&log.name).copied().unwrap_or((0, 1));
            // A cursor comes from outside. Each line has a byte at least.
            let offset = offset.min(log.length);
            let first = (offset, number.clamp(1, offset + 1));
            Stream { name: log.name, first, scan: Scan::new(first.0, first.1), next: first.0, is_done: false }
        };
        Self { streams: logs.into_iter().map(stream).collect(), found: Vec::new(), limit }
    }

    /// The stream to scan next: the one that is behind the others. `None` if no further line can be among the
    /// first matches.
    fn pick(&self) -> Option<usize> {
        let place = |at: usize| (self.streams[at].scan.reached, at);
        let is_open = |at: &usize| !self.streams[*at].is_done && !self.streams[*at].scan.is_full;
        let next = (0..self.streams.len()).filter(is_open).min_by_key(|at| place(*at))?;
        let last = self.found.get(self.limit.saturating_sub(1)).map(Found::place);
        last.is_none_or(|last| place(next) < last).then_some(next)
    }

    /// Takes the matches of a block, and keeps the first ones of all. A stream whose match is left out goes
    /// back to it, for the next search.
    fn take(&mut self, stream: usize, scan: Scan, hits: Vec<Hit>) {
        self.streams[stream].is_done &= !scan.is_full;
        self.streams[stream].scan = scan;
        self.found.extend(hits.into_iter().map(|hit| Found { stream, hit }));
        self.found.sort_by_key(|found| (found.place(), found.hit.offset));
        for left in self.found.drain(self.limit.min(self.found.len())..) {
            let stream = &mut self.streams[left.stream];
            if left.hit.offset < stream.scan.offset {
                stream.scan = Scan::new(left.hit.offset, left.hit.number);
                stream.scan.is_full = true;
                stream.is_done = false;
            }
        }
    }

    fn result(self, attempt: u32) -> LogMatches {
        let complete = self.streams.iter().all(|stream| stream.is_done);
        let position = |stream: &Stream| (stream.name.clone(), (stream.scan.offset, stream.scan.number));
        let next = SearchCursor { attempt, lines: self.streams.iter().map(position).collect() };
        let searched = self.streams.iter().map(|stream| stream.scan.offset - stream.first.0).sum();
        let matches =
            self.found.into_iter().map(|found| view(attempt, &self.streams[found.stream], found.hit));
        LogMatches {
            matches: matches.collect(),
            complete,
            searched,
            lines: self.streams.iter().map(Stream::lines).sum(),
            next_cursor: (!complete).then(|| next.encode()),
        }
    }
}

impl Stream {
    /// The number of lines that were scanned.
    fn lines(&self) -> u64 {
        self.scan.number - self.first.1 + u64::from(self.scan.is_open)
    }
}

fn view(attempt: u32, stream: &Stream, hit: Hit) -> LogMatch {
    let mut cursor = Cursor::start(attempt);
    cursor.offsets.insert(stream.name.clone(), hit.offset);
    cursor.since = Some(hit.reached.unwrap_or(AFTER_ALL));
    LogMatch {
        worker: stream.name.worker.to_string(),
        stream: stream.name.stream.as_str().into(),
        offset: hit.offset,
        line: hit.number,
        text: hit.text,
        at: maybe(hit.at),
        cursor: cursor.encode(),
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::logs::LogStream;
    use cubeloom_domain::outcome::WorkerName;

    use super::*;

    fn logs(count: u32) -> Vec<Log> {
        let name = |index| LogName {
            worker: WorkerName { role: "worker".into(), index },
            stream: LogStream::Stdout,
        };
        (0..count).map(|index| Log { name: name(index), length: 100 }).collect()
    }

    /// A scan that has come to a line of a time, and matches: number and time, each ten bytes long.
    fn scanned(number: u64, reached: i64, hits: &[(u64, i64)]) -> (Scan, Vec<Hit>) {
        let mut scan = Scan::new((number - 1) * 10, number);
        scan.reached = Some(Timestamp(reached));
        let hit = |(number, at): &(u64, i64)| {
            let at = Some(Timestamp(*at));
            Hit { offset: (number - 1) * 10, number: *number, at, reached: at, text: String::new() }
        };
        (scan, hits.iter().map(hit).collect())
    }

    fn lines(result: &LogMatches) -> Vec<(&str, u64)> {
        result.matches.iter().map(|found| (found.worker.as_str(), found.line)).collect()
    }

    #[test]
    fn matches_of_all_workers_are_in_the_order_of_their_times() {
        let mut search = Search::new(logs(2), 10, &SearchCursor::default());
        assert_eq!(search.pick(), Some(0));
        let (scan, hits) = scanned(6, 50, &[(1, 10), (4, 40)]);
        search.take(0, scan, hits);
        assert_eq!(search.pick(), Some(1), "it is behind");
        let (scan, hits) = scanned(3, 30, &[(2, 20)]);
        search.take(1, scan, hits);
        assert_eq!(search.pick(), Some(1), "it is still behind");
        search.streams.iter_mut().for_each(|stream| stream.is_done = true);
        assert_eq!(search.pick(), None);
        let result = search.result(1);
        assert_eq!(lines(&result), [("worker-0", 1), ("worker-1", 2), ("worker-0", 4)]);
        assert_eq!((result.complete, result.lines, result.searched), (true, 7, 70));
        assert!(result.next_cursor.is_none());
    }

    #[test]
    fn a_search_goes_on_at_the_first_match_that_was_left_out() {
        let mut search = Search::new(logs(2), 2, &SearchCursor::default());
        let (scan, hits) = scanned(6, 50, &[(1, 10), (4, 40)]);
        search.take(0, scan, hits);
        assert_eq!(search.pick(), Some(1), "its lines may come before the second match");
        let (scan, hits) = scanned(5, 45, &[(2, 20)]);
        search.take(1, scan, hits);
        assert_eq!(search.pick(), None, "the others cannot");
        let result = search.result(3);
        assert_eq!(lines(&result), [("worker-0", 1), ("worker-1", 2)]);
        assert!(!result.complete);
        let next = SearchCursor::decode(result.next_cursor.as_deref().unwrap()).unwrap();
        assert_eq!(next.attempt, 3);
        let positions: Vec<(u64, u64)> = next.lines.into_values().collect();
        assert_eq!(positions, [(30, 4), (40, 5)]);
    }
}
