//! Data in the words of a command. In a document, `$(NAME)` is a variable of the worker; in user input or
//! task outputs, it is plain text.
//!
//! Both may occur in one word. So the `$` of a reference in data is encoded as a character that no text
//! contains. The encoding lasts from the expression that inserts the data until the words are complete.

use std::borrow::Cow;

use serde_json::Value;

/// Encodes a `$` of data: a noncharacter, which Unicode reserves for internal use of programs.
pub const DOLLAR: char = '\u{fdd0}';

/// The platform's own references to its folders, which are known only where the worker runs. In data they
/// stay references: a run passes them to another as parameters.
const FOLDERS: [&str; 3] = ["(CUBELOOM_WORKSPACE)", "(CUBELOOM_CODE)", "(CUBELOOM_RUN_DIR)"];

/// Marks data, so that nothing in it is interpreted as a variable of the worker.
pub fn mark(value: &mut Value) {
    texts(value, &mut |text| {
        if !text.contains("$(") {
            return;
        }
        let mut marked = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find("$(") {
            let after = &rest[at + 1..];
            marked.push_str(&rest[..at]);
            marked.push(if FOLDERS.iter().any(|folder| after.starts_with(folder)) { '$' } else { DOLLAR });
            rest = after;
        }
        marked.push_str(rest);
        *text = marked;
    });
}

/// Removes the marks, if there are any.
pub fn unmark(value: &mut Value) {
    texts(value, &mut |text| {
        if let Cow::Owned(plain) = plain(text) {
            *text = plain;
        }
    });
}

/// A text without marks.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(DOLLAR) { text.replace(DOLLAR, "$").into() } else { text.into() }
}

fn texts(value: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, visit)),
        Value::Object(map) => map.values_mut().for_each(|value| texts(value, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marked_data_is_as_before_without_its_marks() {
        let data = json!({"a": ["$(HOME)", "$$(X) $( $", 7, null], "b": "$(CUBELOOM_RUN_DIR)/x$(CUBELOOM_JOB_TOKEN)"});
        let mut marked = data.clone();
        mark(&mut marked);
        assert_eq!(marked["a"][0], format!("{DOLLAR}(HOME)"));
        assert_eq!(marked["b"], format!("$(CUBELOOM_RUN_DIR)/x{DOLLAR}(CUBELOOM_JOB_TOKEN)"));
        unmark(&mut marked);
        assert_eq!(marked, data);
    }
}
