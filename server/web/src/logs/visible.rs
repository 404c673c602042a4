//! The readable part of a line, as the pages show it (`ansi.ts`): without control sequences, and without what
//! a progress bar has overwritten.

use std::borrow::Cow;

/// The part after the last carriage return.
pub(super) fn after_returns(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.iter().rposition(|byte| *byte == b'\r') {
        Some(end) => &line[end + 1..],
        None => line,
    }
}

/// The text without control sequences (ECMA-48).
pub(super) fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.iter().any(|byte| is_control(*byte)) {
        return Cow::Borrowed(line);
    }
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((byte, after)) = rest.split_first() {
        rest = if *byte == 0x1b { after_escape(after) } else { after };
        if !is_control(*byte) {
            text.push(*byte);
        }
    }
    Cow::Owned(text)
}

/// Whether a byte is a control character other than a tab or the end of a line.
fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0b..=0x1f | 0x7f)
}

/// What follows a sequence, after its ESC.
fn after_escape(rest: &[u8]) -> &[u8] {
    match rest {
        [b'[', after @ ..] => after_parameters(after).unwrap_or(rest),
        [b']', after @ ..] => after_string(after).unwrap_or(after),
        [0x40..=0x5a | 0x5c | 0x5e | 0x5f, after @ ..] => after,
        _ => rest,
    }
}

/// What follows a control sequence, such as a colour.
fn after_parameters(rest: &[u8]) -> Option<&[u8]> {
    let is_parameter = |byte: &&u8| matches!(byte, b'0'..=b'9' | b';' | b':' | b'?');
    let rest = &rest[rest.iter().take_while(is_parameter).count()..];
    let rest = &rest[rest.iter().take_while(|byte| matches!(byte, 0x20..=0x2f)).count()..];
    match rest {
        [0x40..=0x7e, after @ ..] => Some(after),
        _ => None,
    }
}

/// What follows a string for the terminal, such as a title.
fn after_string(rest: &[u8]) -> Option<&[u8]> {
    let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
    match &rest[end..] {
        [0x07, after @ ..] | [0x1b, b'\\', after @ ..] => Some(after),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_the_pages_show_it() {
        for (line, shown) in [
            ("epoch 1: loss 0.5", "epoch 1: loss 0.5"),
            ("\x1b[1;31merror\x1b[0m: no \x1b[92mfile\x1b[39m!", "error: no file!"),
            ("10%\r20%\r30%\r", "30%"),
            ("\x1b]8;;http://x\x07<b>link</b>\x1b]8;;\x07\x1b[2K\x1b[1A.", "<b>link</b>."),
            ("\x1b]0;title\x1b\\a\x1b]0;no end", "a0;no end"),
            ("a\0b\x08c\x1b(", "abc("),
            ("\x1bMup\x1b[", "up["),
            ("\ttab 中文", "\ttab 中文"),
        ] {
            assert_eq!(String::from_utf8_lossy(&plain(after_returns(line.as_bytes()))), shown, "{line:?}");
        }
    }
}
