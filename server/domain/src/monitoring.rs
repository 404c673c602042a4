//! Metrics of nodes and their GPUs, from any source. Unmeasured values are absent, never zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// Source of a cluster's metrics, besides the cluster itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MonitoringSettings {
    /// URL of Prometheus or a compatible server: `http://prometheus.monitoring:9090`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prometheus: Option<String>,
    /// The user name for Prometheus' password. Without it, the stored secret is a bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Labels of this cluster's series, if one Prometheus has those of several clusters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// URL of a Grafana page about the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grafana: Option<String>,
}

/// One reading of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// When it was taken, by the server's clock.
    pub at: Timestamp,
    /// The nodes, by name.
    pub nodes: BTreeMap<String, NodeReading>,
    /// Usage of our pods, by name.
    pub pods: BTreeMap<String, PodReading>,
    /// Data that could not be read or is unreliable, one message each.
    pub problems: Vec<String>,
}

/// Capacity, requests and usage of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeReading {
    /// CPU, in cores.
    pub cpu: Levels,
    /// Memory, in bytes.
    pub memory: Levels,
    /// Share of time in which something there waited for storage, from 0 to 1.
    pub io_wait: Option<f64>,
    /// GPUs. Their use is the sum of the single GPUs' use.
    pub gpus: Levels,
    /// GPUs, by UUID.
    pub cards: BTreeMap<String, CardReading>,
    /// Links between its GPUs, if known.
    pub links: Vec<CardLinks>,
}

/// Capacity, requests and usage of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Levels {
    pub capacity: Option<f64>,
    /// Amount requested by the workloads that run there.
    pub requested: Option<f64>,
    /// Amount in use.
    pub used: Option<f64>,
}

/// NVLinks between two GPUs of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardLinks {
    /// UUID of one GPU.
    pub from: String,
    /// UUID of the other GPU.
    pub to: String,
    /// Number of links between them.
    pub count: u32,
}

/// Usage of a GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardReading {
    /// Index on its node.
    pub index: Option<u32>,
    /// Product name. Empty if unknown.
    pub model: String,
    /// Whether it reports now. A GPU that reported within the last hour stays listed, without values.
    pub present: bool,
    /// Share of time in which something ran on it, from 0 to 1.
    pub usage: Option<f64>,
    /// The same, as the mean of the last 15 minutes.
    pub recent_usage: Option<f64>,
    /// Share of time in which its tensor cores were busy, from 0 to 1.
    pub tensor: Option<f64>,
    /// Used memory, in bytes. Frameworks reserve it, so it does not indicate use.
    pub memory_used: Option<f64>,
    /// GPU memory, in bytes.
    pub memory_total: Option<f64>,
    /// Temperature, in degrees Celsius.
    pub temperature: Option<f64>,
    /// Power draw, in watts.
    pub power: Option<f64>,
    /// Power limit, in watts.
    pub power_limit: Option<f64>,
    /// NVLink traffic in both directions, in bytes per second.
    pub nvlink: Option<f64>,
    /// The last XID error that the driver reported. `None` without errors.
    pub xid: Option<u32>,
    /// Names of the pods that it is allocated to.
    pub pods: Vec<String>,
}

/// Usage of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PodReading {
    /// In cores.
    pub cpu: Option<f64>,
    /// In bytes, without memory that the kernel can reclaim.
    pub memory: Option<f64>,
}

/// A GPU's values over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardHistory {
    /// Time of the first value, in seconds since the epoch.
    pub start: f64,
    /// Interval between two values, in seconds.
    pub step: f64,
    /// The values of each available metric.
    pub series: BTreeMap<CardMeasure, Vec<Option<f64>>>,
}

/// A metric of a GPU over time.
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
    /// In bytes per second.
    Nvlink,
    /// Use of all CPUs of its node, from 0 to 1.
    NodeCpu,
    /// CPU usage of the pods that it is allocated to, in cores.
    HolderCpu,
    /// Share of time in which its pods, or else its node, waited for storage, from 0 to 1.
    IoWait,
}

impl CardMeasure {
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

    /// The public name.
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

/// XIDs caused by program errors, as listed by NVIDIA's device plugin (`ignoredXids` of its
/// `internal/rm/health.go`): exceptions, page faults, cleanup after a program ended, timeouts of programs.
const XIDS_OF_PROGRAMS: [u32; 6] = [13, 31, 43, 45, 68, 109];

/// Whether an XID error indicates a fault of the GPU, and not of a program.
#[must_use]
pub fn is_of_the_card(xid: u32) -> bool {
    !XIDS_OF_PROGRAMS.contains(&xid)
}
