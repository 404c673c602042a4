//! Log lines as the kubelet sends them with `timestamps=true`: each begins with the moment at which it was written. Pure.

use cubeloom_domain::Timestamp;

/// No moment is longer than this, with its space.
const LONGEST: usize = 40;

/// Takes moments off the beginnings of lines, in whatever pieces they come.
#[derive(Debug, Default)]
pub struct Stamped {
    /// The beginning of a line whose moment is not whole yet; `None` within a line.
    head: Option<Vec<u8>>,
    begun: bool,
    /// Lines up to this moment were read before, and are left out.
    known: Option<Timestamp>,
    /// Whether the present line is left out.
    skipping: bool,
    /// The moment of the present line.
    pub at: Option<Timestamp>,
}

impl Stamped {
    /// Leaves out what was written up to `known`.
    pub fn after(known: Option<Timestamp>) -> Self {
        Self { known, ..Self::default() }
    }

    /// The text of the next piece, without the moments.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        if !std::mem::replace(&mut self.begun, true) {
            self.head = Some(Vec::new());
        }
        let mut out = Vec::with_capacity(bytes.len());
        while !bytes.is_empty() {
            if let Some(head) = &mut self.head {
                let wanted = bytes.iter().take(LONGEST).position(|byte| matches!(byte, b' ' | b'\n'));
                let taken = wanted.map_or(bytes.len().min(LONGEST), |at| at + 1);
                head.extend_from_slice(&bytes[..taken]);
                bytes = &bytes[taken..];
                if wanted.is_none() && head.len() < LONGEST {
                    break;
                }
                let head = self.head.take().unwrap_or_default();
                self.line(&head, &mut out);
            } else {
                let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
                if !self.skipping {
                    out.extend_from_slice(&bytes[..end]);
                }
                if bytes[end - 1] == b'\n' {
                    self.head = Some(Vec::new());
                }
                bytes = &bytes[end..];
            }
        }
        out
    }

    /// A line begins with `head`, which is a moment and a space, or text that has none.
    fn line(&mut self, head: &[u8], out: &mut Vec<u8>) {
        let text = head.strip_suffix(b" ").and_then(|text| std::str::from_utf8(text).ok());
        let moment = text.and_then(|text| text.parse::<jiff::Timestamp>().ok());
        match moment {
            Some(moment) => {
                let at = Timestamp(moment.as_microsecond());
                self.skipping = self.known.is_some_and(|known| at <= known);
                if !self.skipping {
                    self.at = Some(at);
                }
            }
            None => {
                if !self.skipping {
                    out.extend_from_slice(head);
                }
                if head.ends_with(b"\n") {
                    self.head = Some(Vec::new());
                }
            }
        }
    }
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
            assert_eq!(stamped.at, "2026-11-22T03:00:02Z".parse().ok().map(micros));
        }
    }

    #[test]
    fn what_was_read_before_is_left_out() {
        let known = "2026-11-22T03:00:01.5Z".parse().ok().map(micros);
        let mut stamped = Stamped::after(known);
        assert_eq!(stamped.push(LOG.as_bytes()), b"last");
    }

    #[test]
    fn a_line_without_a_moment_stays_as_it_is() {
        let mut stamped = Stamped::default();
        let long = "x".repeat(100);
        let text = format!("unable to retrieve\n{long}\n");
        assert_eq!(stamped.push(text.as_bytes()), text.as_bytes());
    }

    fn micros(moment: jiff::Timestamp) -> Timestamp {
        Timestamp(moment.as_microsecond())
    }
}
