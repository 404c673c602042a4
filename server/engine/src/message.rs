//! What reaches the engine's loop.

use std::sync::Arc;

use cubeloom_admission::Desk;
use cubeloom_domain::executor::{Observation, Observer};
use cubeloom_domain::hang::WorkerStack;
use cubeloom_domain::usage::WorkerUsage;
use cubeloom_domain::{AttemptKey, RunId};
use tokio::sync::{mpsc, oneshot};

use crate::core::{Answer, Tally};

/// What reaches the loop.
pub(crate) enum Message {
    Observed(Observation),
    Answered(Box<Answer>),
    Prepared(RunId, Result<(), String>),
    /// What the workers of an attempt that hangs are at.
    LookedAt(AttemptKey, Vec<WorkerStack>),
    /// What the cards of an attempt that runs did so far.
    CardsSeen(AttemptKey, Option<Vec<WorkerUsage>>),
    Look,
    /// More jobs could start than one pass starts.
    Admit,
    /// Somebody wants a copy of a cluster's desk.
    Desk(String, oneshot::Sender<Option<Arc<Desk>>>),
    /// Somebody wants to know how many of what there are.
    Tally(oneshot::Sender<Arc<Tally>>),
}

/// Passes reports on into the engine's channel.
pub(crate) struct Reports(pub(crate) mpsc::UnboundedSender<Message>);

impl Observer for Reports {
    fn observed(&self, observation: Observation) {
        let _ = self.0.send(Message::Observed(observation));
    }
}
