//! Problems of documents, as lines for people or as JSON for programs.

use std::path::Path;

use cubeloom_domain::{Problem, Severity};
use cubeloom_web::error::ProblemView;
use serde::Serialize;
use serde_json::json;

use crate::show::{self, Output, Style, Styles};

/// A problem of a document: one found here, or one that a server has found.
pub trait Shown: Serialize {
    fn is_error(&self) -> bool;
    /// JSON pointer, empty for the whole document.
    fn path(&self) -> &str;
    fn message(&self) -> &str;
    /// Line and column, as far as they are known.
    fn position(&self) -> [Option<u32>; 2];
}

impl Shown for Problem {
    fn is_error(&self) -> bool {
        self.severity >= Severity::Error
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn message(&self) -> &str {
        &self.message
    }

    fn position(&self) -> [Option<u32>; 2] {
        [self.line, self.column]
    }
}

impl Shown for ProblemView {
    fn is_error(&self) -> bool {
        self.severity == "error"
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn message(&self) -> &str {
        &self.message
    }

    fn position(&self) -> [Option<u32>; 2] {
        [self.line, self.column]
    }
}

/// Prints all problems: `file:line:column: error: /path: message`.
pub fn print(file: &Path, problems: &[impl Shown], output: Output) -> anyhow::Result<()> {
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
pub fn warn(file: &Path, problems: &[impl Shown]) {
    problems.iter().for_each(|problem| show::note(line(file, problem, Styles::plain())));
}

/// Whether none of them is an error.
pub fn none_stops(problems: &[impl Shown]) -> bool {
    !problems.iter().any(Shown::is_error)
}

fn line(file: &Path, problem: &impl Shown, styles: Styles) -> String {
    let mut place = file.display().to_string();
    for number in problem.position().into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    let word = match problem.is_error() {
        true => styles.paint(Style::Bad, "error"),
        false => styles.paint(Style::Warn, "warning"),
    };
    let path = if problem.path().is_empty() { String::new() } else { format!("{}: ", problem.path()) };
    format!("{}: {word}: {path}{}", styles.paint(Style::Bold, &place), problem.message())
}
