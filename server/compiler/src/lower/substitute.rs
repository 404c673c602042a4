//! `$(NAME)` in the syntax of Kubernetes: replaced by the worker's own variable; `$$(NAME)` is the escaped
//! form.

use std::collections::BTreeMap;

use cubeloom_domain::verbatim::DOLLAR;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Literal text.
    Text(&'t str),
    /// The value of this variable.
    Name(&'t str),
}

/// Splits a text at its references to known variables; other references are text, and so is everything from
/// data.
pub fn pieces<'t>(text: &'t str, known: impl Fn(&str) -> bool) -> Vec<Piece<'t>> {
    let mut found = Vec::new();
    for (at, text) in text.split(DOLLAR).enumerate() {
        found.extend((at > 0).then_some(Piece::Text("$")));
        split(text, &known, &mut found);
    }
    found
}

fn split<'t>(text: &'t str, known: impl Fn(&str) -> bool, found: &mut Vec<Piece<'t>>) {
    let mut rest = text;
    while let Some(start) = rest.find("$(") {
        let escaped = rest[..start].ends_with('$');
        found.push(Piece::Text(&rest[..start]));
        let reference = &rest[start..];
        let name = reference.find(')').map(|end| &reference[2..end]);
        let after = match name.filter(|name| known(name)) {
            Some(name) => {
                // The first `$` of `$$(NAME)` is already in the text, in place of the second.
                let whole = &reference[..name.len() + 3];
                found.push(if escaped { Piece::Text(&whole[1..]) } else { Piece::Name(name) });
                whole.len()
            }
            None => {
                found.push(Piece::Text("$("));
                2
            }
        };
        rest = &reference[after..];
    }
    found.push(Piece::Text(rest));
}

/// Replaces every reference to an existing variable; others stay unchanged.
pub fn substitute(text: &str, variables: &BTreeMap<String, String>) -> String {
    let value = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Name(name) => variables.get(name).map_or("", String::as_str),
    };
    pieces(text, |name| variables.contains_key(name)).into_iter().map(value).collect()
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
            ("\u{fdd0}(A)$(B)$\u{fdd0}(B)", "$(A)y$$(B)"),
        ] {
            assert_eq!(substitute(text, &variables), expected, "{text}");
        }
    }
}
