//! What nodes and cards do, as the API shows it. What nobody measures is absent.

use std::collections::BTreeMap;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::monitoring::Levels;
use cubeloom_domain::resources::Amount;
use cubeloom_monitoring::advice::{Advice, Remedy};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::clusters::view::AmountView;
use crate::time::Time;

/// A cluster as a whole.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MonitoringView {
    /// Its name.
    pub cluster: String,
    /// When it was looked at.
    pub at: Time,
    /// Who measures: `machine` (the server's own), `prometheus`, `cluster` (the metrics API of Kubernetes alone: no cards), or
    /// `none`.
    pub source: String,
    /// A page of Grafana's about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grafana: Option<String>,
    /// How many nodes it has.
    pub nodes: usize,
    /// Processing power, in cores.
    pub cpu: LevelsView,
    /// Memory, in bytes.
    pub memory: LevelsView,
    /// Graphics cards. Their use is the sum of the shares of time in which they work.
    pub gpus: LevelsView,
    /// How many cards are in each state: `busy`, `idle` (held, and doing nothing), `free`, `fragment` (free, while others of
    /// its node are held), `faulty`, `away`.
    pub cards: BTreeMap<String, usize>,
    /// The projects that hold something there and that the caller is a member of.
    pub projects: Vec<ProjectUseView>,
    /// All other projects that hold something there, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<ProjectUseView>,
    /// What could not be read or is not to be trusted, each as a sentence.
    pub problems: Vec<String>,
}

/// What there is of something, what was asked for, and what is used.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub struct LevelsView {
    /// What there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<f64>,
    /// What was asked for by what runs there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<f64>,
    /// What is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<f64>,
}

impl From<Levels> for LevelsView {
    fn from(levels: Levels) -> Self {
        Self { capacity: levels.capacity, requested: levels.requested, used: levels.used }
    }
}

/// What a project has asked for on a cluster, and what it uses.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct ProjectUseView {
    /// The project; absent where several are told of together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How many attempts of it hold something.
    pub attempts: usize,
    /// What they have asked for.
    pub requested: AmountView,
    /// Cores that they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_used: Option<f64>,
    /// Memory that they use, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<f64>,
    /// Cards that work for them, as the sum of the shares of time. What is used of a card that several tasks hold is divided among
    /// these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus_used: Option<f64>,
}

impl ProjectUseView {
    /// An attempt more.
    pub(crate) fn add(&mut self, amount: Amount) {
        let more = AmountView::from(amount);
        self.requested.cpu += more.cpu;
        self.requested.memory = self.requested.memory.saturating_add(more.memory);
        self.requested.gpus = self.requested.gpus.saturating_add(more.gpus);
    }
}

/// A node with its cards.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MonitoredNodeView {
    /// Its name.
    pub name: String,
    /// Those of the cluster's node groups that it is of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Processing power, in cores.
    pub cpu: LevelsView,
    /// Memory, in bytes.
    pub memory: LevelsView,
    /// Graphics cards.
    pub gpus: LevelsView,
    /// Its cards, by their number.
    pub cards: Vec<CardView>,
    /// Links between them, direct ones and those through switches, where they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinksView>,
}

/// NVLinks between two cards.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LinksView {
    /// One card's UUID.
    pub from: String,
    /// The other's.
    pub to: String,
    /// How many join them.
    pub count: u32,
}

/// A graphics card.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = MonitoredCardView)]
pub struct CardView {
    /// Its UUID.
    pub uuid: String,
    /// Its number on its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// Its product name.
    pub model: String,
    /// `busy`, `idle`, `free`, `fragment`, `faulty` or `away`.
    #[schema(value_type = String)]
    pub state: &'static str,
    /// The share of time in which it works, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<f64>,
    /// The mean of that over the last 15 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_usage: Option<f64>,
    /// The share of time in which its tensor cores work, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<f64>,
    /// Used memory, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<f64>,
    /// Its memory, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total: Option<f64>,
    /// In degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// In watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// What it may draw at most, in watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_limit: Option<f64>,
    /// What goes through its NVLinks, in bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvlink: Option<f64>,
    /// The last XID error that the driver reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xid: Option<u32>,
    /// Who holds it, of projects that the caller is a member of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<HolderView>,
    /// How many others hold it.
    pub others: usize,
}

/// An attempt that holds a card.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CardHolderView)]
pub struct HolderView {
    /// The run.
    pub run: String,
    /// Its project.
    pub project: String,
    /// Its pipeline.
    pub pipeline: String,
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// The attempt.
    pub attempt: u32,
    /// Who started the run.
    pub user: String,
    /// Since when it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

/// One card, with its last hour.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CardDetail {
    /// The card.
    #[serde(flatten)]
    pub card: CardView,
    /// Its cluster.
    pub cluster: String,
    /// Its node.
    pub node: String,
    /// When it was looked at.
    pub at: Time,
    /// Its last hour.
    pub history: HistoryView,
    /// What could be done better, of tasks of projects that the caller is a member of.
    pub advice: Vec<AdviceView>,
    /// What could not be read or is not to be trusted, each as a sentence.
    pub problems: Vec<String>,
}

/// Values over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CardHistoryView)]
pub struct HistoryView {
    /// The moment of the first values, in seconds since the epoch.
    pub start: f64,
    /// Seconds between two values.
    pub step: f64,
    /// Each measure that there is.
    pub series: Vec<SeriesView>,
}

/// A measure over time.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CardSeriesView)]
pub struct SeriesView {
    /// `usage`, `tensor`, `node_cpu` and `io_wait` (from 0 to 1), `memory` (bytes), `temperature` (°C), `power` (watts), `nvlink`
    /// (bytes a second) or `holder_cpu` (cores).
    #[schema(value_type = String)]
    pub of: &'static str,
    /// Its values; `null` where there is none.
    pub values: Vec<Option<f64>>,
}

/// A piece of advice.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AdviceView {
    /// The rule: `held_idle`, `cpu_saturated`, `io_wait`, `regular_dips`, `memory_empty`, `straggler` or `far_from_peers`.
    #[schema(value_type = String)]
    pub rule: &'static str,
    /// The run whose task it is about.
    pub run: String,
    /// The task that it is about.
    pub task: String,
    /// The workers that it is about; empty where it is about a card.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<String>,
    /// What was seen.
    pub evidence: String,
    /// What to change, the first first.
    pub remedies: Vec<RemedyView>,
}

/// Something to change.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RemedyView {
    /// What.
    pub what: String,
    /// The setting in PyTorch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub pytorch: Option<&'static str>,
    /// The setting in TensorFlow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub tensorflow: Option<&'static str>,
    /// The task's own setting in the pipeline: `resources.cpu`; with a value where one was found: `resources.processes_per_gpu: 4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
}

impl AdviceView {
    /// About a card that an attempt holds.
    pub(crate) fn of_card(advice: Advice, key: &AttemptKey) -> Self {
        Self::of_workers((advice, Vec::new()), key)
    }

    /// About some workers of an attempt.
    pub(crate) fn of_workers((advice, workers): (Advice, Vec<String>), key: &AttemptKey) -> Self {
        let remedy = |remedy: &Remedy| RemedyView {
            what: remedy.what.to_owned(),
            pytorch: remedy.pytorch,
            tensorflow: remedy.tensorflow,
            setting: advice.setting(remedy),
        };
        let remedies = advice.remedies.iter().map(remedy).collect();
        Self {
            rule: advice.rule,
            run: key.run.to_string(),
            task: key.task.clone(),
            workers,
            evidence: advice.evidence,
            remedies,
        }
    }
}
