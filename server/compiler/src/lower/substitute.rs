//! `$(NAME)`, as Kubernetes writes it: replaced by the worker's own variable, `$$(NAME)` stands for itself.

use std::collections::BTreeMap;

/// Replaces every reference to a variable that there is; others stay as they are.
pub fn substitute(text: &str, variables: &BTreeMap<String, String>) -> String {
    if !text.contains("$(") {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("$(") {
        let escaped = rest[..start].ends_with('$');
        result.push_str(&rest[..start]);
        let reference = &rest[start..];
        let name = reference.find(')').map(|end| &reference[2..end]);
        match name.and_then(|name| Some((name, variables.get(name)?))) {
            Some((name, _)) if escaped => {
                // The first `$` of `$$(NAME)` is already there, and stands for the second.
                result.push_str(&reference[1..name.len() + 3]);
                rest = &reference[name.len() + 3..];
            }
            Some((name, value)) => {
                result.push_str(value);
                rest = &reference[name.len() + 3..];
            }
            None => {
                result.push_str("$(");
                rest = &reference[2..];
            }
        }
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_variables_are_replaced_and_escapes_kept() {
        let variables = [("A".to_owned(), "x$(A)".to_owned()), ("B".to_owned(), "y".to_owned())].into();
        for (text, expected) in [
            ("$(A)/$(B)", "x$(A)/y"),
            ("$$(A)", "$(A)"),
            ("$(C) $( $(B", "$(C) $( $(B"),
            ("é$(B)é", "éyé"),
            ("$$$(B)", "$$(B)"),
            ("plain", "plain"),
        ] {
            assert_eq!(substitute(text, &variables), expected, "{text}");
        }
    }
}
