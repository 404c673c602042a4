//! Values for people, similar to YAML: multi-line texts keep their lines.

use serde_json::{Map, Value};

/// A value as a page shows it: texts without quotes, one line per item of lists and mappings.
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

/// Appends a value's lines. `before` is the prefix of the first one: `- ` or `key: `.
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

/// Starts a nested list or mapping. Returns the indentation of its items.
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

/// Whether a text cannot be mistaken for a number, a boolean or syntax.
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
