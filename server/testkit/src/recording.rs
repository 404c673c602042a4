//! The metrics of nodes and GPUs in the last hours, as text that a real Prometheus imports. Names and labels
//! are those of dcgm-exporter, node-exporter, kube-state-metrics and cAdvisor.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Bytes per mebibyte.
const MIB: f64 = 1_048_576.0;

/// Series over a time range.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The first sample, in seconds since the epoch.
    start: f64,
    /// The last sample.
    end: f64,
    /// The interval between samples, in seconds.
    step: f64,
    /// The lines of each metric, which must be adjacent.
    lines: BTreeMap<String, String>,
}

/// A GPU of a node, as named by dcgm-exporter.
#[derive(Clone, Debug)]
pub struct Card<'a> {
    pub node: &'a str,
    /// Its index on the node.
    pub index: u32,
    /// The pod that it is allocated to.
    pub pod: Option<&'a str>,
    /// The used fraction of its 80 GiB, from 0 to 1.
    pub memory: f64,
    /// The last XID error; 0 for none.
    pub xid: u32,
}

impl Card<'_> {
    #[must_use]
    pub fn uuid(&self) -> String {
        format!("GPU-{}-{}", self.node, self.index)
    }
}

impl Recording {
    /// An empty recording of the last `seconds` before `end`.
    #[must_use]
    pub fn until(end: f64, seconds: f64, step: f64) -> Self {
        Self { start: end - seconds, end, step, lines: BTreeMap::new() }
    }

    /// Adds a series: `value` gets the seconds since the start, and returns `None` while the exporter is
    /// down.
    pub fn series(&mut self, name: &str, labels: &[(&str, &str)], value: impl Fn(f64) -> Option<f64>) {
        let labels: Vec<String> = labels.iter().map(|(label, text)| format!("{label}={text:?}")).collect();
        let labels = labels.join(",");
        let lines = self.lines.entry(name.to_owned()).or_default();
        let count = ((self.end - self.start) / self.step).round() as u32;
        for n in 0..=count {
            let after = f64::from(n) * self.step;
            if let Some(value) = value(after) {
                let _ = writeln!(lines, "{name}{{{labels}}} {value} {:.3}", self.start + after);
            }
        }
    }

    /// Adds a GPU with dcgm-exporter's default counters. `usage` returns 0 to 1; `None` omits all series of
    /// the GPU.
    pub fn card(&mut self, card: &Card<'_>, usage: impl Fn(f64) -> Option<f64>) {
        let (uuid, index) = (card.uuid(), card.index.to_string());
        let device = format!("nvidia{index}");
        let mut labels = vec![
            ("gpu", index.as_str()),
            ("UUID", uuid.as_str()),
            ("device", device.as_str()),
            ("modelName", "NVIDIA H100 80GB HBM3"),
            ("Hostname", card.node),
        ];
        if let Some(pod) = card.pod {
            labels.extend([("namespace", "cubeloom-jobs"), ("pod", pod)]);
        }
        let (used, xid) = ((card.memory * 81_920.0).round(), f64::from(card.xid));
        self.series("DCGM_FI_DEV_GPU_UTIL", &labels, |at| usage(at).map(|usage| (usage * 100.0).round()));
        self.series("DCGM_FI_DEV_FB_USED", &labels, |at| usage(at).map(|_| used));
        self.series("DCGM_FI_DEV_FB_FREE", &labels, |at| usage(at).map(|_| 81_920.0 - used));
        self.series("DCGM_FI_DEV_GPU_TEMP", &labels, |at| {
            usage(at).map(|usage| (32.0 + 40.0 * usage).round())
        });
        self.series("DCGM_FI_DEV_POWER_USAGE", &labels, |at| usage(at).map(|usage| 70.0 + 600.0 * usage));
        self.series("DCGM_FI_DEV_XID_ERRORS", &labels, |at| usage(at).map(|_| xid));
    }

    /// Adds a node with `cores` CPUs, a fraction `busy` of them in use, and so many GiB, half of them used.
    pub fn node(&mut self, name: &str, cores: u32, gibibytes: f64, cards: u32, busy: f64) {
        let instance = format!("{name}:9100");
        let of = |resource: &'static str| [("node", name), ("resource", resource)];
        let bytes = gibibytes * 1024.0 * MIB;
        for (resource, amount) in
            [("cpu", f64::from(cores)), ("memory", bytes), ("nvidia_com_gpu", f64::from(cards))]
        {
            self.series("kube_node_status_allocatable", &of(resource), |_| Some(amount));
        }
        self.series("node_uname_info", &[("instance", &instance), ("nodename", name)], |_| Some(1.0));
        for core in 0..cores {
            let core = core.to_string();
            for (mode, share) in [("user", busy), ("idle", 1.0 - busy)] {
                let labels = [("instance", instance.as_str()), ("cpu", &core), ("mode", mode)];
                self.series("node_cpu_seconds_total", &labels, |at| Some(at * share));
            }
        }
        let instance = [("instance", instance.as_str())];
        self.series("node_memory_MemTotal_bytes", &instance, |_| Some(bytes));
        self.series("node_memory_MemAvailable_bytes", &instance, |_| Some(bytes / 2.0));
    }

    /// Adds a pod that runs on a node, requests these CPUs and GPUs, and uses a fraction `busy` of the CPUs.
    pub fn pod(&mut self, name: &str, node: &str, cores: f64, cards: u32, busy: f64) {
        let pod = [("namespace", "cubeloom-jobs"), ("pod", name)];
        let of = |resource: &'static str| [pod[0], pod[1], ("node", node), ("resource", resource)];
        for (resource, amount) in
            [("cpu", cores), ("memory", 1024.0 * MIB), ("nvidia_com_gpu", f64::from(cards))]
        {
            self.series("kube_pod_container_resource_requests", &of(resource), |_| Some(amount));
        }
        self.series("kube_pod_status_phase", &[pod[0], pod[1], ("phase", "Running")], |_| Some(1.0));
        self.series("kube_pod_info", &[pod[0], pod[1], ("node", node)], |_| Some(1.0));
        let container = [pod[0], pod[1], ("container", "main")];
        self.series("container_cpu_usage_seconds_total", &container, |at| Some(at * cores * busy));
        self.series("container_memory_working_set_bytes", &container, |_| Some(512.0 * MIB));
    }

    /// In the import format of `promtool`.
    #[must_use]
    pub fn openmetrics(&self) -> String {
        let mut text: String = self.lines.values().map(String::as_str).collect();
        text.push_str("# EOF\n");
        text
    }
}
