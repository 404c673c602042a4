//! What workers wrote to `CUBELOOM_OUTPUTS`: JSON lines of outputs, metrics, progress, checkpoints,
//! artifacts.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cubeloom_domain::executor::{Artifact, Metric, Progress, Report};
use cubeloom_domain::json::of_program;
use cubeloom_domain::model::ReportedModel;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::preflight::Tested;
use cubeloom_domain::{JsonMap, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::logs;
use crate::place::Place;

/// Maximum size that is read of one worker's file, in bytes.
pub const MOST: usize = 16 << 20;
/// Maximum number of registered models of an attempt.
const MOST_MODELS: usize = 100;
/// Maximum shown characters of an invalid name.
const LONGEST_SHOWN: usize = 80;
/// Maximum number of warnings.
const MOST_WARNINGS: usize = 20;
/// The beginning of a model's line.
const OF_A_MODEL: &[u8] = b"{\"model\"";

/// A masked copy next to the outputs of a worker with secrets: the outputs themselves are masked only when it
/// has ended.
pub fn masked(outputs: &Path) -> PathBuf {
    outputs.with_extension("masked.jsonl")
}

/// The file to read a worker's outputs from. The copy remains if the worker's shim died before it could mask
/// them.
pub fn readable(outputs: impl Into<Place>) -> Place {
    let outputs = outputs.into();
    let copy = outputs.other(masked(outputs.path()));
    if copy.exists() { copy } else { outputs }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    Output(JsonMap),
    Metric(Metric),
    Progress(Stepped),
    Checkpoint(Value),
    Restored(Took),
    Artifact(Artifact),
    Model(Box<ReportedModel>),
    Preflight(Box<Tested>),
}

/// Progress of a program, with its time.
#[derive(Deserialize)]
pub(crate) struct Stepped {
    #[serde(flatten)]
    pub(crate) progress: Progress,
    /// In seconds since the epoch, by the worker's clock.
    #[serde(default)]
    at: Option<f64>,
}

impl Stepped {
    /// When it was reported, by the worker's clock. `None` without a time.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        let said = Duration::try_from_secs_f64(self.at?).unwrap_or_default();
        Some(Timestamp::default().plus(said))
    }
}

/// A duration reported by a program.
#[derive(Deserialize)]
pub(crate) struct Took {
    #[serde(default)]
    seconds: f64,
}

impl Took {
    /// The duration within a report with other values.
    pub(crate) fn in_value(value: &Value) -> Self {
        Self { seconds: value["seconds"].as_f64().unwrap_or_default() }
    }

    pub(crate) fn duration(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }
}

/// Reads the files of all workers, in rank order: of equal outputs, the lowest rank's counts.
pub fn collect<P: Into<Place>>(files: impl Iterator<Item = (String, P)>) -> Report {
    collect_within(files, u64::MAX)
}

/// The same for files that may be many or large: at most `most` bytes in total. Data beyond that is skipped
/// per worker, with a warning.
pub fn collect_within<P: Into<Place>>(files: impl Iterator<Item = (String, P)>, most: u64) -> Report {
    let mut report = Report::default();
    let (mut left, mut left_out) = (most, 0usize);
    for (worker, path) in files {
        let path = readable(path);
        let length = length(&path) as u64;
        if length > left {
            left_out += 1;
            continue;
        }
        left -= length;
        add_file(&mut report, &worker, Ok(path));
    }
    if left_out > 0 {
        let why = "the output files are too long in total";
        warn(&mut report, format!("the outputs of {left_out} workers were not read: {why}"));
    }
    report
}

/// Adds the content of one worker's file, or a warning that it cannot be read.
pub fn add_file(report: &mut Report, worker: &str, path: io::Result<impl Into<Place>>) {
    let read = path
        .map(Into::into)
        .and_then(|path: Place| Ok((logs::range(&path, 0, length(&path))?, logs::len(&path)?)));
    match read {
        Ok((piece, whole)) => {
            add(report, worker, &piece.bytes);
            if whole > MOST as u64 {
                warn(report, format!("{worker}: only the first 16 MiB of its outputs were read"));
            }
        }
        Err(error) => warn(report, format!("{worker}: its outputs cannot be read: {error}")),
    }
}

/// How much of a worker's file is read, in bytes.
#[must_use]
pub fn length(path: impl Into<Place>) -> usize {
    usize::try_from(logs::len(path).unwrap_or(0)).unwrap_or(MOST).min(MOST)
}

/// Adds the lines of one worker's file. Values of earlier workers take precedence.
pub fn add(report: &mut Report, worker: &str, text: &[u8]) {
    let mut own = JsonMap::new();
    let mut bad = 0usize;
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        match serde_json::from_slice(&of_program(line)) {
            Ok(Line::Output(values)) => own.extend(values),
            Ok(Line::Metric(metric)) => report.metrics.push(metric),
            Ok(Line::Checkpoint(value)) => report.checkpoint = Some(value),
            Ok(Line::Artifact(artifact)) => report.artifacts.push(artifact),
            Ok(Line::Model(model)) => add_model(report, worker, *model),
            // The first line was written before the program began.
            Ok(Line::Preflight(tested)) => drop(report.preflight.get_or_insert(tested)),
            Ok(Line::Progress(_) | Line::Restored(_)) => {}
            Err(error) if line.trim_ascii_start().starts_with(OF_A_MODEL) => {
                warn(
                    report,
                    format!("{worker}: a model is not registered, because its line cannot be read: {error}"),
                );
            }
            Err(_) => bad += 1,
        }
    }
    for (name, value) in own {
        if !report.outputs.contains_key(&name) {
            report.outputs.insert(name, value);
        }
    }
    if bad > 0 {
        let lines = "lines of its outputs do not have the form {\"output\": {\"name\": value}} or similar";
        warn(report, format!("{worker}: {bad} {lines}"));
    }
}

/// Adds a model. Of two models at one path, the last counts.
fn add_model(report: &mut Report, worker: &str, model: ReportedModel) {
    let checked = model.check().and_then(|()| {
        report.models.retain(|said| (&said.name, &said.path) != (&model.name, &model.path));
        if report.models.len() < MOST_MODELS { Ok(()) } else { Err("an attempt may register 100") }
    });
    match checked {
        Ok(()) => report.models.push(model),
        Err(why) => {
            let name: String = model.name.chars().take(LONGEST_SHOWN).collect();
            warn(report, format!("{worker}: the model `{name}` is not registered: {why}"));
        }
    }
}

/// Adds a warning about a line that could not be read.
fn warn(report: &mut Report, warning: String) {
    if report.warnings.len() < MOST_WARNINGS {
        report.warnings.push(warning);
    }
}

/// The failure of a job that succeeded without writing a required output.
#[must_use]
pub fn missing(required: &[String], report: &Report) -> Option<Failure> {
    let missing: Vec<&String> = required.iter().filter(|name| !report.outputs.contains_key(*name)).collect();
    let first = missing.first()?;
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "it succeeded, but did not write {}; append a line such as {{\"output\": {{\"{first}\": 1}}}} to the file that CUBELOOM_OUTPUTS names",
        names.join(", "),
    );
    Some(Failure::new(FailureKind::MissingOutput, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_wins_and_bad_lines_are_told() {
        let mut report = Report::default();
        add(&mut report, "a-0", b"{\"output\": {\"rows\": 1}}\nnonsense\n{\"output\": {\"rows\": 2}}\n");
        add(
            &mut report,
            "a-1",
            b"{\"output\": {\"rows\": 3, \"more\": true}}\n{\"metric\": {\"name\": \"l\", \"value\": 0.5}}",
        );
        assert_eq!(report.outputs["rows"], 2);
        assert_eq!(report.outputs["more"], true);
        assert_eq!(report.metrics.len(), 1);
        assert_eq!(report.warnings.len(), 1);
        assert!(report.warnings[0].starts_with("a-0: 1 lines"), "{:?}", report.warnings);
    }

    #[test]
    fn no_more_is_read_of_all_together_than_was_said() {
        let dir = tempfile::tempdir().unwrap();
        let line = |name: &str| format!("{{\"output\": {{\"{name}\": 1}}}}\n");
        let files = ["a", "b", "c"].map(|name| {
            let path = dir.path().join(name);
            let text = if name == "b" { line(name).repeat(9) } else { line(name) };
            std::fs::write(&path, text).unwrap();
            (name.to_owned(), path)
        });
        let most = 2 * line("a").len() as u64;
        let report = collect_within(files.clone().into_iter(), most);
        assert_eq!(report.outputs.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert!(report.warnings[0].contains("outputs of 1 workers"), "{:?}", report.warnings);
        assert_eq!(collect(files.into_iter()).outputs.len(), 3);
    }

    #[test]
    fn models_are_taken_or_it_is_said_why_not() {
        let mut report = Report::default();
        let line = |name: &str, path: usize, auc: f64| {
            let said =
                serde_json::json!({"name": name, "path": format!("models/{path}"), "metrics": {"auc": auc}});
            format!("{}\n", serde_json::json!({"model": said}))
        };
        let said = [line("digits", 1, 0.5), line("No Label", 1, 0.5), line("digits", 1, 0.75)].concat();
        add(&mut report, "a-0", said.as_bytes());
        let models = &report.models;
        assert_eq!((models.len(), models[0].metrics["auc"]), (1, 0.75), "the last of one place counts");
        assert!(
            report.warnings[0].contains("the model `No Label` is not registered"),
            "{:?}",
            report.warnings
        );
        let many: String = (0..200).map(|n| line("many", n, 0.5)).collect();
        add(&mut report, "a-1", many.as_bytes());
        assert_eq!(report.models.len(), MOST_MODELS);
    }
}
