//! Derives valid names from Cube Studio's names.

use std::collections::BTreeSet;

/// Generates unique names.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// A DNS label similar to `text`, or `fallback`; a number makes it unique.
    pub fn label(&mut self, text: &str, fallback: &str) -> String {
        let base = match label(text) {
            empty if empty.is_empty() => fallback.to_owned(),
            label => label,
        };
        let mut name = base.clone();
        for n in 2usize.. {
            if self.0.insert(name.clone()) {
                break;
            }
            let ending = format!("-{n}");
            let cut: String = base.chars().take(63 - ending.len()).collect();
            name = format!("{}{ending}", cut.trim_end_matches('-'));
        }
        name
    }
}

/// The letters and digits of a text as a DNS label; empty if no valid character remains.
pub fn label(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => name.push(c),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    name.truncate(63);
    name.trim_matches('-').to_owned()
}

/// A name that expressions can use: letters, digits and `_`.
pub fn argument(text: &str) -> String {
    let plain = text.trim_start_matches('-');
    let name: String = plain.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    match name.chars().next() {
        Some(c) if !c.is_ascii_digit() => name,
        _ => format!("a{name}"),
    }
}
