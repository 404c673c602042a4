//! Log lines as the kubelet sends them with `timestamps=true`: each begins with the moment at which it was begun. Pure.

use std::fmt;
use std::str::FromStr;

use cubeloom_domain::Timestamp;
use jiff::{RoundMode, TimestampRound, Unit};

/// No moment is longer than this, with its space.
const LONGEST: usize = 40;
/// As much of the kubelet's own words is kept.
const LONGEST_SAID: usize = 1000;

/// A place in a container's log that can be found again in another reading of it: the present line's moment, and how many
/// of its bytes came before. A line may be as long as the log: programs that draw on a terminal end none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// To the nanosecond, as container runtimes write it: it is what tells lines from each other.
    pub at: jiff::Timestamp,
    /// In bytes, its newline among them.
    pub within: u64,
}

impl Place {
    /// When the line was begun.
    pub fn moment(&self) -> Timestamp {
        Timestamp(self.at.as_microsecond())
    }

    /// The whole second in which the line was begun: requests for logs know no parts of seconds, and what rounds them up
    /// would leave the line out.
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

/// Takes moments off the beginnings of lines, in whatever pieces they come.
#[derive(Debug, Default)]
pub struct Stamped {
    /// What was read before, and is left out.
    known: Option<Place>,
    /// How far this reading has come; `None` before its first line.
    pub place: Option<Place>,
    /// Which part of a line it is in.
    part: Part,
    /// The kubelet's own words, which have no moment.
    said: Vec<u8>,
}

#[derive(Debug)]
enum Part {
    /// In its moment, of which this much is here.
    Moment(Vec<u8>),
    /// In its text, of which this many bytes are left out still.
    Text(u64),
    /// In text without a moment. No program wrote it as a line: it is the kubelet's own, or the end of a line that was
    /// begun before what was asked for.
    Words,
}

impl Default for Part {
    fn default() -> Self {
        Self::Moment(Vec::new())
    }
}

impl Stamped {
    /// Leaves out what was written up to `known`.
    pub fn after(known: Option<Place>) -> Self {
        Self { known, ..Self::default() }
    }

    /// What the kubelet says in the place of the log, when it has sent none of it.
    pub fn instead(&self) -> Option<String> {
        let instead = self.place.is_none() && !self.said.is_empty();
        instead.then(|| String::from_utf8_lossy(&self.said).trim_end().to_owned())
    }

    /// The text of the next piece, without the moments.
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

    /// What follows `head`, which is a moment and a space, or text that is none.
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

/// Behind the newline, or all of it.
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
        // The end of a line that was begun earlier than the reading.
        let mut stamped = Stamped::default();
        assert_eq!(stamped.push(b"of an earlier line\n2026-11-22T03:00:01.5Z next\n"), b"next\n");
        assert_eq!(stamped.instead(), None);
    }

    #[test]
    fn a_reading_that_broke_off_anywhere_goes_on_where_it_was() {
        let text = LOG.as_bytes();
        for broken in 0..text.len() {
            // The kubelet may begin with the end of the line before the one that is known.
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
