//! Approval tasks: they wait, without using a cluster, until a user has decided.

use cubeloom_domain::Timestamp;
use cubeloom_domain::approval::{Decision, OnRejection};
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::state::{InstanceState, WaitReason};
use serde_json::{Value, json};

use super::{At, Core, Timer};

impl Core {
    /// Creates an instance's question, once: a server restart does not change it.
    pub(super) fn ask(&mut self, at: At) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let planned = run.plan.task(at.task);
        let cell = &run.tasks[at.task.index()];
        let InstanceState::Waiting { since, reason } = &cell.instances[at.instance as usize].state else {
            return;
        };
        let (since, asked) = (*since, reason.is_some());
        if let Some(limit) = planned.timeout {
            self.timers.insert((since.plus(limit.0), Timer::Undecided(at)));
        }
        if asked {
            return;
        }
        let item: Option<&Value> = cell.items.as_ref().and_then(|items| items.get(at.instance as usize));
        match cubeloom_compiler::question(&run.plan, at.task, item, &run.outputs_for(at.task)) {
            Ok(question) => self.explain(at, WaitReason::Decision(question)),
            Err(failure) => self.end_instance(at, InstanceState::Failed { failure }, since),
        }
    }

    /// Applies a user's decision. It has no effect if the question is no longer open.
    pub(super) fn decided(&mut self, at: At, decision: Decision, now: Timestamp) {
        let Some(instance) = self.instance_mut(at) else { return };
        let Some(question) = instance.state.question() else { return };
        let goes_on = decision.approved || question.on_rejection == OnRejection::GoOn;
        let Decision { approved, by, comment } = decision;
        let outputs = &mut instance.report.outputs;
        outputs.insert("approved".into(), json!(approved));
        outputs.insert("by".into(), json!(by));
        outputs.insert("comment".into(), json!(comment));
        let state = if goes_on {
            InstanceState::Succeeded { reused: None }
        } else {
            let said = comment.map(|comment| format!(": {comment}")).unwrap_or_default();
            let failure = Failure::new(FailureKind::Rejected, format!("{by} rejected it{said}"));
            InstanceState::Failed { failure }
        };
        self.end_instance(at, state, now);
    }

    /// Handles an approval timeout.
    pub(super) fn undecided(&mut self, at: At, now: Timestamp) {
        let Some(run) = self.runs[at.slot].as_ref() else { return };
        let Some(limit) = run.plan.task(at.task).timeout else { return };
        let Some(instance) = self.instance_mut(at) else { return };
        match instance.state {
            InstanceState::Waiting { since, .. } if since.plus(limit.0) <= now => {}
            // It was decided, and the question was asked again since.
            _ => return,
        }
        let failure = Failure::new(FailureKind::Timeout, format!("no decision within {limit}"));
        self.end_instance(at, InstanceState::Failed { failure }, now);
    }
}
