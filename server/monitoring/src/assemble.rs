//! Combines responses to a reading. Pure.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::monitoring::{CardHistory, CardMeasure, CardReading, NodeReading, PodReading, Reading};

use crate::answer::{Labels, Sample, Series};
use crate::prometheus::Stretch;
use crate::queries::Query;
use crate::unit::Unit;

/// Responses to a list of queries, in order. Those of failed queries are empty.
pub(crate) type Answers = Vec<Vec<Sample>>;

/// All responses for one time.
#[derive(Default)]
pub(crate) struct Asked {
    pub(crate) known: Vec<Sample>,
    pub(crate) holders: Vec<Sample>,
    pub(crate) cards: Answers,
    pub(crate) nodes: Answers,
    pub(crate) pods: Answers,
}

/// The node of GPUs in a cluster where no exporter reports the node.
const NOWHERE: &str = "?";

/// The reading, without its time and its problems.
pub(crate) fn reading(
    asked: Asked,
    cards: &[Query<CardReading>],
    nodes: &[Query<NodeReading>],
    pods: &[Query<PodReading>],
) -> Reading {
    let mut reading = Reading::default();
    let (mut found, homes) = known(&asked.known);
    hold(&mut found, &asked.holders);
    for (query, samples) in cards.iter().zip(asked.cards) {
        for (uuid, value) in values(query, &samples, |labels| labels.get("UUID")) {
            if let Some(card) = found.get_mut(uuid).filter(|card| card.present) {
                (query.put)(card, value);
            }
        }
    }
    for (query, samples) in nodes.iter().zip(asked.nodes) {
        for (name, value) in values(query, &samples, |labels| labels.get("node").or(labels.get("nodename"))) {
            (query.put)(reading.nodes.entry(name.clone()).or_default(), value);
        }
    }
    for (query, samples) in pods.iter().zip(asked.pods) {
        for (name, value) in values(query, &samples, |labels| labels.get("pod")) {
            (query.put)(reading.pods.entry(name.clone()).or_default(), value);
        }
    }
    for (uuid, card) in found {
        let node = homes.get(&uuid).cloned().unwrap_or_else(|| NOWHERE.into());
        reading.nodes.entry(node).or_default().cards.insert(uuid, card);
    }
    for node in reading.nodes.values_mut().filter(|node| !node.cards.is_empty()) {
        node.gpus.used = Some(node.cards.values().filter_map(|card| card.usage).sum());
        node.gpus.capacity.get_or_insert(node.cards.values().filter(|card| card.present).count() as f64);
    }
    reading
}

/// Valid values of a response.
fn values<'a, T>(
    query: &Query<T>,
    samples: &'a [Sample],
    name: fn(&Labels) -> Option<&String>,
) -> impl Iterator<Item = (&'a String, f64)> {
    let unit = query.unit;
    samples
        .iter()
        .filter(move |sample| unit.has(sample.value))
        .filter_map(move |sample| Some((name(&sample.labels)?, sample.value)))
}

/// The GPUs of the last hour, and the node of each.
fn known(samples: &[Sample]) -> (BTreeMap<String, CardReading>, BTreeMap<String, String>) {
    let (mut cards, mut homes) = (BTreeMap::new(), BTreeMap::new());
    for Sample { labels, .. } in samples {
        let label = |name: &str| labels.get(name).filter(|value| !value.is_empty());
        let Some(uuid) = label("UUID") else { continue };
        let card: &mut CardReading = cards.entry(uuid.clone()).or_default();
        card.index = label("gpu").and_then(|number| number.parse().ok()).or(card.index);
        card.model = label("modelName").cloned().unwrap_or_else(|| std::mem::take(&mut card.model));
        if let Some(node) = ["node", "Hostname", "nodeid"].into_iter().find_map(label) {
            homes.insert(uuid.clone(), node.clone());
        }
    }
    (cards, homes)
}

/// Which GPUs report now, and which pods they are allocated to. If Prometheus adds a `pod` label of its own,
/// the exporter's, then the pod with the GPU is in `exported_pod`.
fn hold(cards: &mut BTreeMap<String, CardReading>, samples: &[Sample]) {
    let is_exporter = |pod: &str| pod.contains("dcgm-exporter");
    let mut holders: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for Sample { labels, .. } in samples {
        let Some(uuid) = labels.get("UUID") else { continue };
        let pod = labels.get("exported_pod").or(labels.get("pod"));
        let of_card = holders.entry(uuid).or_default();
        of_card.extend(pod.filter(|pod| !pod.is_empty() && !is_exporter(pod)));
    }
    for (uuid, pods) in holders {
        let Some(card) = cards.get_mut(uuid) else { continue };
        card.present = true;
        card.pods = pods.into_iter().cloned().collect();
    }
}

/// The history of a GPU: values of each metric at the same timestamps, with gaps.
pub(crate) fn history(over: Stretch, found: Vec<(CardMeasure, Unit, Vec<Series>)>) -> CardHistory {
    let count = ((over.end - over.start) / over.step).round().max(0.0) as usize + 1;
    let mut history = CardHistory { start: over.start, step: over.step, ..CardHistory::default() };
    for (measure, unit, series) in found {
        let mut values = vec![None; count];
        for (at, value) in series.iter().flat_map(|one| &one.points) {
            let place = ((at - over.start) / over.step).round();
            if let Some(slot) = (place >= 0.0).then(|| values.get_mut(place as usize)).flatten() {
                *slot = unit.has(*value).then_some(*value);
            }
        }
        if values.iter().any(Option::is_some) {
            history.series.insert(measure, values);
        }
    }
    history
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::{CARDS, NODES, PODS};

    fn sample(labels: &[(&str, &str)], value: f64) -> Sample {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Sample { labels, value }
    }

    fn read(asked: Asked) -> Reading {
        reading(asked, &CARDS, &NODES, &PODS)
    }

    fn one_card(pods: &[(&str, &str)]) -> Asked {
        let known =
            sample(&[("UUID", "GPU-1"), ("gpu", "3"), ("modelName", "H100"), ("Hostname", "n1")], 1.0);
        let labels: Vec<_> = [("UUID", "GPU-1")].into_iter().chain(pods.iter().copied()).collect();
        Asked { known: vec![known], holders: vec![sample(&labels, 1.0)], ..Asked::default() }
    }

    #[test]
    fn the_exporters_own_pod_holds_no_card() {
        let pods = |labels: &[(&str, &str)]| read(one_card(labels)).nodes["n1"].cards["GPU-1"].pods.clone();
        assert_eq!(pods(&[("pod", "nvidia-dcgm-exporter-x7k2p")]), Vec::<String>::new());
        assert_eq!(pods(&[("pod", "nvidia-dcgm-exporter-x7k2p"), ("exported_pod", "cl-a-0")]), ["cl-a-0"]);
        assert_eq!(pods(&[("pod", "cl-a-0")]), ["cl-a-0"]);
        assert_eq!(pods(&[("pod", "")]), Vec::<String>::new());
    }

    #[test]
    fn numbers_for_what_a_card_cannot_tell_are_no_values() {
        for blank in [
            9_223_372_036_854_775_794.0,
            140_737_488_355_328.0,
            2_147_483_632.0,
            f64::NAN,
            f64::INFINITY,
            -1.0,
        ] {
            let cards = CARDS.iter().map(|_| vec![sample(&[("UUID", "GPU-1")], blank)]).collect();
            let card = read(Asked { cards, ..one_card(&[]) }).nodes["n1"].cards["GPU-1"].clone();
            assert_eq!(
                (card.usage, card.temperature, card.power, card.xid),
                (None, None, None, None),
                "{blank}"
            );
        }
    }

    #[test]
    fn a_card_that_is_gone_stays_without_values() {
        let cards = CARDS.iter().map(|_| vec![sample(&[("UUID", "GPU-1")], 0.5)]).collect();
        let reading = read(Asked { cards, holders: Vec::new(), ..one_card(&[]) });
        let node = &reading.nodes["n1"];
        let card = &node.cards["GPU-1"];
        assert_eq!(
            (card.present, card.index, card.model.as_str(), card.usage),
            (false, Some(3), "H100", None)
        );
        assert_eq!(node.gpus.capacity, Some(0.0));
    }

    #[test]
    fn a_gap_in_a_series_is_a_gap_in_the_history() {
        let over = Stretch { start: 1000.0, end: 1120.0, step: 30.0 };
        let series =
            Series { labels: Labels::new(), points: vec![(1000.0, 0.25), (1030.0, f64::NAN), (1120.0, 1.0)] };
        let found = history(
            over,
            vec![
                (CardMeasure::Usage, Unit::Ratio, vec![series]),
                (CardMeasure::Tensor, Unit::Ratio, Vec::new()),
            ],
        );
        assert_eq!(found.series[&CardMeasure::Usage], [Some(0.25), None, None, None, Some(1.0)]);
        assert!(!found.series.contains_key(&CardMeasure::Tensor));
    }
}
