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

/// A transition that the present state does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} cannot become {to} from {from}")]
pub struct BadTransition {
    /// Of what.
    pub what: &'static str,
    /// The state it is in.
    pub from: &'static str,
    /// The state it should take.
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
    /// Somebody wants it to stop; what runs is being stopped.
    Cancelling,
    /// Every task ended well or was skipped.
    Succeeded,
    /// A task failed.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl RunState {
    /// All of them, in the order in which a run may go through them.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Cancelling, Self::Succeeded, Self::Failed, Self::Cancelled];

    /// Whether nothing will happen any more by itself.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }

    /// The word for it, as stored and shown.
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

/// Why an instance is not running though what it needs has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum WaitReason {
    /// Not enough is free.
    Capacity {
        /// A sentence with the amounts.
        message: String,
        /// The same as data, and who holds what is missing.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// A job that is ahead needs the room.
    Behind {
        /// A sentence that names it.
        message: String,
        /// The same as data.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// Its project, a group above it, or the person has all that it may have, or others have what it may not borrow.
    Quota {
        /// A sentence with the amounts.
        message: String,
        /// The same as data, and who holds what is missing.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// A limit that it names is used up.
    NamedLimit {
        /// A sentence that names the limit.
        message: String,
        /// The same as data, and who holds it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// The pipeline's or the task's parallelism is used up.
    Parallelism {
        /// A sentence with the limit.
        message: String,
        /// The same as data; none in what earlier versions noted.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        why: Option<Box<Explanation>>,
    },
    /// A person has to decide.
    Decision(Question),
}

impl WaitReason {
    /// The sentence for the person.
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

    /// The word for what keeps it waiting, as it is stored.
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

    /// The same as data, where a rule is the reason, and no person.
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

    /// Whether it may hold of jobs like this one, too: what one of them had to give back, where one may not go, or that one asks
    /// for more since it ran out of memory, says nothing of the others.
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        let rule = self.explanation().map(|why| why.rule);
        !matches!(rule, Some(WaitRule::CoolDown | WaitRule::Apart | WaitRule::NeverFits))
    }

    /// What may be said of a job like this one that stands so many places further behind: the same rule and amounts, and
    /// nobody whose end would start it.
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

/// Why an instance was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Its `when` was false.
    Condition,
    /// Its trigger rule can no longer hold, and no needed task failed.
    Trigger,
    /// A person said that it is not needed.
    Marked,
}

/// Where the outputs of an instance came from, when it was not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedFrom {
    /// Run.
    pub run: RunId,
    /// Name of the task.
    pub task: String,
    /// When that had ended.
    pub ended_at: Timestamp,
}

/// The state of an instance. An instance that is not stored waits for what it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum InstanceState {
    /// It is to run again, and waits for what it needs.
    Pending,
    /// What it needs has ended; it waits for a place.
    Waiting {
        /// Start time.
        since: Timestamp,
        /// Why, once it was looked at.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<WaitReason>,
    },
    /// It failed and will be tried again.
    Backoff {
        /// End time.
        until: Timestamp,
    },
    /// An attempt is on its way.
    Active {
        /// What it counts as when that has ended: it was told to stop for this.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        marked: Option<Box<Mark>>,
    },
    /// It ended well.
    Succeeded {
        /// Where its outputs came from, when it was not run.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reused: Option<ReusedFrom>,
    },
    /// A trial that was stopped, as others of its search are better.
    StoppedEarly {
        /// A sentence with the values.
        why: String,
    },
    /// Its last attempt failed.
    Failed {
        /// Reason.
        failure: Failure,
    },
    /// A task that it needs failed.
    UpstreamFailed,
    /// It was not run.
    Skipped {
        /// Reason.
        reason: SkipReason,
    },
    /// The run was stopped.
    Cancelled,
}

impl InstanceState {
    /// An attempt is on its way.
    pub const ACTIVE: Self = Self::Active { marked: None };

    /// Whether it was not run because of others: it may be, if they come to another end.
    #[must_use]
    pub fn is_passed_over(&self) -> bool {
        matches!(self, Self::UpstreamFailed | Self::Skipped { reason: SkipReason::Trigger })
    }

    /// What a person has to decide, where it waits for that.
    #[must_use]
    pub fn question(&self) -> Option<&Question> {
        match self {
            Self::Waiting { reason: Some(WaitReason::Decision(question)), .. } => Some(question),
            _ => None,
        }
    }

    /// Whether it waits for a place on its cluster: not for others of its run, and for nobody's decision.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        match self {
            Self::Waiting { reason, .. } => {
                !matches!(reason, Some(WaitReason::Parallelism { .. } | WaitReason::Decision(_)))
            }
            _ => false,
        }
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Pending | Self::Waiting { .. } | Self::Backoff { .. } | Self::Active { .. })
    }

    /// Whether it left what it was run for, so that it need not be run again.
    #[must_use]
    pub fn is_done_with(&self) -> bool {
        matches!(self, Self::Succeeded { .. } | Self::StoppedEarly { .. })
    }

    /// The word for it, as shown.
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
    /// Written, and perhaps submitted: after a crash its name is looked up.
    Submitting,
    /// Its workers run.
    Running {
        /// Start time.
        started_at: Timestamp,
    },
    /// It was told to stop.
    Stopping {
        /// Since when it ran, if it did.
        started_at: Option<Timestamp>,
        /// Reason.
        cause: StopCause,
    },
    /// It has ended.
    Ended {
        /// Since when it ran, if it did.
        started_at: Option<Timestamp>,
        /// End time of its last part.
        ended_at: Timestamp,
        /// How.
        outcome: Outcome,
    },
}

impl AttemptState {
    /// The word for it, as stored and shown.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Submitting => "submitting",
            Self::Running { .. } => "running",
            Self::Stopping { .. } => "stopping",
            Self::Ended { .. } => "ended",
        }
    }

    /// Whether something of it may be on the cluster.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(self, Self::Ended { .. })
    }

    /// Since when it runs or ran.
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
    /// When it does not wait for that; a second report changes nothing and is refused too.
    pub fn start(self, started_at: Timestamp) -> Result<Self, BadTransition> {
        match self {
            Self::Submitting => Ok(Self::Running { started_at }),
            Self::Stopping { started_at: None, cause } => {
                Ok(Self::Stopping { started_at: Some(started_at), cause })
            }
            other => Err(BadTransition { what: "an attempt", from: other.as_str(), to: "running" }),
        }
    }

    /// It is told to stop. The first cause stays.
    ///
    /// # Errors
    /// When it is stopping already, or has ended.
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
    /// When it had ended before.
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
