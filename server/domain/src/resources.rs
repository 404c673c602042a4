//! What a worker is given: CPU, memory, GPUs and the few special things beside them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Bytes, Cpu};

/// What one worker asks for. Absent means: the template's amount, then the platform's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceRequest {
    /// Processing power, e.g. `2` or `500m`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<Cpu>,
    /// Memory, e.g. `2Gi`; a worker that uses more is ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<Bytes>,
    /// Graphics cards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<GpuRequest>,
    /// Shared memory (`/dev/shm`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shm: Option<Bytes>,
    /// RDMA devices.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rdma: Option<u32>,
    /// Whole cores of its own, not shared with others; `cpu` must then be a whole number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_exclusive: Option<bool>,
}

/// Graphics cards: exactly one of whole cards, a fraction of one, or an amount of its memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuRequest {
    /// Whole cards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u32>,
    /// A part of one card, over 0 and under 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fraction: Option<f64>,
    /// Memory of one card.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<Bytes>,
    /// The product's name or a part of it, e.g. `H100`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
}

/// What one worker gets, with nothing left open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Processing power.
    pub cpu: Cpu,
    /// The memory limit.
    pub memory: Bytes,
    /// Graphics cards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<GpuRequest>,
    /// Shared memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shm: Option<Bytes>,
    /// RDMA devices.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rdma: Option<u32>,
    /// Cores of its own.
    #[serde(default)]
    pub cpu_exclusive: bool,
}

impl Resources {
    /// The whole cards that it holds; a share of a card counts as none here.
    #[must_use]
    pub fn whole_gpus(&self) -> u32 {
        self.gpu.as_ref().and_then(|gpu| gpu.count).unwrap_or(0)
    }
}

/// An amount that a cluster has, or that jobs hold together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Processing power.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Bytes,
    /// Whole cards.
    pub gpus: u32,
}

impl Amount {
    /// What `count` workers of these resources hold.
    #[must_use]
    pub fn of(resources: &Resources, count: u32) -> Self {
        let times = u64::from(count);
        Self {
            cpu: Cpu(resources.cpu.0.saturating_mul(times)),
            memory: Bytes(resources.memory.0.saturating_mul(times)),
            gpus: resources.whole_gpus().saturating_mul(count),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu: Cpu(self.cpu.0.saturating_add(other.cpu.0)),
            memory: Bytes(self.memory.0.saturating_add(other.memory.0)),
            gpus: self.gpus.saturating_add(other.gpus),
        }
    }

    /// What is left without `other`; never under zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            cpu: Cpu(self.cpu.0.saturating_sub(other.cpu.0)),
            memory: Bytes(self.memory.0.saturating_sub(other.memory.0)),
            gpus: self.gpus.saturating_sub(other.gpus),
        }
    }

    /// Whether this much fits into `room`, in every kind.
    #[must_use]
    pub fn fits(self, room: Self) -> bool {
        self.cpu <= room.cpu && self.memory <= room.memory && self.gpus <= room.gpus
    }
}
