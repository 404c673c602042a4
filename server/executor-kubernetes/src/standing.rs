//! Connection state of a cluster: whether it responds, since when not, and how often it failed recently.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::clusters::{Refusals, Standing};
use cubeloom_domain::{Clock, Timestamp};

use crate::error::Refused;

/// The time that counts as recent.
const LATELY: Duration = Duration::from_secs(600);
/// Maximum number of refusals counted.
const COUNTED: usize = 1000;

pub struct Watched {
    clock: Arc<dyn Clock>,
    name: String,
    state: Mutex<State>,
}

struct State {
    present: Standing,
    /// Times of refusals, the latest last.
    refusals: VecDeque<Timestamp>,
    /// The last refusal.
    last: String,
}

impl Watched {
    pub fn new(name: &str, clock: Arc<dyn Clock>) -> Self {
        let state = State { present: Standing::Unknown, refusals: VecDeque::new(), last: String::new() };
        Self { clock, name: name.to_owned(), state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> Standing {
        self.lock().present.clone()
    }

    /// Recent refusals.
    pub fn refusals(&self) -> Option<Refusals> {
        let state = self.lock();
        let now = self.clock.now();
        let count = state.refusals.iter().filter(|at| now.since(**at) <= LATELY).count();
        (count > 0).then(|| Refusals { count, why: state.last.clone() })
    }

    /// Records a response.
    pub fn answered(&self) {
        let mut state = self.lock();
        if state.present != Standing::Connected {
            tracing::info!(cluster = self.name, "the cluster is reachable");
            state.present = Standing::Connected;
        }
    }

    /// Records a failed request. A refusal of one operation is still a response.
    pub fn failed(&self, what: &str, refused: &Refused) {
        let why = format!("{what}: {}", refused.message());
        let now = self.clock.now();
        let mut state = self.lock();
        state.refusals.push_back(now);
        if state.refusals.len() > COUNTED {
            state.refusals.pop_front();
        }
        state.last.clone_from(&why);
        let since = match &state.present {
            Standing::Away { since, .. } | Standing::Refused { since, .. } | Standing::GivenUp { since } => {
                *since
            }
            Standing::Unknown | Standing::Connected => {
                tracing::warn!(cluster = self.name, why, "requests to the cluster fail");
                now
            }
        };
        state.present = match refused {
            Refused::Credentials(_) => Standing::Refused { since, why },
            _ => Standing::Away { since, why },
        };
    }
}
