//! Ends a transfer early without losing its fetched data.

use std::future::Future;

use tokio::sync::watch;

use super::error::TransferError;

/// A stop flag that every wait of a transfer checks. Clones share it.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    /// Stops the transfer.
    pub fn raise(&self) {
        self.0.send_replace(true);
    }

    /// Fails once the flag is raised.
    pub(crate) fn check(&self) -> Result<(), TransferError> {
        if *self.0.borrow() { Err(TransferError::Stopped) } else { Ok(()) }
    }

    /// Waits for `work`, or until the flag is raised.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Result<T, TransferError> {
        let mut flag = self.0.subscribe();
        tokio::select! {
            done = work => Ok(done),
            _ = flag.wait_for(|raised| *raised) => Err(TransferError::Stopped),
        }
    }
}
