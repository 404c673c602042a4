//! Everything that is asked of Prometheus, with the unit of each answer.
//!
//! An exporter that is not there leaves its part empty, and `or` takes the next best series of each card: the profiling
//! counters of dcgm-exporter (`dcp-metrics-included.csv`), its default counters, HAMi's vGPUmonitor. In selectors,
//! `$cluster` stands for the labels of the cluster, `$card` for these and the card, `$hami` and `$before` for these and the card as
//! HAMi names it, now and before version 2.9, `$node` and `$pods` for one node and some pods, `$holders` and `$named` for these as an
//! exporter and as HAMi name them, `$programs` for the containers of programs, `$instances` for some node-exporters.

use cubeloom_domain::monitoring::{CardMeasure, CardReading, NodeReading, PodReading};
use cubeloom_domain::usage::Measure;

use crate::unit::Unit;

/// A query of all cards, nodes or pods, and where its answer goes.
pub(crate) struct Query<T> {
    pub(crate) text: &'static str,
    /// The unit of the answer.
    pub(crate) unit: Unit,
    pub(crate) put: fn(&mut T, f64),
}

/// The present moment of Prometheus' clock, in seconds since the epoch.
pub(crate) const CLOCK: &str = "time()";

/// How old the newest measurement of a card is, in seconds.
pub(crate) const AGE: &str = "time() - max(timestamp(DCGM_FI_DEV_FB_USED{$cluster}))";

/// The cards of the last hour: `UUID`, `gpu` (the number), `modelName`, and the node as `node`, else `Hostname`. HAMi writes the
/// maker before what the driver calls the model.
pub(crate) const KNOWN: &str = r#"group by (UUID, gpu, modelName, Hostname, node) (last_over_time(DCGM_FI_DEV_FB_USED{$cluster}[1h]))
or on (UUID) label_replace(label_replace(label_replace(
  group by (device_uuid, device_index, device_type, node) (last_over_time(hami_host_gpu_memory_used_bytes{$cluster}[1h])),
  "UUID", "$1", "device_uuid", "(.*)"), "gpu", "$1", "device_index", "(.*)"), "modelName", "$1", "device_type", "(?:NVIDIA-)?(.*)")
or on (UUID) label_replace(label_replace(label_replace(
  group by (deviceuuid, deviceidx, devicetype, node, nodeid) (last_over_time(HostGPUMemoryUsage{$cluster}[1h])),
  "UUID", "$1", "deviceuuid", "(.*)"), "gpu", "$1", "deviceidx", "(.*)"), "modelName", "$1", "devicetype", "(?:NVIDIA-)?(.*)")"#;

/// The cards that are told of now, and the pods that hold them. Of a card as a whole HAMi names no pod, and one that is there is
/// its own.
pub(crate) const HOLDERS: &str = r#"group by (UUID, pod, exported_pod) (DCGM_FI_DEV_FB_USED{$cluster})
or label_replace(
  group by (device_uuid, pod, exported_pod) (hami_vgpu_memory_used_bytes{$cluster})
  or group by (device_uuid) (hami_host_gpu_memory_used_bytes{$cluster}), "UUID", "$1", "device_uuid", "(.*)")
or label_replace(label_replace(
  group by (deviceuuid, podname) (vGPU_device_memory_usage_in_bytes{$cluster} or HostGPUMemoryUsage{$cluster}),
  "UUID", "$1", "deviceuuid", "(.*)"), "exported_pod", "$1", "podname", "(.*)")"#;

/// What HAMi tells of a card as a whole.
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
/// The counter of energy is in thousandths of a joule, and begins anew with the driver.
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

/// What is asked of every card. Of one that is cut with MIG, the busiest part counts.
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

/// What pods on each node ask for, of those that have not ended.
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

/// What node-exporter measures, under the node's name.
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

/// Work by all time: a counter that has just begun is too low in both.
const NODE_CPU: &str = concat!(
    of_node!("sum", "rate(node_cpu_seconds_total{mode!~\"idle|iowait\",$cluster}[5m])"),
    " / ",
    of_node!("sum", "rate(node_cpu_seconds_total{$cluster}[5m])")
);

/// What a node tells of something that waits for storage. Where the kernel does not count pressure, it is the time in which a
/// core did nothing else, of all cores together.
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

/// What the kubelets tell of how long something of each pod waited for storage: of its program, where that has a known name.
macro_rules! pods_wait {
    () => {
        concat!(
            "max by (pod) (rate(container_pressure_io_waiting_seconds_total{$programs,$pods}[5m])) ",
            "or max by (pod) (rate(container_pressure_io_waiting_seconds_total{$pods}[5m]))"
        )
    };
}

/// Where nobody of ours holds a card, its node alone is asked.
pub(crate) const NODE_IO_WAIT: &str = node_waits!();
const IO_WAIT: &str = concat!("max(", pods_wait!(), ") or ", node_waits!());

/// What some node-exporters measure, under the name `node` that their nodes have for others.
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

/// The node-exporters, as `instance`, of the nodes that some pods are on.
pub(crate) const PODS_NODES: &str = r#"group by (instance) (label_replace(node_uname_info{$cluster},
  "node", "$1", "nodename", "(.*)") and on (node) kube_pod_info{$pods})"#;

/// For how much of the time something of each pod waited for storage; where that is not counted, something of its node, for as long
/// as it runs: a count that has just begun is not told yet, and the other does not stand in for it. The nodes are named by their exporters, [`PODS_NODES`]: of a whole cluster there would be too many series.
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

/// What is asked of every node: its name is `node`, else `nodename`.
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

/// What is asked of the pods of our jobs, whose names begin with `cl-`. All containers count, also those beside the program: it is
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

/// What is told of the program's container of each pod, which the limits are of; where none has a known name, of all containers
/// together but that which holds the pod's network. Of a program that is not told of, as its counter has not begun or it has ended
/// before what is beside it, others say nothing: kube-state-metrics knows the containers of a pod from its beginning to its end.
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

/// What is asked of one card over time, and the unit of the answer.
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

/// What cAdvisor counts of each pod, a second.
macro_rules! of_pods {
    ($counter:literal) => {
        concat!("sum by (pod) (rate(", $counter, "{$pods}[5m]))")
    };
}

/// What dcgm-exporter tells of the cards of each pod, which is `exported_pod` where Prometheus adds a `pod` of its own.
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

/// What HAMi's vGPUmonitor, and its scheduler, tell of the shares of cards that each pod has: by its series of now, else by those of
/// before version 2.9. A pod of an exporter's own is no pod of a job: series that differ in it alone, as an exporter was started
/// again, are put together before it is replaced.
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

/// How much of a card each pod's programs use, in percent.
macro_rules! use_of_cards {
    () => {
        of_shares!("avg", "hami_container_device_utilization_ratio", "Device_utilization_desc_of_container")
    };
}

/// How much of their shares of cards pods use: HAMi counts in percent of the card. Where it does not say of how many cores, that is
/// taken as it is; where it says that they are not limited, it counts nothing, and 0 would be no use.
/// Where HAMi limits them loosely a pod may use more than its share, which is told as all of it.
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

/// Of a share its pod is known to HAMi alone; what others say of the whole card is no worker's.
const CARDS_USE: &str = concat!(
    use_of_shares!(),
    " or 100 * (",
    of_cards!("avg", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
    ") or ",
    of_cards!("avg", "DCGM_FI_DEV_GPU_UTIL")
);

/// The same summed, each card or slice of one once, however many exporters tell of it.
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

/// How many cards' worth of work the cards of each pod did, all of them together.
pub(crate) const CARDS_WORK: &str = concat!(
    "(",
    sum_of_cards!("DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
    ") or (",
    sum_of_cards!("DCGM_FI_DEV_GPU_UTIL"),
    ") / 100"
);

/// The memory of the cards of each pod, or of its shares of them, in bytes.
pub(crate) const CARDS_MEMORY: &str = concat!(
    of_shares!("sum", "hami_vgpu_memory_limit_bytes", "vGPU_device_memory_limit_in_bytes"),
    " > 0 or 1048576 * ((",
    of_cards!("sum", "DCGM_FI_DEV_FB_USED"),
    ") + (",
    of_cards!("sum", "DCGM_FI_DEV_FB_FREE"),
    "))"
);

/// What the containers of some pods used in the `$step` before each moment: cores on average, and at the most bytes; and in which part
/// of the scheduler's periods their limit of CPU held them back, which cAdvisor tells of those that have one. A counter that has begun
/// within it counts from its first value.
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

/// What is asked of some pods over time, in the unit of the measure.
pub(crate) fn of_workers(measure: Measure) -> &'static str {
    match measure {
        Measure::Cpu => of_programs!("rate(", "container_cpu_usage_seconds_total", "[5m])"),
        Measure::Throttled => of_programs!("rate(", "container_cpu_cfs_throttled_seconds_total", "[5m])"),
        // What the kubelets tell, as of storage.
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
        // What its node did stands in for it where the node is known: `PODS_IO_WAIT`.
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

/// The kind of number that a measure of workers is.
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
