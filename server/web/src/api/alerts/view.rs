//! Channels and messages: views, and request bodies.

use cubeloom_alerts::{address, quiet};
use cubeloom_domain::alert::{Alert, AlertKind, Channel, ChannelKind, Delivery, Language, QuietHours, Rules};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::check::Found;
use crate::state::Web;
use crate::time::{Time, maybe};

/// Maximum number of channels per project.
pub(super) const CHANNELS: usize = 50;
/// Maximum number of pipelines that a channel names.
const PIPELINES: usize = 200;
/// Maximum length of an address or a secret.
const ADDRESS: usize = 4000;
const SECRET: usize = 500;
/// Limits of durations, in seconds: a minute, and thirty days.
const LEAST_WAIT: u64 = 60;
const LONGEST: u64 = 30 * 86_400;

/// Notification rules of a channel.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesView {
    /// Kinds of events to report: `run_failed`, `run_recovered` (a run succeeded after one had failed),
    /// `task_waiting`.
    pub events: Vec<String>,
    /// Pipelines to report on. Empty means all pipelines.
    #[serde(default)]
    pub pipelines: Vec<String>,
    /// Minimum time that a task has been pending, in seconds. Defaults to half an hour.
    #[serde(default = "half_an_hour")]
    #[schema(minimum = 60, maximum = 2_592_000)]
    pub waiting_seconds: u64,
    /// Minimum time between repeated messages about the same pipeline or task, in seconds. With 0, every event is
    /// reported.
    #[serde(default)]
    #[schema(maximum = 2_592_000)]
    pub repeat_seconds: u64,
    /// Language of messages: `en` or `zh`.
    #[serde(default = "english")]
    pub language: String,
    /// Quiet hours, during which nothing is sent. Events of this period are reported in one message afterwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<QuietView>,
}

/// Quiet hours, during which nothing is sent.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QuietView {
    /// Start time, `HH:MM`.
    #[schema(example = "22:00")]
    pub from: String,
    /// End time. A time earlier than `from` is on the next day.
    #[schema(example = "07:30")]
    pub until: String,
    /// Time zone, as an IANA name.
    #[schema(example = "Asia/Shanghai")]
    pub zone: String,
}

fn half_an_hour() -> u64 {
    1800
}

fn english() -> String {
    "en".into()
}

/// A channel that delivers alerts of the project.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChannelView {
    /// ID.
    pub id: String,
    /// Name.
    pub name: String,
    /// `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    pub kind: &'static str,
    /// Destination address, without the parts that would let others send to it.
    pub address: String,
    /// Whether its messages are signed.
    pub signed: bool,
    /// Notification rules.
    pub rules: RulesView,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Name of the creator.
    pub created_by: String,
    /// Creation time.
    pub created_at: Time,
    /// Revision number, incremented on each change.
    pub revision: u64,
}

impl From<Channel> for ChannelView {
    fn from(channel: Channel) -> Self {
        Self {
            id: channel.id,
            name: channel.name,
            kind: channel.kind.as_str(),
            address: channel.shown,
            signed: channel.secret.is_some(),
            rules: channel.rules.into(),
            enabled: channel.enabled,
            created_by: channel.created_by,
            created_at: Time(channel.created_at),
            revision: channel.revision,
        }
    }
}

impl From<Rules> for RulesView {
    fn from(rules: Rules) -> Self {
        let language = match rules.language {
            Language::En => "en",
            Language::Zh => "zh",
        };
        Self {
            events: rules.events.iter().map(|kind| kind.as_str().to_owned()).collect(),
            pipelines: rules.pipelines,
            waiting_seconds: rules.waiting_seconds,
            repeat_seconds: rules.repeat_seconds,
            language: language.into(),
            quiet: rules.quiet.map(|quiet| QuietView {
                from: quiet.from,
                until: quiet.until,
                zone: quiet.zone,
            }),
        }
    }
}

/// A message and its delivery state.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryView {
    /// ID, which is also sent to receivers.
    pub id: String,
    /// Channel. For an email to the owner of the run, the ID of that user.
    pub channel: String,
    /// Kind of event.
    pub kind: &'static str,
    /// Pipeline that the message is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// Run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// User who owns the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// `waiting`, `sent` or `failed`.
    pub state: &'static str,
    /// Time of the event.
    pub created_at: Time,
    /// Time of the next delivery attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Time>,
    /// Number of delivery attempts.
    pub tries: u32,
    /// Time at which the message was sent or finally failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// Last response of the receiver, or the reason why it could not be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        let Alert { kind, at, pipeline, run, task, user, .. } = delivery.alert;
        Self {
            id: delivery.id,
            channel: delivery.channel,
            kind: kind.as_str(),
            pipeline,
            run: run.map(|run| run.to_string()),
            task,
            user,
            state: delivery.state.as_str(),
            created_at: Time(at),
            due_at: maybe(delivery.due_at),
            tries: delivery.tries,
            ended_at: maybe(delivery.ended_at),
            answer: delivery.answer,
        }
    }
}

/// Parses the kind of a channel.
pub(super) fn kind_of(web: &Web, word: &str, found: &mut Found) -> ChannelKind {
    let kind = ChannelKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    if kind.is_none() {
        let words: Vec<&str> = ChannelKind::ALL.iter().map(|kind| kind.as_str()).collect();
        found.wrong("/kind", format!("`{word}` is not a kind of channel: use one of {}", words.join(", ")));
    }
    if kind == Some(ChannelKind::Email) && web.settings().alerts.smtp.is_none() {
        found.wrong("/kind", "the server sends no e-mail: an administrator can set [smtp] host");
    }
    kind.unwrap_or(ChannelKind::Webhook)
}

/// Checks that the address fits the kind.
pub(super) fn check_address(kind: ChannelKind, text: &str, found: &mut Found) {
    found.text("/address", text, ADDRESS);
    if let Some(wrong) = address::mistake(kind, text.trim()) {
        found.wrong("/address", wrong);
    }
}

/// Checks the secret, if the kind has one.
pub(super) fn check_secret(kind: ChannelKind, secret: &str, found: &mut Found) {
    found.text("/secret", secret, SECRET);
    if !kind.signs() && !secret.is_empty() {
        found.wrong("/secret", "messages to this kind of channel are not signed: remove the secret");
    }
}

/// Parses and validates rules.
pub(super) fn read_rules(view: RulesView, found: &mut Found) -> Rules {
    let offered = |word: &String| AlertKind::OFFERED.into_iter().find(|kind| kind.as_str() == word);
    let events: Vec<AlertKind> = view.events.iter().filter_map(offered).collect();
    if events.is_empty() || events.len() < view.events.len() {
        let words: Vec<&str> = AlertKind::OFFERED.iter().map(|kind| kind.as_str()).collect();
        found.wrong("/rules/events", format!("choose at least one of {}", words.join(", ")));
    }
    if view.pipelines.len() > PIPELINES
        || !view.pipelines.iter().all(|name| cubeloom_domain::ids::is_label(name))
    {
        found.wrong("/rules/pipelines", format!("enter at most {PIPELINES} names of pipelines"));
    }
    if !(LEAST_WAIT..=LONGEST).contains(&view.waiting_seconds) {
        found.wrong("/rules/waiting_seconds", "write a time from one minute to 30 days");
    }
    if view.repeat_seconds > LONGEST {
        found.wrong("/rules/repeat_seconds", "write a time of at most 30 days");
    }
    let language = match view.language.as_str() {
        "zh" => Language::Zh,
        "en" => Language::En,
        other => {
            found.wrong("/rules/language", format!("`{other}` is not a supported language: use en or zh"));
            Language::En
        }
    };
    let quiet = view.quiet.map(|quiet| QuietHours { from: quiet.from, until: quiet.until, zone: quiet.zone });
    for (field, wrong) in quiet.iter().flat_map(quiet::mistakes) {
        found.wrong(&format!("/rules/quiet/{field}"), wrong);
    }
    Rules {
        events,
        pipelines: view.pipelines,
        waiting_seconds: view.waiting_seconds,
        repeat_seconds: view.repeat_seconds,
        language,
        quiet,
    }
}

pub(super) fn audited(channel: &Channel) -> Value {
    json!({
        "name": channel.name,
        "kind": channel.kind,
        "address": channel.shown,
        "signed": channel.secret.is_some(),
        "rules": channel.rules,
        "enabled": channel.enabled,
    })
}
