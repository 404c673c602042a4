//! Splits logs into chunks: after a complete line, never within a character.

/// Maximum size of a chunk, in bytes. Longer lines are split.
pub(crate) const LONGEST: usize = 64 << 10;

/// Number of bytes to return now. An incomplete line waits for its end, unless it has the maximum size or
/// `all` is set.
pub(super) fn cut(bytes: &[u8], all: bool) -> usize {
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        _ if all => whole_characters(bytes),
        Some(end) => end + 1,
        None if bytes.len() == LONGEST => whole_characters(bytes),
        None => 0,
    }
}

/// The length without an incomplete UTF-8 character at the end.
pub(super) fn whole_characters(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        let needed = match bytes[at] {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            // Continuation byte.
            0x80..=0xBF => continue,
            _ => 1,
        };
        return if needed > back { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_where_they_can_be() {
        assert_eq!(cut(b"one\ntwo\nthr", false), 8);
        assert_eq!(cut(b"one", false), 0);
        assert_eq!(cut(b"one", true), 3);
        assert_eq!(cut(b"one\ntw", true), 6);
        assert_eq!(cut(&vec![b'x'; LONGEST + 10], false), LONGEST);
        assert_eq!(cut(b"", true), 0);
    }

    #[test]
    fn no_character_is_torn_apart() {
        let text = "naïve 数据 🧵".as_bytes();
        for end in 1..=text.len() {
            let told = cut(&text[..end], true);
            assert!(std::str::from_utf8(&text[..told]).is_ok(), "{end}");
            assert!(end - told <= 3);
        }
        // Invalid UTF-8 is passed through, and never waits for more bytes.
        assert_eq!(cut(&[b'a', 0xFF, 0xFE], true), 3);
        assert_eq!(cut(&[0x80, 0x80, 0x80, 0x80], true), 4);
        let mut long = vec![b'x'; LONGEST - 1];
        long.extend("é".as_bytes());
        assert_eq!(cut(&long, false), LONGEST - 1);
    }
}
