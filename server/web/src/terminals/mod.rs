//! Terminals that are open on this server, and who has them. Each is a task of its own, the [`session`], which owns the
//! shell and all of its ends: its time is over, nothing happens in it, its person does not come back, or may not any
//! more. A [`socket`] is one connection to it.

mod history;
pub(crate) mod place;
mod seats;
mod session;
mod socket;
mod window;

use std::sync::Arc;

use cubeloom_domain::RunId;
use cubeloom_domain::terminal::Terminal;

pub(crate) use seats::Seat;
pub(crate) use session::Session;
pub(crate) use socket::{MESSAGE, attend};

use crate::auth::Caller;
use crate::error::{ApiError, ApiResult};
use crate::state::{TerminalSettings, Web};
use seats::Seats;

/// The terminals of this server.
pub(crate) struct Terminals {
    settings: TerminalSettings,
    seats: Seats,
}

/// A terminal that has just been opened.
pub(crate) struct Opened {
    /// Its shell.
    pub(crate) shell: Arc<dyn Terminal>,
    /// Run.
    pub(crate) run: RunId,
    /// What the audit log has it under: the attempt's key.
    pub(crate) subject: String,
}

impl Terminals {
    /// None yet.
    pub(crate) fn new(settings: TerminalSettings) -> Self {
        Self { settings, seats: Seats::default() }
    }

    /// What is configured.
    pub(crate) fn settings(&self) -> TerminalSettings {
        self.settings
    }

    /// A place for another terminal of this person's.
    ///
    /// # Errors
    /// They, or all together, have as many as there may be.
    pub(crate) fn seat(&self, id: &str, person: &str) -> ApiResult<Seat> {
        self.seats.take(id, person, self.settings)
    }

    /// Keeps a terminal from now on, until its end.
    pub(crate) fn keep(&self, web: &Web, caller: &Caller, seat: Seat, opened: Opened) -> Arc<Session> {
        let (session, keeper) = Session::new(web, caller, seat, opened, self.settings);
        self.seats.fill(session.id(), &session);
        tokio::spawn(keeper.keep());
        session
    }

    /// The terminal of a run that is called this.
    ///
    /// # Errors
    /// There is none, or there is none any more.
    pub(crate) fn find(&self, run: &RunId, id: &str) -> ApiResult<Arc<Session>> {
        let found = self.seats.find(id).filter(|session| session.run() == run);
        found.ok_or_else(|| ApiError::not_found("terminal", id))
    }

    /// Ends the terminals of a run that is deleted.
    pub(crate) async fn close_of(&self, run: &RunId, by: &Caller) {
        for session in self.seats.all().iter().filter(|session| session.run() == run) {
            session.close(by).await;
        }
    }
}
