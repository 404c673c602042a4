//! The states of runs, instances and attempts. A state carries its data; a transition consumes it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::approval::Question;
use crate::clock::Timestamp;
use crate::executor::StopCause;
use crate::ids::RunId;
use crate::mark::Mark;
use crate::outcome::{Failure, Outcome};
use crate::waiting::{Explanation, WaitRule};

/// A transition that does not exist in the current state.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} cannot become {to} from {from}")]
pub struct BadTransition {
    /// The kind of object.
    pub what: &'static str,
    pub from: &'static str,
    pub to: &'static str,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It waits for other runs of its pipeline (`max_active_runs`).
    Queued,
    /// Its tasks run or wait.
    Running,
    /// It is being cancelled; running attempts are being stopped.
    Cancelling,
    /// Every task succeeded or was skipped.
    Succeeded,
    /// A task failed.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunState {
    /// All states, in the order in which a run may go through them.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Cancelling, Self::Succeeded, Self::Failed, Self::Cancelled];

    /// Whether it changes only by a command.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why an instance is not running although its upstream has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum WaitReason {
    /// Insufficient resources.
    Capacity {
        /// A sentence with the amounts.
        message: String,
        /// The same as data, with the jobs that hold what is missing.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// Queued behind a job that needs the capacity.
    Behind {
        /// A sentence that names it.
        message: String,
        /// The same as data.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// The limit of its project, a group above it or the person is exhausted, or it may not borrow what
    /// others use.
    Quota {
        /// A sentence with the amounts.
        message: String,
        /// The same as data, with the jobs that hold what is missing.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// A concurrency limit that it names is exhausted.
    NamedLimit {
        /// A sentence that names the limit.
        message: String,
        /// The same as data, with the jobs that hold it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// The parallelism of the pipeline or the task is exhausted.
    Parallelism {
        /// A sentence with the limit.
        message: String,
        /// The same as data. `None` if an earlier version stored it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// A user has to decide.
    Decision(Question),
}

impl WaitReason {
    /// The sentence for users.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Capacity { message, .. }
            | Self::Behind { message, .. }
            | Self::Quota { message, .. }
            | Self::NamedLimit { message, .. }
            | Self::Parallelism { message, .. } => message,
            Self::Decision(question) => &question.message,
        }
    }

    /// The stored name of the rule.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Capacity { .. } => "capacity",
            Self::Behind { .. } => "behind",
            Self::Quota { .. } => "quota",
            Self::NamedLimit { .. } => "named_limit",
            Self::Parallelism { .. } => "parallelism",
            Self::Decision(_) => "decision",
        }
    }

    /// The same as data. `None` if a user's decision is pending, not a rule.
    #[must_use]
    pub fn explanation(&self) -> Option<&Explanation> {
        match self {
            Self::Capacity { why, .. }
            | Self::Behind { why, .. }
            | Self::Quota { why, .. }
            | Self::NamedLimit { why, .. }
            | Self::Parallelism { why, .. } => why.as_deref(),
            Self::Decision(_) => None,
        }
    }

    /// Whether it may apply to similar jobs, too. It does not if it is specific to this job: reclaimed
    /// resources, anti-affinity, or a larger request after an OOM kill.
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        let rule = self.explanation().map(|why| why.rule);
        !matches!(rule, Some(WaitRule::CoolDown | WaitRule::Apart | WaitRule::NeverFits))
    }

    /// The reason for a similar job this many positions further behind: the same rule and amounts, without
    /// holders.
    #[must_use]
    pub fn further_behind(mut self, places: u32) -> Self {
        if let Self::Capacity { why: Some(why), .. }
        | Self::Behind { why: Some(why), .. }
        | Self::Quota { why: Some(why), .. }
        | Self::NamedLimit { why: Some(why), .. } = &mut self
        {
            why.ahead = why.ahead.saturating_add(places);
            (why.holders, why.start) = (Vec::new(), None);
        }
        self
    }
}

/// Why an instance was skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its `when` was false.
    Condition,
    /// Its trigger rule can no longer hold, and no upstream task failed.
    Trigger,
    /// A user marked it as not needed.
    Marked,
}

/// The source of an instance's outputs that were reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedFrom {
    pub run: RunId,
    pub task: String,
    /// When the reused attempt had ended.
    pub ended_at: Timestamp,
}

/// The state of an instance. An instance without a stored state waits for its upstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum InstanceState {
    /// It is to run again, and waits for its upstream.
    Pending,
    /// Pending: its upstream has ended.
    Waiting {
        since: Timestamp,
        /// The pending reason, once evaluated.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<WaitReason>,
    },
    /// It failed and will be retried.
    Backoff {
        /// When the next attempt is due.
        until: Timestamp,
    },
    /// An attempt is in progress.
    Active {
        /// The outcome set by a user, for which the attempt was asked to stop.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        marked: Option<Box<Mark>>,
    },
    Succeeded {
        /// The source of its outputs, if it was not run.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reused: Option<ReusedFrom>,
    },
    /// A trial that was stopped early, because others of its search are better.
    StoppedEarly {
        /// A sentence with the values.
        why: String,
    },
    /// Its last attempt failed.
    Failed {
        /// The failure of that attempt.
        failure: Failure,
    },
    /// An upstream task failed.
    UpstreamFailed,
    /// It was skipped.
    Skipped {
        /// Why it was skipped.
        reason: SkipReason,
    },
    /// The run was cancelled.
    Cancelled,
}

impl InstanceState {
    /// An attempt is in progress.
    pub const ACTIVE: Self = Self::Active { marked: None };

    /// Whether it was not run because of others: it may still run if their outcome changes.
    #[must_use]
    pub fn is_passed_over(&self) -> bool {
        matches!(self, Self::UpstreamFailed | Self::Skipped { reason: SkipReason::Trigger })
    }

    /// The question to a user, if it waits for a decision.
    #[must_use]
    pub fn question(&self) -> Option<&Question> {
        match self {
            Self::Waiting { reason: Some(WaitReason::Decision(question)), .. } => Some(question),
            _ => None,
        }
    }

    /// Whether it is pending for its cluster, and not for others of its run or for a decision.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        match self {
            Self::Waiting { reason, .. } => {
                !matches!(reason, Some(WaitReason::Parallelism { .. } | WaitReason::Decision(_)))
            }
            _ => false,
        }
    }

    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Pending | Self::Waiting { .. } | Self::Backoff { .. } | Self::Active { .. })
    }

    /// Whether it completed its work, so that it need not run again.
    #[must_use]
    pub fn is_done_with(&self) -> bool {
        matches!(self, Self::Succeeded { .. } | Self::StoppedEarly { .. })
    }

    /// The public name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting { .. } => "waiting",
            Self::Backoff { .. } => "backoff",
            Self::Active { .. } => "running",
            Self::Succeeded { reused: None } => "succeeded",
            Self::Succeeded { reused: Some(_) } => "reused",
            Self::StoppedEarly { .. } => "stopped_early",
            Self::Failed { .. } => "failed",
            Self::UpstreamFailed => "upstream_failed",
            Self::Skipped { .. } => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The state of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AttemptState {
    /// Stored, and possibly submitted: after a crash it is looked up by its name.
    Submitting,
    /// Its workers run.
    Running {
        /// When they started.
        started_at: Timestamp,
    },
    /// It was asked to stop.
    Stopping {
        /// When it started, if it did.
        started_at: Option<Timestamp>,
        cause: StopCause,
    },
    Ended {
        /// When it started, if it did.
        started_at: Option<Timestamp>,
        ended_at: Timestamp,
        outcome: Outcome,
    },
}

impl AttemptState {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Submitting => "submitting",
            Self::Running { .. } => "running",
            Self::Stopping { .. } => "stopping",
            Self::Ended { .. } => "ended",
        }
    }

    /// Whether the cluster may have anything of it.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Ended { .. })
    }

    /// When it started, if it did.
    #[must_use]
    pub fn started_at(&self) -> Option<Timestamp> {
        match self {
            Self::Submitting => None,
            Self::Running { started_at } => Some(*started_at),
            Self::Stopping { started_at, .. } | Self::Ended { started_at, .. } => *started_at,
        }
    }

    /// Its workers run.
    ///
    /// # Errors
    /// It is not in a state before that. A second report changes nothing, and is rejected, too.
    pub fn start(self, started_at: Timestamp) -> Result<Self, BadTransition> {
        match self {
            Self::Submitting => Ok(Self::Running { started_at }),
            Self::Stopping { started_at: None, cause } => {
                Ok(Self::Stopping { started_at: Some(started_at), cause })
            }
            other => Err(BadTransition { what: "an attempt", from: other.as_str(), to: "running" }),
        }
    }

    /// It is asked to stop. The first cause stays.
    ///
    /// # Errors
    /// It is stopping already, or has ended.
    pub fn stop(self, cause: StopCause) -> Result<Self, BadTransition> {
        match self {
            Self::Submitting => Ok(Self::Stopping { started_at: None, cause }),
            Self::Running { started_at } => Ok(Self::Stopping { started_at: Some(started_at), cause }),
            other => Err(BadTransition { what: "an attempt", from: other.as_str(), to: "stopping" }),
        }
    }

    /// It has ended.
    ///
    /// # Errors
    /// It had ended before.
    pub fn end(self, ended_at: Timestamp, outcome: Outcome) -> Result<Self, BadTransition> {
        match self {
            Self::Ended { .. } => Err(BadTransition { what: "an attempt", from: "ended", to: "ended" }),
            live => Ok(Self::Ended { started_at: live.started_at(), ended_at, outcome }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_before_reasons_were_data_is_read() {
        let old = r#"{"rule":"capacity","message":"asks for 2 CPU, 1 are free"}"#;
        let reason: WaitReason = serde_json::from_str(old).unwrap();
        assert_eq!(reason.message(), "asks for 2 CPU, 1 are free");
        assert_eq!(reason.explanation(), None);
        let old = r#"{"rule":"parallelism","message":"the task's parallelism is 1"}"#;
        let reason: WaitReason = serde_json::from_str(old).unwrap();
        assert_eq!((reason.message(), reason.rule()), ("the task's parallelism is 1", "parallelism"));
        assert_eq!(reason.explanation(), None);
        assert_eq!(serde_json::to_string(&reason).unwrap(), old);
    }
}
