//! Resources of a worker: CPU, memory, GPUs, and a few special ones.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Bytes, Cpu};

/// Resources that one worker requests. Absent values default to the template's, then to the platform's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceRequest {
    /// Guaranteed CPU of a worker, e.g. `2` or `500m`. It may use more if its node has spare CPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu: Option<Cpu>,
    /// CPU limit of a worker. Absent: it may use its node's spare CPU.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_limit: Option<Cpu>,
    /// Memory limit, e.g. `2Gi`; a worker that exceeds it is OOM killed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<Bytes>,
    /// GPUs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<GpuRequest>,
    /// Number of processes that each worker starts per GPU; without GPUs, in total.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(range(min = 1, max = 64))]
    pub processes_per_gpu: Option<u32>,
    /// Shared memory (`/dev/shm`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shm: Option<Bytes>,
    /// RDMA devices.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rdma: Option<u32>,
    /// Dedicated (pinned) CPUs; `cpu` must then be a whole number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_exclusive: Option<bool>,
    /// Whether `cpu` and `memory` are excluded from right-sizing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pinned: Option<bool>,
}

/// GPUs: exactly one of a number of whole GPUs, a fraction of one, or an amount of its memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpuRequest {
    /// Number of whole GPUs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u32>,
    /// A fraction of one GPU, over 0 and under 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fraction: Option<f64>,
    /// An amount of one GPU's memory.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<Bytes>,
    /// The product name or a part of it, e.g. `H100`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
}

/// Resources of one worker, with all defaults resolved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Guaranteed CPU.
    pub cpu: Cpu,
    /// CPU limit, at least [`Self::cpu`]. `None` means limited only by its node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpu_limit: Option<Cpu>,
    pub memory: Bytes,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<GpuRequest>,
    /// Number of processes that it starts per GPU. `None` means one process that sees all of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub processes_per_gpu: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shm: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rdma: Option<u32>,
    /// Dedicated (pinned) CPUs.
    #[serde(default)]
    pub cpu_exclusive: bool,
}

impl GpuRequest {
    /// The MIG profile that the type names: `1g.10gb` for `1g.10gb` and for `MIG-1g.10gb`. `count` is then a
    /// number of slices, which a cluster counts by profile.
    #[must_use]
    pub fn mig_profile(&self) -> Option<String> {
        let kind = self.kind.as_ref()?.to_lowercase();
        let profile = kind.strip_prefix("mig-").unwrap_or(&kind);
        let (slices, memory) = profile.split_once("g.")?;
        let (size, _) = memory.split_once("gb")?;
        // `1c.3g.20gb` is a part of a slice.
        let slices = slices.split_once("c.").map_or(slices, |(_, whole)| whole);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(slices) && is_number(size)).then(|| profile.to_owned())
    }
}

impl Resources {
    /// Its whole GPUs. GPU fractions and slices count as none here: the cluster's own scheduler allocates
    /// them.
    #[must_use]
    pub fn whole_gpus(&self) -> u32 {
        let whole = self.gpu.as_ref().filter(|gpu| gpu.mig_profile().is_none());
        whole.and_then(|gpu| gpu.count).unwrap_or(0)
    }

    /// Its visible devices: whole GPUs, or slices.
    #[must_use]
    pub fn devices(&self) -> u32 {
        self.gpu.as_ref().and_then(|gpu| gpu.count).unwrap_or(0)
    }

    /// Its number of processes, each of which may use one device.
    #[must_use]
    pub fn processes(&self) -> u32 {
        self.processes_per_gpu.map_or(1, |each| each.saturating_mul(self.devices().max(1)))
    }

    /// Default number of threads of its programs. It is the CPU limit if there is one, or else the guaranteed
    /// CPU, because spare CPU may be taken at any time.
    #[must_use]
    pub fn threads(&self) -> u64 {
        let cpu = self.cpu_limit.unwrap_or(self.cpu);
        (cpu.0.div_ceil(1000) / u64::from(self.processes().max(1))).max(1)
    }

    /// The CPU that it never exceeds: its limit, or its dedicated CPUs.
    #[must_use]
    pub fn most_cpu(&self) -> Option<Cpu> {
        self.cpu_limit.or(self.cpu_exclusive.then_some(self.cpu))
    }
}

/// Maximum number of processes that share a GPU.
pub const MOST_PROCESSES_PER_GPU: u32 = 64;

/// The whole GPUs of workers by requested type, with the number of workers of each kind. Those of any type
/// are omitted.
pub fn cards<'r>(workers: impl Iterator<Item = (&'r Resources, u32)>) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for (each, count) in workers {
        let kind = each.gpu.as_ref().and_then(|gpu| gpu.kind.as_ref());
        let whole = each.whole_gpus().saturating_mul(count);
        if let Some(kind) = kind.filter(|_| whole > 0) {
            let sum: &mut u32 = found.entry(kind.clone()).or_default();
            *sum = sum.saturating_add(whole);
        }
    }
    found
}

/// Capacity of a cluster, or a total of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    pub cpu: Cpu,
    pub memory: Bytes,
    /// Number of whole GPUs.
    pub gpus: u32,
}

impl Amount {
    /// Total of `count` workers with these resources.
    #[must_use]
    pub fn of(resources: &Resources, count: u32) -> Self {
        let times = u64::from(count);
        Self {
            cpu: Cpu(resources.cpu.0.saturating_mul(times)),
            memory: Bytes(resources.memory.0.saturating_mul(times)),
            gpus: resources.whole_gpus().saturating_mul(count),
        }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu: Cpu(self.cpu.0.saturating_add(other.cpu.0)),
            memory: Bytes(self.memory.0.saturating_add(other.memory.0)),
            gpus: self.gpus.saturating_add(other.gpus),
        }
    }

    /// The difference, at least zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            cpu: Cpu(self.cpu.0.saturating_sub(other.cpu.0)),
            memory: Bytes(self.memory.0.saturating_sub(other.memory.0)),
            gpus: self.gpus.saturating_sub(other.gpus),
        }
    }

    /// Whether this fits into `room`, in every resource.
    #[must_use]
    pub fn fits(self, room: Self) -> bool {
        self.cpu <= room.cpu && self.memory <= room.memory && self.gpus <= room.gpus
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_of_mig_is_told_from_the_name_of_a_product() {
        let profile =
            |kind: &str| GpuRequest { kind: Some(kind.into()), ..GpuRequest::default() }.mig_profile();
        for (kind, named) in
            [("1g.10gb", "1g.10gb"), ("MIG-2g.20GB", "2g.20gb"), ("1c.3g.20gb", "1c.3g.20gb")]
        {
            assert_eq!(profile(kind).as_deref(), Some(named));
        }
        assert_eq!(profile("1g.10gb.me").as_deref(), Some("1g.10gb.me"));
        for kind in ["H100", "NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "g.gb", "1g.gb"] {
            assert_eq!(profile(kind), None, "{kind}");
        }
    }

    #[test]
    fn slices_of_a_card_are_no_whole_cards() {
        let holds = |kind: Option<&str>| {
            let gpu = GpuRequest { count: Some(2), kind: kind.map(Into::into), ..GpuRequest::default() };
            Resources { gpu: Some(gpu), ..Resources::default() }.whole_gpus()
        };
        assert_eq!((holds(None), holds(Some("H100")), holds(Some("1g.10gb"))), (2, 2, 0));
    }

    #[test]
    fn processes_are_counted_on_each_device_and_share_the_cores() {
        let worker = |per_gpu: Option<u32>, count: Option<u32>| {
            let gpu = count.map(|count| GpuRequest { count: Some(count), ..GpuRequest::default() });
            let worker =
                Resources { cpu: Cpu(8000), gpu, processes_per_gpu: per_gpu, ..Resources::default() };
            (worker.processes(), worker.threads())
        };
        assert_eq!(worker(None, Some(4)), (1, 8));
        assert_eq!(worker(Some(3), Some(4)), (12, 1));
        assert_eq!(worker(Some(2), None), (2, 4));
    }
}
