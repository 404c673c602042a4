//! Writes a value as YAML in a readable form: blocks, plain scalars where they are safe, long texts over
//! several lines.

use std::fmt::Write;

use serde_json::Value;

/// A list of at most this many numbers is written on one line.
const SHORT: usize = 4;

/// The value as a YAML document. This crate's parser reads it back as the same value.
#[must_use]
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(&mut out, value, 0),
        Value::Array(items) if !items.is_empty() => block(&mut out, value, 0),
        _ => {
            scalar(&mut out, value, 0);
            out.push('\n');
        }
    }
    out
}

/// A mapping or list that is not empty, with every line at this depth.
fn block(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(map) => {
            for (at, (key, value)) in map.iter().enumerate() {
                // The first key of a list item follows its dash.
                if at > 0 || out.is_empty() || out.ends_with('\n') {
                    indent(out, depth);
                }
                text(out, key, None);
                out.push(':');
                nested(out, value, depth + 1, true);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 || out.is_empty() || out.ends_with('\n') {
                    indent(out, depth);
                }
                out.push('-');
                nested(out, item, depth + 1, false);
            }
        }
        _ => {}
    }
}

fn nested(out: &mut String, value: &Value, depth: usize, own_lines: bool) {
    if is_block(value) {
        out.push(if own_lines { '\n' } else { ' ' });
        return block(out, value, depth);
    }
    out.push(' ');
    scalar(out, value, depth);
    out.push('\n');
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty() && !is_short(items),
        _ => false,
    }
}

fn is_short(items: &[Value]) -> bool {
    items.len() <= SHORT && items.iter().all(Value::is_number)
}

fn scalar(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::String(value) => text(out, value, Some(depth)),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            // Writing to a String cannot fail.
            let _ = write!(out, "[{}]", items.join(", "));
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

fn indent(out: &mut String, depth: usize) {
    out.extend(std::iter::repeat_n("  ", depth));
}

/// A text. With a depth, a text of several lines may become a block.
fn text(out: &mut String, text: &str, depth: Option<usize>) {
    match depth {
        Some(depth) if is_lines(text) => lines(out, text, depth),
        _ if is_plain(text) => out.push_str(text),
        _ => quoted(out, text),
    }
}

/// Words that every YAML reader takes as plain text.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '/' || c == '_');
    let safe = |c: char| c.is_alphanumeric() || "_-./@+%= ()".contains(c);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    first
        && !text.ends_with(' ')
        && text.chars().all(safe)
        && !words.contains(&text.to_ascii_lowercase().as_str())
}

/// Whether a text can be written as a block over several lines.
fn is_lines(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\n'])
        && body.chars().all(|c| c == '\n' || is_printable(c))
        && body.lines().all(|line| !line.ends_with(' '))
}

fn lines(out: &mut String, text: &str, depth: usize) {
    out.push_str(if text.ends_with('\n') { "|" } else { "|-" });
    for line in text.lines() {
        out.push('\n');
        if !line.is_empty() {
            indent(out, depth);
            out.push_str(line);
        }
    }
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
        }
    }
    out.push('"');
}
