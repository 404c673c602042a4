//! Problems of documents, as lines for people or as JSON for programs.

use std::path::Path;

use cubeloom_domain::{Problem, Severity};
use cubeloom_web::error::ProblemView;
use serde::Serialize;
use serde_json::json;

use crate::show::{self, Output, Style, Styles};

/// What is shown of a problem.
pub struct Shown<'p> {
    is_error: bool,
    /// JSON pointer, empty for the whole document.
    path: &'p str,
    message: &'p str,
    /// Line and column, as far as they are known.
    position: [Option<u32>; 2],
}

/// A problem of a document: one found here, or one that a server has found.
pub trait Located: Serialize {
    fn shown(&self) -> Shown<'_>;
}

impl Located for Problem {
    fn shown(&self) -> Shown<'_> {
        let is_error = self.severity >= Severity::Error;
        Shown { is_error, path: &self.path, message: &self.message, position: [self.line, self.column] }
    }
}

impl Located for ProblemView {
    fn shown(&self) -> Shown<'_> {
        let is_error = self.severity == "error";
        Shown { is_error, path: &self.path, message: &self.message, position: [self.line, self.column] }
    }
}

/// Prints all problems: `file:line:column: error: /path: message`.
pub fn print(file: &Path, problems: &[impl Located], output: Output) -> anyhow::Result<()> {
    match output {
        Output::Json => show::json(&json!({"file": file, "problems": problems})),
        Output::Human => {
            let styles = Styles::detect();
            problems.iter().for_each(|problem| show::line(line(file, problem, styles)));
            Ok(())
        }
    }
}

/// Prints warnings next to a command's results.
pub fn warn(file: &Path, problems: &[impl Located]) {
    problems.iter().for_each(|problem| show::note(line(file, problem, Styles::plain())));
}

/// Whether none of them is an error.
pub fn none_stops(problems: &[impl Located]) -> bool {
    !problems.iter().any(|problem| problem.shown().is_error)
}

fn line(file: &Path, problem: &impl Located, styles: Styles) -> String {
    let Shown { is_error, path, message, position } = problem.shown();
    let mut place = file.display().to_string();
    for number in position.into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    let word = match is_error {
        true => styles.paint(Style::Bad, "error"),
        false => styles.paint(Style::Warn, "warning"),
    };
    let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
    format!("{}: {word}: {path}{message}", styles.paint(Style::Bold, &place))
}
