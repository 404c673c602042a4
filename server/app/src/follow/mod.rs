//! Follows a run to its end: as its engine if no other process is the engine, else through the database.

mod watching;

use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::RunId;
use cubeloom_domain::event::RunEvent;
use cubeloom_domain::record::Wish;
use cubeloom_domain::state::RunState;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast::Receiver;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::exit::Exit;
use crate::lock::EngineLock;
use crate::platform::{Platform, RunningEngine};
use crate::progress::View;
use crate::wake;
use crate::{audit, machine};
use watching::{Heard, Watching};

/// The interval of database reads while another process is the engine.
const LOOK: Duration = Duration::from_millis(200);

/// Follows a run.
pub struct Follower<'a> {
    platform: &'a Platform,
    run: Watching<'a>,
    engine: Option<(RunningEngine, Receiver<RunEvent>)>,
    interrupt: Signal,
    terminate: Signal,
    /// Whether this process requested the cancellation.
    cancelling: bool,
}

/// The event that ended a wait.
enum Woken {
    Event,
    Time,
    Interrupt,
    Terminate,
}

/// Shows a run of the engine behind `events`, until it has ended.
pub async fn see_out(
    platform: &Platform,
    run: &RunId,
    mut events: Receiver<RunEvent>,
) -> anyhow::Result<View> {
    let mut run = Watching::new(platform, run, true).await?;
    loop {
        run.read_if_stale().await?;
        if run.over().await? {
            return run.finish(true).await;
        }
        run.draw();
        run.hear(&mut events).await;
    }
}

impl<'a> Follower<'a> {
    /// Prepares to follow; with `watch`, shows progress.
    pub async fn new(platform: &'a Platform, run: &RunId, watch: bool) -> anyhow::Result<Self> {
        Ok(Self {
            platform,
            run: Watching::new(platform, run, watch).await?,
            engine: None,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            cancelling: false,
        })
    }

    /// Follows the run until it has ended, or until this process is interrupted. Returns the last view.
    pub async fn run_out(mut self) -> anyhow::Result<(View, Exit)> {
        let exit = self.follow().await;
        if let Some((engine, events)) = self.engine.take() {
            drop(events);
            engine.stop().await;
        }
        let exit = exit?;
        Ok((self.run.finish(exit != Exit::Interrupted).await?, exit))
    }

    async fn follow(&mut self) -> anyhow::Result<Exit> {
        if !self.become_engine().await? {
            wake::send(&self.platform.data.wake());
        }
        loop {
            self.run.read_if_stale().await?;
            if self.run.over().await? {
                return Ok(exit_of(self.run.view().run.state));
            }
            self.run.draw();
            match self.wait().await {
                Woken::Event => {}
                Woken::Time => self.tick().await?,
                Woken::Interrupt if self.cancelling => return Ok(Exit::Interrupted),
                Woken::Interrupt => self.cancel().await?,
                Woken::Terminate => return Ok(Exit::Interrupted),
            }
        }
    }

    /// Becomes the engine, unless another process is; returns whether it is now.
    async fn become_engine(&mut self) -> anyhow::Result<bool> {
        match EngineLock::take(&self.platform.data.lock())? {
            Ok(lock) => {
                let (_, templates) = watch::channel(Arc::new(self.platform.templates().await?));
                let engine = self.platform.start_engine(lock, templates).await?;
                let events = engine.handle.events();
                self.engine = Some((engine, events));
                // Events before the subscription are only in the database.
                self.run.missed();
                Ok(true)
            }
            Err(_) => {
                self.platform.leave_machine();
                Ok(false)
            }
        }
    }

    async fn wait(&mut self) -> Woken {
        let (run, engine) = (&mut self.run, &mut self.engine);
        let event = async {
            match engine {
                Some((_, events)) => match run.hear(events).await {
                    Heard::Event => Woken::Event,
                    Heard::Nothing => Woken::Time,
                },
                None => {
                    sleep(LOOK).await;
                    Woken::Time
                }
            }
        };
        tokio::select! {
            biased;
            _ = self.interrupt.recv() => Woken::Interrupt,
            _ = self.terminate.recv() => Woken::Terminate,
            woken = event => woken,
        }
    }

    /// Work that is due without an event.
    async fn tick(&mut self) -> anyhow::Result<()> {
        match &self.engine {
            Some((engine, _)) if engine.handle.is_finished() => {
                anyhow::bail!(
                    "the engine ended unexpectedly; jobs continue, and `cubeloom serve` resumes them"
                )
            }
            Some(_) => Ok(()),
            None => {
                self.run.missed();
                self.become_engine().await.map(|_| ())
            }
        }
    }

    async fn cancel(&mut self) -> anyhow::Result<()> {
        self.cancelling = true;
        let (store, run) = (&self.platform.store, &self.run.view().run.id);
        let audit = audit::entry(self.platform, "run.cancel", run.as_str(), None)?;
        store.add_wish(run, &Wish::Cancel, &machine::user(), self.platform.now(), Some(&audit)).await?;
        if self.engine.is_none() {
            wake::send(&self.platform.data.wake());
        }
        self.run.notice(
            "cancelling the run; Ctrl-C again detaches immediately (jobs continue until `cubeloom serve` resumes them)",
        );
        Ok(())
    }
}

/// The exit code for an ended run.
pub fn exit_of(state: RunState) -> Exit {
    match state {
        RunState::Failed => Exit::Failed,
        RunState::Cancelled => Exit::Cancelled,
        _ => Exit::Ok,
    }
}
