//! All queries to Prometheus, with the unit of each result.
//!
//! The series of a missing exporter are empty, and `or` selects the next best series of each GPU: the
//! profiling counters of dcgm-exporter (`dcp-metrics-included.csv`), its default counters, HAMi's
//! vGPUmonitor. Placeholders in selectors:
//!
//! - `$cluster`: the labels of the cluster,
//! - `$card`: these and the GPU,
//! - `$hami` and `$before`: these and the GPU in HAMi's labels, since and before version 2.9,
//! - `$node` and `$pods`: one node and some pods,
//! - `$holders` and `$named`: these in the labels of an exporter and of HAMi,
//! - `$programs`: the containers of programs,
//! - `$instances`: some node-exporters.

use cubeloom_domain::monitoring::{CardMeasure, CardReading, NodeReading, PodReading};
use cubeloom_domain::usage::Measure;

use crate::unit::Unit;

/// A query for all GPUs, nodes or pods, and the field of its result.
pub(crate) struct Query<T> {
    pub(crate) text: &'static str,
    /// Unit of the result.
    pub(crate) unit: Unit,
    pub(crate) put: fn(&mut T, f64),
}

/// Current time of Prometheus' clock, in seconds since the epoch.
pub(crate) const CLOCK: &str = "time()";

/// Age of the newest value of a GPU, in seconds.
pub(crate) const AGE: &str = "time() - max(timestamp(DCGM_FI_DEV_FB_USED{$cluster}))";

/// The GPUs of the last hour: `UUID`, `gpu` (the index), `modelName`, and the node as `node`, or else
/// `Hostname`. HAMi prefixes the driver's model name with the vendor.
pub(crate) const KNOWN: &str = r#"group by (UUID, gpu, modelName, Hostname, node) (last_over_time(DCGM_FI_DEV_FB_USED{$cluster}[1h]))
or on (UUID) label_replace(label_replace(label_replace(
  group by (device_uuid, device_index, device_type, node) (last_over_time(hami_host_gpu_memory_used_bytes{$cluster}[1h])),
  "UUID", "$1", "device_uuid", "(.*)"), "gpu", "$1", "device_index", "(.*)"), "modelName", "$1", "device_type", "(?:NVIDIA-)?(.*)")
or on (UUID) label_replace(label_replace(label_replace(
  group by (deviceuuid, deviceidx, devicetype, node, nodeid) (last_over_time(HostGPUMemoryUsage{$cluster}[1h])),
  "UUID", "$1", "deviceuuid", "(.*)"), "gpu", "$1", "deviceidx", "(.*)"), "modelName", "$1", "devicetype", "(?:NVIDIA-)?(.*)")"#;

/// The GPUs that report now, and their pods. HAMi reports no pod for a GPU as a whole; if there is one, it is
/// HAMi's own.
pub(crate) const HOLDERS: &str = r#"group by (UUID, pod, exported_pod) (DCGM_FI_DEV_FB_USED{$cluster})
or label_replace(
  group by (device_uuid, pod, exported_pod) (hami_vgpu_memory_used_bytes{$cluster})
  or group by (device_uuid) (hami_host_gpu_memory_used_bytes{$cluster}), "UUID", "$1", "device_uuid", "(.*)")
or label_replace(label_replace(
  group by (deviceuuid, podname) (vGPU_device_memory_usage_in_bytes{$cluster} or HostGPUMemoryUsage{$cluster}),
  "UUID", "$1", "deviceuuid", "(.*)"), "exported_pod", "$1", "podname", "(.*)")"#;

/// HAMi's series of a GPU as a whole.
macro_rules! of_host {
    ($begin:literal, $series:literal, $end:literal) => {
        concat!(
            "max by (UUID) (label_replace(",
            $begin,
            $series,
            "{$hami}",
            $end,
            r#", "UUID", "$1", "device_uuid", "(.*)"))"#
        )
    };
    ($begin:literal, $series:literal, $before:literal, $end:literal) => {
        concat!(
            "(",
            of_host!($begin, $series, $end),
            " or max by (UUID) (label_replace(",
            $begin,
            $before,
            "{$before}",
            $end,
            r#", "UUID", "$1", "deviceuuid", "(.*)")))"#
        )
    };
}

const USAGE: &str = concat!(
    "max by (UUID) (DCGM_FI_PROF_GR_ENGINE_ACTIVE{$card})
or max by (UUID) (DCGM_FI_DEV_GPU_UTIL{$card}) / 100
or ",
    of_host!("", "hami_host_gpu_utilization_ratio", "HostCoreUtilization", ""),
    " / 100"
);
const RECENT_USAGE: &str = concat!(
    "max by (UUID) (avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE{$card}[15m]))
or max by (UUID) (avg_over_time(DCGM_FI_DEV_GPU_UTIL{$card}[15m])) / 100
or ",
    of_host!("avg_over_time(", "hami_host_gpu_utilization_ratio", "HostCoreUtilization", "[15m])"),
    " / 100"
);
const TENSOR: &str = "max by (UUID) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{$card})";
const MEMORY_USED: &str = concat!(
    "max by (UUID) (DCGM_FI_DEV_FB_USED{$card}) * 1048576
or ",
    of_host!("", "hami_host_gpu_memory_used_bytes", "HostGPUMemoryUsage", "")
);
const MEMORY_TOTAL: &str = "(max by (UUID) (DCGM_FI_DEV_FB_USED{$card}) + max by (UUID) (DCGM_FI_DEV_FB_FREE{$card})
  + (max by (UUID) (DCGM_FI_DEV_FB_RESERVED{$card}) or 0 * max by (UUID) (DCGM_FI_DEV_FB_FREE{$card}))) * 1048576";
const TEMPERATURE: &str = concat!(
    "max by (UUID) (DCGM_FI_DEV_GPU_TEMP{$card}) or ",
    of_host!("", "hami_host_gpu_temperature_celsius", "")
);
/// The energy counter is in millijoules, and restarts with the driver.
const POWER: &str = concat!(
    "max by (UUID) (DCGM_FI_DEV_POWER_USAGE{$card})
or max by (UUID) (rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{$card}[5m])) / 1000
or ",
    of_host!("", "hami_host_gpu_power_usage_watts", "")
);
const POWER_LIMIT: &str = "max by (UUID) (DCGM_FI_DEV_POWER_MGMT_LIMIT{$card})
or max by (UUID) (DCGM_FI_DEV_ENFORCED_POWER_LIMIT{$card})";
const NVLINK: &str = "max by (UUID) (DCGM_FI_PROF_NVLINK_TX_BYTES{$card}) + max by (UUID) (DCGM_FI_PROF_NVLINK_RX_BYTES{$card})";
const XID: &str = "max by (UUID) (DCGM_FI_DEV_XID_ERRORS{$card}) > 0";

/// Queries for every GPU. With MIG, the busiest instance counts.
pub(crate) const CARDS: [Query<CardReading>; 10] = [
    Query { text: USAGE, unit: Unit::Ratio, put: |card, value| card.usage = Some(value.min(1.0)) },
    Query {
        text: RECENT_USAGE,
        unit: Unit::Ratio,
        put: |card, value| card.recent_usage = Some(value.min(1.0)),
    },
    Query { text: TENSOR, unit: Unit::Ratio, put: |card, value| card.tensor = Some(value.min(1.0)) },
    Query { text: MEMORY_USED, unit: Unit::Bytes, put: |card, value| card.memory_used = Some(value) },
    Query { text: MEMORY_TOTAL, unit: Unit::Bytes, put: |card, value| card.memory_total = Some(value) },
    Query { text: TEMPERATURE, unit: Unit::Degrees, put: |card, value| card.temperature = Some(value) },
    Query { text: POWER, unit: Unit::Watts, put: |card, value| card.power = Some(value) },
    Query { text: POWER_LIMIT, unit: Unit::Watts, put: |card, value| card.power_limit = Some(value) },
    Query { text: NVLINK, unit: Unit::BytesASecond, put: |card, value| card.nvlink = Some(value) },
    Query { text: XID, unit: Unit::Number, put: |card, value| card.xid = Some(value as u32) },
];

/// Requests of running and pending pods, per node.
macro_rules! requested {
    ($resource:literal) => {
        concat!(
            "sum by (node) (kube_pod_container_resource_requests{resource=\"",
            $resource,
            "\",node!=\"\",$cluster} * on (namespace, pod) group_left () ",
            "max by (namespace, pod) (kube_pod_status_phase{phase=~\"Pending|Running\",$cluster} == 1))"
        )
    };
}

/// node-exporter's series, with the node's name.
macro_rules! of_node {
    ($by:literal, $measure:literal) => {
        concat!(
            $by,
            " by (nodename) (",
            $measure,
            " * on (instance) group_left (nodename) node_uname_info{$node})"
        )
    };
}

/// Busy time divided by total time: a new counter is too low in both.
const NODE_CPU: &str = concat!(
    of_node!("sum", "rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$cluster}[5m])"),
    " / ",
    of_node!("sum", "rate(node_cpu_seconds_total{$cluster}[5m])")
);

/// Time for which anything on a node waited for storage. If the kernel has no pressure counters, it is the
/// iowait share of all cores.
macro_rules! node_waits {
    () => {
        concat!(
            "max(rate(node_pressure_io_waiting_seconds_total{$cluster}[5m]) ",
            "* on (instance) group_left () node_uname_info{$node}) ",
            "or clamp_max(sum(rate(node_cpu_seconds_total{mode=\"iowait\",$cluster}[5m]) ",
            "* on (instance) group_left () node_uname_info{$node}), 1)"
        )
    };
}

/// The kubelets' time for which anything in a pod waited for storage: in the program's container, if that has
/// a known name.
macro_rules! pods_wait {
    () => {
        concat!(
            "max by (pod) (rate(container_pressure_io_waiting_seconds_total{$programs,$pods}[5m])) ",
            "or max by (pod) (rate(container_pressure_io_waiting_seconds_total{$pods}[5m]))"
        )
    };
}

/// For a GPU without a pod of ours, only its node is queried.
pub(crate) const NODE_IO_WAIT: &str = node_waits!();
const IO_WAIT: &str = concat!("max(", pods_wait!(), ") or ", node_waits!());

/// Series of some node-exporters, with the label `node` that other exporters use.
macro_rules! by_node {
    ($together:literal, $begin:literal, $end:literal) => {
        concat!(
            $together,
            " by (node) (label_replace(rate(",
            $begin,
            "$instances}[5m]) * on (instance) group_left (nodename) node_uname_info{$instances}",
            r#", "node", "$1", "nodename", "(.*)"))"#,
            $end
        )
    };
}

/// The node-exporters, as `instance`, of some pods' nodes.
pub(crate) const PODS_NODES: &str = r#"group by (instance) (label_replace(node_uname_info{$cluster},
  "node", "$1", "nodename", "(.*)") and on (node) kube_pod_info{$pods})"#;

/// Share of time in which anything in a pod waited for storage. If that is not counted, it is that of its
/// node, over the pod's life. A counter that has just begun has no value yet, and the node's does not replace
/// it. Nodes are selected by their exporters, [`PODS_NODES`]: for a whole cluster there would be too many
/// series.
pub(crate) const PODS_IO_WAIT: &str = concat!(
    "100 * (",
    pods_wait!(),
    r#"
or max by (pod) ((kube_pod_info{$pods} and on (namespace, pod) kube_pod_status_phase{phase="Running",$pods} == 1
  unless on (namespace, pod) container_pressure_io_waiting_seconds_total{$pods})
  * on (node) group_left () ("#,
    by_node!("max", "node_pressure_io_waiting_seconds_total{", ""),
    " or clamp_max(",
    by_node!("sum", "node_cpu_seconds_total{mode=\"iowait\",", ", 1)"),
    ")))"
);

/// Queries for every node: its name is `node`, or else `nodename`.
pub(crate) const NODES: [Query<NodeReading>; 8] = [
    Query {
        text: r#"max by (node) (kube_node_status_allocatable{resource="cpu",$cluster})"#,
        unit: Unit::Cores,
        put: |node, value| node.cpu.capacity = Some(value),
    },
    Query { text: requested!("cpu"), unit: Unit::Cores, put: |node, value| node.cpu.requested = Some(value) },
    Query {
        text: of_node!("sum", "rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$cluster}[5m])"),
        unit: Unit::Cores,
        put: |node, value| node.cpu.used = Some(value),
    },
    Query {
        text: r#"max by (node) (kube_node_status_allocatable{resource="memory",$cluster})"#,
        unit: Unit::Bytes,
        put: |node, value| node.memory.capacity = Some(value),
    },
    Query {
        text: requested!("memory"),
        unit: Unit::Bytes,
        put: |node, value| node.memory.requested = Some(value),
    },
    Query {
        text: of_node!(
            "max",
            "(node_memory_MemTotal_bytes{$cluster} - node_memory_MemAvailable_bytes{$cluster})"
        ),
        unit: Unit::Bytes,
        put: |node, value| node.memory.used = Some(value),
    },
    Query {
        text: r#"max by (node) (kube_node_status_allocatable{resource="nvidia_com_gpu",$cluster})"#,
        unit: Unit::Number,
        put: |node, value| node.gpus.capacity = Some(value),
    },
    Query {
        text: requested!("nvidia_com_gpu"),
        unit: Unit::Number,
        put: |node, value| node.gpus.requested = Some(value),
    },
];

/// Queries for our jobs' pods, whose names begin with `cl-`. All containers count, including sidecars: it is
/// what a project's pods take from the cluster.
pub(crate) const PODS: [Query<PodReading>; 2] = [
    Query {
        text: r#"sum by (pod) (rate(container_cpu_usage_seconds_total{pod=~"cl-.+",container!="",$cluster}[5m]))"#,
        unit: Unit::Cores,
        put: |pod, value| pod.cpu = Some(value),
    },
    Query {
        text: r#"sum by (pod) (container_memory_working_set_bytes{pod=~"cl-.+",container!="",$cluster})"#,
        unit: Unit::Bytes,
        put: |pod, value| pod.memory = Some(value),
    },
];

/// Series of the program's container in each pod, which the limits apply to. If none has a known name, it is
/// the sum of all containers except the one with the pod's network. If the program has no series yet, or has
/// ended before its sidecars, these do not replace it: kube-state-metrics knows a pod's containers from
/// beginning to end.
macro_rules! of_programs {
    ($begin:literal, $series:literal, $end:literal) => {
        concat!(
            "sum by (pod) (",
            $begin,
            $series,
            "{$programs,$pods}",
            $end,
            ") or (sum by (pod) (",
            $begin,
            $series,
            r#"{container!~"|POD",$pods}"#,
            $end,
            ") unless on (pod) (last_over_time(container_memory_working_set_bytes{$programs,$pods}[1h])",
            " or kube_pod_container_info{$programs,$pods}))"
        )
    };
}

/// The range query for one GPU, and the unit of its result.
pub(crate) fn over_time(measure: CardMeasure) -> (&'static str, Unit) {
    match measure {
        CardMeasure::Usage => (USAGE, Unit::Ratio),
        CardMeasure::Tensor => (TENSOR, Unit::Ratio),
        CardMeasure::MemoryUsed => (MEMORY_USED, Unit::Bytes),
        CardMeasure::Temperature => (TEMPERATURE, Unit::Degrees),
        CardMeasure::Power => (POWER, Unit::Watts),
        CardMeasure::Nvlink => (NVLINK, Unit::BytesASecond),
        CardMeasure::NodeCpu => (NODE_CPU, Unit::Ratio),
        CardMeasure::HolderCpu => (
            concat!("sum(", of_programs!("rate(", "container_cpu_usage_seconds_total", "[5m])"), ")"),
            Unit::Cores,
        ),
        CardMeasure::IoWait => (IO_WAIT, Unit::Ratio),
    }
}

/// cAdvisor's counters of each pod, per second.
macro_rules! of_pods {
    ($counter:literal) => {
        concat!("sum by (pod) (rate(", $counter, "{$pods}[5m]))")
    };
}

/// dcgm-exporter's series of each pod's GPUs. The pod is `exported_pod` if Prometheus adds a `pod` of its
/// own.
macro_rules! of_cards {
    ($together:literal, $series:literal) => {
        concat!(
            $together,
            " by (exported_pod) (",
            $series,
            "{$holders}) or ",
            $together,
            " by (pod) (",
            $series,
            "{$pods})"
        )
    };
}

/// Series of each pod's GPU shares from HAMi's vGPUmonitor and its scheduler: current series, or else those
/// before version 2.9. An exporter's own pod is not a job's. Series that differ only in it, because an
/// exporter restarted, are merged before it is replaced.
/// <https://github.com/Project-HAMi/HAMi/blob/master/cmd/vGPUmonitor/metrics.go>
macro_rules! of_shares {
    ($together:literal, $series:literal, $before:literal) => {
        concat!(
            "(",
            $together,
            " by (pod) (label_replace(",
            $together,
            " by (exported_pod) (",
            $series,
            "{$holders}), \"pod\", \"$1\", \"exported_pod\", \"(.*)\") or ",
            $series,
            "{$pods}) or ",
            $together,
            " by (pod) (label_replace(",
            $together,
            " by (podname) (",
            $before,
            "{$named}), \"pod\", \"$1\", \"podname\", \"(.*)\")))"
        )
    };
}

/// GPU use of each pod's programs, in percent.
macro_rules! use_of_cards {
    () => {
        of_shares!("avg", "hami_container_device_utilization_ratio", "Device_utilization_desc_of_container")
    };
}

/// Use of pods' GPU shares: HAMi reports percent of the GPU. If the number of cores is missing, the value is
/// used as it is. If cores are unlimited, HAMi counts nothing, and 0 would not mean idle. With soft limits a
/// pod may use more than its share, which is capped at all of it.
macro_rules! use_of_shares {
    () => {
        concat!(
            "clamp_max(100 * ",
            use_of_cards!(),
            " / (",
            of_shares!("avg", "hami_vgpu_core_allocated_ratio", "vGPUCoreAllocated"),
            " > 0) or (",
            use_of_cards!(),
            " unless ",
            of_shares!("avg", "hami_vgpu_core_allocated_ratio", "vGPUCoreAllocated"),
            " == 0), 100)"
        )
    };
}

/// Only HAMi knows the pod of a share; other exporters' values for the whole GPU are not a worker's.
const CARDS_USE: &str = concat!(
    use_of_shares!(),
    " or 100 * (",
    of_cards!("avg", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
    ") or ",
    of_cards!("avg", "DCGM_FI_DEV_GPU_UTIL")
);

/// The same as a sum, with each GPU or slice counted once, however many exporters report it.
macro_rules! sum_of_cards {
    ($series:literal) => {
        concat!(
            "sum by (exported_pod) (max by (exported_pod,UUID,GPU_I_ID) (",
            $series,
            "{$holders})) or sum by (pod) (max by (pod,UUID,GPU_I_ID) (",
            $series,
            "{$pods}))"
        )
    };
}

/// Total GPU use of each pod, in GPUs.
pub(crate) const CARDS_WORK: &str = concat!(
    "(",
    sum_of_cards!("DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
    ") or (",
    sum_of_cards!("DCGM_FI_DEV_GPU_UTIL"),
    ") / 100"
);

/// GPU memory of each pod, or of its shares, in bytes.
pub(crate) const CARDS_MEMORY: &str = concat!(
    of_shares!("sum", "hami_vgpu_memory_limit_bytes", "vGPU_device_memory_limit_in_bytes"),
    " > 0 or 1048576 * ((",
    of_cards!("sum", "DCGM_FI_DEV_FB_USED"),
    ") + (",
    of_cards!("sum", "DCGM_FI_DEV_FB_FREE"),
    "))"
);

/// Usage of some pods' containers in the `$step` before each timestamp: average cores, maximum bytes, and
/// the share of throttled CFS periods. cAdvisor reports throttling for containers with a limit. A counter
/// that began within the step counts from its first value.
pub(crate) const PODS_USED: [(&str, Unit); 3] = [
    (
        r#"sum by (pod,container) (rate(container_cpu_usage_seconds_total{container!="",$pods}[5m]))"#,
        Unit::Cores,
    ),
    (
        r#"sum by (pod,container) (max_over_time(container_memory_working_set_bytes{container!="",$pods}[$step]))"#,
        Unit::Bytes,
    ),
    (
        concat!(
            r#"sum by (pod,container) (increase(container_cpu_cfs_throttled_periods_total{container!="",$pods}[$step]))"#,
            r#" / sum by (pod,container) (increase(container_cpu_cfs_periods_total{container!="",$pods}[$step]))"#
        ),
        Unit::Ratio,
    ),
];

/// Range queries for some pods, in the unit of the metric.
pub(crate) fn of_workers(measure: Measure) -> &'static str {
    match measure {
        Measure::Cpu => of_programs!("rate(", "container_cpu_usage_seconds_total", "[5m])"),
        Measure::Throttled => of_programs!("rate(", "container_cpu_cfs_throttled_seconds_total", "[5m])"),
        // From the kubelets, as for storage.
        Measure::CpuWait => concat!(
            "100 * (",
            of_programs!("rate(", "container_pressure_cpu_waiting_seconds_total", "[5m])"),
            ")"
        ),
        Measure::Memory => of_programs!("", "container_memory_working_set_bytes", ""),
        Measure::DiskRead => of_programs!("rate(", "container_fs_reads_bytes_total", "[5m])"),
        Measure::DiskWritten => of_programs!("rate(", "container_fs_writes_bytes_total", "[5m])"),
        // The network is the pod's, not the container's.
        Measure::NetworkReceived => of_pods!("container_network_receive_bytes_total"),
        Measure::NetworkSent => of_pods!("container_network_transmit_bytes_total"),
        // If the node is known, its value replaces a missing one: `PODS_IO_WAIT`.
        Measure::IoWait => concat!("100 * (", pods_wait!(), ")"),
        Measure::CardUse => CARDS_USE,
        Measure::CardMemory => concat!(
            of_shares!("sum", "hami_vgpu_memory_used_bytes", "vGPU_device_memory_usage_in_bytes"),
            " or 1048576 * (",
            of_cards!("sum", "DCGM_FI_DEV_FB_USED"),
            ")"
        ),
        Measure::CardPower => of_cards!("sum", "DCGM_FI_DEV_POWER_USAGE"),
    }
}

/// The unit of a worker's metric.
pub(crate) fn unit_of(measure: Measure) -> Unit {
    match measure {
        Measure::Cpu | Measure::Throttled => Unit::Cores,
        Measure::Memory | Measure::CardMemory => Unit::Bytes,
        Measure::DiskRead | Measure::DiskWritten | Measure::NetworkReceived | Measure::NetworkSent => {
            Unit::BytesASecond
        }
        Measure::CpuWait | Measure::IoWait | Measure::CardUse => Unit::Percent,
        Measure::CardPower => Unit::Watts,
    }
}
