//! A trace: one attempt a line, as CSV.

use std::io;

use thiserror::Error;

/// One attempt at a task, and what it used.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The task: attempts with the same name are of the same kind.
    pub task: String,
    /// When it was submitted, in seconds.
    pub submitted: f64,
    /// When it had ended, in seconds.
    pub finished: f64,
    /// Cores that were asked for.
    pub requested_cpu: f64,
    /// Memory that was asked for, in bytes.
    pub requested_memory: f64,
    /// The most memory that it had, in bytes.
    pub peak_memory: f64,
    /// Cores that it used, on average.
    pub cpu_used: f64,
    /// The size of what it reads, in bytes, where that is known.
    pub input: Option<f64>,
    /// How it ended.
    pub status: Status,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Well.
    Succeeded,
    /// Badly; not for a lack of memory.
    Failed,
    /// Its memory was not enough: it needs more than it had.
    OutOfMemory,
}

impl Attempt {
    /// How long it ran, in hours. A trace knows no start, so waiting is part of it.
    #[must_use]
    pub fn hours(&self) -> f64 {
        ((self.finished - self.submitted) / 3600.0).max(0.0)
    }

    /// How much memory it needs, in bytes: of one that ran out of it only that it is more than it had.
    #[must_use]
    pub fn needs(&self) -> f64 {
        match self.status {
            Status::OutOfMemory => self.peak_memory.max(self.requested_memory * 1.000_001),
            Status::Succeeded | Status::Failed => self.peak_memory,
        }
    }
}

/// Why a trace cannot be read.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be read, or is no CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A column that must be there is not.
    #[error("the column `{0}` is missing; a trace has {columns}", columns = COLUMNS.join(", "))]
    NoColumn(&'static str),
    /// A value that cannot be used.
    #[error("line {line}, {column}: `{value}` {why}")]
    BadValue {
        /// The line, from 1; the header is the first.
        line: u64,
        /// The column's name.
        column: &'static str,
        /// What stands there.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The columns of a trace, in any order; others are passed over.
pub const COLUMNS: [&str; 9] = [
    "task",
    "submitted",
    "finished",
    "requested_cpu",
    "requested_memory_bytes",
    "peak_memory_bytes",
    "cpu_used",
    "input_bytes",
    "status",
];

/// Reads a trace.
///
/// # Errors
/// A column is missing, or a value cannot be used; the line and the column are named.
pub fn read(from: impl io::Read) -> Result<Vec<Attempt>, TraceError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(from);
    let header = reader.headers()?.clone();
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let found = header.iter().position(|name| name.trim_start_matches('\u{feff}') == column);
        *place = found.ok_or(TraceError::NoColumn(column))?;
    }
    let mut attempts = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row { record: &record, places: &places, line };
        attempts.push(row.attempt()?);
    }
    Ok(attempts)
}

/// Writes a trace.
///
/// # Errors
/// The other end refuses.
pub fn write(attempts: &[Attempt], to: impl io::Write) -> Result<(), TraceError> {
    let mut writer = csv::Writer::from_writer(to);
    writer.write_record(COLUMNS)?;
    for attempt in attempts {
        let status = match attempt.status {
            Status::Succeeded => "succeeded",
            Status::Failed => "failed",
            Status::OutOfMemory => "out_of_memory",
        };
        writer.write_record([
            attempt.task.clone(),
            format!("{:.3}", attempt.submitted),
            format!("{:.3}", attempt.finished),
            attempt.requested_cpu.to_string(),
            format!("{:.0}", attempt.requested_memory),
            format!("{:.0}", attempt.peak_memory),
            format!("{:.3}", attempt.cpu_used),
            attempt.input.map_or(String::new(), |input| format!("{input:.0}")),
            status.to_owned(),
        ])?;
    }
    writer.flush().map_err(csv::Error::from)?;
    Ok(())
}

struct Row<'r> {
    record: &'r csv::StringRecord,
    places: &'r [usize; COLUMNS.len()],
    line: u64,
}

impl Row<'_> {
    fn attempt(&self) -> Result<Attempt, TraceError> {
        let submitted = self.moment(1)?;
        let finished = self.moment(2)?;
        if finished < submitted {
            return Err(self.bad(2, "is before it was submitted"));
        }
        Ok(Attempt {
            task: self.text(0).to_owned(),
            submitted,
            finished,
            requested_cpu: self.amount(3)?,
            requested_memory: match self.amount(4)? {
                0.0 => return Err(self.bad(4, "is no amount to start from")),
                amount => amount,
            },
            peak_memory: self.amount(5)?,
            cpu_used: self.amount(6)?,
            input: if self.text(7).is_empty() { None } else { Some(self.amount(7)?) },
            status: self.status()?,
        })
    }

    fn text(&self, column: usize) -> &str {
        self.record.get(self.places[column]).unwrap_or_default()
    }

    fn bad(&self, column: usize, why: &'static str) -> TraceError {
        TraceError::BadValue {
            line: self.line,
            column: COLUMNS[column],
            value: self.text(column).into(),
            why,
        }
    }

    fn amount(&self, column: usize) -> Result<f64, TraceError> {
        match self.text(column).parse::<f64>() {
            Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
            Ok(_) => Err(self.bad(column, "must be 0 or more")),
            Err(_) => Err(self.bad(column, "is no number")),
        }
    }

    /// Seconds, or a moment as RFC 3339 has it.
    fn moment(&self, column: usize) -> Result<f64, TraceError> {
        let text = self.text(column);
        if let Some(seconds) = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite()) {
            return Ok(seconds);
        }
        let moment: Result<jiff::Timestamp, _> = text.parse();
        moment.map(|at| at.as_microsecond() as f64 / 1e6).map_err(|_| {
            self.bad(column, "is neither a number of seconds nor a moment like `2026-01-31T06:00:00Z`")
        })
    }

    fn status(&self) -> Result<Status, TraceError> {
        match self.text(8).to_ascii_lowercase().as_str() {
            "succeeded" | "success" | "completed" | "finished" | "ok" | "0" => Ok(Status::Succeeded),
            "out_of_memory" | "oom" | "oomkilled" | "memory" | "137" => Ok(Status::OutOfMemory),
            "failed" | "failure" | "error" | "cancelled" | "canceled" | "timeout" | "killed" | "lost" => {
                Ok(Status::Failed)
            }
            _ => Err(self.bad(8, "is no state: write `succeeded`, `failed` or `out_of_memory`")),
        }
    }
}
