//! The sample of a cluster's GPUs in one minute. Pure.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_admission::PendingGpus;
use cubeloom_domain::executor::Facts;
use cubeloom_domain::gpu_series::{GpuAllocation, GpuRow, GpuTotals, GpuUse, minute_of};
use cubeloom_domain::monitoring::Reading;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_store::Holding;

use super::node::{NodeGpus, milli, nodes};
use crate::monitoring::holders::Holders;

/// The sample from the last reading, and the attempts on the cluster. The queue is `None` if unknown.
pub(super) fn sample(
    facts: &Facts,
    reading: &Reading,
    holding: &[Holding],
    queue: Option<PendingGpus>,
    now: Timestamp,
) -> GpuRow {
    let holders = Holders::new(holding, BTreeSet::new());
    let nodes = nodes(facts, reading, &holders);
    let mut row = GpuRow {
        minute: minute_of(now),
        allocations: allocations(reading, holding, &holders),
        ..GpuRow::default()
    };
    row.totals = totals(&nodes, &row.allocations, queue, now);
    for (name, node) in nodes {
        row.nodes.insert(name, node.all);
        for (model, of) in node.models {
            let sum = row.models.entry(model).or_default();
            *sum = sum.plus(of);
        }
    }
    row.bounded()
}

fn totals(
    nodes: &BTreeMap<String, NodeGpus>,
    allocations: &BTreeMap<GpuAllocation, GpuUse>,
    queue: Option<PendingGpus>,
    now: Timestamp,
) -> GpuTotals {
    let mut gpus = nodes.values().fold(GpuUse::default(), |sum, node| sum.plus(node.all));
    // Where nodes report no allocations, as those of Slurm, the attempts have some.
    let started = allocations.values().map(|of| of.allocated).fold(0, i64::saturating_add);
    gpus.allocated = gpus.allocated.max(started).min(gpus.total);
    let power: f64 = nodes.values().map(|node| node.power.0).sum();
    let waits = queue.unwrap_or_default();
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    GpuTotals {
        minutes: 1,
        gpus,
        power: power.round() as i64,
        powered: nodes.values().map(|node| node.power.1 * 1000).sum(),
        queue_minutes: i64::from(queue.is_some()),
        pending: count(waits.jobs),
        requested: count(waits.gpus),
        oldest_wait: waits.since.map_or(0, |since| count(now.since(since).as_secs())),
    }
}

/// What the GPUs are allocated to: the attempts whose workers have started, by task.
fn allocations(
    reading: &Reading,
    holding: &[Holding],
    holders: &Holders<'_>,
) -> BTreeMap<GpuAllocation, GpuUse> {
    let seen = measured(reading, holders);
    let mut found: BTreeMap<GpuAllocation, GpuUse> = BTreeMap::new();
    for held in holding.iter().filter(|held| held.attempt.state.started_at().is_some()) {
        let attempt = &held.attempt;
        let allocated = allocated(attempt);
        if allocated == 0 {
            continue;
        }
        let (known, used) = seen.get(&attempt.key).copied().unwrap_or_default();
        // A fraction that is alone on its GPU has all of its use, but no more than its share is its own.
        let measured = milli(known).min(allocated);
        let used = milli(used).min(measured);
        let sum = found.entry(allocation(held)).or_default();
        *sum = sum.plus(GpuUse { total: 0, allocated, measured, used });
    }
    found
}

/// GPUs of each attempt whose utilization is known, and the sum of it.
fn measured<'h>(reading: &Reading, holders: &Holders<'h>) -> BTreeMap<&'h AttemptKey, (f64, f64)> {
    let mut seen: BTreeMap<&AttemptKey, (f64, f64)> = BTreeMap::new();
    for (uuid, card) in reading.nodes.values().flat_map(|node| &node.cards) {
        let Some(usage) = card.usage.filter(|_| card.present) else { continue };
        for (held, part) in holders.parts(uuid, card) {
            let sum = seen.entry(&held.attempt.key).or_default();
            *sum = (sum.0 + part, sum.1 + usage * part);
        }
    }
    seen
}

/// The attempt's GPUs and fractions, in thousandths of a GPU.
fn allocated(attempt: &AttemptRecord) -> i64 {
    let parts = i64::try_from(attempt.account.card_parts).unwrap_or(i64::MAX);
    i64::from(attempt.amount.gpus).saturating_mul(1000).saturating_add(parts)
}

fn allocation(held: &Holding) -> GpuAllocation {
    let attempt = &held.attempt;
    let user = if attempt.account.user.is_empty() { &held.user } else { &attempt.account.user };
    GpuAllocation {
        project: held.project.clone(),
        user: user.clone(),
        pipeline: held.pipeline.clone(),
        task: attempt.key.task.clone(),
        node_group: attempt.pool.node_group.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::executor::{GpuFacts, NodeFacts};
    use cubeloom_domain::monitoring::{CardReading, NodeReading};
    use cubeloom_domain::resources::Amount;

    use super::*;
    use crate::monitoring::sample::held;

    const NOW: Timestamp = Timestamp(600_000_000);

    fn reading(usages: &[Option<f64>]) -> Reading {
        let card = |(at, usage): (usize, &Option<f64>)| {
            let card = CardReading {
                present: true,
                usage: *usage,
                power: usage.map(|_| 250.4),
                ..CardReading::default()
            };
            (format!("GPU-{at}"), card)
        };
        let cards = usages.iter().enumerate().map(card).collect();
        let node = NodeReading { cards, ..NodeReading::default() };
        Reading { nodes: BTreeMap::from([("local".into(), node)]), ..Reading::default() }
    }

    fn with_gpus(mut held: Holding, gpus: u32) -> Holding {
        held.attempt.amount = Amount { gpus, ..held.attempt.amount };
        held
    }

    fn of(row: &GpuRow, task: &str) -> GpuUse {
        row.allocations.iter().find(|(of, _)| of.task == task).map(|(_, amount)| *amount).unwrap()
    }

    #[test]
    fn tasks_have_the_use_of_their_gpus_as_far_as_it_is_known() {
        let holding = [
            with_gpus(held("shop", "train", &["GPU-0", "GPU-1"]), 2),
            with_gpus(held("ads", "tune", &["GPU-2"]), 1),
        ];
        let reading = reading(&[Some(0.75), None, Some(0.0), Some(0.0)]);
        let row = sample(&Facts::default(), &reading, &holding, None, NOW);
        assert_eq!(row.minute, 10);
        assert_eq!(of(&row, "train"), GpuUse { total: 0, allocated: 2000, measured: 1000, used: 750 });
        assert_eq!(of(&row, "tune"), GpuUse { total: 0, allocated: 1000, measured: 1000, used: 0 });
        let gpus = GpuUse { total: 4000, allocated: 3000, measured: 3000, used: 750 };
        let totals = GpuTotals { minutes: 1, gpus, power: 751, powered: 3000, ..GpuTotals::default() };
        assert_eq!(row.totals, totals, "the queue is unknown");
        assert_eq!((row.nodes["local"], row.models[""]), (gpus, gpus));
    }

    #[test]
    fn fractions_have_no_more_than_their_share() {
        let quarter = |project: &str, task: &str, card: &str| {
            let mut held = held(project, task, &[card]);
            held.attempt.account.card_parts = 250;
            held
        };
        let holding = [
            quarter("shop", "one", "GPU-0"),
            quarter("shop", "two", "GPU-1"),
            quarter("ads", "three", "GPU-1"),
        ];
        let row = sample(&Facts::default(), &reading(&[Some(0.5), Some(0.2)]), &holding, None, NOW);
        assert_eq!(of(&row, "one"), GpuUse { total: 0, allocated: 250, measured: 250, used: 250 });
        for task in ["two", "three"] {
            assert_eq!(of(&row, task), GpuUse { total: 0, allocated: 250, measured: 250, used: 100 });
        }
        assert_eq!(row.totals.gpus.allocated, 2000, "no other job gets these two GPUs whole");
    }

    #[test]
    fn without_metrics_there_are_allocations_and_the_queue() {
        let holding = [with_gpus(held("shop", "train", &[]), 6)];
        let queue = PendingGpus { jobs: 2, gpus: 12, since: Some(Timestamp(540_000_000)) };
        let gpus = vec![GpuFacts::default(); 8];
        let node = NodeFacts { name: "n1".into(), gpus, ..NodeFacts::default() };
        let facts = Facts { nodes: vec![node], ..Facts::default() };
        let row = sample(&facts, &Reading::default(), &holding, Some(queue), NOW);
        assert_eq!(row.totals.gpus, GpuUse { total: 8000, allocated: 6000, measured: 0, used: 0 });
        assert_eq!((row.totals.queue_minutes, row.totals.pending, row.totals.requested), (1, 2, 12));
        assert_eq!((row.totals.oldest_wait, row.totals.power, row.totals.powered), (60, 0, 0));
        assert_eq!(of(&row, "train").measured, 0);
    }
}
