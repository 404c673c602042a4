//! Telling how a transfer goes: lines for people, JSON lines for the run that it is a task of.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::error::TransferError;
use super::listener::Listener;
use super::progress::{Progress, Report};

/// Between two lines about the progress.
const PERIOD: Duration = Duration::from_secs(1);

/// Writes to standard output and to the file of outputs.
pub(crate) struct Reporter {
    outputs: Option<File>,
    began: Instant,
    told: Mutex<Instant>,
}

impl Reporter {
    /// `outputs` is the file named by CUBELOOM_OUTPUTS, when the transfer is a task of a run.
    pub(crate) fn new(outputs: Option<&Path>) -> Result<Self, TransferError> {
        let open = |path: &Path| {
            let file = OpenOptions::new().append(true).create(true).open(path);
            file.map_err(|error| TransferError::io(path, 0, error))
        };
        let now = Instant::now();
        Ok(Self { outputs: outputs.map(open).transpose()?, began: now, told: Mutex::new(now) })
    }

    /// The end: a last line of progress, then the outputs.
    pub(crate) fn finish(&self, report: &Report) {
        let (files, bytes, skipped) = (report.files.len(), report.bytes(), report.skipped());
        let mut output =
            json!({"files": files, "bytes": bytes, "skipped": skipped, "left_out": report.left_out});
        if let [only] = &report.files[..] {
            output["sha256"] = only.sha256.clone().map_or(Value::Null, Value::String);
            say(&format!("{}  {}", only.sha256.as_deref().unwrap_or("-"), only.target));
        }
        self.record(&json!({"progress": {"step": bytes, "total": bytes}}));
        self.record(&json!({"output": output}));
        let seconds = self.began.elapsed().as_secs_f64();
        say(&format!("{files} files, {} in {seconds:.1} s; {skipped} were there already", human(bytes)));
    }

    /// A full disk under the file of outputs must not end a transfer that works.
    fn record(&self, line: &Value) {
        if let Some(mut file) = self.outputs.as_ref() {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

impl Listener for &Reporter {
    /// Says something once a second.
    fn progress(&self, now: Progress) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() < PERIOD {
            return;
        }
        *told = Instant::now();
        drop(told);
        let speed = now.bytes_done as f64 / self.began.elapsed().as_secs_f64();
        let (done, total) = (human(now.bytes_done), human(now.bytes_total));
        say(&format!(
            "{}/{} files, {done} of {total}, {}/s",
            now.files_done,
            now.files_total,
            human(speed as u64)
        ));
        self.record(
            &json!({"progress": {"step": now.bytes_done, "total": now.bytes_total.max(now.bytes_done)}}),
        );
    }

    fn says(&self, line: &str) {
        say(line);
    }
}

/// A closed pipe is no reason to stop copying.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Bytes with a unit: 1.5 GiB.
fn human(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}
