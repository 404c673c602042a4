//! Follows a run on a server to its end, by its events.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cubeloom_web::api::events::view::Snapshot;
use cubeloom_web::api::runs::view::RunView;
use cubeloom_web::api::tasks::view::TaskView;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;

use super::events::{Event, Events};
use super::status::{board, run_state};
use super::{Remote, now, report};
use crate::cli::Following;
use crate::commands::conclude;
use crate::exit::Exit;
use crate::follow::exit_of;
use crate::progress::Live;
use crate::show::{self, Output};

/// The tasks that a snapshot can leave out.
const ALL: usize = 1_000_000;

/// Waits for a run's end and prints its report.
pub async fn await_run(remote: &Remote, run: RunView, follow: &Following) -> anyhow::Result<Exit> {
    let id = run.id.clone();
    let watch = follow.watch && remote.output == Output::Human;
    let mut follower = Follower::new(remote, run, watch)?;
    let exit = follower.follow().await?;
    if exit == Exit::Interrupted {
        show::note(format!("detached from run {id}, which continues: {}", remote.page(&id)));
        return Ok(exit);
    }
    let (run, tasks) = latest(remote, &id).await?;
    if let Some(live) = &mut follower.live {
        live.finish(&board(&run, &tasks, now()), now());
    }
    let report = report::of(remote, &run, &tasks).await?;
    conclude(&report, || json(&run, &tasks), exit, follow, remote.output, now())?;
    Ok(exit)
}

/// A run and its tasks, as the API shows them.
pub fn json(run: &RunView, tasks: &BTreeMap<u32, TaskView>) -> Value {
    json!({"run": run, "tasks": tasks.values().collect::<Vec<_>>()})
}

/// The current state of a run and of all its tasks.
pub async fn latest(remote: &Remote, run: &str) -> anyhow::Result<(RunView, BTreeMap<u32, TaskView>)> {
    let view = remote.client.get(&["runs", run], &[]).await?;
    let tasks: Vec<TaskView> = remote.client.list(&["runs", run, "tasks"], &[], ALL).await?;
    Ok((view, by_index(tasks)))
}

fn by_index(tasks: Vec<TaskView>) -> BTreeMap<u32, TaskView> {
    tasks.into_iter().map(|task| (task.index, task)).collect()
}

struct Follower<'r> {
    remote: &'r Remote,
    run: RunView,
    tasks: BTreeMap<u32, TaskView>,
    live: Option<Live>,
    /// The earliest next draw.
    draw_again: Instant,
    interrupt: Signal,
    terminate: Signal,
    /// Whether this process requested the cancellation.
    cancelling: bool,
}

/// Data of a `run` event.
#[derive(Deserialize)]
struct RunChanged {
    run: RunView,
}

/// Data of a `task` event.
#[derive(Deserialize)]
struct TaskChanged {
    task: TaskView,
}

impl<'r> Follower<'r> {
    fn new(remote: &'r Remote, run: RunView, watch: bool) -> anyhow::Result<Self> {
        Ok(Self {
            remote,
            run,
            tasks: BTreeMap::new(),
            live: watch.then(Live::start),
            draw_again: Instant::now(),
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            cancelling: false,
        })
    }

    async fn follow(&mut self) -> anyhow::Result<Exit> {
        let (remote, id) = (self.remote, self.run.id.clone());
        let mut events = Events::new(&remote.client, &["runs", &id, "events"]);
        loop {
            let state = run_state(&self.run);
            if state.is_final() {
                return Ok(exit_of(state));
            }
            self.draw();
            let pace = self.live.as_ref().map_or(Duration::from_secs(60), Live::pace);
            tokio::select! {
                biased;
                _ = self.interrupt.recv() => {
                    if self.cancelling {
                        return Ok(Exit::Interrupted);
                    }
                    self.cancel().await?;
                }
                _ = self.terminate.recv() => return Ok(Exit::Interrupted),
                event = timeout(pace, events.next()) => match event {
                    Ok(Ok(Some(event))) => self.apply(&event).await?,
                    Ok(Ok(None)) => self.run = remote.client.get(&["runs", &id], &[]).await?,
                    Ok(Err(error)) => return Err(error),
                    Err(_) => {}
                },
            }
        }
    }

    async fn apply(&mut self, event: &Event) -> anyhow::Result<()> {
        match event.name.as_str() {
            "snapshot" => {
                let snapshot: Snapshot = serde_json::from_str(&event.data)?;
                if let Some(run) = snapshot.runs.into_iter().next() {
                    self.run = run;
                }
                self.tasks = by_index(snapshot.tasks);
                if snapshot.truncated && self.live.is_some() {
                    self.tasks = latest(self.remote, &self.run.id).await?.1;
                }
            }
            "run" => self.run = serde_json::from_str::<RunChanged>(&event.data)?.run,
            "task" => {
                let task = serde_json::from_str::<TaskChanged>(&event.data)?.task;
                self.tasks.insert(task.index, task);
            }
            "end" => self.run = self.remote.client.get(&["runs", &self.run.id], &[]).await?,
            "deleted" => anyhow::bail!("run {} was deleted", self.run.id),
            "revoked" => anyhow::bail!("the token was revoked, or you are no longer a member of the project"),
            _ => {}
        }
        Ok(())
    }

    /// Draws, if it is time.
    fn draw(&mut self) {
        let Some(live) = &mut self.live else { return };
        let began = Instant::now();
        if began >= self.draw_again && !self.tasks.is_empty() {
            live.show(&board(&self.run, &self.tasks, now()), now());
            let least = if live.is_screen() { Duration::from_millis(40) } else { Duration::ZERO };
            self.draw_again = Instant::now() + (began.elapsed() * 10).max(least);
        }
    }

    async fn cancel(&mut self) -> anyhow::Result<()> {
        self.cancelling = true;
        let done = self.remote.client.post(&["runs", &self.run.id, "cancel"], &Value::Null).await;
        match done {
            Ok(run) => self.run = run,
            // It has ended in the meantime.
            Err(error) if super::client::status(&error) == Some(reqwest::StatusCode::CONFLICT) => {}
            Err(error) => return Err(error),
        }
        let text = "cancelling the run; Ctrl-C again detaches immediately (the run continues to stop)";
        match &mut self.live {
            Some(live) => live.notice(text),
            None => show::note(text),
        }
        Ok(())
    }
}
