//! What workers wrote into `CUBELOOM_OUTPUTS`: JSON lines of outputs, metrics, progress, checkpoints, artefacts.

use std::path::{Path, PathBuf};

use cubeloom_domain::JsonMap;
use cubeloom_domain::executor::{Artifact, Metric, Progress, Report};
use cubeloom_domain::outcome::{Failure, FailureKind};
use serde::Deserialize;
use serde_json::Value;

use crate::logs;

/// More than this of one worker's file is not read, in bytes.
pub const MOST: usize = 16 << 20;

/// Beside the outputs of a worker that has secrets, a copy without them: the outputs themselves are masked only when it
/// has ended.
pub fn masked(outputs: &Path) -> PathBuf {
    outputs.with_extension("masked.jsonl")
}

/// The file to read a worker's outputs from. The copy is left where the worker's shim died before it could mask them.
pub fn readable(outputs: &Path) -> PathBuf {
    let copy = masked(outputs);
    if copy.exists() { copy } else { outputs.to_path_buf() }
}

/// One line.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Output(JsonMap),
    Metric(Metric),
    Progress(Progress),
    Checkpoint(Value),
    Artifact(Artifact),
}

/// What all workers reported, and what could not be read.
#[derive(Debug, Default)]
pub struct Reports {
    /// What was reported.
    pub report: Report,
    /// A sentence for each worker whose file holds something that is no report.
    pub warnings: Vec<String>,
}

/// Reads the files of all workers, in rank order: the lowest rank that wrote an output wins.
pub fn collect<'a>(files: impl Iterator<Item = (String, &'a Path)>) -> Reports {
    let mut reports = Reports::default();
    for (worker, path) in files {
        let path = &readable(path);
        match logs::range(path, 0, length(path)) {
            Ok(piece) => reports.add(&worker, &piece.bytes),
            Err(error) => reports.warnings.push(format!("{worker}: its outputs cannot be read: {error}")),
        }
        if logs::len(path).unwrap_or(0) > MOST as u64 {
            reports.warnings.push(format!("{worker}: only the first 16 MiB of its outputs were read"));
        }
    }
    reports
}

fn length(path: &Path) -> usize {
    usize::try_from(logs::len(path).unwrap_or(0)).unwrap_or(MOST).min(MOST)
}

impl Reports {
    /// Adds the lines of one worker's file: what an earlier worker wrote stays.
    pub fn add(&mut self, worker: &str, text: &[u8]) {
        let mut own = JsonMap::new();
        let mut bad = 0usize;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            match serde_json::from_slice(line) {
                Ok(Line::Output(values)) => own.extend(values),
                Ok(Line::Metric(metric)) => self.report.metrics.push(metric),
                Ok(Line::Checkpoint(value)) => self.report.checkpoint = Some(value),
                Ok(Line::Artifact(artifact)) => self.report.artifacts.push(artifact),
                Ok(Line::Progress(_)) => {}
                Err(_) => bad += 1,
            }
        }
        for (name, value) in own {
            if !self.report.outputs.contains_key(&name) {
                self.report.outputs.insert(name, value);
            }
        }
        if bad > 0 {
            self.warnings.push(format!(
                "{worker}: {bad} lines of its outputs are not of the form {{\"output\": {{\"name\": value}}}} and the like"
            ));
        }
    }
}

/// The failure of a job that ended well without an output that it had to write.
#[must_use]
pub fn missing(required: &[String], report: &Report) -> Option<Failure> {
    let missing: Vec<&String> = required.iter().filter(|name| !report.outputs.contains_key(*name)).collect();
    let first = missing.first()?;
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "it ended well, but did not write {}; append a line such as {{\"output\": {{\"{first}\": 1}}}} to the file that CUBELOOM_OUTPUTS names",
        names.join(", "),
    );
    Some(Failure::new(FailureKind::MissingOutput, message))
}

/// How far one worker's file has been read for progress.
#[derive(Debug, Default)]
pub struct ProgressTail {
    offset: u64,
}

/// What is looked at in one step, in bytes.
const STEP: usize = 256 << 10;

impl ProgressTail {
    /// The last progress among the lines that are new.
    pub fn read(&mut self, path: &Path) -> Option<Progress> {
        if logs::len(path).ok()? <= self.offset {
            return None;
        }
        let piece = logs::range(path, self.offset, STEP).ok()?;
        let whole = piece.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.offset += whole as u64;
        let lines = piece.bytes[..whole].split(|byte| *byte == b'\n');
        lines.rev().find_map(|line| match serde_json::from_slice(line) {
            Ok(Line::Progress(progress)) => Some(progress),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_wins_and_bad_lines_are_told() {
        let mut reports = Reports::default();
        reports.add("a-0", b"{\"output\": {\"rows\": 1}}\nnonsense\n{\"output\": {\"rows\": 2}}\n");
        reports.add(
            "a-1",
            b"{\"output\": {\"rows\": 3, \"more\": true}}\n{\"metric\": {\"name\": \"l\", \"value\": 0.5}}",
        );
        assert_eq!(reports.report.outputs["rows"], 2);
        assert_eq!(reports.report.outputs["more"], true);
        assert_eq!(reports.report.metrics.len(), 1);
        assert_eq!(reports.warnings.len(), 1);
        assert!(reports.warnings[0].starts_with("a-0: 1 lines"), "{:?}", reports.warnings);
    }

    #[test]
    fn progress_is_read_once_and_only_from_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("outputs.jsonl");
        let mut tail = ProgressTail::default();
        assert_eq!(tail.read(&path), None);
        std::fs::write(
            &path,
            "{\"progress\":{\"step\":1}}\n{\"progress\":{\"step\":2,\"total\":4}}\n{\"prog",
        )
        .unwrap();
        assert_eq!(tail.read(&path), Some(Progress { step: 2.0, total: Some(4.0) }));
        assert_eq!(tail.read(&path), None);
    }
}
