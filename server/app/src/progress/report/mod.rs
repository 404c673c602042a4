//! The result of a run: a table of its tasks, the first causes of failures, and the location of the results.

mod junit;
mod records;

use cubeloom_domain::state::RunState;
use cubeloom_domain::{Bytes, Timestamp};

pub use junit::junit;
pub use records::json as records_json;

use super::board::Board;
use crate::show::{Align, Cell, Style, Styles, Table, bytes, cpu_time, duration};

/// Maximum rows of the table; a run may have 100,000 tasks.
pub const ROWS: usize = 60;
/// Maximum number of detailed failures.
pub const FAILURES: usize = 5;
/// Maximum number of shown outputs of a task.
pub const OUTPUTS: usize = 50;
/// Maximum length of a shown output.
const LONGEST_OUTPUT: usize = 100;

/// The report of a run, from this machine's records or from a server's API.
#[derive(Clone, Debug)]
pub struct Report {
    pub run: String,
    pub message: Option<String>,
    pub board: Board,
    /// More about each task of the board.
    pub rows: Vec<Row>,
    /// The first failures, at most [`FAILURES`].
    pub failures: Vec<Failed>,
    /// Number of failed instances that are not among them.
    pub more_failures: usize,
    pub results: Results,
}

/// More about a task.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Usage of its last attempts: peak memory, and CPU time in microseconds.
    pub usage: Option<(Bytes, u64)>,
    /// Workers or instances, attempts, reused results.
    pub remark: String,
}

/// A failed instance.
#[derive(Clone, Debug)]
pub struct Failed {
    pub task: String,
    /// The instance, if the task has several.
    pub instance: Option<u32>,
    /// The failure's kind, in a word.
    pub kind: String,
    pub message: String,
    /// The last lines of its output.
    pub last_lines: Vec<String>,
}

/// What the run produced.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Folder or URL of the results.
    pub place: Option<String>,
    /// Best trials, outputs of the last tasks, and artifacts: `task.output` and the value.
    pub lines: Vec<(String, String)>,
}

impl Results {
    /// Adds an output, truncated to one line.
    pub fn output(&mut self, name: String, value: &serde_json::Value) {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        self.lines.push((name, shortened(&text)));
    }
}

impl Report {
    /// The report for people.
    pub fn text(&self, now: Timestamp, styles: Styles) -> String {
        let mut parts = vec![self.table(styles)];
        parts.extend(self.failure_parts(styles));
        parts.extend(self.results(styles));
        parts.push(self.last_line(now, styles));
        parts.join("\n\n")
    }

    /// Only the first causes.
    pub fn failures(&self) -> String {
        self.failure_parts(Styles::plain()).join("\n\n")
    }

    fn table(&self, styles: Styles) -> String {
        let columns = [
            ("task", Align::Left),
            ("state", Align::Left),
            ("wait", Align::Right),
            ("time", Align::Right),
            ("peak memory", Align::Right),
            ("cpu", Align::Right),
            ("", Align::Left),
        ];
        let mut table = Table::new(&columns);
        let amount = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".into()));
        for (task, row) in self.board.tasks.iter().zip(&self.rows).take(ROWS) {
            let status = &task.status;
            table.row([
                task.name.clone().into(),
                Cell::styled(format!("{} {}", status.sign, status.word), status.style),
                amount(status.wait.map(duration)),
                amount(status.time.map(duration)),
                amount(row.usage.map(|(memory, _)| bytes(memory))),
                amount(row.usage.map(|(_, cpu)| cpu_time(cpu))),
                Cell::styled(row.remark.clone(), Style::Dim),
            ]);
        }
        let rest = self.board.tasks.len().saturating_sub(ROWS);
        let more = if rest > 0 { format!("\n… and {rest} more tasks") } else { String::new() };
        table.render(styles) + &more
    }

    /// Each failure's first cause, its last log lines, and the command for the rest.
    fn failure_parts(&self, styles: Styles) -> Vec<String> {
        let mut parts: Vec<String> =
            self.failures.iter().map(|failed| failed.text(short(&self.run), styles)).collect();
        if self.more_failures > 0 {
            parts.push(format!("… and {} more failures", self.more_failures));
        }
        parts
    }

    fn results(&self, styles: Styles) -> Option<String> {
        let Results { place, lines } = &self.results;
        if place.is_none() && lines.is_empty() {
            return None;
        }
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
        for (name, value) in lines {
            table.row([name.clone().into(), value.clone().into()]);
        }
        let place = place.as_ref().map(|place| format!(" in {place}")).unwrap_or_default();
        let head = styles.paint(Style::Bold, &format!("Results{place}"));
        let rows = table.rows(styles).into_iter().map(|line| format!("\n  {line}"));
        Some(std::iter::once(head).chain(rows).collect())
    }

    fn last_line(&self, now: Timestamp, styles: Styles) -> String {
        let board = &self.board;
        let (style, sign) = match board.state {
            RunState::Succeeded => (Style::Good, '✓'),
            RunState::Failed => (Style::Bad, '✗'),
            RunState::Cancelled => (Style::Warn, '■'),
            RunState::Queued | RunState::Running | RunState::Cancelling => (Style::Busy, '●'),
        };
        let word = styles.paint(style, &format!("{sign} {} {}", board.pipeline, board.state.as_str()));
        let message = self.message.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        let run = styles.paint(Style::Dim, &format!("run {}", self.run));
        format!("{word} in {}{message}  {run}", duration(board.age(now)))
    }
}

impl Failed {
    fn text(&self, run: &str, styles: Styles) -> String {
        let name = match self.instance {
            Some(instance) => format!("{} (instance {instance})", self.task),
            None => self.task.clone(),
        };
        let first = format!("✗ {name} failed ({}): {}", self.kind, self.message);
        let mut lines = vec![styles.paint(Style::Bad, &first)];
        lines
            .extend(self.last_lines.iter().map(|line| format!("  {} {line}", styles.paint(Style::Dim, "│"))));
        let which = self.instance.map(|instance| format!(" --instance {instance}")).unwrap_or_default();
        let logs = format!("  logs: cubeloom logs {run} {}{which}", self.task);
        lines.push(styles.paint(Style::Dim, &logs));
        lines.join("\n")
    }
}

fn shortened(text: &str) -> String {
    let one_line = text.replace('\n', " ");
    if one_line.chars().count() <= LONGEST_OUTPUT {
        return one_line;
    }
    one_line.chars().take(LONGEST_OUTPUT).chain(['…']).collect()
}

/// The end of an id: enough for a user to refer to it.
fn short(id: &str) -> &str {
    &id[id.len().saturating_sub(8)..]
}
