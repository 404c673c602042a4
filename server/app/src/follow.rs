//! Following a run to its end: as its engine, when no other process is that, else through the database.

use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::event::RunEvent;
use cubeloom_domain::record::Wish;
use cubeloom_domain::state::RunState;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::{sleep, timeout};

use crate::exit::Exit;
use crate::lock::EngineLock;
use crate::platform::{Platform, RunningEngine};
use crate::progress::{Live, View};
use crate::wake;
use crate::{audit, machine};

/// How often the database is read while another process is the engine.
const LOOK: Duration = Duration::from_millis(200);

/// Follows a run.
pub struct Follower<'a> {
    platform: &'a Platform,
    view: View,
    live: Option<Live>,
    engine: Option<(RunningEngine, broadcast::Receiver<RunEvent>)>,
    interrupt: Signal,
    terminate: Signal,
    /// Whether the run was asked to stop from here.
    cancelling: bool,
    /// Whether events were missed, so that the database has to be read.
    stale: bool,
    /// When reading, and when drawing, is worth its while again: both may take long when tasks are many.
    read_again: Instant,
    draw_again: Instant,
}

/// What happened while nothing was to be done.
enum Woken {
    Event(RunEvent),
    Missed,
    Time,
    Interrupt,
    Terminate,
}

impl<'a> Follower<'a> {
    /// Prepares to follow; with `watch`, progress is shown.
    ///
    /// # Errors
    /// When the run is not there.
    pub async fn new(platform: &'a Platform, run: &RunId, watch: bool) -> anyhow::Result<Self> {
        let view = View::load(&platform.store, run).await?;
        let view = view.ok_or_else(|| anyhow::anyhow!("there is no run {run}"))?;
        Ok(Self {
            platform,
            view,
            live: watch.then(Live::start),
            engine: None,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            cancelling: false,
            stale: true,
            read_again: Instant::now(),
            draw_again: Instant::now(),
        })
    }

    /// Follows the run until it has ended, or until this process is told to leave. Gives the last view.
    ///
    /// # Errors
    /// When the database or this machine does not allow it.
    pub async fn run_out(mut self) -> anyhow::Result<(View, Exit)> {
        let exit = self.follow().await;
        if let Some((engine, events)) = self.engine.take() {
            drop(events);
            engine.stop().await;
        }
        let exit = exit?;
        if exit != Exit::Interrupted {
            self.view.reload(&self.platform.store).await?;
        }
        if let Some(live) = &mut self.live {
            live.finish(&self.view, self.platform.now());
        }
        Ok((self.view, exit))
    }

    async fn follow(&mut self) -> anyhow::Result<Exit> {
        if !self.become_engine().await? {
            wake::send(&self.platform.data.wake());
        }
        loop {
            self.read_if_stale().await?;
            if self.over().await? {
                return Ok(exit_of(self.view.run.state));
            }
            self.draw();
            match self.wait().await {
                Woken::Event(event) => {
                    self.view.apply(event);
                    self.drain_events();
                }
                Woken::Missed => self.stale = true,
                Woken::Time => self.tick().await?,
                Woken::Interrupt if self.cancelling => return Ok(Exit::Interrupted),
                Woken::Interrupt => self.cancel().await?,
                Woken::Terminate => return Ok(Exit::Interrupted),
            }
        }
    }

    /// Reads what events did not tell; of a run that nobody watches, only its state.
    async fn read_if_stale(&mut self) -> anyhow::Result<()> {
        if !self.stale || Instant::now() < self.read_again {
            return Ok(());
        }
        let began = Instant::now();
        if self.live.is_some() {
            self.view.reload(&self.platform.store).await?;
        } else if let Some(run) = self.platform.store.run(&self.view.run.id).await? {
            self.view.run = run;
        }
        self.stale = false;
        self.read_again = Instant::now() + began.elapsed() * 4;
        Ok(())
    }

    /// Becomes the engine, unless another process is that, and says whether it is now.
    async fn become_engine(&mut self) -> anyhow::Result<bool> {
        match EngineLock::take(&self.platform.data.lock())? {
            Ok(lock) => {
                let engine = self.platform.start_engine(lock).await?;
                let events = engine.handle.events();
                self.engine = Some((engine, events));
                // What happened before the subscription is in the database only.
                self.stale = true;
                Ok(true)
            }
            Err(_) => {
                self.platform.leave_machine();
                Ok(false)
            }
        }
    }

    /// Whether the run has ended, and nobody wants anything more of it. A wish goes away together with the state
    /// that it changes, so the state is read after the wishes.
    async fn over(&mut self) -> anyhow::Result<bool> {
        let store = &self.platform.store;
        if !self.view.run.state.is_final()
            || !store.wishes(std::slice::from_ref(&self.view.run.id)).await?.is_empty()
        {
            return Ok(false);
        }
        if let Some(run) = store.run(&self.view.run.id).await? {
            self.view.run = run;
        }
        Ok(self.view.run.state.is_final())
    }

    async fn wait(&mut self) -> Woken {
        let pace = self.live.as_ref().map_or(Duration::from_secs(1), Live::pace);
        let event = async {
            match &mut self.engine {
                Some((_, events)) => match timeout(pace, events.recv()).await {
                    Ok(Ok(event)) => Woken::Event(event),
                    Ok(Err(RecvError::Lagged(_))) => Woken::Missed,
                    Ok(Err(RecvError::Closed)) | Err(_) => Woken::Time,
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

    /// Takes the events that came together, so that one drawing shows them all.
    fn drain_events(&mut self) {
        if let Some((_, events)) = &mut self.engine {
            loop {
                match events.try_recv() {
                    Ok(event) => self.view.apply(event),
                    Err(TryRecvError::Lagged(_)) => self.stale = true,
                    Err(TryRecvError::Empty | TryRecvError::Closed) => return,
                }
            }
        }
    }

    /// What is due without an event.
    async fn tick(&mut self) -> anyhow::Result<()> {
        match &self.engine {
            Some((engine, _)) if engine.handle.is_finished() => {
                anyhow::bail!("the engine ended unexpectedly; jobs go on, and `cubeloom serve` takes them up")
            }
            Some(_) => Ok(()),
            None => {
                self.stale = true;
                self.become_engine().await.map(|_| ())
            }
        }
    }

    async fn cancel(&mut self) -> anyhow::Result<()> {
        self.cancelling = true;
        let (store, run) = (&self.platform.store, &self.view.run.id);
        let audit = audit::entry(self.platform, "run.cancel", run.as_str(), None)?;
        store.add_wish(run, &Wish::Cancel, &machine::user(), self.platform.now(), Some(&audit)).await?;
        if self.engine.is_none() {
            wake::send(&self.platform.data.wake());
        }
        if let Some(live) = &mut self.live {
            live.notice("cancelling the run; Ctrl-C again leaves at once (what runs goes on until `cubeloom serve` takes it up)");
        }
        Ok(())
    }

    fn draw(&mut self) {
        let Some(live) = &mut self.live else { return };
        let began = Instant::now();
        if began >= self.draw_again {
            live.show(&self.view, self.platform.now());
            // Many events a second: a terminal need not show each.
            let least = if live.is_screen() { Duration::from_millis(40) } else { Duration::ZERO };
            self.draw_again = Instant::now() + (began.elapsed() * 10).max(least);
        }
    }
}

/// The exit code for a run that has ended.
pub fn exit_of(state: RunState) -> Exit {
    match state {
        RunState::Failed => Exit::Failed,
        RunState::Cancelled => Exit::Cancelled,
        _ => Exit::Ok,
    }
}
