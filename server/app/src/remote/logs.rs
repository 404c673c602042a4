//! `cubeloom logs RUN [TASK]` with a server.

use std::collections::HashMap;
use std::time::Duration;

use cubeloom_web::api::logs::view::LogChunk;
use cubeloom_web::api::tasks::view::AttemptView;
use serde::Deserialize;
use tokio::time::sleep;

use super::status::run_state;
use super::{Remote, client};
use crate::cli::Logs;
use crate::commands::Headings;
use crate::exit::{Exit, Invalid};
use crate::show;

/// The poll interval of a followed log.
const LOOK: Duration = Duration::from_millis(500);
/// Size of a read, in bytes.
const PIECE: &str = "1048576";
/// Maximum number of attempts of a run.
const ALL: usize = 1_000_000;

/// A part of the logs.
#[derive(Deserialize)]
struct Part {
    chunks: Vec<LogChunk>,
    cursor: String,
    ended: bool,
}

/// Reading position of an attempt.
#[derive(Default)]
struct Position {
    cursor: Option<String>,
    ended: bool,
}

/// Prints the logs of a run, a task, or a worker.
pub async fn logs(remote: &Remote, args: &Logs) -> anyhow::Result<Exit> {
    let run = remote.find_run(&args.run).await?;
    let id = run.id.as_str();
    check_task(remote, id, args.task.as_deref()).await?;
    let mut reader =
        Reader { remote, args, run: id, positions: HashMap::new(), headings: Headings::new(args) };
    loop {
        // Read before the logs, so that these include everything up to the end.
        let over = run_state(&remote.client.get(&["runs", id], &[]).await?).is_final();
        let attempts = chosen(remote.client.list(&["runs", id, "attempts"], &[], ALL).await?, args);
        let mut any = false;
        for attempt in &attempts {
            any |= reader.print(attempt).await?;
        }
        if over || !args.follow {
            if !any && reader.headings.is_empty() {
                show::note(match attempts.as_slice() {
                    [] => "no logs: no attempt has started",
                    _ => "no logs: no worker has written anything, or the logs have been deleted",
                });
            }
            return Ok(Exit::Ok);
        }
        if !any {
            sleep(LOOK).await;
        }
    }
}

async fn check_task(remote: &Remote, run: &str, task: Option<&str>) -> anyhow::Result<()> {
    let Some(task) = task else { return Ok(()) };
    match remote.client.get::<serde_json::Value>(&["runs", run, "tasks", task], &[]).await {
        Err(error) if client::status(&error) == Some(reqwest::StatusCode::NOT_FOUND) => Err(Invalid::error(
            format!("run {run} has no task `{task}`: `cubeloom runs show {run}` lists them"),
        )),
        other => other.map(drop),
    }
}

/// The selected attempts: the latest of each instance, unless one is named.
fn chosen(attempts: Vec<AttemptView>, args: &Logs) -> Vec<AttemptView> {
    let mut chosen: Vec<AttemptView> = Vec::new();
    for attempt in attempts {
        let meant = args.task.as_ref().is_none_or(|task| *task == attempt.task)
            && args.instance.is_none_or(|instance| instance == attempt.instance)
            && args.attempt.is_none_or(|n| n == attempt.attempt)
            && attempt.run.is_none();
        if !meant {
            continue;
        }
        // They are in the order of tasks, instances and numbers.
        let same = |last: &AttemptView| last.task == attempt.task && last.instance == attempt.instance;
        if chosen.last().is_some_and(same) {
            chosen.pop();
        }
        chosen.push(attempt);
    }
    chosen
}

struct Reader<'r> {
    remote: &'r Remote,
    args: &'r Logs,
    run: &'r str,
    positions: HashMap<String, Position>,
    headings: Headings,
}

impl Reader<'_> {
    /// Prints what is new of an attempt. Returns whether anything was.
    async fn print(&mut self, attempt: &AttemptView) -> anyhow::Result<bool> {
        let (instance, n) = (attempt.instance.to_string(), attempt.attempt.to_string());
        let tail = self.args.tail.map(|lines| lines.to_string());
        let mut any = false;
        let position = self.positions.entry(attempt.key.clone()).or_default();
        while !position.ended {
            let mut query = vec![
                ("task", attempt.task.as_str()),
                ("instance", instance.as_str()),
                ("attempt", n.as_str()),
                ("limit", PIECE),
            ];
            query.extend(self.args.worker.as_deref().map(|worker| ("worker", worker)));
            query.extend(self.args.stdout.then_some(("stream", "stdout")));
            query.extend(self.args.stderr.then_some(("stream", "stderr")));
            match &position.cursor {
                Some(cursor) => query.push(("cursor", cursor)),
                None => query.extend(tail.as_deref().map(|lines| ("tail", lines))),
            }
            let part: Part = match self.remote.client.get(&["runs", self.run, "logs", "text"], &query).await {
                Ok(part) => part,
                // Its worker has not started yet.
                Err(error) if client::status(&error) == Some(reqwest::StatusCode::NOT_FOUND) => {
                    return Ok(any);
                }
                Err(error) => return Err(error),
            };
            (position.cursor, position.ended) = (Some(part.cursor), part.ended);
            if part.chunks.is_empty() {
                break;
            }
            any = true;
            for chunk in &part.chunks {
                write(&mut self.headings, attempt, chunk);
            }
        }
        Ok(any)
    }
}

fn write(headings: &mut Headings, attempt: &AttemptView, chunk: &LogChunk) {
    let mut title = attempt.task.clone();
    if attempt.instance > 0 {
        title.push_str(&format!("[{}]", attempt.instance));
    }
    if attempt.workers.len() > 1 {
        title.push_str(&format!(" {}", chunk.worker));
    }
    if chunk.stream == "stderr" {
        title.push_str(" stderr");
    }
    let id = format!("{} {} {}", attempt.key, chunk.worker, chunk.stream);
    headings.print(&id, &title, chunk.text.as_bytes());
}
