//! What exporters would have told of nodes and cards in the last hours, as text that a real Prometheus takes in at once:
//! dcgm-exporter's names and labels, node-exporter's, kube-state-metrics' and cAdvisor's.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Bytes of a mebibyte.
const MIB: f64 = 1_048_576.0;

/// Series over a stretch of time.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The first moment, in seconds since the epoch.
    start: f64,
    /// The last.
    end: f64,
    /// Between two moments, in seconds.
    step: f64,
    /// The lines of each metric, which stand together.
    lines: BTreeMap<String, String>,
}

/// A card of a node, as dcgm-exporter names it.
#[derive(Clone, Debug)]
pub struct Card<'a> {
    /// Node.
    pub node: &'a str,
    /// Its number there.
    pub index: u32,
    /// The pod that holds it.
    pub pod: Option<&'a str>,
    /// The share of its 80 GiB that is used, from 0 to 1.
    pub memory: f64,
    /// The last XID error; 0 for none.
    pub xid: u32,
}

impl Card<'_> {
    /// UUID.
    #[must_use]
    pub fn uuid(&self) -> String {
        format!("GPU-{}-{}", self.node, self.index)
    }
}

impl Recording {
    /// Nothing yet, from so many seconds before `end` until then.
    #[must_use]
    pub fn until(end: f64, seconds: f64, step: f64) -> Self {
        Self { start: end - seconds, end, step, lines: BTreeMap::new() }
    }

    /// A series: `value` is given seconds since the start, and tells nothing where the exporter is away.
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

    /// A card with dcgm-exporter's default counters. `usage` is from 0 to 1; all of the card is away where it is.
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

    /// A node with so many cores, of which the share `busy` works, and so many GiB, half of them used.
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

    /// A pod that runs on a node, asks for so many cores and cards, and uses the share `busy` of the cores.
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

    /// In the format that `promtool` takes.
    #[must_use]
    pub fn openmetrics(&self) -> String {
        let mut text: String = self.lines.values().map(String::as_str).collect();
        text.push_str("# EOF\n");
        text
    }
}
