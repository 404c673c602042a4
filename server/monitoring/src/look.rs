//! A reading of a cluster's Prometheus.

use std::collections::BTreeMap;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::monitoring::{CardHistory, CardMeasure, NodeReading, Reading};
use futures::{StreamExt, stream};

use crate::about::About;
use crate::answer::Sample;
use crate::assemble::{Answers, Asked, history as assembled, reading};
use crate::prometheus::{Prometheus, SourceError, Stretch};
use crate::queries::{AGE, CARDS, CLOCK, HOLDERS, KNOWN, NODE_IO_WAIT, NODES, PODS, over_time};
use crate::unit::Unit;

/// Maximum number of concurrent queries.
pub(crate) const AT_ONCE: usize = 8;
/// Maximum number of GPUs per range query.
const CARDS_A_QUERY: usize = 100;
/// Clock differences above this, in seconds, are reported.
const APART: f64 = 60.0;
/// Values older than this, in seconds, are reported: exporters are scraped every 15 to 60 seconds.
const OLD: f64 = 150.0;
/// Maximum number of nodes named in a sentence.
const TOLD: usize = 5;
/// A GPU's history: its length, and the interval between values, in seconds.
const HISTORY: f64 = 3600.0;
const STEP: f64 = 30.0;

/// Reads all nodes and GPUs, within `patience`.
///
/// # Errors
/// Prometheus is unreachable, or does not respond in time. If it rejects only some of the queries, the
/// reading has problems.
pub async fn look(source: &Prometheus, now: Timestamp, patience: Duration) -> Result<Reading, SourceError> {
    let found = tokio::time::timeout(patience, all(source, now)).await;
    found.unwrap_or(Err(SourceError::Slow(patience.as_secs())))
}

async fn all(source: &Prometheus, now: Timestamp) -> Result<Reading, SourceError> {
    let about = About { cluster: source.matchers(), ..About::default() };
    let clock = source.instant(CLOCK).await?;
    let texts = [AGE, KNOWN, HOLDERS].into_iter().chain(CARDS.iter().map(|query| query.text));
    let texts = texts.chain(NODES.iter().map(|query| query.text)).chain(PODS.iter().map(|query| query.text));
    let mut problems = Vec::new();
    let mut answers =
        many(source, texts.map(|text| about.fill(text)).collect(), &mut problems).await.into_iter();
    let age = answers.next().unwrap_or_default();
    let mut part = |count: usize| answers.by_ref().take(count).collect::<Answers>();
    let mut lists = part(2).into_iter();
    let asked = Asked {
        known: lists.next().unwrap_or_default(),
        holders: lists.next().unwrap_or_default(),
        cards: part(CARDS.len()),
        nodes: part(NODES.len()),
        pods: part(PODS.len()),
    };
    problems.extend(apart(first(&clock), now));
    problems.extend(late(first(&age)));
    let mut found = reading(asked, &CARDS, &NODES, &PODS);
    problems.extend(gone(&found));
    (found.at, found.problems) = (now, problems);
    Ok(found)
}

/// The responses to queries, in order. A failed query has none, and its error is reported once.
async fn many(source: &Prometheus, texts: Vec<String>, problems: &mut Vec<String>) -> Answers {
    let ask = |text: String| async move { source.instant(&text).await };
    let answers: Vec<_> = stream::iter(texts).map(ask).buffered(AT_ONCE).collect().await;
    let mut keep = |error: SourceError| {
        let sentence = error.to_string();
        if !problems.contains(&sentence) {
            problems.push(sentence);
        }
    };
    answers.into_iter().map(|answer| answer.map_err(&mut keep).unwrap_or_default()).collect()
}

fn first(samples: &[Sample]) -> Option<f64> {
    samples.first().map(|sample| sample.value)
}

fn apart(clock: Option<f64>, now: Timestamp) -> Option<String> {
    let away = clock? - now.0 as f64 / 1e6;
    let time = in_words(away.abs());
    match away {
        away if away > APART => Some(format!(
            "Prometheus' clock is {time} ahead of this server's: values are shown at its moments"
        )),
        away if away < -APART => {
            Some(format!("Prometheus' clock is {time} behind this server's: values are shown at its moments"))
        }
        _ => None,
    }
}

fn late(age: Option<f64>) -> Option<String> {
    let age = age.filter(|age| *age > OLD)?;
    Some(format!(
        "the newest measurement of a GPU is {} old: exporters are down, or their clocks are behind",
        in_words(age)
    ))
}

/// What reported within the last hour, but no longer does.
fn gone(reading: &Reading) -> Option<String> {
    let away = |node: &NodeReading| node.cards.values().filter(|card| !card.present).count();
    let counts = reading.nodes.iter().map(|(name, node)| (name, away(node)));
    let nodes: Vec<_> = counts.filter(|(_, count)| *count > 0).collect();
    let count: usize = nodes.iter().map(|(_, count)| count).sum();
    let told: Vec<String> =
        nodes.iter().take(TOLD).map(|(name, count)| format!("`{name}` ({count})")).collect();
    let (told, more) = (told.join(", "), if nodes.len() > TOLD { ", …" } else { "" });
    (count > 0).then(|| format!("GPUs that stopped reporting in the last hour: {count}, on {told}{more}"))
}

/// `90 s`, `12 min`, `3 h`.
fn in_words(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

/// The last hour of a GPU on `node`, allocated to `pods`, by Prometheus' clock.
///
/// # Errors
/// Prometheus is unreachable, or rejects the query.
pub async fn history(
    source: &Prometheus,
    card: &str,
    node: &str,
    pods: &[String],
) -> Result<CardHistory, SourceError> {
    let over = last_hour(source).await?;
    let about =
        About { cluster: source.matchers(), card: Some(card), node: Some(node), pods, ..About::default() };
    let wanted = CardMeasure::ALL.into_iter().filter(|measure| {
        // Without pods the selector would match all of them.
        *measure != CardMeasure::HolderCpu || !pods.is_empty()
    });
    let ask = |measure: CardMeasure| async move {
        let (text, unit) = match measure {
            CardMeasure::IoWait if pods.is_empty() => (NODE_IO_WAIT, Unit::Ratio),
            _ => over_time(measure),
        };
        let series = source.range(&about.fill(text), over).await?;
        Ok::<_, SourceError>((measure, unit, series))
    };
    let answers: Vec<_> = stream::iter(wanted).map(ask).buffered(AT_ONCE).collect().await;
    Ok(assembled(over, answers.into_iter().collect::<Result<_, _>>()?))
}

async fn last_hour(source: &Prometheus) -> Result<Stretch, SourceError> {
    let clock = source.instant(CLOCK).await?;
    let now = first(&clock).filter(|clock| clock.is_finite());
    let end = now.ok_or_else(|| SourceError::NotUnderstood("it returned no time".into()))?;
    Ok(Stretch { start: end - HISTORY, end, step: STEP })
}

/// Use of some GPUs in the last hour, by Prometheus' clock.
///
/// # Errors
/// Prometheus is unreachable, or rejects the query.
pub async fn usage(
    source: &Prometheus,
    cards: &[&str],
) -> Result<BTreeMap<String, CardHistory>, SourceError> {
    let over = last_hour(source).await?;
    let (text, unit) = over_time(CardMeasure::Usage);
    let about = |some| About { cluster: source.matchers(), cards: some, ..About::default() };
    let texts: Vec<String> = cards.chunks(CARDS_A_QUERY).map(|some| about(some).fill(text)).collect();
    let ask = |text: String| async move { source.range(&text, over).await };
    let answers: Vec<_> = stream::iter(texts).map(ask).buffered(AT_ONCE).collect().await;
    let mut found = BTreeMap::new();
    for series in answers.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        let Some(uuid) = series.labels.get("UUID").cloned() else { continue };
        found.insert(uuid, assembled(over, vec![(CardMeasure::Usage, unit, vec![series])]));
    }
    Ok(found)
}

/// A source of Prometheus' series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exporter {
    pub name: &'static str,
    /// What its series are used for.
    pub purpose: &'static str,
    /// Its series. One of them is enough: names differ between versions.
    series: &'static [&'static str],
}

/// The supported exporters.
pub const EXPORTERS: [Exporter; 6] = [
    Exporter {
        name: "dcgm-exporter",
        purpose: "reports GPU metrics, and which pod uses each GPU",
        series: &["DCGM_FI_DEV_FB_USED"],
    },
    Exporter {
        name: "dcgm-exporter, profiling",
        purpose: "reports GPU and tensor core utilization",
        series: &["DCGM_FI_PROF_GR_ENGINE_ACTIVE"],
    },
    Exporter {
        name: "HAMi's vGPUmonitor",
        purpose: "reports GPUs that HAMi shares",
        series: &["hami_host_gpu_memory_used_bytes", "HostGPUMemoryUsage"],
    },
    Exporter { name: "node-exporter", purpose: "reports the usage of nodes", series: &["node_uname_info"] },
    Exporter {
        name: "kube-state-metrics",
        purpose: "reports the capacity of nodes, and the requests of pods",
        series: &["kube_node_status_allocatable"],
    },
    Exporter {
        name: "cAdvisor",
        purpose: "measures the usage of pods",
        series: &["container_cpu_usage_seconds_total"],
    },
];

/// Number of series of each exporter, in the order of [`EXPORTERS`].
pub type Exporters = Vec<(Exporter, u64)>;

/// Checks which exporters' series exist.
///
/// # Errors
/// Prometheus is unreachable, or rejects the query.
pub async fn exporters(source: &Prometheus) -> Result<Exporters, SourceError> {
    let mut found = Vec::new();
    for exporter in EXPORTERS {
        let count = |series: &&str| format!("count({series}{{{}}})", source.matchers());
        let query: Vec<String> = exporter.series.iter().map(count).collect();
        let count = first(&source.instant(&query.join(" or ")).await?).unwrap_or(0.0);
        found.push((exporter, count as u64));
    }
    Ok(found)
}

/// How long a reading is cached. Exporters are checked at the same interval.
pub const GOOD_FOR: Duration = Duration::from_secs(10);
/// Timeout of a reading that users wait for.
pub const PATIENCE: Duration = Duration::from_secs(20);

#[cfg(test)]
mod tests {
    use cubeloom_domain::monitoring::CardReading;

    use super::*;

    #[test]
    fn clocks_are_compared_in_both_directions() {
        let now = Timestamp(1_000_000_000_000);
        assert_eq!(apart(Some(1_000_030.0), now), None);
        assert_eq!(
            apart(Some(1_000_600.0), now).unwrap(),
            "Prometheus' clock is 10 min ahead of this server's: values are shown at its moments"
        );
        assert!(apart(Some(999_910.0), now).unwrap().contains("90 s behind"));
    }

    #[test]
    fn cards_that_are_gone_are_said_by_node_and_not_without_end() {
        let mut reading = Reading::default();
        for node in 0..8 {
            let cards = [("a", true), ("b", node == 0)].map(|(uuid, present)| {
                (format!("{uuid}{node}"), CardReading { present, ..CardReading::default() })
            });
            let cards = cards.into_iter().collect();
            reading.nodes.insert(format!("n{node}"), NodeReading { cards, ..NodeReading::default() });
        }
        assert_eq!(
            gone(&reading).unwrap(),
            "GPUs that stopped reporting in the last hour: 7, on `n1` (1), `n2` (1), `n3` (1), \
             `n4` (1), `n5` (1), …"
        );
        assert_eq!(gone(&Reading::default()), None);
    }
}
