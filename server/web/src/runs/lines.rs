//! Metrics of an attempt's workers as time series: recorded on this machine by the shims, or from a cluster's
//! Prometheus.

use std::collections::BTreeMap;

use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::plan::{PlannedRole, PlannedTask};
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::usage::{Measure, Point, Quantity, UsageSample, WorkerLines, WorkerUsage};
use cubeloom_domain::{Bytes, Timestamp};

use super::Reader;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;
use crate::{archive, monitoring};

/// Minimum interval between samples for a rate, in seconds.
const NEAR: f64 = 0.2;

/// Quantities that are missing without a source of metrics.
pub(super) const ALL: [Quantity; 8] = [
    Quantity::Cpu,
    Quantity::Throttled,
    Quantity::CpuWait,
    Quantity::Memory,
    Quantity::Disk,
    Quantity::Network,
    Quantity::Waiting,
    Quantity::Cards,
];

/// Time series of an attempt's workers, and the quantities that their executor never measures.
pub(super) struct Told {
    pub(super) workers: Vec<WorkerLines>,
    pub(super) never: &'static [Quantity],
}

/// Reads the series from the executor, from the archived logs of the attempt, or from the cluster's
/// Prometheus.
///
/// # Errors
/// They cannot be read now.
pub(super) async fn read(
    web: &Web,
    reader: &Reader<'_>,
    record: &AttemptRecord,
    planned: &PlannedTask,
) -> ApiResult<Told> {
    let cluster = record.bindings.cluster().unwrap_or(&reader.plan.cluster);
    let executor = web.clusters().get(cluster);
    let Some(usage) = executor.as_ref().and_then(|executor| executor.usage()) else {
        return measured(web, cluster, record, planned).await;
    };
    let unreadable =
        |error| ApiError::unavailable("the usage cannot be read now: try again").caused_by(error);
    let mut found = usage.series(&record.key).await.map_err(unreadable)?;
    if found.is_empty() && !record.state.is_live() {
        found = archive::usage(web, &record.key).await?;
    }
    let (began, memory) = (record.state.started_at(), card_memory(web, record));
    let line = |one: &WorkerUsage| WorkerLines {
        worker: one.worker.to_string(),
        lines: lines(&since(began, &one.samples)),
        card_memory: memory.zip(cards(&one.samples)).map(|(each, cards)| each * f64::from(cards)),
    };
    Ok(Told { workers: found.iter().map(line).collect(), never: usage.never_told() })
}

/// Series from the cluster's Prometheus.
async fn measured(
    web: &Web,
    cluster: &str,
    record: &AttemptRecord,
    planned: &PlannedTask,
) -> ApiResult<Told> {
    let Some(from) = record.state.started_at() else { return Ok(Told { workers: Vec::new(), never: &[] }) };
    let found =
        monitoring::workers(web, cluster, &record.key.object_name(), from, until(web, record)).await?;
    let Some(mut workers) = found else { return Ok(Told { workers: Vec::new(), never: &ALL }) };
    workers.iter_mut().for_each(|one| one.worker = worker_of(&one.worker, &planned.roles));
    Ok(Told { workers, never: &[] })
}

/// End of an attempt, or now.
pub(super) fn until(web: &Web, record: &AttemptRecord) -> Timestamp {
    match record.state {
        AttemptState::Ended { ended_at, .. } => ended_at,
        _ => web.now(),
    }
}

/// The role of a worker, by the worker's name.
pub(super) fn role_of<'p>(worker: &str, roles: &'p [PlannedRole]) -> Option<&'p PlannedRole> {
    let is_index = |text: &str| text.parse::<u32>().is_ok();
    roles.iter().find(|role| {
        worker.strip_prefix(&role.name).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_index)
    })
}

/// The worker of a pod, from the rest of its name: `<role>-<index>`, possibly followed by a random suffix of
/// the controller. The only worker of a job may have nothing else.
fn worker_of(rest: &str, roles: &[PlannedRole]) -> String {
    let named = roles.iter().find_map(|role| {
        let index = rest.strip_prefix(&role.name)?.strip_prefix('-')?.split('-').next()?;
        Some(format!("{}-{}", role.name, index.parse::<u32>().ok()?))
    });
    named.unwrap_or_else(|| match roles {
        [only] if only.replicas == 1 => format!("{}-0", only.name),
        _ => rest.to_owned(),
    })
}

/// Memory per GPU of an attempt on the local machine, in bytes. The smallest if they differ.
fn card_memory(web: &Web, record: &AttemptRecord) -> Option<f64> {
    let Bindings::Local(bound) = &record.bindings else { return None };
    let held: Vec<&String> = bound.workers.iter().flat_map(|worker| &worker.gpus).collect();
    if held.is_empty() {
        return None;
    }
    let facts = web.clusters().get(cubeloom_domain::clusters::LOCAL)?.facts();
    let cards = facts.nodes.iter().flat_map(|node| &node.gpus);
    cards.filter(|card| held.contains(&&card.uuid)).map(|card| card.memory.0 as f64).reduce(f64::min)
}

/// Number of a worker's GPUs.
fn cards(samples: &[UsageSample]) -> Option<u32> {
    samples.iter().rev().find_map(|sample| Some(sample.cards?.cards))
}

/// Value from two successive samples, `seconds` apart. `None` if it is not measured.
fn value(measure: Measure, a: &UsageSample, b: &UsageSample, seconds: f64) -> Option<f64> {
    // The counters are in microseconds.
    let micros = seconds * 1e6;
    Some(match measure {
        Measure::Cpu => rate(a.cpu_us, b.cpu_us, micros),
        Measure::Throttled => rate(a.throttled_us?, b.throttled_us?, micros),
        Measure::Memory => b.memory.0 as f64,
        Measure::DiskRead => rate(a.disk_read?.0, b.disk_read?.0, seconds),
        Measure::DiskWritten => rate(a.disk_written?.0, b.disk_written?.0, seconds),
        Measure::CpuWait => (100.0 * rate(a.cpu_wait_us?, b.cpu_wait_us?, micros)).min(100.0),
        Measure::IoWait => (100.0 * rate(a.io_wait_us?, b.io_wait_us?, micros)).min(100.0),
        Measure::CardUse => f64::from(b.cards?.use_percent),
        Measure::CardMemory => b.cards?.memory.0 as f64,
        Measure::CardPower => b.cards?.power_mw as f64 / 1e3,
        Measure::NetworkReceived | Measure::NetworkSent => return None,
    })
}

/// Rate between two samples. 0 after a counter reset.
fn rate(before: u64, after: u64, time: f64) -> f64 {
    after.saturating_sub(before) as f64 / time
}

/// The samples with a zero sample at the start, so that usage before the first one counts.
fn since(began: Option<Timestamp>, samples: &[UsageSample]) -> Vec<UsageSample> {
    let first = began.zip(samples.first()).filter(|(began, first)| *began < first.at);
    let nothing = first.map(|(at, first)| UsageSample {
        at,
        cpu_us: 0,
        memory: Bytes(0),
        throttled_us: first.throttled_us.map(|_| 0),
        cpu_wait_us: first.cpu_wait_us.map(|_| 0),
        disk_read: first.disk_read.map(|_| Bytes(0)),
        disk_written: first.disk_written.map(|_| Bytes(0)),
        io_wait_us: first.io_wait_us.map(|_| 0),
        cards: None,
    });
    nothing.into_iter().chain(samples.iter().copied()).collect()
}

/// Time series of a worker. The value of a rate is the average of the interval that ends at its time. Omits
/// empty series.
fn lines(samples: &[UsageSample]) -> BTreeMap<Measure, Vec<Point>> {
    let mut lines = BTreeMap::new();
    for measure in Measure::ALL {
        let point = |pair: &[UsageSample]| {
            let [before, after] = pair else { return None };
            let seconds = after.at.since(before.at).as_secs_f64();
            let value = value(measure, before, after, seconds).filter(|_| seconds > NEAR)?;
            Some([after.at.0 as f64 / 1e6, value])
        };
        let points: Vec<Point> = samples.windows(2).filter_map(point).collect();
        if !points.is_empty() {
            lines.insert(measure, points);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_is_the_worker_that_its_name_tells() {
        let role = |name: &str, replicas: u32| -> PlannedRole {
            serde_json::from_value(
                json!({"name": name, "replicas": replicas, "resources": {"cpu": 1, "memory": 1}}),
            )
            .unwrap()
        };
        let (gang, one) = ([role("ps", 1), role("worker", 2)], [role("worker", 1)]);
        for (rest, roles, expected) in [
            ("worker-1", &gang[..], "worker-1"),
            ("ps-0-x7k2p", &gang, "ps-0"),
            ("launcher-x7k2p", &gang, "launcher-x7k2p"),
            ("x7k2p", &one, "worker-0"),
            ("", &one, "worker-0"),
        ] {
            assert_eq!(worker_of(rest, roles), expected, "{rest}");
        }
    }

    #[test]
    fn what_was_used_before_the_first_sample_counts() {
        let samples = [sample(11, 1_500_000, Some(40))];
        let lines = lines(&since(Some(Timestamp(9_000_000)), &samples));
        assert_eq!(lines[&Measure::Cpu], [[11.0, 0.75]]);
        assert_eq!(lines[&Measure::Memory], [[11.0, 1000.0]]);
        assert_eq!(
            (lines[&Measure::DiskWritten].clone(), lines.get(&Measure::DiskRead)),
            (vec![[11.0, 20.0]], None)
        );
        assert_eq!(since(None, &samples), samples);
        assert_eq!(since(Some(samples[0].at), &samples), samples);
    }

    fn sample(second: i64, cpu_us: u64, written: Option<u64>) -> UsageSample {
        UsageSample {
            at: Timestamp(second * 1_000_000),
            cpu_us,
            memory: Bytes(1000),
            throttled_us: None,
            cpu_wait_us: Some(cpu_us / 5),
            disk_read: None,
            disk_written: written.map(Bytes),
            io_wait_us: Some(cpu_us / 10),
            cards: None,
        }
    }

    #[test]
    fn counters_become_rates_and_what_nobody_tells_is_left_out() {
        let samples = [
            sample(10, 0, None),
            sample(12, 3_000_000, Some(100)),
            sample(13, 3_500_000, Some(700)),
            sample(14, 0, Some(900)),
        ];
        let lines = lines(&samples);
        assert_eq!(lines[&Measure::Cpu], [[12.0, 1.5], [13.0, 0.5], [14.0, 0.0]]);
        assert_eq!(lines[&Measure::Memory], [[12.0, 1000.0], [13.0, 1000.0], [14.0, 1000.0]]);
        assert_eq!(lines[&Measure::DiskWritten], [[13.0, 600.0], [14.0, 200.0]]);
        assert_eq!(lines[&Measure::CpuWait], [[12.0, 30.0], [13.0, 10.0], [14.0, 0.0]]);
        assert_eq!(lines[&Measure::IoWait], [[12.0, 15.0], [13.0, 5.0], [14.0, 0.0]]);
        for untold in [Measure::DiskRead, Measure::Throttled, Measure::CardUse, Measure::NetworkSent] {
            assert!(!lines.contains_key(&untold), "{untold:?}");
        }
        assert!(super::lines(&samples[..1]).is_empty(), "one sample says nothing of a time");
    }
}
