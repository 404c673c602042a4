//! Alerts: events that notify people, the channels that deliver them, and the state of each message.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::clock::Timestamp;
use crate::hang::Hang;
use crate::ids::{RunId, TaskIx};
use crate::record::{AttemptRecord, RunRecord};
use crate::schedule::{Firing, PipelineName};
use crate::state::RunState;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    /// A run failed.
    RunFailed,
    /// A run succeeded after the one before it had failed, or after it had failed itself.
    RunRecovered,
    /// A run has not ended when it should have.
    RunLate,
    /// Instances of a task are pending longer than the channel's rule allows.
    TaskWaiting,
    /// A quota is nearly exhausted.
    QuotaNearlyUsed,
    /// A budget is nearly exhausted.
    BudgetNearlyUsed,
    /// A node was cordoned, because attempts failed through it or by a user.
    NodeSetAside,
    /// A task's workers get other resources than before, by the usage of earlier attempts.
    SizeChanged,
    /// A task holds GPUs without using them.
    GpuIdle,
    /// A task hangs: it has reported no step for longer than its pattern explains.
    TaskHangs,
    /// A test message for a channel.
    Test,
}

impl AlertKind {
    /// Kinds with a source, which channels can subscribe to. A kind is added together with its source.
    pub const OFFERED: [Self; 10] = [
        Self::RunFailed,
        Self::RunRecovered,
        Self::RunLate,
        Self::TaskWaiting,
        Self::QuotaNearlyUsed,
        Self::BudgetNearlyUsed,
        Self::NodeSetAside,
        Self::SizeChanged,
        Self::GpuIdle,
        Self::TaskHangs,
    ];

    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RunFailed => "run_failed",
            Self::RunRecovered => "run_recovered",
            Self::RunLate => "run_late",
            Self::TaskWaiting => "task_waiting",
            Self::QuotaNearlyUsed => "quota_nearly_used",
            Self::BudgetNearlyUsed => "budget_nearly_used",
            Self::NodeSetAside => "node_set_aside",
            Self::SizeChanged => "size_changed",
            Self::GpuIdle => "gpu_idle",
            Self::TaskHangs => "task_hangs",
            Self::Test => "test",
        }
    }

    /// Whether it is addressed to the run's owner, who gets an email even if no channel delivers it.
    #[must_use]
    pub fn is_personal(self) -> bool {
        matches!(self, Self::SizeChanged | Self::GpuIdle | Self::TaskHangs)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    pub kind: AlertKind,
    pub at: Timestamp,
    pub project: String,
    /// The pipeline that it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pipeline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<RunId>,
    /// Whether the run is a task of another run.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub within: bool,
    /// The user who started the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<String>,
    /// Number of the task's affected instances.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub since: Option<Timestamp>,
    /// Message of the server, in English.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sentence: Option<String>,
    /// Deduplication key: each channel delivers it once.
    pub key: String,
    /// What repeats are counted by: a channel can limit how often it delivers the same kind for a topic.
    pub topic: String,
}

impl Alert {
    /// An alert without details.
    #[must_use]
    pub fn new(kind: AlertKind, at: Timestamp, project: &str, key: String, topic: String) -> Self {
        Self {
            kind,
            at,
            project: project.into(),
            pipeline: None,
            run: None,
            within: false,
            user: None,
            task: None,
            count: None,
            since: None,
            sentence: None,
            key,
            topic,
        }
    }

    /// An alert for the end of a run. The key contains the time: a resumed run may fail again, while a run
    /// that is stored twice has ended once.
    #[must_use]
    pub fn of_run(kind: AlertKind, run: &RunRecord) -> Self {
        let at = run.ended_at.unwrap_or(run.created_at);
        let key = format!("{}:{}:{}", kind.as_str(), run.id, at.0);
        Self {
            pipeline: Some(run.pipeline.clone()),
            run: Some(run.id.clone()),
            within: run.parent.is_some(),
            user: Some(run.person().to_owned()),
            since: run.started_at,
            sentence: run.message.clone().filter(|_| run.state == RunState::Failed),
            ..Self::new(kind, at, &run.project, key, format!("pipeline:{}", run.pipeline))
        }
    }

    /// An alert for a scheduled date that can have no run, with the reason as a sentence.
    #[must_use]
    pub fn of_date(firing: &Firing, at: Timestamp, sentence: String) -> Self {
        let PipelineName { project, pipeline } = &firing.of;
        let kind = AlertKind::RunFailed;
        let key = format!("{}:{pipeline}:{}", kind.as_str(), firing.date.0);
        Self {
            pipeline: Some(pipeline.clone()),
            user: Some(firing.user.clone()),
            sentence: Some(sentence),
            ..Self::new(kind, at, project, key, format!("pipeline:{pipeline}"))
        }
    }

    /// An alert for an attempt whose workers get other resources than those before. `None` if they do not.
    #[must_use]
    pub fn of_size(attempt: &AttemptRecord, project: &str, pipeline: &str) -> Option<Self> {
        let sizing = attempt.sizing.as_ref()?;
        let sentence = sizing.change()?;
        let (kind, key) = (AlertKind::SizeChanged, &attempt.key);
        let while_it_ran = sizing.changed_at();
        // Each change during the run is reported.
        let own = match while_it_ran {
            Some(at) => format!("{}:{key}:{}", kind.as_str(), at.0),
            None => format!("{}:{key}", kind.as_str()),
        };
        let at = while_it_ran.unwrap_or(attempt.created_at);
        let topic = format!("size:{pipeline}:{}", key.task);
        Some(Self {
            pipeline: Some(pipeline.into()),
            run: Some(key.run.clone()),
            user: Some(attempt.account.user.clone()),
            task: Some(key.task.clone()),
            sentence: Some(sentence),
            ..Self::new(kind, at, project, own, topic)
        })
    }

    /// An alert for a hanging attempt, once per hang.
    #[must_use]
    pub fn of_hang(attempt: &AttemptRecord, hang: &Hang, run: &RunRecord) -> Self {
        let (kind, key) = (AlertKind::TaskHangs, &attempt.key);
        let topic = format!("hang:{}:{}", run.pipeline, key.task);
        let own = format!("{}:{key}:{}", kind.as_str(), hang.since.0);
        Self {
            pipeline: Some(run.pipeline.clone()),
            run: Some(run.id.clone()),
            within: run.parent.is_some(),
            user: Some(attempt.account.user.clone()),
            task: Some(key.task.clone()),
            since: Some(hang.since),
            sentence: Some(hang.sentence()),
            ..Self::new(kind, hang.seen_at, &run.project, own, topic)
        }
    }

    /// The key of a task's instances that became ready together and are pending.
    #[must_use]
    pub fn waiting_key(run: &RunId, task: TaskIx, ready_at: Timestamp) -> String {
        format!("waiting:{run}:{}:{}", task.0, ready_at.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// A program that accepts JSON.
    Webhook,
    /// An incoming webhook of Slack.
    Slack,
    /// A custom bot of a Feishu (Lark) group.
    Feishu,
    /// A custom robot of a DingTalk group.
    Dingtalk,
    /// A robot of a WeCom group.
    Wecom,
    Email,
}

impl ChannelKind {
    pub const ALL: [Self; 6] =
        [Self::Webhook, Self::Slack, Self::Feishu, Self::Dingtalk, Self::Wecom, Self::Email];

    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Slack => "slack",
            Self::Feishu => "feishu",
            Self::Dingtalk => "dingtalk",
            Self::Wecom => "wecom",
            Self::Email => "email",
        }
    }

    /// Whether messages can be signed with a secret.
    #[must_use]
    pub fn signs(self) -> bool {
        matches!(self, Self::Webhook | Self::Feishu | Self::Dingtalk)
    }
}

impl fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    En,
    Zh,
}

/// Hours without messages: those that arrive meanwhile are combined into one message afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    /// Start, `HH:MM` in the time zone `zone`.
    pub from: String,
    /// End time. A time earlier than `from` is on the next day.
    pub until: String,
    /// Time zone, as an IANA name.
    pub zone: String,
}

/// What a channel subscribes to, and how it delivers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Subscribed kinds.
    pub events: Vec<AlertKind>,
    /// Pipelines to report on. Empty means all pipelines.
    #[serde(default)]
    pub pipelines: Vec<String>,
    /// Minimum pending time of a task, in seconds.
    pub waiting_seconds: u64,
    /// Minimum interval between alerts of the same kind and topic, in seconds. 0 means no limit.
    #[serde(default)]
    pub repeat_seconds: u64,
    #[serde(default)]
    pub language: Language,
    #[serde(default)]
    pub quiet: Option<QuietHours>,
}

impl Rules {
    /// Whether a channel with these rules delivers this alert. A run that is a task of another is covered by
    /// the parent's alert, unless the rules name its pipeline.
    #[must_use]
    pub fn want(&self, alert: &Alert) -> bool {
        let named = alert.pipeline.as_ref().is_some_and(|pipeline| self.pipelines.contains(pipeline));
        let of_it = named || (self.pipelines.is_empty() && !alert.within) || alert.pipeline.is_none();
        of_it && self.events.contains(&alert.kind)
    }

    /// A task that has been pending since this moment or longer is reported.
    #[must_use]
    pub fn waits_since(&self, now: Timestamp) -> Timestamp {
        let span = i64::try_from(self.waiting_seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
        Timestamp(now.0.saturating_sub(span))
    }

    /// Whether this is a repetition that can be skipped: `last` is the newest alert delivered for the same
    /// topic. An alert of another kind in between (the run had recovered) makes it news.
    #[must_use]
    pub fn is_repetition(&self, alert: &Alert, last: Option<(AlertKind, Timestamp)>) -> bool {
        let window = std::time::Duration::from_secs(self.repeat_seconds);
        last.is_some_and(|(kind, at)| kind == alert.kind && !window.is_zero() && alert.at < at.plus(window))
    }
}

/// A notification channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// A ULID.
    pub id: String,
    pub project: String,
    pub name: String,
    pub kind: ChannelKind,
    /// The part of the address that members may see. The rest often allows anyone to send.
    pub shown: String,
    /// The address, encrypted.
    pub address: String,
    /// The signing secret, encrypted.
    pub secret: Option<String>,
    /// Its subscription.
    pub rules: Rules,
    pub enabled: bool,
    /// Name of the creator.
    pub created_by: String,
    pub created_at: Timestamp,
    /// Counts its changes, from 1.
    pub revision: u64,
}

/// State of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// To be sent or retried.
    Waiting,
    /// The receiver accepted it.
    Sent,
    /// It was not accepted for a day, or the channel was disabled.
    Failed,
}

impl DeliveryState {
    /// The stored and public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sent => "sent",
            Self::Failed => "failed",
        }
    }
}

/// An alert for one channel, or for the run's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// A ULID derived from the channel and the alert's key.
    pub id: String,
    /// Channel. For an email to the owner of the run, the ID of that user.
    pub channel: String,
    pub alert: Alert,
    /// Messages with the same batch are sent together: its own id, or that of the quiet hours in which it
    /// arrived.
    pub batch: String,
    pub state: DeliveryState,
    /// Time of the next delivery attempt.
    pub due_at: Option<Timestamp>,
    /// Number of delivery attempts.
    pub tries: u32,
    /// Time at which the message was sent or finally failed.
    pub ended_at: Option<Timestamp>,
    /// Last response of the receiver, or the reason why it could not be reached.
    pub answer: Option<String>,
}

impl Delivery {
    /// A message to be sent.
    #[must_use]
    pub fn new(channel: &str, alert: Alert) -> Self {
        let id = delivery_id(alert.at, &[channel, &alert.key]);
        Self {
            batch: id.clone(),
            id,
            channel: channel.into(),
            due_at: Some(alert.at),
            alert,
            state: DeliveryState::Waiting,
            tries: 0,
            ended_at: None,
            answer: None,
        }
    }
}

/// An id that sorts by its time and is deterministic in its parts. After a crash a message has its earlier
/// id, by which receivers recognize it.
#[must_use]
pub fn delivery_id(at: Timestamp, parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\0").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    RunId::new(at, u128::from_le_bytes(bytes)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(pipelines: &[&str], repeat_seconds: u64) -> Rules {
        Rules {
            events: vec![AlertKind::RunFailed],
            pipelines: pipelines.iter().map(ToString::to_string).collect(),
            waiting_seconds: 1800,
            repeat_seconds,
            language: Language::En,
            quiet: None,
        }
    }

    fn alert(kind: AlertKind, pipeline: Option<&str>, within: bool) -> Alert {
        let alert = Alert::new(kind, Timestamp(90_000_000), "shop", "k".into(), "t".into());
        Alert { pipeline: pipeline.map(Into::into), within, ..alert }
    }

    #[test]
    fn a_channel_hears_of_what_it_asked_for() {
        let failed = |pipeline, within| alert(AlertKind::RunFailed, pipeline, within);
        assert!(rules(&[], 0).want(&failed(Some("ctr"), false)));
        assert!(!rules(&[], 0).want(&failed(Some("ctr"), true)), "the run that it is a task of is told of");
        assert!(rules(&["ctr"], 0).want(&failed(Some("ctr"), true)));
        assert!(!rules(&["other"], 0).want(&failed(Some("ctr"), false)));
        assert!(rules(&["other"], 0).want(&failed(None, false)), "what is of no pipeline is of all");
        assert!(!rules(&[], 0).want(&alert(AlertKind::RunRecovered, Some("ctr"), false)));
    }

    #[test]
    fn only_the_same_again_and_soon_is_a_repetition() {
        let now = alert(AlertKind::RunFailed, Some("ctr"), false);
        let (soon, long_ago) = (Timestamp(60_000_000), Timestamp(1));
        let told = |rules: Rules, last| rules.is_repetition(&now, last);
        assert!(told(rules(&[], 60), Some((AlertKind::RunFailed, soon))));
        assert!(!told(rules(&[], 60), Some((AlertKind::RunFailed, long_ago))));
        assert!(!told(rules(&[], 60), Some((AlertKind::RunRecovered, soon))));
        assert!(!told(rules(&[], 0), Some((AlertKind::RunFailed, soon))));
        assert!(!told(rules(&[], 60), None));
    }

    #[test]
    fn an_id_is_the_same_for_the_same_and_no_other() {
        let id = |at, parts: &[&str]| delivery_id(Timestamp(at), parts);
        assert_eq!(id(5_000, &["a", "b"]), id(5_000, &["a", "b"]));
        assert_ne!(id(5_000, &["a", "b"]), id(5_000, &["ab"]));
        assert!(id(5_000, &["x"]) < id(6_000, &["a"]));
        assert_eq!(id(5_000, &["a"]).len(), 26);
    }
}
