//! Log lines from the kubelet with `timestamps=true`: each starts with the time at which it began. Pure.

use std::fmt;
use std::str::FromStr;

use cubeloom_domain::Timestamp;
use jiff::{RoundMode, TimestampRound, Unit};

/// Maximum length of a timestamp, including its space.
const LONGEST: usize = 40;
/// Maximum retained length of the kubelet's own messages.
const LONGEST_SAID: usize = 1000;

/// A position in a container's log that another read can find: the current line's timestamp, and the number
/// of its bytes so far. A line may be as long as the log: programs that draw on a terminal end none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// With nanoseconds, as container runtimes write it: it identifies the line.
    pub at: jiff::Timestamp,
    /// In bytes, including its newline.
    pub within: u64,
}

impl Place {
    /// When the line began.
    pub fn moment(&self) -> Timestamp {
        Timestamp(self.at.as_microsecond())
    }

    /// The full second in which the line began. Log requests accept only full seconds, and rounding up would
    /// skip the line.
    pub fn second(&self) -> jiff::Timestamp {
        self.at.round(TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Floor)).unwrap_or(self.at)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.at, self.within)
    }
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (at, within) = text.split_once(' ').ok_or(())?;
        Ok(Self { at: at.parse().map_err(drop)?, within: within.parse().map_err(drop)? })
    }
}

/// Strips the timestamps from lines that arrive in arbitrary chunks.
#[derive(Debug, Default)]
pub struct Stamped {
    /// The position up to which to skip.
    known: Option<Place>,
    /// The current position; `None` before the first line.
    pub place: Option<Place>,
    /// The part of a line that it is in.
    part: Part,
    /// The kubelet's own message, which has no timestamp.
    said: Vec<u8>,
}

#[derive(Debug)]
enum Part {
    /// In the timestamp; contains the bytes so far.
    Moment(Vec<u8>),
    /// In the text; contains the number of bytes to skip.
    Text(u64),
    /// In text without a timestamp. No program wrote it as a line: it is the kubelet's message, or the rest
    /// of a line from before the requested time.
    Words,
}

impl Default for Part {
    fn default() -> Self {
        Self::Moment(Vec::new())
    }
}

impl Stamped {
    /// Skips everything up to `known`.
    pub fn after(known: Option<Place>) -> Self {
        Self { known, ..Self::default() }
    }

    /// The kubelet's message, when it sent no log at all.
    pub fn instead(&self) -> Option<String> {
        let instead = self.place.is_none() && !self.said.is_empty();
        instead.then(|| String::from_utf8_lossy(&self.said).trim_end().to_owned())
    }

    /// The text of the next chunk, without timestamps.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        while !bytes.is_empty() {
            let (taken, rest) = match &mut self.part {
                Part::Moment(head) => {
                    let room = bytes.len().min(LONGEST - head.len());
                    let end = bytes[..room].iter().position(|byte| matches!(byte, b' ' | b'\n'));
                    let split = bytes.split_at(end.map_or(room, |at| at + 1));
                    head.extend_from_slice(split.0);
                    if end.is_some() || head.len() == LONGEST {
                        let head = std::mem::take(head);
                        self.part = self.begun(&head);
                    }
                    split
                }
                Part::Text(skipped) => {
                    let split = bytes.split_at(end_of_line(bytes));
                    let left_out = usize::try_from(*skipped).unwrap_or(usize::MAX).min(split.0.len());
                    out.extend_from_slice(&split.0[left_out..]);
                    *skipped -= left_out as u64;
                    if let Some(place) = &mut self.place {
                        place.within += split.0.len() as u64;
                    }
                    split
                }
                Part::Words => {
                    let split = bytes.split_at(end_of_line(bytes));
                    self.hear(split.0);
                    split
                }
            };
            if taken.ends_with(b"\n") {
                self.part = Part::default();
            }
            bytes = rest;
        }
        out
    }

    /// The part after `head`, which is a timestamp and a space, or text without one.
    fn begun(&mut self, head: &[u8]) -> Part {
        let text = head.strip_suffix(b" ").and_then(|text| std::str::from_utf8(text).ok());
        let Some(at) = text.and_then(|text| text.parse::<jiff::Timestamp>().ok()) else {
            self.hear(head);
            return Part::Words;
        };
        self.place = Some(Place { at, within: 0 });
        Part::Text(match self.known {
            Some(known) if at < known.at => u64::MAX,
            Some(known) if at == known.at => known.within,
            _ => 0,
        })
    }

    fn hear(&mut self, words: &[u8]) {
        let room = LONGEST_SAID.saturating_sub(self.said.len());
        self.said.extend_from_slice(&words[..words.len().min(room)]);
    }
}

/// The offset after the newline, or the length.
fn end_of_line(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str =
        "2026-11-22T03:00:00.000001234Z one two\n2026-11-22T03:00:01.5Z \n2026-11-22T03:00:02Z last";

    #[test]
    fn moments_are_taken_off_in_whatever_pieces_lines_come() {
        for size in 1..LOG.len() {
            let mut stamped = Stamped::default();
            let out: Vec<u8> = LOG.as_bytes().chunks(size).flat_map(|piece| stamped.push(piece)).collect();
            assert_eq!(String::from_utf8(out).unwrap(), "one two\n\nlast", "in pieces of {size}");
            assert_eq!(stamped.place, "2026-11-22T03:00:02Z 4".parse().ok());
        }
    }

    #[test]
    fn what_was_read_before_is_left_out() {
        let read = |known: &str| {
            let mut stamped = Stamped::after(Some(known.parse().unwrap()));
            String::from_utf8(stamped.push(LOG.as_bytes())).unwrap()
        };
        assert_eq!(read("2026-11-22T03:00:01.5Z 1"), "last");
        assert_eq!(read("2026-11-22T03:00:01.5Z 0"), "\nlast");
        assert_eq!(read("2026-11-22T03:00:00.000001234Z 3"), " two\n\nlast");
    }

    #[test]
    fn a_log_is_asked_for_from_the_second_of_its_line_on() {
        let place: Place = "2026-11-22T03:00:01.999999999Z 7".parse().unwrap();
        assert_eq!(place.second().to_string(), "2026-11-22T03:00:01Z");
    }

    #[test]
    fn text_without_a_moment_is_the_kubelets() {
        let text = "unable to retrieve container logs for containerd://0123456789abcdef";
        let mut stamped = Stamped::default();
        assert_eq!(stamped.push(text.as_bytes()), b"");
        assert_eq!(stamped.instead().as_deref(), Some(text));
        // The rest of a line that began before this read.
        let mut stamped = Stamped::default();
        assert_eq!(stamped.push(b"of an earlier line\n2026-11-22T03:00:01.5Z next\n"), b"next\n");
        assert_eq!(stamped.instead(), None);
    }

    #[test]
    fn a_reading_that_broke_off_anywhere_goes_on_where_it_was() {
        let text = LOG.as_bytes();
        for broken in 0..text.len() {
            // The kubelet may start with the rest of the line before the known one.
            for before in ["", "earlier\n"] {
                let mut first = Stamped::default();
                let mut out = first.push(&text[..broken]);
                let mut second = Stamped::after(first.place);
                out.extend(second.push(before.as_bytes()));
                out.extend(second.push(text));
                assert_eq!(String::from_utf8(out).unwrap(), "one two\n\nlast", "after {broken}");
            }
        }
    }
}
