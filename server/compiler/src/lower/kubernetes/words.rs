//! Texts with `$(NAME)`, in the form of containers.
//!
//! The kubelet expands `$(NAME)` for variables in the pod's description. A rank that is an index plus a
//! number is not one of them: a shell computes it. No text of a task is part of the shell's program: the
//! program is generated here, and texts are its parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::lower::substitute::{Piece, pieces};

/// A part of a text: one that the kubelet resolves, or a variable known only in the container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Text(String),
    Late(String),
}

/// A text's parts. `late` has the variables that the kubelet cannot resolve.
pub fn parts(text: &str, known: impl Fn(&str) -> bool, late: &BTreeSet<String>) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    let mut plain = String::new();
    let mut done = String::new();
    for piece in pieces(text, known) {
        match piece {
            Piece::Text(text) => plain.push_str(text),
            Piece::Name(name) => {
                done.push_str(&escape(&std::mem::take(&mut plain)));
                if late.contains(name) {
                    found.push(Part::Text(std::mem::take(&mut done)));
                    found.push(Part::Late(name.to_owned()));
                } else {
                    let _ = write!(done, "$({name})");
                }
            }
        }
    }
    done.push_str(&escape(&plain));
    found.push(Part::Text(done));
    found.retain(|part| *part != Part::Text(String::new()));
    found
}

/// Escapes a text so that the kubelet leaves it unchanged, whatever follows it.
pub fn escape(text: &str) -> String {
    let is_read = text.contains("$$") || text.contains("$(") || text.ends_with('$');
    if is_read { text.replace('$', "$$") } else { text.to_owned() }
}

/// The text of the parts, if none is late.
pub fn plain(parts: &[Part]) -> Option<String> {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Late(_) => None,
        })
        .collect()
}

/// Variables that a shell computes before it execs the program.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// Name, and the number added to the worker's index.
    pub ranks: BTreeMap<String, u32>,
    /// Name, and the parts of the value.
    pub texts: BTreeMap<String, Vec<Part>>,
}

impl Shell {
    /// A container's command.
    pub fn command(&self, words: &[Vec<Part>]) -> Vec<String> {
        let plain: Option<Vec<String>> = words.iter().map(|word| plain(word)).collect();
        match plain {
            Some(plain) if self.ranks.is_empty() && self.texts.is_empty() => plain,
            _ => self.script(words),
        }
    }

    fn script(&self, words: &[Vec<Part>]) -> Vec<String> {
        let mut program = String::new();
        let mut parameters = Vec::new();
        for (name, offset) in &self.ranks {
            let _ = write!(program, "export {name}=$((CUBELOOM_INDEX + {offset})); ");
        }
        for (name, parts) in &self.texts {
            let _ = write!(program, "export {name}={}; ", quoted(parts, &mut parameters));
        }
        program.push_str("exec");
        for word in words {
            program.push(' ');
            program.push_str(&quoted(word, &mut parameters));
        }
        let start = ["/bin/sh".to_owned(), "-c".to_owned(), program, "cubeloom".to_owned()];
        start.into_iter().chain(parameters).collect()
    }
}

/// A word of the shell's program; its texts become parameters.
fn quoted(parts: &[Part], parameters: &mut Vec<String>) -> String {
    let mut word = String::from("\"");
    for part in parts {
        let _ = match part {
            Part::Late(name) => write!(word, "${{{name}}}"),
            Part::Text(text) => {
                parameters.push(text.clone());
                write!(word, "${{{}}}", parameters.len())
            }
        };
    }
    word.push('"');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<Part> {
        let late = BTreeSet::from(["LATE".to_owned()]);
        parts(text, |name| ["LATE", "A"].contains(&name), &late)
    }

    #[test]
    fn what_the_kubelet_knows_is_left_to_it_and_the_rest_is_escaped() {
        for (text, expected) in [
            ("plain $HOME", "plain $HOME"),
            ("$(A)/x", "$(A)/x"),
            ("$(B)", "$$(B)"),
            ("$$(A)", "$$(A)"),
            ("$$", "$$$$"),
            ("US$", "US$$"),
            ("", ""),
        ] {
            assert_eq!(plain(&split(text)).unwrap(), expected, "{text}");
        }
        assert_eq!(plain(&split("$(LATE)")), None);
    }

    #[test]
    fn texts_are_parameters_of_the_shell_never_its_program() {
        let shell = Shell { ranks: [("LATE".to_owned(), 1)].into(), ..Shell::default() };
        let words = [split("run"), split("--at=$(LATE);$(A)\"`id`")];
        let command = shell.command(&words);
        assert_eq!(command[2], r#"export LATE=$((CUBELOOM_INDEX + 1)); exec "${1}" "${2}${LATE}${3}""#);
        assert_eq!(command[3..], ["cubeloom", "run", "--at=", ";$(A)\"`id`"]);
        assert_eq!(Shell::default().command(&[split("run"), split("$(A)")]), ["run", "$(A)"]);
    }
}
