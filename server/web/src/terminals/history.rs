//! Latest output of a terminal, for browsers that reconnect.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum size of the history, in bytes.
const KEPT: usize = 64 << 10;

/// The latest bytes.
#[derive(Default)]
pub(super) struct History(Mutex<VecDeque<u8>>);

impl History {
    fn bytes(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, shown: &[u8]) {
        let mut bytes = self.bytes();
        bytes.extend(&shown[shown.len().saturating_sub(KEPT)..]);
        let over = bytes.len().saturating_sub(KEPT);
        bytes.drain(..over);
    }

    /// The whole history. If older output was dropped, it starts at a line: the end of a line or of an escape
    /// sequence would show as garbage.
    pub(super) fn all(&self) -> Vec<u8> {
        let bytes = self.bytes();
        let whole = bytes.len() < KEPT;
        let first = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.iter().copied().skip(if whole { 0 } else { first }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_is_kept_from_the_beginning_of_a_line() {
        let history = History::default();
        history.push(b"$ ls\r\nhere\r\n");
        assert_eq!(history.all(), b"$ ls\r\nhere\r\n");
        for n in 0..20_000 {
            history.push(format!("line {n}\r\n").as_bytes());
        }
        let all = String::from_utf8(history.all()).unwrap();
        assert!(all.len() > KEPT - 20 && all.len() <= KEPT, "{}", all.len());
        assert!(all.starts_with("line 1") && all.ends_with("line 19999\r\n"));
        history.push(&[b'x'; 3 * KEPT]);
        assert_eq!(history.all().len(), KEPT);
    }
}
