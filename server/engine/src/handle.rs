//! The engine's handle: to wake, query and stop it.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Desk;
use cubeloom_domain::event::RunEvent;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::core::Tally;
use crate::message::Message;

pub struct Handle {
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) wake: mpsc::UnboundedSender<Message>,
    pub(crate) events: broadcast::Sender<RunEvent>,
    pub(crate) passed: watch::Receiver<Instant>,
    pub(crate) task: JoinHandle<()>,
}

impl Handle {
    /// Makes the engine look at the store now.
    pub fn wake(&self) {
        let _ = self.wake.send(Message::Look);
    }

    /// Subscribes to events from now on.
    pub fn events(&self) -> broadcast::Receiver<RunEvent> {
        self.events.subscribe()
    }

    /// A copy of a cluster's scheduler for what-if queries: as of now, or as of a moment ago if it is large.
    /// `None` if the engine does not know the cluster, or has ended.
    pub async fn desk(&self, cluster: &str) -> Option<Arc<Desk>> {
        let (reply, answer) = oneshot::channel();
        self.wake.send(Message::Desk(cluster.to_owned(), reply)).ok()?;
        answer.await.ok().flatten()
    }

    /// Counts of the engine's objects, at most a second old. `None` if it has ended.
    pub async fn tally(&self) -> Option<Arc<Tally>> {
        let (reply, answer) = oneshot::channel();
        self.wake.send(Message::Tally(reply)).ok()?;
        answer.await.ok()
    }

    /// Time since its last cycle ended. It is not much longer than
    /// [`EngineConfig::period`](crate::EngineConfig::period), unless the engine is blocked.
    pub fn last_pass(&self) -> Duration {
        self.passed.borrow().elapsed()
    }

    /// Stops the engine after its current cycle and releases its leases. Jobs continue.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let _ = self.task.await;
    }

    /// Aborts the engine at any point, as a crash would. Its leases stay.
    pub async fn abort(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    /// Whether the engine has stopped on its own, which only happens after a panic.
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }
}
