//! Messages to the engine's loop.

use std::sync::Arc;

use cubeloom_admission::Desk;
use cubeloom_domain::executor::{Observation, Observer};
use cubeloom_domain::hang::WorkerStack;
use cubeloom_domain::usage::WorkerUsage;
use cubeloom_domain::{AttemptKey, RunId};
use tokio::sync::{mpsc, oneshot};

use crate::core::{Answer, Tally};

pub(crate) enum Message {
    Observed(Observation),
    Answered(Box<Answer>),
    Prepared(RunId, Result<(), String>),
    /// The stacks of a hanging attempt's workers.
    LookedAt(AttemptKey, Vec<WorkerStack>),
    /// GPU usage of a running attempt.
    CardsSeen(AttemptKey, Option<Vec<WorkerUsage>>),
    Look,
    /// More jobs could start than one cycle starts.
    Admit,
    /// A request for a copy of a cluster's scheduler.
    Desk(String, oneshot::Sender<Option<Arc<Desk>>>),
    /// A request for the counts.
    Tally(oneshot::Sender<Arc<Tally>>),
}

/// Forwards reports to the engine's channel.
pub(crate) struct Reports(pub(crate) mpsc::UnboundedSender<Message>);

impl Observer for Reports {
    fn observed(&self, observation: Observation) {
        let _ = self.0.send(Message::Observed(observation));
    }
}
