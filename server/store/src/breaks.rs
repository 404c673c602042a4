//! Broken PostgreSQL connections: failures are seldom isolated, so connections that were idle at that time
//! are tested before use.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::StoreError;

/// Idle time after which a connection is always tested. To detect a failure immediately would cost a round
/// trip per use.
const IDLE: Duration = Duration::from_secs(5);

/// When the last broken connection was found.
#[derive(Default)]
pub(crate) struct Breaks(Mutex<Option<Instant>>);

impl Breaks {
    /// Records it if an error indicates a broken connection.
    pub(crate) fn look_at(&self, error: &StoreError) {
        if let StoreError::Database(source) = error
            && is_broken(source)
        {
            self.found();
        }
    }

    /// Records a broken connection.
    pub(crate) fn found(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Whether to test a connection before use after this idle time.
    pub(crate) fn doubts(&self, idle: Duration) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle >= IDLE || last.is_some_and(|last| last.elapsed() < idle)
    }
}

/// Whether the connection is unusable: it was lost, or the server ends it (class 57P) or refuses it (class
/// 08).
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
