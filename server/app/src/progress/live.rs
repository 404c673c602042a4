//! Live progress: a block that is redrawn on a terminal, else a line per change.

use std::collections::HashMap;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::Progress;

use super::board::{Board, Line};
use super::status::Status;
use crate::show::{Screen, Style, Styles, duration, line};

/// The animation of a running task.
const SPINNER: [char; 8] = ['⣾', '⣽', '⣻', '⢿', '⡿', '⣟', '⣯', '⣷'];
/// How long each character is shown, in microseconds.
const TURN: i64 = 120_000;
/// Cells of a progress bar.
const BAR: usize = 16;

/// Shows the progress of a run.
#[derive(Debug)]
pub struct Live {
    screen: Option<Screen>,
    styles: Styles,
    /// The last printed line of each task, when lines are printed.
    said: HashMap<usize, (String, String)>,
    notice: Option<String>,
}

impl Live {
    /// On the terminal, if there is one.
    pub fn start() -> Self {
        Self { screen: Screen::detect(), styles: Styles::detect(), said: HashMap::new(), notice: None }
    }

    /// The redraw interval without events.
    pub fn pace(&self) -> Duration {
        if self.screen.is_some() { Duration::from_millis(120) } else { Duration::from_secs(1) }
    }

    /// Whether it draws a block instead of printing lines.
    pub fn is_screen(&self) -> bool {
        self.screen.is_some()
    }

    /// Prints a message below the tasks.
    pub fn notice(&mut self, text: impl Into<String>) {
        let text = text.into();
        if self.screen.is_none() {
            line(&text);
        }
        self.notice = Some(text);
    }

    pub fn show(&mut self, board: &Board, now: Timestamp) {
        match &self.screen {
            Some(screen) => {
                let size = screen.size();
                let mut lines = block(board, now, size, self.styles);
                lines.extend(
                    self.notice.as_ref().map(|text| self.styles.paint(Style::Warn, &cut(text, size.0))),
                );
                screen.draw(lines);
            }
            None => self.say_changes(board, now),
        }
    }

    /// Removes the block: the report follows.
    pub fn finish(&mut self, board: &Board, now: Timestamp) {
        match &self.screen {
            Some(screen) => screen.clear(),
            None => self.say_changes(board, now),
        }
    }

    fn say_changes(&mut self, board: &Board, now: Timestamp) {
        let since = duration(now.since(board.created_at));
        for (at, Line { name, status }) in board.tasks.iter().enumerate() {
            let key = (status.word.clone(), lasting_detail(status));
            let known = self.said.get(&at);
            if status.word == "pending" && known.is_none() || known == Some(&key) {
                continue;
            }
            let time =
                status.time.filter(|_| !key.0.ends_with("ing")).map(|time| format!(" ({})", duration(time)));
            let detail = if key.1.is_empty() { String::new() } else { format!(": {}", key.1) };
            line(format!("{since:>7}  {name} {}{}{detail}", key.0, time.unwrap_or_default()));
            self.said.insert(at, key);
        }
    }
}

/// The lines of the block, for a screen of this size.
pub fn block(board: &Board, now: Timestamp, (columns, rows): (usize, usize), styles: Styles) -> Vec<String> {
    let tasks = &board.tasks;
    let shown = choose(tasks, rows.saturating_sub(5).max(3));
    let longest = shown.iter().map(|task| task.name.chars().count()).max();
    let names = longest.unwrap_or(0).min(columns / 4);
    let layout = Layout { names, columns, now, styles };
    let mut lines = vec![layout.head(board)];
    lines.extend(shown.iter().map(|task| layout.task(&task.name, &task.status)));
    if shown.len() < tasks.len() {
        lines.push(styles.paint(Style::Dim, &format!("  … and {} more tasks", tasks.len() - shown.len())));
    }
    lines
}

struct Layout {
    /// Columns of the longest name.
    names: usize,
    /// Columns of the screen.
    columns: usize,
    now: Timestamp,
    styles: Styles,
}

impl Layout {
    fn head(&self, board: &Board) -> String {
        let well = |task: &&Line| ["succeeded", "reused", "skipped"].contains(&task.status.word.as_str());
        let text = format!(
            "{}  {}  {} of {} tasks  {}",
            board.pipeline,
            board.state.as_str(),
            board.tasks.iter().filter(well).count(),
            board.tasks.len(),
            duration(board.age(self.now)),
        );
        self.styles.paint(Style::Bold, &cut(&text, self.columns))
    }

    fn task(&self, name: &str, status: &Status) -> String {
        let sign = match status.sign {
            '●' | '◔' => SPINNER[usize::try_from(self.now.0 / TURN % 8).unwrap_or(0)],
            sign => sign,
        };
        let (names, time) = (self.names, status.time.map(duration).unwrap_or_default());
        // A narrow screen shows only what fits.
        let fixed =
            cut(&format!(" {:<names$}  {:<9}  {time:>7}  ", cut(name, names), status.word), self.columns - 1);
        let room = self.columns.saturating_sub(fixed.chars().count() + 1);
        let (bar, room) = match status.progress.filter(|_| room > BAR + 6) {
            Some(progress) => self.bar(progress, room),
            None => (String::new(), room),
        };
        let word = fixed.replacen(&status.word, &self.styles.paint(status.style, &status.word), 1);
        let sign = self.styles.paint(status.style, &sign.to_string());
        format!("{sign}{word}{bar}{}", self.styles.paint(Style::Dim, &cut(&status.detail, room)))
    }

    /// A bar, or the count if the total is unknown, and the remaining columns.
    fn bar(&self, progress: Progress, room: usize) -> (String, usize) {
        let Some(total) = progress.total.filter(|total| *total > 0.0) else {
            let text = format!("step {}  ", progress.step);
            let left = room.saturating_sub(text.chars().count());
            return (text, left);
        };
        let part = (progress.step / total).clamp(0.0, 1.0);
        let full = (part * BAR as f64).floor() as usize;
        let done = self.styles.paint(Style::Busy, &"━".repeat(full));
        let rest = self.styles.paint(Style::Dim, &"─".repeat(BAR - full));
        (format!("{done}{rest} {:>3.0}%  ", part * 100.0), room.saturating_sub(BAR + 7))
    }
}

/// A detail worth its own line, which does not change every second.
fn lasting_detail(status: &Status) -> String {
    match status.word.as_str() {
        "backoff" => "it failed and is retried".into(),
        "pending" => String::new(),
        _ => status.detail.clone(),
    }
}

/// The tasks that fit: running and failed ones first, then the latest finished and the next pending.
fn choose(tasks: &[Line], room: usize) -> Vec<&Line> {
    if tasks.len() <= room {
        return tasks.iter().collect();
    }
    let rank = |task: &Line| match task.status.word.as_str() {
        "running" | "stopping" | "preparing" | "starting" => 0,
        "failed" | "backoff" => 1,
        "waiting" => 2,
        "pending" => 3,
        _ => 4,
    };
    let mut order: Vec<(usize, &Line)> = tasks.iter().enumerate().collect();
    order.sort_by_key(|(at, task)| (rank(task), if rank(task) == 4 { usize::MAX - at } else { *at }));
    order.truncate(room - 1);
    order.sort_by_key(|(at, _)| *at);
    order.into_iter().map(|(_, task)| task).collect()
}

/// The text, truncated to this width.
fn cut(text: &str, columns: usize) -> String {
    let one_line = text.lines().next().unwrap_or_default();
    if one_line.chars().count() <= columns {
        return one_line.into();
    }
    one_line.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
}
