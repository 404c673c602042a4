//! The engine as others have it: to wake, to ask and to stop.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Desk;
use cubeloom_domain::event::RunEvent;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::core::Tally;
use crate::message::Message;

/// A running engine.
pub struct Handle {
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) wake: mpsc::UnboundedSender<Message>,
    pub(crate) events: broadcast::Sender<RunEvent>,
    pub(crate) passed: watch::Receiver<Instant>,
    pub(crate) task: JoinHandle<()>,
}

impl Handle {
    /// Asks the engine to look at the store now.
    pub fn wake(&self) {
        let _ = self.wake.send(Message::Look);
    }

    /// What happens from now on.
    pub fn events(&self) -> broadcast::Receiver<RunEvent> {
        self.events.subscribe()
    }

    /// The desk of a cluster as it is now, or was a moment ago where it is large: a copy, to be asked what would be. `None`
    /// where the engine knows no such cluster, or has ended.
    pub async fn desk(&self, cluster: &str) -> Option<Arc<Desk>> {
        let (reply, answer) = oneshot::channel();
        self.wake.send(Message::Desk(cluster.to_owned(), reply)).ok()?;
        answer.await.ok().flatten()
    }

    /// How many of what the engine holds, or held a second ago. `None` where it has ended.
    pub async fn tally(&self) -> Option<Arc<Tally>> {
        let (reply, answer) = oneshot::channel();
        self.wake.send(Message::Tally(reply)).ok()?;
        answer.await.ok()
    }

    /// How long ago its last pass ended: not much longer than [`EngineConfig::period`](crate::EngineConfig::period), unless something holds it up.
    pub fn last_pass(&self) -> Duration {
        self.passed.borrow().elapsed()
    }

    /// Ends the engine after its present pass and gives its leases back. Jobs go on.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }

    /// Ends the engine at whatever it is doing, as a crash would. Its leases stay.
    pub async fn abort(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    /// Whether the engine has ended by itself, which it does not unless it panicked.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}
