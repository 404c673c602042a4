//! One terminal, from when it was opened to its end.

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

/// How often it is asked whether the person may still have it.
const CHECK: Duration = Duration::from_secs(5);
/// How long before its end a terminal says so.
const WARNING: Duration = Duration::from_secs(60);
/// How long a connection has to take the last word.
const LAST_WORD: Duration = Duration::from_secs(1);
/// How much of what was shown before is sent at a time, in bytes.
const PIECE: usize = 16 << 10;

/// A terminal as others see it.
pub(crate) struct Session {
    id: String,
    run: RunId,
    /// The id of the person whose it is.
    person: String,
    ends_at: Timestamp,
    guests: mpsc::Sender<Guest>,
    /// Who has closed it.
    closing: watch::Sender<Option<String>>,
}

/// A connection to a terminal.
pub(super) struct Guest {
    /// What it is told.
    pub(super) said: mpsc::Sender<Said>,
    /// What it says; closed when it is lost.
    pub(super) typed: mpsc::Receiver<Typed>,
    /// How much it may be told.
    pub(super) window: Arc<Window>,
}

/// What a connection is told.
pub(super) enum Said {
    /// Bytes that the terminal shows.
    Shown(Bytes),
    /// So many seconds are left.
    Warning(u64),
    /// It is over.
    Ended(TerminalEnd),
    /// The same person has connected again.
    Replaced,
}

/// What a connection says.
pub(super) enum Typed {
    /// Bytes that were typed.
    Keys(Bytes),
    /// The terminal is now as large as this.
    Resize(TerminalSize),
}

impl Session {
    /// A terminal, and what keeps it.
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

    /// Name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The run that it is opened at.
    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// Whether it is this person's.
    pub(crate) fn is_of(&self, caller: &Caller) -> bool {
        self.person == caller.user.id
    }

    /// Latest time at which the terminal ends.
    pub(crate) fn ends_at(&self) -> Timestamp {
        self.ends_at
    }

    /// Ends it, as `by` wants it; done when nothing of it is left.
    pub(crate) async fn close(&self, by: &Caller) {
        self.closing.send_replace(Some(by.user.name.clone()));
        self.guests.closed().await;
    }

    /// Lets a connection in, in the place of the one that was there; `false` when it is over.
    pub(super) async fn admit(&self, guest: Guest) -> bool {
        self.guests.send(guest).await.is_ok()
    }
}

/// What keeps a terminal.
pub(super) struct Keeper {
    id: String,
    subject: String,
    began: Instant,
    // Above `coming`: whoever waits for the end of that finds the place free.
    _seat: Seat,
    coming: mpsc::Receiver<Guest>,
    room: Room,
}

/// What happens next with a terminal.
enum Next {
    /// It waits for its person.
    Alone,
    /// Somebody is there.
    Guest(Guest),
    /// It is over.
    End(TerminalEnd),
}

impl Keeper {
    /// Until nothing of it is left, which is then in the audit log.
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
            tracing::warn!(terminal = self.id, %error, "the end of a terminal is not in the audit log");
        }
    }
}

/// A terminal's inside.
struct Room {
    web: Web,
    caller: Caller,
    shell: Arc<dyn Terminal>,
    history: History,
    deadline: Instant,
    settings: TerminalSettings,
    /// When something was typed or shown last.
    stirred: Mutex<Instant>,
    closed: watch::Receiver<Option<String>>,
}

impl Room {
    /// Without a connection. What the shell shows waits in it, and so do its programs.
    async fn alone(&self, coming: &mut mpsc::Receiver<Guest>) -> Next {
        tokio::select! {
            Some(guest) = coming.recv() => Next::Guest(guest),
            () = tokio::time::sleep(self.settings.away) => Next::End(TerminalEnd::Away),
            why = self.over() => Next::End(why),
        }
    }

    /// With a connection, until it is lost or another one comes.
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

    /// Passes on what the shell shows, after what it has shown already.
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
            // First, so that it is there for the next connection, should this one be lost now.
            self.history.push(&shown);
            window.take(shown.len()).await;
            if said.send(Said::Shown(shown.into())).await.is_err() {
                return Next::Alone;
            }
        }
    }

    /// Passes on what is typed, until the connection is lost.
    async fn take_in(&self, typed: &mut mpsc::Receiver<Typed>) {
        while let Some(typed) = typed.recv().await {
            self.stir();
            // A shell that has ended takes nothing; that it has, is seen by who reads from it.
            let _ = match typed {
                Typed::Keys(keys) => self.shell.write(&keys).await,
                Typed::Resize(size) => self.shell.resize(size).await,
            };
        }
    }

    /// Says when little time is left.
    async fn warn(&self, said: &mpsc::Sender<Said>) -> std::convert::Infallible {
        let at = self.deadline.checked_sub(WARNING).unwrap_or(self.deadline);
        sleep_until(at).await;
        let left = self.deadline.saturating_duration_since(Instant::now());
        let _ = timeout_at(self.deadline, said.send(Said::Warning(left.as_secs()))).await;
        std::future::pending().await
    }

    /// What ends it whoever is there.
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
                    // While the database is away, what was known holds.
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

    /// When nothing has happened for too long, if nothing does.
    fn quiet_at(&self) -> Instant {
        *self.stirred.lock().unwrap_or_else(PoisonError::into_inner) + self.settings.idle
    }
}

async fn until<T>(told: &mut watch::Receiver<T>, holds: impl FnMut(&T) -> bool) {
    let _ = told.wait_for(holds).await;
}
