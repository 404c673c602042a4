//! Values as people read them on pages: like YAML, so that a text of several lines keeps its lines.

use serde_json::{Map, Value};

/// A value as a page shows it: a text without quotes, lists and mappings an element a line.
#[must_use]
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "[]".into(),
        Value::Object(members) if members.is_empty() => "{}".into(),
        Value::Array(_) | Value::Object(_) => {
            let mut lines = Vec::new();
            put(value, 0, "", &mut lines);
            lines.join("\n")
        }
        other => other.to_string(),
    }
}

/// Adds a value's lines; `before` stands in front of the first one: `- ` or `key: `.
fn put(value: &Value, depth: usize, before: &str, lines: &mut Vec<String>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let depth = open(before, depth, lines);
            items.iter().for_each(|item| put(item, depth, "- ", lines));
        }
        Value::Object(members) if !members.is_empty() => put_members(members, depth, before, lines),
        Value::String(text) if text.contains('\n') => {
            lines.push(format!("{}{before}|", indent(depth)));
            let inside = indent(depth + 1);
            lines.extend(text.lines().map(|line| format!("{inside}{line}").trim_end().to_owned()));
        }
        Value::String(text) if is_plain(text) => lines.push(format!("{}{before}{text}", indent(depth))),
        other => lines.push(format!("{}{before}{other}", indent(depth))),
    }
}

fn put_members(members: &Map<String, Value>, depth: usize, before: &str, lines: &mut Vec<String>) {
    let depth = open(before, depth, lines);
    members.iter().for_each(|(name, value)| put(value, depth, &format!("{name}: "), lines));
}

/// The line that a list or a mapping in another one begins with; where its elements stand.
fn open(before: &str, depth: usize, lines: &mut Vec<String>) -> usize {
    if before.is_empty() {
        return depth;
    }
    lines.push(format!("{}{}", indent(depth), before.trim_end()));
    depth + 1
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth)
}

/// Whether a text cannot be taken for a number, a switch or a part of the writing.
fn is_plain(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|sign| sign.is_alphabetic() || "/.$<(".contains(sign))
        && text.trim() == text
        && !matches!(text, "true" | "false" | "null")
        && !text.contains(": ")
        && !text.contains(" #")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_several_lines_keep_their_lines() {
        let program = serde_json::json!(["python3", "-c", "import os\n\nprint(1)\n", 2, "2", "true", {}]);
        assert_eq!(
            value(&program),
            "- python3\n- \"-c\"\n- |\n  import os\n\n  print(1)\n- 2\n- \"2\"\n- \"true\"\n- {}"
        );
        let nested = serde_json::json!({"a": {"b": [1, null]}, "c": "x: y"});
        assert_eq!(value(&nested), "a:\n  b:\n    - 1\n    - null\nc: \"x: y\"");
        assert_eq!(value(&Value::String("as it\nis".into())), "as it\nis");
    }
}
