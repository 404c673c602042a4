//! Gauges, read at a scrape.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::clusters::Standing as ClusterStanding;
use cubeloom_engine::{Queue, Tally};
use cubeloom_web::WebTally;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::Labels;
use super::process::Process;

type Gauges = Family<Labels, Gauge<f64, AtomicU64>>;

/// The current values.
pub(super) struct Standing {
    /// The engine's statistics, if it responded in time.
    pub tally: Option<Arc<Tally>>,
    /// The time since the engine's last pass, unless the engine has stopped.
    pub last_pass: Option<Duration>,
    /// The database connections: total and idle.
    pub connections: (u32, u32),
    /// The states of the clusters.
    pub clusters: Vec<(String, ClusterStanding)>,
    /// The web server's statistics.
    pub web: WebTally,
    /// Statistics of this process, if the kernel reports them.
    pub process: Option<Process>,
    pub now: Timestamp,
}

impl Standing {
    /// The metrics of this scrape.
    pub fn registry(&self) -> Registry {
        let mut registry = Registry::default();
        if let Some(process) = &self.process {
            of_process(registry.sub_registry_with_prefix("process"), process);
        }
        let own = registry.sub_registry_with_prefix("cubeloom");
        own.register("build", "The program", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
        if let Some(tally) = &self.tally {
            self.of_engine(own, tally);
        }
        if let Some(last) = self.last_pass {
            let help = "Time since the engine's last cycle ended";
            own.register_with_unit("engine_idle", help, Unit::Seconds, ConstGauge::new(last.as_secs_f64()));
        }
        let (all, idle) = self.connections;
        let connections = [("used", all.saturating_sub(idle)), ("idle", idle)];
        let connections = connections.map(|(state, count)| (vec![("state", state.into())], count.into()));
        let help = "Connections to the database; on SQLite, read connections";
        own.register("store_connections", help, gauges(connections));
        let clusters = self.clusters.iter().map(|(name, standing)| {
            let connected = f64::from(u8::from(matches!(standing, ClusterStanding::Connected)));
            (vec![("cluster", name.clone())], connected)
        });
        own.register("cluster_connected", "Whether a cluster is reachable: 1 or 0", gauges(clusters));
        register_count(own, "event_streams", "Open event streams of users", self.web.streams);
        let help = "Attempts whose logs are not copied yet";
        register_count(own, "log_archive_behind", help, self.web.archive_behind);
        registry
    }

    fn of_engine(&self, own: &mut Registry, tally: &Tally) {
        let led: u64 = tally.runs.values().sum();
        own.register("leases_held", "Runs that this server leads", ConstGauge::new(signed(led)));
        own.register("runs", "Runs that have not ended, by state", by_state(&tally.runs));
        let help = "Instances of tasks in runs that have not ended, by state";
        own.register("instances", help, by_state(&tally.instances));
        let attempts = tally.attempts.iter().map(|((cluster, state), count)| {
            (vec![("cluster", cluster.clone()), ("state", (*state).into())], number(*count))
        });
        own.register("attempts", "Attempts that have not ended, by cluster and state", gauges(attempts));
        let queues = |value: &dyn Fn(&Queue) -> f64| {
            let queues = tally.waiting.iter().map(|((cluster, rule), queue)| {
                (vec![("cluster", cluster.clone()), ("reason", (*rule).into())], value(queue))
            });
            gauges(queues.collect::<Vec<_>>())
        };
        let help = "Pending instances, by the rule that blocks them";
        own.register("waiting", help, queues(&|queue| number(queue.length)));
        let help = "Wait time of the first pending instance";
        let age = queues(&|queue| self.now.since(queue.since).as_secs_f64());
        own.register_with_unit("waiting_age", help, Unit::Seconds, age);
    }
}

fn of_process(registry: &mut Registry, process: &Process) {
    let help = "CPU time of the server, without its jobs";
    registry.register_with_unit("cpu", help, Unit::Seconds, ConstCounter::new(process.cpu.as_secs_f64()));
    let help = "Memory of the server, without its jobs";
    let memory = ConstGauge::new(signed(process.resident));
    registry.register_with_unit("resident_memory", help, Unit::Bytes, memory);
    registry.register("threads", "Threads of the server", ConstGauge::new(signed(process.threads)));
    registry.register("open_fds", "Open files of the server", ConstGauge::new(signed(process.open_files)));
    if let Some(most) = process.most_files {
        registry.register(
            "max_fds",
            "Maximum number of open files of the server",
            ConstGauge::new(signed(most)),
        );
    }
    let help = "When the server was started, since the epoch";
    let start = ConstGauge::new(process.started);
    registry.register_with_unit("start_time", help, Unit::Seconds, start);
}

fn register_count(registry: &mut Registry, name: &str, help: &str, count: usize) {
    registry.register(name, help, ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX)));
}

fn by_state(counts: &BTreeMap<&'static str, u64>) -> Gauges {
    gauges(counts.iter().map(|(state, count)| (vec![("state", (*state).into())], number(*count))))
}

fn gauges(values: impl IntoIterator<Item = (Labels, f64)>) -> Gauges {
    let family = Gauges::default();
    for (labels, value) in values {
        family.get_or_create(&labels).set(value);
    }
    family
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Counts are far below the largest exact integer of a float.
fn number(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
