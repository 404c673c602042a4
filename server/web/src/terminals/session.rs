//! One terminal, from opening to end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use cubeloom_domain::terminal::{Terminal, TerminalSize};
use cubeloom_domain::{RunId, Timestamp};
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, interval, sleep_until, timeout, timeout_at};

use super::history::History;
use super::window::Window;
use super::{Opened, Seat};
use crate::api::terminals::view::TerminalEnd;
use crate::audit;
use crate::auth::{self, Caller};
use crate::state::{TerminalSettings, Web};

/// Interval at which the user's access is checked.
const CHECK: Duration = Duration::from_secs(5);
/// How long before its end a terminal warns the user.
const WARNING: Duration = Duration::from_secs(60);
/// Timeout for sending the last message to a connection.
const LAST_WORD: Duration = Duration::from_secs(1);
/// Maximum size of a chunk of the history, in bytes.
const PIECE: usize = 16 << 10;

/// A terminal, as seen from outside.
pub(crate) struct Session {
    id: String,
    run: RunId,
    /// Id of the user.
    person: String,
    ends_at: Timestamp,
    guests: mpsc::Sender<Guest>,
    /// Name of the user who closed it.
    closing: watch::Sender<Option<String>>,
}

/// A connection to a terminal.
pub(super) struct Guest {
    /// Messages to the connection.
    pub(super) said: mpsc::Sender<Said>,
    /// Messages from the connection. Closed when it is lost.
    pub(super) typed: mpsc::Receiver<Typed>,
    /// Flow control window of the output.
    pub(super) window: Arc<Window>,
}

/// Message to a connection.
pub(super) enum Said {
    /// Output of the terminal.
    Shown(Bytes),
    /// Remaining seconds.
    Warning(u64),
    /// The terminal has ended.
    Ended(TerminalEnd),
    /// The user has connected again.
    Replaced,
}

/// Message from a connection.
pub(super) enum Typed {
    /// Typed bytes.
    Keys(Bytes),
    /// New size of the terminal.
    Resize(TerminalSize),
}

impl Session {
    /// A terminal and its task.
    pub(super) fn new(
        web: &Web,
        caller: &Caller,
        seat: Seat,
        opened: Opened,
        settings: TerminalSettings,
    ) -> (Arc<Self>, Keeper) {
        let ((guests, coming), (closing, closed)) = (mpsc::channel(1), watch::channel(None));
        let began = Instant::now();
        let session = Self {
            id: seat.id().to_owned(),
            run: opened.run,
            person: caller.user.id.clone(),
            ends_at: web.now().plus(settings.limit),
            guests,
            closing,
        };
        let room = Room {
            web: web.clone(),
            caller: caller.clone(),
            shell: opened.shell,
            history: History::default(),
            deadline: began + settings.limit,
            stirred: Mutex::new(began),
            settings,
            closed,
        };
        let keeper =
            Keeper { id: session.id.clone(), subject: opened.subject, began, _seat: seat, coming, room };
        (Arc::new(session), keeper)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The run that it belongs to.
    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// Whether it belongs to this user.
    pub(crate) fn is_of(&self, caller: &Caller) -> bool {
        self.person == caller.user.id
    }

    /// Latest time at which the terminal ends.
    pub(crate) fn ends_at(&self) -> Timestamp {
        self.ends_at
    }

    /// Closes it for `by`. Returns after the cleanup.
    pub(crate) async fn close(&self, by: &Caller) {
        self.closing.send_replace(Some(by.user.name.clone()));
        self.guests.closed().await;
    }

    /// Replaces the current connection. Returns `false` if the terminal has ended.
    pub(super) async fn admit(&self, guest: Guest) -> bool {
        self.guests.send(guest).await.is_ok()
    }
}

/// Task of a terminal.
pub(super) struct Keeper {
    id: String,
    subject: String,
    began: Instant,
    // Above `coming`: the slot must be free once `coming` is closed.
    _seat: Seat,
    coming: mpsc::Receiver<Guest>,
    room: Room,
}

/// Next state of a terminal.
enum Next {
    /// No connection.
    Alone,
    /// A connection.
    Guest(Guest),
    /// The terminal ends.
    End(TerminalEnd),
}

impl Keeper {
    /// Runs until the end, cleans up and writes the audit log entry.
    pub(super) async fn keep(mut self) {
        let mut next = Next::Alone;
        let why = loop {
            next = match next {
                Next::Alone => self.room.alone(&mut self.coming).await,
                Next::Guest(guest) => self.room.attended(guest, &mut self.coming).await,
                Next::End(why) => break why,
            };
        };
        self.room.shell.end().await;
        let Room { web, caller, closed, .. } = &self.room;
        let entry = audit::entry(web, caller, "terminal.close", self.subject);
        let seconds = self.began.elapsed().as_secs();
        let mut how = json!({"terminal": self.id, "seconds": seconds, "why": why});
        if let Some(by) = closed.borrow().clone().filter(|by| *by != caller.user.name) {
            how["by"] = by.into();
        }
        let entry = entry.after(how);
        if let Err(error) = web.store().audit(&entry).await {
            tracing::warn!(terminal = self.id, %error, "cannot write the end of a terminal to the audit log");
        }
    }
}

/// State of the task.
struct Room {
    web: Web,
    caller: Caller,
    shell: Arc<dyn Terminal>,
    history: History,
    deadline: Instant,
    settings: TerminalSettings,
    /// Time of the last input or output.
    stirred: Mutex<Instant>,
    closed: watch::Receiver<Option<String>>,
}

impl Room {
    /// Without a connection. Output stays in the shell, which blocks its programs.
    async fn alone(&self, coming: &mut mpsc::Receiver<Guest>) -> Next {
        tokio::select! {
            Some(guest) = coming.recv() => Next::Guest(guest),
            () = tokio::time::sleep(self.settings.away) => Next::End(TerminalEnd::Away),
            why = self.over() => Next::End(why),
        }
    }

    /// With a connection, until it is lost or replaced.
    async fn attended(&self, guest: Guest, coming: &mut mpsc::Receiver<Guest>) -> Next {
        let Guest { said, mut typed, window } = guest;
        let next = tokio::select! {
            next = self.show(&said, &window) => next,
            () = self.take_in(&mut typed) => Next::Alone,
            Some(guest) = coming.recv() => Next::Guest(guest),
            why = self.over() => Next::End(why),
            never = self.warn(&said) => match never {},
        };
        let last = match &next {
            Next::Alone => return next,
            Next::Guest(_) => Said::Replaced,
            Next::End(why) => Said::Ended(*why),
        };
        let _ = timeout(LAST_WORD, said.send(last)).await;
        next
    }

    /// Sends the history, and then the shell's output.
    async fn show(&self, said: &mpsc::Sender<Said>, window: &Window) -> Next {
        let past = Bytes::from(self.history.all());
        for at in (0..past.len()).step_by(PIECE) {
            let piece = past.slice(at..past.len().min(at + PIECE));
            window.take(piece.len()).await;
            if said.send(Said::Shown(piece)).await.is_err() {
                return Next::Alone;
            }
        }
        loop {
            let shown = match self.shell.read().await {
                Ok(shown) if !shown.is_empty() => shown,
                _ => return Next::End(TerminalEnd::Exited),
            };
            self.stir();
            // Store first, for the next connection if this one is lost now.
            self.history.push(&shown);
            window.take(shown.len()).await;
            if said.send(Said::Shown(shown.into())).await.is_err() {
                return Next::Alone;
            }
        }
    }

    /// Passes input to the shell until the connection is lost.
    async fn take_in(&self, typed: &mut mpsc::Receiver<Typed>) {
        while let Some(typed) = typed.recv().await {
            self.stir();
            // A shell that has ended refuses input. The reader of its output notices the end.
            let _ = match typed {
                Typed::Keys(keys) => self.shell.write(&keys).await,
                Typed::Resize(size) => self.shell.resize(size).await,
            };
        }
    }

    /// Warns shortly before the end.
    async fn warn(&self, said: &mpsc::Sender<Said>) -> std::convert::Infallible {
        let at = self.deadline.checked_sub(WARNING).unwrap_or(self.deadline);
        sleep_until(at).await;
        let left = self.deadline.saturating_duration_since(Instant::now());
        let _ = timeout_at(self.deadline, said.send(Said::Warning(left.as_secs()))).await;
        std::future::pending().await
    }

    /// Waits for conditions that end the terminal regardless of its connection.
    async fn over(&self) -> TerminalEnd {
        let (mut closed, mut stopping) = (self.closed.clone(), self.web.stopping());
        let mut check = interval(CHECK);
        loop {
            tokio::select! {
                biased;
                () = until(&mut stopping, |stop| *stop) => return TerminalEnd::Stopping,
                () = until(&mut closed, Option::is_some) => return TerminalEnd::Closed,
                () = sleep_until(self.deadline) => return TerminalEnd::Limit,
                () = sleep_until(self.quiet_at()) => {
                    if self.quiet_at() <= Instant::now() {
                        return TerminalEnd::Idle;
                    }
                }
                _ = check.tick() => {
                    // If the database is unreachable, keep the last result.
                    if !auth::still_valid(&self.web, &self.caller).await.unwrap_or(true) {
                        return TerminalEnd::Revoked;
                    }
                }
            }
        }
    }

    fn stir(&self) {
        *self.stirred.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// When the inactivity timeout ends without further activity.
    fn quiet_at(&self) -> Instant {
        *self.stirred.lock().unwrap_or_else(PoisonError::into_inner) + self.settings.idle
    }
}

async fn until<T>(told: &mut watch::Receiver<T>, holds: impl FnMut(&T) -> bool) {
    let _ = told.wait_for(holds).await;
}
