//! The GPUs of each node now: how many there are, allocated, used and free. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::executor::{Facts, GpuFacts, NodeFacts};
use cubeloom_domain::gpu_series::GpuUse;
use cubeloom_domain::monitoring::{NodeReading, Reading};
use cubeloom_monitoring::CardState;

use crate::monitoring::holders::Holders;

/// The GPUs of a node, in thousandths of a GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeGpus {
    pub all: GpuUse,
    /// Number of GPUs that a job could get now.
    pub free: u32,
    /// By product name.
    pub models: BTreeMap<String, GpuUse>,
    /// Whether the cluster offers the node to jobs.
    pub is_offered: bool,
    /// Power of the GPUs that report it, in watts, and their number.
    pub power: (f64, i64),
}

/// GPUs of one product on a node.
#[derive(Default)]
struct Model {
    count: i64,
    held: i64,
    measured: i64,
    used: i64,
}

/// Thousandths of a number that is not negative.
pub(super) fn milli(number: f64) -> i64 {
    (number.max(0.0) * 1000.0).round() as i64
}

/// The nodes with GPUs, by name.
pub(super) fn nodes(facts: &Facts, reading: &Reading, holders: &Holders<'_>) -> BTreeMap<String, NodeGpus> {
    let told: BTreeMap<&str, &NodeFacts> =
        facts.nodes.iter().map(|node| (node.name.as_str(), node)).collect();
    let names: BTreeSet<&str> =
        told.keys().copied().chain(reading.nodes.keys().map(String::as_str)).collect();
    let nothing = NodeReading::default();
    let of = |name: &str| {
        let found = node(told.get(name).copied(), reading.nodes.get(name).unwrap_or(&nothing), holders);
        (found.all.total > 0).then(|| (name.to_owned(), found))
    };
    names.into_iter().filter_map(of).collect()
}

fn node(told: Option<&NodeFacts>, reading: &NodeReading, holders: &Holders<'_>) -> NodeGpus {
    let mut models: BTreeMap<&str, Model> = BTreeMap::new();
    let mut power = (0.0, 0);
    for (uuid, card) in reading.cards.iter().filter(|(_, card)| card.present) {
        let model = models.entry(card.model.as_str()).or_default();
        model.count += 1;
        model.held += i64::from(holders.is_held(uuid, card));
        if let Some(usage) = card.usage {
            model.measured += 1000;
            model.used += milli(usage).min(1000);
        }
        if let Some(watts) = card.power {
            power = (power.0 + watts, power.1 + 1);
        }
    }
    let seen: i64 = models.values().map(|model| model.count).sum();
    let held: i64 = models.values().map(|model| model.held).sum();
    let known: &[GpuFacts] = told.map_or(&[], |node| node.gpus.as_slice());
    if models.is_empty() {
        known.iter().for_each(|gpu| models.entry(&gpu.name).or_default().count += 1);
    }
    let count = (known.len() as i64).max(seen).max(reading.gpus.capacity.unwrap_or(0.0).round() as i64);
    if models.is_empty() && count > 0 {
        models.entry("").or_default().count = count;
    }
    let total = count.saturating_mul(1000);
    // What the cluster reports, or what its pods request, or whose processes exporters see: what is missing in
    // one of them is in another.
    let requested = milli(reading.gpus.requested.unwrap_or(0.0));
    let allocated = (held * 1000).max(taken(told) * 1000).max(requested).min(total);
    let models = divided(&models, total, allocated);
    let measured: i64 = models.values().map(|of| of.measured).sum();
    let used = models.values().map(|of| of.used).sum();
    NodeGpus {
        all: GpuUse { total, allocated, measured, used },
        free: free((total - allocated) / 1000, reading, holders),
        models,
        is_offered: told.is_some(),
        power,
    }
}

/// GPUs that the cluster reports as allocated.
fn taken(told: Option<&NodeFacts>) -> i64 {
    let taken = told.and_then(|node| node.taken.as_ref());
    taken.map_or(0, |taken| {
        taken.ours.values().chain(&taken.others).map(|amount| i64::from(amount.gpus)).sum()
    })
}

/// The GPUs of a node by product. Allocations of unknown GPUs are divided in proportion.
fn divided(models: &BTreeMap<&str, Model>, total: i64, allocated: i64) -> BTreeMap<String, GpuUse> {
    let count: i64 = models.values().map(|model| model.count).sum();
    let held: i64 = models.values().map(|model| model.held).sum();
    let of = |model: &Model| {
        let (part, whole) = if held > 0 { (model.held, held) } else { (model.count, count) };
        GpuUse {
            total: total * model.count / count.max(1),
            allocated: allocated * part / whole.max(1),
            measured: model.measured,
            used: model.used,
        }
    };
    models.iter().map(|(name, model)| ((*name).to_owned(), of(model))).collect()
}

/// GPUs that a job could get: not those that are unhealthy or missing.
fn free(rest: i64, reading: &NodeReading, holders: &Holders<'_>) -> u32 {
    let rest = u32::try_from(rest).unwrap_or(0);
    if reading.cards.is_empty() {
        return rest;
    }
    let is_free = |state: &CardState| matches!(state, CardState::Free | CardState::Fragment);
    let healthy = holders.states(reading).iter().filter(|state| is_free(state)).count();
    rest.min(u32::try_from(healthy).unwrap_or(u32::MAX))
}

/// The largest gang whose workers have equally many GPUs, one worker per node: the number of nodes, and the
/// GPUs on each. Of two that are as large, the one on fewer nodes. `None` if nothing is free.
pub(super) fn largest_gang(free: &[u32]) -> Option<(usize, u32)> {
    let mut each: Vec<u32> = free.iter().copied().filter(|free| *free > 0).collect();
    each.sort_unstable_by_key(|free| Reverse(*free));
    let gangs = each.iter().enumerate().map(|(at, gpus)| (at + 1, *gpus));
    // The first of the largest ones: `max_by_key` returns the last.
    gangs.rev().max_by_key(|(nodes, gpus)| *nodes as u64 * u64::from(*gpus))
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::executor::Taken;
    use cubeloom_domain::monitoring::{CardReading, Levels};
    use cubeloom_domain::resources::Amount;
    use cubeloom_store::Holding;

    use super::*;
    use crate::monitoring::sample::held;

    fn cards(usages: &[Option<f64>]) -> NodeReading {
        let card = |(at, usage): (usize, &Option<f64>)| {
            let card = CardReading {
                present: true,
                usage: *usage,
                recent_usage: *usage,
                power: usage.map(|usage| 100.0 + 400.0 * usage),
                model: "H100".into(),
                ..CardReading::default()
            };
            (format!("GPU-{at}"), card)
        };
        NodeReading { cards: usages.iter().enumerate().map(card).collect(), ..NodeReading::default() }
    }

    fn one(told: Option<NodeFacts>, reading: NodeReading, holding: &[Holding]) -> NodeGpus {
        let facts = Facts { nodes: told.into_iter().collect(), ..Facts::default() };
        let reading = Reading { nodes: BTreeMap::from([("n1".into(), reading)]), ..Reading::default() };
        let holders = Holders::new(holding, BTreeSet::new());
        nodes(&facts, &reading, &holders).remove("n1").unwrap_or_default()
    }

    fn told(gpus: usize, taken: Option<u32>) -> NodeFacts {
        let gpu = || GpuFacts { name: "A100".into(), ..GpuFacts::default() };
        let others = taken.map(|gpus| Amount { gpus, ..Amount::default() });
        NodeFacts {
            name: "n1".into(),
            gpus: (0..gpus).map(|_| gpu()).collect(),
            taken: Some(Taken { others, ours: BTreeMap::new() }),
            ..NodeFacts::default()
        }
    }

    #[test]
    fn a_node_with_metrics_is_measured_by_gpu() {
        let holding = [held("shop", "train", &["GPU-0", "GPU-1"])];
        let reading = cards(&[Some(0.9), Some(0.1), Some(0.0), None]);
        let node = one(None, reading, &holding);
        let all = GpuUse { total: 4000, allocated: 2000, measured: 3000, used: 1000 };
        assert_eq!((node.all, node.free, node.is_offered), (all, 2, false));
        assert_eq!(node.models, BTreeMap::from([("H100".to_owned(), all)]));
        assert_eq!(node.power, (100.0 * 3.0 + 400.0, 3));
    }

    #[test]
    fn a_node_without_metrics_has_what_its_cluster_reports() {
        let node = one(Some(told(8, Some(5))), NodeReading::default(), &[]);
        let all = GpuUse { total: 8000, allocated: 5000, measured: 0, used: 0 };
        assert_eq!((node.all, node.free, node.is_offered), (all, 3, true));
        assert_eq!(node.models.keys().collect::<Vec<_>>(), ["A100"]);
        // Without GPUs it is no node of this history.
        assert_eq!(one(Some(told(0, None)), NodeReading::default(), &[]), NodeGpus::default());
        let gpus = Levels { capacity: Some(4.0), requested: Some(9.0), used: None };
        let node = one(None, NodeReading { gpus, ..NodeReading::default() }, &[]);
        assert_eq!((node.all.total, node.all.allocated, node.free), (4000, 4000, 0));
        assert_eq!(node.models.keys().collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn what_is_broken_is_not_free() {
        let mut reading = cards(&[Some(0.0), Some(0.0), Some(0.0)]);
        reading.cards.get_mut("GPU-0").unwrap().xid = Some(79);
        reading.cards.get_mut("GPU-1").unwrap().present = false;
        let node = one(Some(told(3, None)), reading, &[]);
        assert_eq!((node.all.total, node.all.allocated, node.free), (3000, 0, 1));
    }

    #[test]
    fn two_products_divide_what_is_allocated() {
        let mut reading = cards(&[Some(1.0), Some(0.0), Some(0.0)]);
        reading.cards.get_mut("GPU-0").unwrap().model = "T4".into();
        let allocated = |node: &NodeGpus| {
            node.models.iter().map(|(name, of)| (name.clone(), of.allocated)).collect::<Vec<_>>()
        };
        let node = one(None, reading.clone(), &[held("shop", "train", &["GPU-0"])]);
        assert_eq!(allocated(&node), [("H100".to_owned(), 0), ("T4".to_owned(), 1000)]);
        // An exporter without pods: which of them is allocated is unknown.
        reading.gpus.requested = Some(3.0);
        let node = one(None, reading, &[]);
        assert_eq!(allocated(&node), [("H100".to_owned(), 2000), ("T4".to_owned(), 1000)]);
    }

    #[test]
    fn the_largest_gang_is_the_largest_rectangle() {
        for (free, expected) in [
            (&[][..], None),
            (&[0, 0], None),
            (&[8, 3, 2], Some((1, 8))),
            (&[4, 4, 1], Some((2, 4))),
            (&[2, 2, 2, 2, 1], Some((4, 2))),
            (&[8, 4], Some((1, 8))),
        ] {
            assert_eq!(largest_gang(free), expected, "{free:?}");
        }
    }
}
