//! Current usage of this machine and its GPUs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cubeloom_domain::Timestamp;
use cubeloom_domain::executor::NodeFacts;
use cubeloom_domain::monitoring::{CardLinks, CardReading, Levels, NodeReading, Reading};
use cubeloom_files::own;
use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;

use crate::facts::meminfo;
use crate::gpu::Gpus;
use crate::waits::by_machine;
use crate::xid::{self, Xids};

/// Takes measurements; rates are relative to the previous measurement.
pub(crate) struct Meter {
    links: Vec<CardLinks>,
    xids: Arc<Xids>,
    before: Mutex<Before>,
}

/// State of the previous measurement.
struct Before {
    ticks: Option<Ticks>,
    /// CPU utilization of the machine, from 0 to 1.
    share: Option<f64>,
    /// I/O wait so far, in microseconds, and the time of the measurement, in microseconds since the epoch.
    waited: Option<(u64, i64)>,
}

/// The kernel's CPU time counters, over all cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
}

/// With fewer ticks than this, keep the previous utilization: a quarter of a second on one core.
const FEW: u64 = 25;

impl Meter {
    /// Starts measuring, and watching for GPU errors.
    pub(crate) fn new(gpus: &Gpus, xids: Arc<Xids>) -> Self {
        let uuid = |index: usize| gpus.facts.get(index).map(|card| card.uuid.clone());
        let pair = |(a, b, count): &(usize, usize, u32)| {
            Some(CardLinks { from: uuid(*a)?, to: uuid(*b)?, count: *count })
        };
        let links = gpus.links.iter().filter_map(pair).collect();
        if !gpus.facts.is_empty() {
            xid::watch(&xids, gpus.facts.iter().map(|card| card.uuid.clone()).collect());
        }
        let before = Mutex::new(Before { ticks: ticks(&proc_stat()), share: None, waited: None });
        Self { links, xids, before }
    }

    /// Measures `node`, which is this machine.
    pub(crate) fn measure(&self, node: &NodeFacts, at: Timestamp) -> Reading {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
        let free = meminfo("MemAvailable:").zip(meminfo("MemTotal:"));
        let cards = self.cards(node);
        let busy: Option<f64> =
            (!cards.is_empty()).then(|| cards.values().filter_map(|card| card.usage).sum());
        let reading = NodeReading {
            cpu: Levels {
                capacity: Some(node.cpu.0 as f64 / 1000.0),
                requested: None,
                used: self.share().map(|share| share * cores),
            },
            memory: Levels {
                capacity: Some(node.memory.0 as f64),
                requested: None,
                used: free.map(|(free, all)| all.saturating_sub(free) as f64),
            },
            io_wait: self.waited(at),
            gpus: Levels { capacity: Some(node.gpus.len() as f64), requested: None, used: busy },
            cards,
            links: self.links.clone(),
        };
        Reading { at, nodes: BTreeMap::from([(node.name.clone(), reading)]), ..Reading::default() }
    }

    /// CPU utilization since the previous measurement.
    fn share(&self) -> Option<f64> {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let now = ticks(&proc_stat())?;
        match before.ticks.replace(now) {
            Some(then) if now.all < then.all.saturating_add(FEW) => before.ticks = Some(then),
            Some(then) => {
                before.share = Some(now.busy.saturating_sub(then.busy) as f64 / (now.all - then.all) as f64);
            }
            None => {}
        }
        before.share
    }

    /// Fraction of time with I/O wait since the previous measurement.
    fn waited(&self, at: Timestamp) -> Option<f64> {
        let now = by_machine()?;
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let (then, since) = before.waited.replace((now, at.0))?;
        let time = at.0 - since;
        (time > 0).then(|| (now.saturating_sub(then) as f64 / time as f64).min(1.0))
    }

    /// The GPUs of the node. Values that NVML does not report are absent; a GPU that it no longer knows is
    /// missing.
    fn cards(&self, node: &NodeFacts) -> BTreeMap<String, CardReading> {
        if node.gpus.is_empty() {
            return BTreeMap::new();
        }
        let nvml = self.xids.nvml().or_else(|| Nvml::init().ok().map(Arc::new));
        let card = |known: &cubeloom_domain::executor::GpuFacts| {
            let read = nvml.as_deref().and_then(|nvml| read(nvml, &known.uuid)).unwrap_or_default();
            let memory_total = Some(known.memory.0 as f64);
            let (model, xid) = (known.name.clone(), self.xids.of(&known.uuid));
            (known.uuid.clone(), CardReading { model, memory_total, xid, ..read })
        };
        node.gpus.iter().map(card).collect()
    }
}

fn read(nvml: &Nvml, uuid: &str) -> Option<CardReading> {
    let device = nvml.device_by_uuid(uuid).ok()?;
    let watts = |milliwatts: u32| f64::from(milliwatts) / 1000.0;
    Some(CardReading {
        index: device.index().ok(),
        present: true,
        usage: device.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0),
        memory_used: device.memory_info().ok().map(|memory| memory.used as f64),
        temperature: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
        power: device.power_usage().ok().map(watts),
        power_limit: device.enforced_power_limit().ok().map(watts),
        ..CardReading::default()
    })
}

fn proc_stat() -> String {
    own::read_to_string("/proc/stat").unwrap_or_default()
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; the following values
/// are included in the first two.
fn ticks(stat: &str) -> Option<Ticks> {
    let counts: Vec<u64> =
        stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|n| n.parse().ok()).collect();
    let all: u64 = counts.iter().take(8).sum();
    let idle = counts.get(3)? + counts.get(4).unwrap_or(&0);
    Some(Ticks { busy: all.saturating_sub(idle), all })
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::{Bytes, Cpu};

    use super::*;

    #[test]
    fn idle_time_and_waiting_for_disks_are_no_work() {
        let stat = "cpu  100 5 45 800 50 0 0 0 90 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(ticks(stat), Some(Ticks { busy: 150, all: 1000 }));
        assert_eq!(ticks("cpu0 1 2 3 4\n"), None);
        assert_eq!(ticks(""), None);
    }

    #[test]
    fn the_machine_itself_is_measured() {
        let gpus = Gpus::find().unwrap_or_default();
        let meter = Meter::new(&gpus, Arc::default());
        let node = NodeFacts {
            name: "local".into(),
            cpu: Cpu(2000),
            memory: Bytes(1 << 30),
            gpus: gpus.facts.clone(),
            ..NodeFacts::default()
        };
        std::thread::sleep(std::time::Duration::from_millis(400));
        let reading = meter.measure(&node, Timestamp(7));
        let local = &reading.nodes["local"];
        let most = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as f64;
        assert!(local.cpu.used.is_some_and(|cores| (0.0..=most).contains(&cores)), "{local:?}");
        assert!(local.memory.used.is_some_and(|bytes| bytes > 0.0), "{local:?}");
        assert_eq!(
            (reading.at, local.cpu.capacity, local.cards.len()),
            (Timestamp(7), Some(2.0), gpus.facts.len())
        );
        for card in local.cards.values() {
            assert!(card.present && card.usage.is_some() && card.power.is_some(), "{card:?}");
        }
    }
}
