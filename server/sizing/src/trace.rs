//! Traces: one attempt per line, as CSV.

use std::io;

use thiserror::Error;

/// An attempt of a task, and its usage.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The task: attempts with the same name are comparable.
    pub task: String,
    /// Submission time, in seconds.
    pub submitted: f64,
    /// Start time in seconds, if the trace has it.
    pub started: Option<f64>,
    /// End time, in seconds.
    pub finished: f64,
    /// Requested CPU cores.
    pub requested_cpu: f64,
    /// Requested memory, in bytes.
    pub requested_memory: f64,
    /// Peak memory, in bytes.
    pub peak_memory: f64,
    /// Average CPU usage, in cores.
    pub cpu_used: f64,
    /// Size of its input in bytes, if known.
    pub input: Option<f64>,
    pub status: Status,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Succeeded,
    /// It failed, but not for lack of memory. It may not have needed its memory yet.
    Failed,
    /// It was OOM killed: it needs more than it had.
    OutOfMemory,
}

impl Attempt {
    /// Run time, in hours. If the trace has no start, it includes the time pending.
    #[must_use]
    pub fn hours(&self) -> f64 {
        ((self.finished - self.started.unwrap_or(self.submitted)) / 3600.0).max(0.0)
    }

    /// Memory that it needs, in bytes. For an OOM killed attempt it is only known to be more than it had.
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
    /// The file cannot be read, or is not CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    /// A required column is missing.
    #[error("the column `{0}` is missing; a trace has {columns}", columns = COLUMNS.join(", "))]
    NoColumn(&'static str),
    /// No line can be used; this is the first one with an invalid value.
    #[error(transparent)]
    BadValue(#[from] BadValue),
}

/// An invalid value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, {column}: `{value}` {why}")]
pub struct BadValue {
    /// The line, from 1; the header is the first.
    pub line: u64,
    pub column: &'static str,
    pub value: String,
    /// The problem.
    pub why: &'static str,
}

/// The columns of a trace, in any order; others are ignored.
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

/// An optional column of a trace.
const STARTED: &str = "started";

/// The content of a trace.
#[derive(Debug, Default)]
pub struct Trace {
    /// Its attempts, in the order of the file.
    pub attempts: Vec<Attempt>,
    /// Skipped lines. They say nothing about an attempt's usage, such as that of one that never started. Or
    /// they have an impossible value, such as an end before the start, if two machines' clocks differ.
    pub passed_over: Lines,
    /// Attempts with an unknown end. Their usage is known, so they count as failed.
    pub unclear: Lines,
}

/// Some lines of a trace.
#[derive(Debug, Default)]
pub struct Lines {
    pub count: usize,
    /// The problem of the first of them.
    pub first: Option<BadValue>,
}

impl Lines {
    fn add(&mut self, why: BadValue) {
        self.count += 1;
        self.first.get_or_insert(why);
    }
}

/// Reads a trace. Empty values from monitoring are accepted, and so are some words for an unknown end. A line
/// with an impossible value is skipped.
///
/// # Errors
/// A column is missing, a line has the wrong number of values, no line has usable values, or no status is
/// valid. The error names the line and the column.
pub fn read(from: impl io::Read) -> Result<Trace, TraceError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(from);
    let header = reader.headers()?.clone();
    let mut places = [0; COLUMNS.len()];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let found = header.iter().position(|name| name.trim_start_matches('\u{feff}') == column);
        *place = found.ok_or(TraceError::NoColumn(column))?;
    }
    let started = header.iter().position(|name| name == STARTED);
    let mut trace = Trace::default();
    // The first line with an impossible value.
    let mut bad = None;
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row { record: &record, places: &places, started, line };
        if let Some(why) = row.lacks() {
            trace.passed_over.add(why);
            continue;
        }
        let status = row.status();
        match row.attempt(status.as_ref().copied().unwrap_or(Status::Failed)) {
            Ok(attempt) => {
                trace.attempts.push(attempt);
                if let Err(why) = status {
                    trace.unclear.add(why);
                }
            }
            Err(why) => {
                bad.get_or_insert_with(|| why.clone());
                trace.passed_over.add(why);
            }
        }
    }
    let unclear = trace.unclear.first.take_if(|_| trace.unclear.count == trace.attempts.len());
    match unclear.or(bad.filter(|_| trace.attempts.is_empty())) {
        Some(why) => Err(why.into()),
        None => Ok(trace),
    }
}

/// Writes a trace.
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
    /// Index of the start, if there is one.
    started: Option<usize>,
    line: u64,
}

impl Row<'_> {
    /// Why the line cannot count as an attempt, although nothing in it is wrong.
    fn lacks(&self) -> Option<BadValue> {
        if matches!(self.word().as_str(), "cached" | "skipped" | "pending" | "queued" | "running" | "") {
            return Some(self.bad(8, "is not an attempt that ran and ended"));
        }
        if let Some(column) = (1..=2).find(|column| matches!(self.text(*column), "" | "-")) {
            return Some(self.bad(column, "is not a time"));
        }
        // An OOM kill is enough information even without measurements.
        let last = if matches!(self.status(), Ok(Status::OutOfMemory)) { 4 } else { 5 };
        (4..=last)
            .find(|column| self.is_nothing(*column))
            .map(|column| self.bad(column, "is not an amount of memory"))
    }

    fn attempt(&self, status: Status) -> Result<Attempt, BadValue> {
        let submitted = self.moment(1)?;
        let finished = self.moment(2)?;
        if finished < submitted {
            return Err(self.bad(2, "is before it was submitted"));
        }
        let started = self.started(submitted, finished)?;
        Ok(Attempt {
            task: self.text(0).to_owned(),
            submitted,
            started,
            finished,
            requested_cpu: self.amount_or_none(3)?,
            requested_memory: self.amount(4)?,
            peak_memory: if self.is_nothing(5) { 0.0 } else { self.amount(5)? },
            cpu_used: self.amount_or_none(6)?,
            input: if matches!(self.text(7), "" | "-") { None } else { Some(self.amount(7)?) },
            status,
        })
    }

    /// Start time, if the line has it.
    fn started(&self, submitted: f64, finished: f64) -> Result<Option<f64>, BadValue> {
        let text = self.started.and_then(|column| self.record.get(column)).unwrap_or_default();
        if matches!(text, "" | "-") {
            return Ok(None);
        }
        let bad = |why| BadValue { line: self.line, column: STARTED, value: text.into(), why };
        match moment(text) {
            None => Err(bad(NO_MOMENT)),
            Some(started) if started < submitted => Err(bad("is before it was submitted")),
            Some(started) if started > finished => Err(bad("is after it had finished")),
            started => Ok(started),
        }
    }

    fn text(&self, column: usize) -> &str {
        self.record.get(self.places[column]).unwrap_or_default()
    }

    /// Whether an amount is missing.
    fn is_nothing(&self, column: usize) -> bool {
        let text = self.text(column);
        matches!(text, "" | "-") || text.parse::<f64>().is_ok_and(|amount| amount == 0.0 || amount.is_nan())
    }

    fn bad(&self, column: usize, why: &'static str) -> BadValue {
        BadValue { line: self.line, column: COLUMNS[column], value: self.text(column).into(), why }
    }

    /// The amount, or 0 if it is missing.
    fn amount_or_none(&self, column: usize) -> Result<f64, BadValue> {
        if matches!(self.text(column), "" | "-") { Ok(0.0) } else { self.amount(column) }
    }

    fn amount(&self, column: usize) -> Result<f64, BadValue> {
        match self.text(column).parse::<f64>() {
            Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
            Ok(_) => Err(self.bad(column, "must be 0 or more")),
            Err(_) => Err(self.bad(column, "is not a number")),
        }
    }

    fn moment(&self, column: usize) -> Result<f64, BadValue> {
        moment(self.text(column)).ok_or_else(|| self.bad(column, NO_MOMENT))
    }

    /// The status without additions: `OUT_OF_ME+`, `CANCELLED by 1000`, `out-of-memory`.
    fn word(&self) -> String {
        let text = self.text(8).to_ascii_lowercase();
        // If a job was killed because of memory, the reason follows that word.
        let is_memory = text.contains("memory") || text.contains("oom");
        let word = if is_memory { &text } else { text.split(" by ").next().unwrap_or_default() };
        word.trim_end_matches('+').replace(['-', ' '], "_")
    }

    fn status(&self) -> Result<Status, BadValue> {
        match self.word().as_str() {
            "succeeded" | "success" | "successful" | "completed" | "complete" | "finished" | "terminated"
            | "done" | "passed" | "ok" | "0" => Ok(Status::Succeeded),
            "137" => Ok(Status::OutOfMemory),
            word if word.starts_with("out_of_me")
                || word.contains("oom")
                || word.contains("memory")
                || word.contains("memlimit") =>
            {
                Ok(Status::OutOfMemory)
            }
            "failed" | "failure" | "error" | "cancelled" | "canceled" | "timeout" | "killed" | "lost"
            | "aborted" | "evicted" | "preempted" | "node_fail" | "boot_fail" | "deadline"
            | "interrupted" => Ok(Status::Failed),
            // An exit code.
            code if code.parse::<i32>().is_ok() => Ok(Status::Failed),
            _ => Err(self.bad(8, "is not a state: write `succeeded`, `failed` or `out_of_memory`")),
        }
    }
}

const NO_MOMENT: &str = "is neither a number of seconds nor a time like `2026-01-31T06:00:00Z`";

/// Seconds, or an RFC 3339 timestamp.
fn moment(text: &str) -> Option<f64> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite());
    seconds.or_else(|| Some(text.parse::<jiff::Timestamp>().ok()?.as_microsecond() as f64 / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_where_there_is_one_and_lies_between_the_other_two() {
        let of = |started: &str| {
            let lines = format!("a,10,20,1,4,2,1,,ok,{started}\nb,10,20,1,4,2,1,,ok,\n");
            read(format!("{},started\n{lines}", COLUMNS.join(",")).as_bytes()).unwrap()
        };
        let read = of("15");
        assert_eq!((read.attempts[0].started, read.attempts[1].started), (Some(15.0), None));
        assert!((read.attempts[0].hours() * 3600.0 - 5.0).abs() < 1e-9);
        for (started, why) in
            [("9", "before it was submitted"), ("21", "after it had finished"), ("soon", "neither a number")]
        {
            let passed_over = of(started).passed_over.first.unwrap();
            assert_eq!(passed_over.column, "started");
            assert!(passed_over.why.contains(why), "{passed_over}");
        }
    }

    fn of(words: &[&str]) -> Result<Trace, TraceError> {
        let lines: String = words.iter().map(|word| format!("a,0,1,1,4,2,1,,{word}\n")).collect();
        read(format!("{}\n{lines}", COLUMNS.join(",")).as_bytes())
    }

    #[test]
    fn how_attempts_ended_is_known_by_the_words_of_many_systems() {
        for (status, words) in [
            (Status::Succeeded, ["succeeded", "COMPLETED", "Successful", "done", "0"]),
            (
                Status::OutOfMemory,
                ["OOMKilled", "oom-killed", "OUT_OF_ME+", "Out Of Memory", "TERM_MEMLIMIT"],
            ),
            (Status::Failed, ["CANCELLED by 1000", "CANCELLED+", "NODE_FAIL", "Node Fail", "139"]),
        ] {
            for word in words {
                let read = of(&[word]).unwrap();
                assert_eq!((read.attempts[0].status, read.unclear.count), (status, 0), "{word}");
            }
        }
        let others = of(&["ok", "RUNNING", "PENDING", "CACHED"]).unwrap();
        assert_eq!((others.attempts.len(), others.passed_over.count), (1, 3));
    }

    #[test]
    fn an_end_that_nobody_knows_counts_as_failed_unless_all_are_such() {
        let read = of(&["ok", "gone fishing", "oom", "?"]).unwrap();
        let states: Vec<Status> = read.attempts.iter().map(|attempt| attempt.status).collect();
        assert_eq!(states, [Status::Succeeded, Status::Failed, Status::OutOfMemory, Status::Failed]);
        assert_eq!(read.unclear.count, 2);
        let why =
            "line 3, status: `gone fishing` is not a state: write `succeeded`, `failed` or `out_of_memory`";
        assert_eq!(read.unclear.first.unwrap().to_string(), why);
        let none = of(&["gone fishing", "?"]).unwrap_err().to_string();
        assert!(none.starts_with("line 2, status: `gone fishing`"), "{none}");
    }
}
