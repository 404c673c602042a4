//! Parses text into typed documents. It collects every problem, each with its position.

mod canvas;
mod decode;
mod json;
mod keys;
mod node;
mod pipeline;
mod placement;
pub(crate) mod resources;
mod search;
mod task;
mod template;
mod values;
mod yaml;

pub(crate) use decode::Decoder;
pub(crate) use node::Node;
pub(crate) use pipeline::is_variable;

use cubeloom_domain::pipeline::{Parameters, Pipeline, Schedule};
use cubeloom_domain::template::TaskTemplate;
use cubeloom_domain::{Code, JsonMap, Problem, Severity};

use crate::validate;

/// A parsed pipeline and its text.
#[derive(Clone, Debug)]
pub struct Document {
    pub pipeline: Pipeline,
    /// Warnings from parsing.
    pub(crate) warnings: Vec<Problem>,
    text: String,
}

impl Document {
    /// A pipeline without a text.
    pub(crate) fn of(pipeline: Pipeline) -> Self {
        Self { pipeline, warnings: Vec::new(), text: String::new() }
    }

    /// Fills in line and column from a problem's path. Parses the text again: a document without problems,
    /// the common case, keeps no tree.
    pub fn locate(&self, problems: &mut [Problem]) {
        if problems.iter().all(|problem| problem.line.is_some()) {
            return;
        }
        if let Ok(root) = tree(&self.text, &mut Vec::new()) {
            place(&root, problems);
        }
    }
}

/// Parses a pipeline, YAML or JSON, and runs the checks that need no templates.
///
/// # Errors
/// All problems, in text order.
pub fn parse_pipeline(text: &str) -> Result<Document, Vec<Problem>> {
    match read_pipeline(text) {
        (Some(document), problems) if problems.iter().all(|problem| problem.severity < Severity::Error) => {
            Ok(Document { warnings: problems, ..document })
        }
        (_, problems) => Err(problems),
    }
}

/// The readable part of a pipeline, and all problems; with errors the document is incomplete.
pub(crate) fn read_pipeline(text: &str) -> (Option<Document>, Vec<Problem>) {
    let (pipeline, mut problems) = read(text, |decoder, root| {
        let pipeline = pipeline::pipeline(decoder, root)?;
        decoder.problems.extend(validate::document(&pipeline));
        Some(pipeline)
    });
    sort(&mut problems);
    (pipeline.map(|pipeline| Document { pipeline, warnings: Vec::new(), text: text.to_owned() }), problems)
}

/// Decodes and checks a schedule alone, as it stands in a document.
///
/// # Errors
/// All problems, with their paths in the document: `/schedule/cron`.
pub fn parse_schedule(schedule: JsonMap) -> Result<Schedule, Vec<Problem>> {
    let mut decoder = Decoder::at("/schedule");
    let schedule = pipeline::schedule(&mut decoder, &Node::from_json(&serde_json::Value::Object(schedule)))
        .unwrap_or_default();
    validate::check_schedule(&schedule, &Parameters::new(), &mut decoder.problems);
    if decoder.problems.is_empty() { Ok(schedule) } else { Err(decoder.problems) }
}

/// A document as plain data, unchecked, for display and editing; `None` if its text cannot be parsed.
#[must_use]
pub fn plain(text: &str) -> Option<serde_json::Value> {
    plain_data(text).ok()
}

/// YAML or JSON as plain data.
///
/// # Errors
/// The first syntax error.
pub(crate) fn plain_data(text: &str) -> Result<serde_json::Value, Problem> {
    let mut problems = Vec::new();
    let root = tree(text, &mut problems)?;
    match problems.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok(root.to_json()),
    }
}

/// Parses a task template, YAML or JSON.
///
/// # Errors
/// All problems of form, with their lines; [`crate::check_template`] finds those of meaning.
pub fn parse_template(text: &str) -> Result<TaskTemplate, Vec<Problem>> {
    let (template, mut problems) = read(text, template::template);
    sort(&mut problems);
    match template {
        Some(template) if problems.is_empty() => Ok(template),
        _ => Err(problems),
    }
}

/// Parses and decodes; problems without a position get one.
fn read<T>(
    text: &str,
    decode: impl FnOnce(&mut Decoder, &Node<'_>) -> Option<T>,
) -> (Option<T>, Vec<Problem>) {
    let mut decoder = Decoder::default();
    let root = match tree(text, &mut decoder.problems) {
        Ok(root) => root,
        Err(problem) => return (None, vec![problem]),
    };
    let value = decode(&mut decoder, &root);
    place(&root, &mut decoder.problems);
    (value, decoder.problems)
}

fn tree<'t>(text: &'t str, problems: &mut Vec<Problem>) -> Result<Node<'t>, Problem> {
    if text.len() > node::MAX_BYTES {
        let message = format!("the document has {} bytes; at most {} are read", text.len(), node::MAX_BYTES);
        return Err(Problem::error(Code::TooLarge, "", message));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with('{') {
        return yaml::parse(text, problems);
    }
    // Text that begins like JSON is mostly JSON; otherwise it is YAML's flow style, which also begins with a
    // brace.
    let before = problems.len();
    json::parse(text, problems).or_else(|as_json| {
        problems.truncate(before);
        yaml::parse(text, problems).map_err(|as_yaml| if looks_like_json(text) { as_json } else { as_yaml })
    })
}

/// Whether the first key is in double quotes, as JSON requires.
fn looks_like_json(text: &str) -> bool {
    text.trim_start().trim_start_matches('{').trim_start().starts_with('"')
}

fn place(root: &Node<'_>, problems: &mut [Problem]) {
    for problem in problems.iter_mut().filter(|problem| problem.line.is_none()) {
        let mark = root.locate(&problem.path);
        (problem.line, problem.column) = (Some(mark.line), Some(mark.column));
    }
}

/// Sorts by position in the text.
fn sort(problems: &mut [Problem]) {
    problems.sort_by_key(|problem| (problem.line, problem.column));
}
