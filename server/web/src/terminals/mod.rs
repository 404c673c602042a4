//! Open terminals on this server and their users. Each is a task, the [`session`]. It owns the shell and
//! handles all ends: timeout, inactivity, a user who does not return or loses access. A [`socket`] is one
//! connection to it.

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

/// Open terminals of this server.
pub(crate) struct Terminals {
    settings: TerminalSettings,
    seats: Seats,
}

/// A newly opened terminal.
pub(crate) struct Opened {
    pub(crate) shell: Arc<dyn Terminal>,
    pub(crate) run: RunId,
    /// Subject in the audit log: the attempt's key.
    pub(crate) subject: String,
}

impl Terminals {
    pub(crate) fn new(settings: TerminalSettings) -> Self {
        Self { settings, seats: Seats::default() }
    }

    pub(crate) fn settings(&self) -> TerminalSettings {
        self.settings
    }

    /// Takes a slot for another terminal of this user.
    ///
    /// # Errors
    /// The user or the server has too many terminals.
    pub(crate) fn seat(&self, id: &str, person: &str) -> ApiResult<Seat> {
        self.seats.take(id, person, self.settings)
    }

    /// Keeps a terminal open until its end.
    pub(crate) fn keep(&self, web: &Web, caller: &Caller, seat: Seat, opened: Opened) -> Arc<Session> {
        let (session, keeper) = Session::new(web, caller, seat, opened, self.settings);
        self.seats.fill(session.id(), &session);
        tokio::spawn(keeper.keep());
        session
    }

    /// The terminal of a run with this id.
    ///
    /// # Errors
    /// There is no such terminal, or it has ended.
    pub(crate) fn find(&self, run: &RunId, id: &str) -> ApiResult<Arc<Session>> {
        let found = self.seats.find(id).filter(|session| session.run() == run);
        found.ok_or_else(|| ApiError::not_found("terminal", id))
    }

    /// Closes the terminals of a run that is deleted.
    pub(crate) async fn close_of(&self, run: &RunId, by: &Caller) {
        for session in self.seats.all().iter().filter(|session| session.run() == run) {
            session.close(by).await;
        }
    }
}
