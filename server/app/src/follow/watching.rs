//! A watched run: its known state, and its display on the terminal.

use std::time::{Duration, Instant};

use cubeloom_domain::RunId;
use cubeloom_domain::event::RunEvent;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::timeout;

use crate::platform::Platform;
use crate::progress::{Board, Live, View};

pub struct Watching<'a> {
    platform: &'a Platform,
    view: View,
    live: Option<Live>,
    /// Whether events were missed, so that the database must be read.
    stale: bool,
    /// The earliest next read, and the earliest next draw: both may take long with many tasks.
    read_again: Instant,
    draw_again: Instant,
}

/// The result of a wait for events.
pub enum Heard {
    /// New information.
    Event,
    /// Nothing, for the refresh interval of the display.
    Nothing,
}

impl<'a> Watching<'a> {
    /// Starts; with `show`, there is a display.
    pub async fn new(platform: &'a Platform, run: &RunId, show: bool) -> anyhow::Result<Self> {
        let view = View::load(&platform.store, run).await?;
        let view = view.ok_or_else(|| anyhow::anyhow!("there is no run {run}"))?;
        let now = Instant::now();
        let live = show.then(Live::start);
        Ok(Self { platform, view, live, stale: true, read_again: now, draw_again: now })
    }

    pub fn view(&self) -> &View {
        &self.view
    }

    /// Records missed events: the database has newer state.
    pub fn missed(&mut self) {
        self.stale = true;
    }

    /// Waits for events, and combines simultaneous ones into one redraw.
    pub async fn hear(&mut self, events: &mut Receiver<RunEvent>) -> Heard {
        let pace = self.live.as_ref().map_or(Duration::from_secs(1), Live::pace);
        match timeout(pace, events.recv()).await {
            Ok(Ok(event)) => self.view.apply(event),
            Ok(Err(RecvError::Lagged(_))) => self.stale = true,
            Ok(Err(RecvError::Closed)) | Err(_) => return Heard::Nothing,
        }
        loop {
            match events.try_recv() {
                Ok(event) => self.view.apply(event),
                Err(TryRecvError::Lagged(_)) => self.stale = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Heard::Event,
            }
        }
    }

    /// Reads what events did not report; without a display, only the run's state.
    pub async fn read_if_stale(&mut self) -> anyhow::Result<()> {
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

    /// Whether the run has ended without pending commands. A command disappears together with the state that
    /// it changes, so the state is read after the commands.
    pub async fn over(&mut self) -> anyhow::Result<bool> {
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

    /// Draws, if it is time.
    pub fn draw(&mut self) {
        let Some(live) = &mut self.live else { return };
        let began = Instant::now();
        if began >= self.draw_again {
            let now = self.platform.now();
            live.show(&Board::of(&self.view, now), now);
            // With many events per second a terminal need not show each.
            let least = if live.is_screen() { Duration::from_millis(40) } else { Duration::ZERO };
            self.draw_again = Instant::now() + (began.elapsed() * 10).max(least);
        }
    }

    /// Prints a message below the tasks.
    pub fn notice(&mut self, text: &str) {
        if let Some(live) = &mut self.live {
            live.notice(text);
        }
    }

    /// Reads everything once more, and removes the display: a report follows.
    pub async fn finish(mut self, read: bool) -> anyhow::Result<View> {
        if read {
            self.view.reload(&self.platform.store).await?;
        }
        if let Some(live) = &mut self.live {
            let now = self.platform.now();
            live.finish(&Board::of(&self.view, now), now);
        }
        Ok(self.view)
    }
}
