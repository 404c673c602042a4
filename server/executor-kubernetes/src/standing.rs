//! Keeps how a cluster is: whether it answers, and since when not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubeloom_domain::Clock;
use cubeloom_domain::clusters::Standing;

use crate::error::Refused;

/// Keeps how a cluster is.
pub struct Watched {
    clock: Arc<dyn Clock>,
    name: String,
    present: Mutex<Standing>,
}

impl Watched {
    /// Of the cluster of this name.
    pub fn new(name: &str, clock: Arc<dyn Clock>) -> Self {
        Self { clock, name: name.to_owned(), present: Mutex::new(Standing::Unknown) }
    }

    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it is now.
    pub fn now(&self) -> Standing {
        self.lock().clone()
    }

    /// It answered something.
    pub fn answered(&self) {
        let mut present = self.lock();
        if *present != Standing::Connected {
            tracing::info!(cluster = self.name, "the cluster answers");
            *present = Standing::Connected;
        }
    }

    /// What was asked of it was refused. A refusal of one thing is an answer.
    pub fn failed(&self, what: &str, refused: &Refused) {
        let why = format!("{what}: {}", refused.message());
        let mut present = self.lock();
        let since = match &*present {
            Standing::Away { since, .. } | Standing::Refused { since, .. } => *since,
            Standing::Unknown | Standing::Connected => {
                tracing::warn!(cluster = self.name, why, "the cluster does not answer as it should");
                self.clock.now()
            }
        };
        *present = match refused {
            Refused::Credentials(_) => Standing::Refused { since, why },
            _ => Standing::Away { since, why },
        };
    }
}
