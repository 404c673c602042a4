//! Timestamps of log lines: each stream's file has a second file with marks. A mark says how long the stream
//! was at a given time; bytes between two marks were written between their times. The shim writes marks, and
//! the server reads them.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::LogMark;

use crate::place::Place;

/// Workers that end sooner leave no marks: the time of their last write is enough, and short tasks need not
/// wait for another file.
pub const BRIEF: Duration = Duration::from_secs(1);
/// Size of a mark in bytes: two little-endian 8-byte integers.
const SIZE: u64 = 16;

/// The file with a stream's marks.
pub fn path(stream: &Path) -> PathBuf {
    stream.with_extension("times")
}

/// A mark in its stored form.
pub fn written(mark: &LogMark) -> [u8; SIZE as usize] {
    let mut bytes = [0; SIZE as usize];
    bytes[..8].copy_from_slice(&mark.end.to_le_bytes());
    bytes[8..].copy_from_slice(&mark.at.0.to_le_bytes());
    bytes
}

/// The mark of this moment: the stream's length, and the time of its last write.
///
/// # Errors
/// The file does not exist.
pub fn present(stream: impl Into<Place>) -> io::Result<LogMark> {
    let found = stream.into().metadata()?;
    let at = found.mtime().saturating_mul(1_000_000).saturating_add(found.mtime_nsec() / 1000);
    Ok(LogMark { end: found.len(), at: Timestamp(at) })
}

/// The marks for the bytes between `from` and `to`. Fewer if their times are unknown. A missing file has no
/// marks.
pub fn between(stream: impl Into<Place>, from: u64, to: u64) -> io::Result<Vec<LogMark>> {
    let Some((file, count)) = open(&stream.into())? else { return Ok(Vec::new()) };
    let mut marks = Vec::new();
    for at in first(&file, count, |mark| mark.end > from)?..count {
        let mark = read(&file, at)?;
        marks.push(mark);
        if mark.end >= to {
            break;
        }
    }
    Ok(marks)
}

/// The end of what was written before a time. A missing file has no marks: nothing is known to be older.
pub fn since(stream: impl Into<Place>, at: Timestamp) -> io::Result<u64> {
    let Some((file, count)) = open(&stream.into())? else { return Ok(0) };
    match first(&file, count, |mark| mark.at >= at)? {
        0 => Ok(0),
        later => Ok(read(&file, later - 1)?.end),
    }
}

/// The marks of a stream, and their number.
fn open(stream: &Place) -> io::Result<Option<(File, u64)>> {
    let file = match stream.other(path(stream.path())).open() {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // A partial write before a power failure is not a mark.
    let count = file.metadata()?.len() / SIZE;
    Ok(Some((file, count)))
}

/// The index of the first mark that is beyond something; both of its values grow.
fn first(file: &File, count: u64, is_beyond: impl Fn(&LogMark) -> bool) -> io::Result<u64> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_beyond(&read(file, middle)?) { high = middle } else { low = middle + 1 }
    }
    Ok(low)
}

fn read(file: &File, at: u64) -> io::Result<LogMark> {
    let mut bytes = [0; SIZE as usize];
    file.read_exact_at(&mut bytes, at * SIZE)?;
    let (end, micros) = bytes.split_at(8);
    let number = |part: &[u8]| part.try_into().map(u64::from_le_bytes).unwrap_or_default();
    Ok(LogMark { end: number(end), at: Timestamp(number(micros).cast_signed()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_a_part_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let stream = folder.path().join("stdout");
        assert_eq!(between(&stream, 0, 100).unwrap(), []);
        let all: Vec<LogMark> =
            (1..=1000).map(|n| LogMark { end: n * 10, at: Timestamp(n as i64) }).collect();
        let mut bytes: Vec<u8> = all.iter().flat_map(written).collect();
        bytes.extend([1, 2, 3]);
        std::fs::write(path(&stream), bytes).unwrap();
        assert_eq!(between(&stream, 0, 10).unwrap(), all[..1]);
        assert_eq!(between(&stream, 10, 11).unwrap(), all[1..2]);
        assert_eq!(between(&stream, 4_999, 5_021).unwrap(), all[499..503]);
        assert_eq!(between(&stream, 9_995, 20_000).unwrap(), all[999..]);
        assert_eq!(between(&stream, 10_000, 20_000).unwrap(), []);
    }

    #[test]
    fn what_is_older_than_a_time_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let stream = folder.path().join("stdout");
        assert_eq!(since(&stream, Timestamp(5)).unwrap(), 0);
        let all = [(10, 100), (20, 200), (30, 200), (40, 300)];
        let marks = all.map(|(end, at)| LogMark { end, at: Timestamp(at) });
        std::fs::write(path(&stream), marks.iter().flat_map(written).collect::<Vec<u8>>()).unwrap();
        for (at, end) in [(0, 0), (100, 0), (101, 10), (200, 10), (201, 30), (300, 30), (301, 40)] {
            assert_eq!(since(&stream, Timestamp(at)).unwrap(), end, "{at}");
        }
    }
}
