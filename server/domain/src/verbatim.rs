//! Data among the words of a command: in a document, `$(NAME)` is a variable of the worker; in what a person typed or a task
//! reported, it is text.
//!
//! Both may stand in one word. So the `$` of a reference in data is written as a character that no text has, from where an
//! expression puts the data in until the words are made.

use std::borrow::Cow;

use serde_json::Value;

/// Stands for a `$` of data: a noncharacter, which Unicode leaves to programs for such ends.
pub const DOLLAR: char = '\u{fdd0}';

/// How the platform itself writes its folders, which are known where the worker runs. In data they stay references: a run hands
/// them to another as parameters.
const FOLDERS: [&str; 3] = ["(CUBELOOM_WORKSPACE)", "(CUBELOOM_CODE)", "(CUBELOOM_RUN_DIR)"];

/// Marks data, so that nothing in it is taken for a variable of the worker.
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

/// Takes the marks away, where there are some.
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
