//! Reports a transfer's progress: lines for users, and JSON lines for the run whose task it is.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::error::TransferError;
use super::listener::Listener;
use super::progress::{Progress, Report};

/// Interval of progress lines.
const PERIOD: Duration = Duration::from_secs(1);

/// Writes to standard output and to the outputs file.
pub(crate) struct Reporter {
    outputs: Option<File>,
    began: Instant,
    told: Mutex<Instant>,
}

impl Reporter {
    /// `outputs` is the file in CUBELOOM_OUTPUTS, if the transfer is a task of a run.
    pub(crate) fn new(outputs: Option<&Path>) -> Result<Self, TransferError> {
        let open = |path: &Path| {
            let file = OpenOptions::new().append(true).create(true).open(path);
            file.map_err(|error| TransferError::io(path, 0, error))
        };
        let now = Instant::now();
        Ok(Self { outputs: outputs.map(open).transpose()?, began: now, told: Mutex::new(now) })
    }

    /// At the end: a last line of progress, then the outputs.
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
        say(&format!("{files} files, {} in {seconds:.1} s; {skipped} existed already", human(bytes)));
    }

    /// A full disk under the outputs file must not end a working transfer.
    fn record(&self, line: &Value) {
        if let Some(mut file) = self.outputs.as_ref() {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}

impl Listener for &Reporter {
    /// Reports at most once a second.
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

/// Ignore a closed pipe: keep copying.
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
