//! Problems of documents, as lines for people or as JSON for programs.

use std::path::Path;

use cubeloom_domain::{Problem, Severity};
use serde_json::json;

use crate::show::{self, Output, Style, Styles};

/// Prints all problems: `file:line:column: error: /path: message`.
pub fn print(file: &Path, problems: &[Problem], output: Output) -> anyhow::Result<()> {
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
pub fn warn(file: &Path, problems: &[Problem]) {
    problems.iter().for_each(|problem| show::note(line(file, problem, Styles::plain())));
}

/// Whether none of them is an error.
pub fn none_stops(problems: &[Problem]) -> bool {
    problems.iter().all(|problem| problem.severity < Severity::Error)
}

fn line(file: &Path, problem: &Problem, styles: Styles) -> String {
    let mut place = file.display().to_string();
    for number in [problem.line, problem.column].into_iter().flatten() {
        place.push_str(&format!(":{number}"));
    }
    let word = match problem.severity {
        Severity::Error => styles.paint(Style::Bad, "error"),
        Severity::Warning => styles.paint(Style::Warn, "warning"),
    };
    let path = if problem.path.is_empty() { String::new() } else { format!("{}: ", problem.path) };
    format!("{}: {word}: {path}{}", styles.paint(Style::Bold, &place), problem.message)
}
