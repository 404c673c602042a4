//! Connections to PostgreSQL that broke: one is seldom alone, so that those that were idle then are tried before they are used.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::StoreError;

/// An idle connection is tried after this long, whatever happened: a round trip for each use would be the price of noticing at once.
const IDLE: Duration = Duration::from_secs(5);

/// When a connection was last found to be broken.
#[derive(Default)]
pub(crate) struct Breaks(Mutex<Option<Instant>>);

impl Breaks {
    /// Notes it where an error says so.
    pub(crate) fn look_at(&self, error: &StoreError) {
        if let StoreError::Database(source) = error
            && is_broken(source)
        {
            self.found();
        }
    }

    /// A connection is broken.
    pub(crate) fn found(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether a connection that was idle for so long is to be tried before it is used.
    pub(crate) fn doubts(&self, idle: Duration) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle >= IDLE || last.is_some_and(|last| last.elapsed() < idle)
    }
}

/// Whether the connection is of no more use: it was lost, or the server ends it (class 57P) or refuses it (class 08).
fn is_broken(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(refusal) => {
            refusal.code().is_some_and(|code| code.starts_with("57P") || code.starts_with("08"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_idle_when_another_broke_is_tried() {
        let breaks = Breaks::default();
        assert!(!breaks.doubts(Duration::from_secs(4)) && breaks.doubts(IDLE));
        breaks.look_at(&StoreError::Database(sqlx::Error::PoolTimedOut));
        assert!(!breaks.doubts(Duration::from_secs(4)));
        breaks.look_at(&StoreError::Database(sqlx::Error::Io(std::io::ErrorKind::BrokenPipe.into())));
        assert!(breaks.doubts(Duration::from_secs(4)));
        assert!(!breaks.doubts(Duration::ZERO), "it was used since");
    }
}
