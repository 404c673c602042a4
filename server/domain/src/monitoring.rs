//! What nodes and their GPUs do, whatever it was read from. What nobody measures is absent, never zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// Where a cluster's measurements are, beside what the cluster itself tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MonitoringSettings {
    /// Prometheus, or what speaks like it: `http://prometheus.monitoring:9090`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<String>,
    /// The name that goes with the password that Prometheus wants; without one, what is kept for it is a bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Labels that all series of this cluster have there, where one Prometheus holds those of several clusters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// URL of a Grafana page about the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grafana: Option<String>,
}

/// One look at a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// When it was taken, by the server's clock.
    pub at: Timestamp,
    /// The nodes, by name.
    pub nodes: BTreeMap<String, NodeReading>,
    /// What pods of ours use, by name.
    pub pods: BTreeMap<String, PodReading>,
    /// Data that could not be read or is unreliable, one message each.
    pub problems: Vec<String>,
}

/// What one node has, has promised, and does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeReading {
    /// CPU, in cores.
    pub cpu: Levels,
    /// Memory, in bytes.
    pub memory: Levels,
    /// The share of time in which something there waited for storage, from 0 to 1.
    pub io_wait: Option<f64>,
    /// GPUs. Their use is the sum of their cards' use.
    pub gpus: Levels,
    /// The cards, by UUID.
    pub cards: BTreeMap<String, CardReading>,
    /// Links between its cards, where they are known.
    pub links: Vec<CardLinks>,
}

/// Capacity, requests and usage of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Levels {
    /// Capacity.
    pub capacity: Option<f64>,
    /// Amount requested by the workloads that run there.
    pub requested: Option<f64>,
    /// Amount in use.
    pub used: Option<f64>,
}

/// NVLinks between two cards of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardLinks {
    /// UUID of one GPU.
    pub from: String,
    /// UUID of the other GPU.
    pub to: String,
    /// How many links join them.
    pub count: u32,
}

/// What one card does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardReading {
    /// Index on its node.
    pub index: Option<u32>,
    /// Its product name; empty where it is not told.
    pub model: String,
    /// Whether it is told of now. One that was there within the last hour and is not any more stays, with nothing measured.
    pub present: bool,
    /// The share of time in which something ran on it, from 0 to 1.
    pub usage: Option<f64>,
    /// The same, as the mean of the last 15 minutes.
    pub recent_usage: Option<f64>,
    /// The share of time in which its tensor cores worked, from 0 to 1.
    pub tensor: Option<f64>,
    /// Used memory, in bytes. Frameworks reserve it: it says nothing about use.
    pub memory_used: Option<f64>,
    /// GPU memory, in bytes.
    pub memory_total: Option<f64>,
    /// Temperature, in degrees Celsius.
    pub temperature: Option<f64>,
    /// Power draw, in watts.
    pub power: Option<f64>,
    /// Power limit, in watts.
    pub power_limit: Option<f64>,
    /// What goes through its NVLinks in both directions, in bytes a second.
    pub nvlink: Option<f64>,
    /// The last XID error that the driver reported; absent where there was none.
    pub xid: Option<u32>,
    /// The pods that hold it, by name.
    pub pods: Vec<String>,
}

/// What a pod uses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PodReading {
    /// In cores.
    pub cpu: Option<f64>,
    /// In bytes, without what the kernel may take back.
    pub memory: Option<f64>,
}

/// A card's values over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardHistory {
    /// The moment of the first value, in seconds since the epoch.
    pub start: f64,
    /// Interval between two values, in seconds.
    pub step: f64,
    /// The values of each measure that there is.
    pub series: BTreeMap<CardMeasure, Vec<Option<f64>>>,
}

/// What is measured of a card over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CardMeasure {
    /// From 0 to 1.
    Usage,
    /// From 0 to 1.
    Tensor,
    /// In bytes.
    MemoryUsed,
    /// Temperature, in degrees Celsius.
    Temperature,
    /// Power draw, in watts.
    Power,
    /// In bytes a second.
    Nvlink,
    /// The use of all CPU cores of its node, from 0 to 1.
    NodeCpu,
    /// What the pods that hold it use, in cores.
    HolderCpu,
    /// The share of time in which something of the pods that hold it, or else of its node, waited for storage, from 0 to 1.
    IoWait,
}

impl CardMeasure {
    /// All items.
    pub const ALL: [Self; 9] = [
        Self::Usage,
        Self::Tensor,
        Self::MemoryUsed,
        Self::Temperature,
        Self::Power,
        Self::Nvlink,
        Self::NodeCpu,
        Self::HolderCpu,
        Self::IoWait,
    ];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Tensor => "tensor",
            Self::MemoryUsed => "memory",
            Self::Temperature => "temperature",
            Self::Power => "power",
            Self::Nvlink => "nvlink",
            Self::NodeCpu => "node_cpu",
            Self::HolderCpu => "holder_cpu",
            Self::IoWait => "io_wait",
        }
    }
}

/// XIDs that a program's own mistake brings about, as NVIDIA's device plugin counts them (`ignoredXids` of its
/// `internal/rm/health.go`): exceptions, page faults, what is cleaned up after a program was ended, timeouts of its own.
const XIDS_OF_PROGRAMS: [u32; 6] = [13, 31, 43, 45, 68, 109];

/// Whether an XID error tells of the card, and not of a mistake in a program.
#[must_use]
pub fn is_of_the_card(xid: u32) -> bool {
    !XIDS_OF_PROGRAMS.contains(&xid)
}
