//! Filters workers' output for a terminal. Colors stay; other control sequences are removed: title,
//! clipboard, cursor, and queries whose replies would count as typed input. ECMA-48, and xterm's control
//! sequences.

/// Longer sequences are not colors.
const LONGEST: usize = 64;

/// The parser state: a sequence may arrive in parts.
#[derive(Debug, Default)]
pub struct Tame {
    state: State,
    /// The parameters of the current sequence.
    parameters: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After the first byte of a two-byte control character, or of a letter.
    Two,
    /// After ESC.
    Escape,
    /// In a control sequence, which ends with a letter.
    Sequence,
    /// In a string for the terminal, which ends with BEL or ESC and a backslash.
    String,
}

impl Tame {
    /// The printable part of these bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        bytes.iter().for_each(|byte| self.take(*byte, &mut shown));
        shown
    }

    fn take(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match (self.state, byte) {
            (_, 0x1b) => self.begin(State::Escape),
            (State::Text, 0xc2) => self.state = State::Two,
            (State::Text, b'\n' | b'\r' | b'\t' | 0x20..=0x7e | 0x80..) => shown.push(byte),
            (State::Text, _) => {}
            (State::Two, 0x9b) => self.begin(State::Sequence),
            (State::Two, 0x90 | 0x98 | 0x9d..=0x9f) => self.begin(State::String),
            (State::Two, 0x80..=0x9f) => self.state = State::Text,
            (State::Two, _) => {
                shown.push(0xc2);
                self.state = State::Text;
                self.take(byte, shown);
            }
            (State::Escape, b'[') => self.begin(State::Sequence),
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => self.begin(State::String),
            // One more byte selects a character set.
            (State::Escape, 0x20..=0x2f) => {}
            (State::Sequence, 0x20..=0x3f) => self.parameters.push(byte),
            (State::Sequence, b'm') => self.colour(shown),
            // An unterminated string ends with its line.
            (State::Escape | State::String, b'\n') => {
                shown.push(byte);
                self.state = State::Text;
            }
            (State::String, 0x07 | 0x18 | 0x1a) | (State::Escape | State::Sequence, _) => {
                self.state = State::Text;
            }
            (State::String, _) => {}
        }
    }

    fn begin(&mut self, state: State) {
        self.parameters.clear();
        self.state = state;
    }

    fn colour(&mut self, shown: &mut Vec<u8>) {
        let plain = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
        if self.parameters.len() <= LONGEST && self.parameters.iter().all(plain) {
            shown.extend_from_slice(b"\x1b[");
            shown.extend_from_slice(&self.parameters);
            shown.push(b'm');
        }
        self.state = State::Text;
    }
}

/// The same for a complete text.
pub fn tame(text: &str) -> String {
    if !text.contains(|c: char| c.is_control() && c != '\n') {
        return text.to_owned();
    }
    String::from_utf8_lossy(&Tame::default().push(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stay_and_what_steers_a_terminal_goes() {
        for (text, shown) in [
            ("plain, äöü 中文 ° Â\n", "plain, äöü 中文 ° Â\n"),
            ("\x1b[1;31mred\x1b[0m\t50 %\r100 %\n", "\x1b[1;31mred\x1b[0m\t50 %\r100 %\n"),
            ("\x1b]0;title\x07a\x1b]52;c;aGk=\x1b\\b", "ab"),
            ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bP$q\"p\x1b\\a\x1b_x\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d", "abcd"),
            ("\x1b[2J\x1b[6n\x1b[c\x1b[?1049h\x1b[>4;1m\x1bca\x1b(B", "a"),
            ("a\x08b\x7fc\x00d\x05e", "abcde"),
            ("\u{9b}31mred\u{9d}0;title\x07\u{85}", "\x1b[31mred"),
            ("an end that does not come \x1b]0;title\nnext\n", "an end that does not come \nnext\n"),
        ] {
            assert_eq!(tame(text), shown, "{text:?}");
            let mut pieces = Tame::default();
            let one_by_one: Vec<u8> = text.bytes().flat_map(|byte| pieces.push(&[byte])).collect();
            assert_eq!(String::from_utf8(one_by_one).unwrap(), shown, "{text:?}");
        }
        let long = format!("\x1b[{}mtext", "1;".repeat(100));
        assert_eq!(tame(&long), "text");
    }
}
