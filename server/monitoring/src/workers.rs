//! Usage of a job's workers over time, read from its pods and combined for [`crate::advice`].

use std::collections::BTreeMap;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::monitoring::{CardHistory, CardMeasure};
use cubeloom_domain::usage::{CardTime, Measure, PodUse, Point, WorkerLines};
use futures::{StreamExt, stream};
use tokio::time::timeout;

use crate::about::About;
use crate::answer::Series;
use crate::look::AT_ONCE;
use crate::prometheus::{Prometheus, SourceError, Stretch};
use crate::queries::{CARDS_MEMORY, CARDS_WORK, PODS_IO_WAIT, PODS_NODES, PODS_USED, of_workers, unit_of};
use crate::unit::Unit;

/// Maximum number of values per series. Exporters have at most one every 15 seconds.
const POINTS: f64 = 500.0;
const LEAST_STEP: f64 = 15.0;
/// The GPU usage of a job is queried in full resolution for the last two hours, in seconds. For the week
/// before, each series has [`COARSE_POINTS`] values, each the maximum in its step: an instant value may fall
/// into a short idle phase.
const FINE: f64 = 2.0 * 3600.0;
const COARSE: f64 = 7.0 * 24.0 * 3600.0;
const COARSE_POINTS: f64 = 2000.0;
/// The window of recommendations, in seconds, and the minimum interval between its values.
const HOUR: f64 = 3600.0;
const HOUR_STEP: f64 = 30.0;
/// Timeout of the query for throttling, in addition to usage: the end of a job waits a second for both.
const HELD_BACK: Duration = Duration::from_millis(500);
/// Timeout of the query for nodes' storage waits, in addition to the pods' own.
const WAITS: Duration = Duration::from_secs(3);

/// Usage of a job's pods in a time range, for each pod named `object` or `object-...`. The rest of the name
/// is the worker's name.
///
/// # Errors
/// Prometheus is unreachable, or rejects the query.
pub async fn workers(
    source: &Prometheus,
    object: &str,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<WorkerLines>, SourceError> {
    let wanted = Measure::ALL.into_iter().map(Some).chain([None]);
    told(source, object, stretch(from, to), wanted, str::to_owned).await
}

/// The same for their GPUs only: use and power. The last two hours are in full resolution. The week before
/// has the maximum per step, and earlier data is omitted.
///
/// # Errors
/// Prometheus is unreachable, or rejects the query.
pub async fn cards_over_time(
    source: &Prometheus,
    object: &str,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<WorkerLines>, SourceError> {
    let wanted = [Measure::CardUse, Measure::CardPower].map(Some);
    let fine = fine(from, to);
    let Some(coarse) = before(from, fine) else {
        return told(source, object, fine, wanted, str::to_owned).await;
    };
    let step = coarse.step;
    // Samples at a fifth of the step are enough for the maximum: Prometheus cannot answer finer ones for a
    // week in time.
    let apart = (step / 5.0).floor().max(LEAST_STEP);
    let most = |text: &str| format!("max_over_time(({text})[{step}s:{apart}s])");
    let (earlier, mut lines) = futures::try_join!(
        told(source, object, coarse, wanted, most),
        told(source, object, fine, wanted, str::to_owned)
    )?;
    for worker in earlier {
        // Also of a worker that is gone.
        let at = lines.iter().position(|one| one.worker == worker.worker).unwrap_or_else(|| {
            lines.push(WorkerLines { worker: worker.worker.clone(), ..WorkerLines::default() });
            lines.len() - 1
        });
        for (measure, points) in worker.lines {
            // Prometheus labels a step with its end.
            let begun = points.into_iter().map(|[at, value]| [at - step, value]);
            let later = lines[at].lines.remove(&measure).unwrap_or_default();
            lines[at].lines.insert(measure, begun.chain(later).collect());
        }
    }
    Ok(lines)
}

/// The last two hours, limited to after `from`.
fn fine(from: Timestamp, to: Timestamp) -> Stretch {
    let end = seconds(to).max(seconds(from));
    Stretch { start: (end - FINE).max(seconds(from)), end, step: LEAST_STEP }
}

/// The week before, starting at `from`: its last step ends where the full resolution begins. `None` if it is
/// empty.
fn before(from: Timestamp, fine: Stretch) -> Option<Stretch> {
    let long = (fine.start - seconds(from)).min(COARSE);
    let step = (long / COARSE_POINTS).ceil().max(LEAST_STEP);
    let steps = (long / step).floor();
    let start = fine.start - (steps - 1.0) * step;
    (steps >= 1.0).then_some(Stretch { start, end: fine.start, step })
}

/// Values of these metrics, with queries from `of`; a metric of `None` is the GPU memory's capacity.
async fn told(
    source: &Prometheus,
    object: &str,
    over: Stretch,
    wanted: impl IntoIterator<Item = Option<Measure>>,
    of: impl Fn(&str) -> String,
) -> Result<Vec<WorkerLines>, SourceError> {
    let of = &of;
    let pods = [format!("{object}(-.+)?")];
    let about = About { cluster: source.matchers(), pods: &pods, ..About::default() };
    let ask = |measure: Option<Measure>| async move {
        let (text, unit) =
            measure.map_or((CARDS_MEMORY, Unit::Bytes), |measure| (of_workers(measure), unit_of(measure)));
        let text = about.fill(&of(text));
        let plain = source.range(&text, over);
        let series = if measure == Some(Measure::IoWait) {
            let waits = timeout(WAITS, waits(source, about, over, of));
            let (waits, plain) = futures::join!(waits, plain);
            waits.ok().flatten().map_or(plain, Ok)
        } else {
            plain.await
        };
        Ok::<_, SourceError>((measure, unit, series?))
    };
    let answers: Vec<_> = stream::iter(wanted).map(ask).buffered(AT_ONCE).collect().await;
    Ok(assembled(object, answers.into_iter().collect::<Result<_, _>>()?))
}

/// Storage waits of pods, or else of their nodes, with queries from `of`. `None` if their nodes are unknown,
/// or the nodes' values are unavailable.
async fn waits(
    source: &Prometheus,
    about: About<'_>,
    over: Stretch,
    of: impl Fn(&str) -> String,
) -> Option<Vec<Series>> {
    let found = source.range(&about.fill(PODS_NODES), over).await.ok()?;
    let instances: Vec<String> =
        found.into_iter().filter_map(|mut one| one.labels.remove("instance")).collect();
    if instances.is_empty() {
        return None;
    }
    let about = About { instances: &instances, ..about };
    source.range(&about.fill(&of(PODS_IO_WAIT)), over).await.ok()
}

/// Busy time of the GPUs of a job's pods in a time range: the sum over all steps, and the covered part of the
/// pods' time. `None` without values.
///
/// # Errors
/// Prometheus is unreachable, or rejects the query.
pub async fn cards_worked(
    source: &Prometheus,
    object: &str,
    from: Timestamp,
    to: Timestamp,
) -> Result<Option<CardTime>, SourceError> {
    let over = stretch(from, to);
    let pods = [format!("{object}(-.+)?")];
    let about = About { cluster: source.matchers(), pods: &pods, ..About::default() };
    Ok(card_time(&source.range(&about.fill(CARDS_WORK), over).await?, over.step))
}

/// Usage of each container of a job's pods in a time range, if both cores and memory were reported, plus
/// throttling if available in time. Containers that were too short-lived for a value are missing.
///
/// # Errors
/// Prometheus is unreachable, or rejects the query.
pub async fn pods_used(
    source: &Prometheus,
    object: &str,
    from: Timestamp,
    to: Timestamp,
) -> Result<Vec<PodUse>, SourceError> {
    let over = stretch(from, to);
    let pods = [format!("{object}(-.+)?")];
    let about = About { cluster: source.matchers(), pods: &pods, ..About::default() };
    // Throttling is a single value for the whole time, at its end: a step may have too few samples.
    let whole = Stretch { start: over.end, step: (over.end - over.start).ceil().max(over.step), ..over };
    let ask = |(text, unit): (&'static str, Unit), over: Stretch| {
        let text = about.fill(text).replace("$step", &format!("{}s", over.step));
        async move { Ok::<_, SourceError>(values_by_container(&source.range(&text, over).await?, unit)) }
    };
    let [cores, memory, held_back] = PODS_USED;
    // For the whole run, Prometheus may reject the query or be too slow: throttling is unknown then, but the
    // rest is not.
    let held_back = async {
        let told = timeout(HELD_BACK, ask(held_back, whole)).await;
        Ok::<_, SourceError>(told.ok().and_then(Result::ok).unwrap_or_default())
    };
    let (cores, mut memory, held_back) = futures::try_join!(ask(cores, over), ask(memory, over), held_back)?;
    let both = cores.into_iter().filter_map(|(of, cores)| Some((memory.remove(&of)?, of, cores)));
    let used = both.map(|(memory, of, cores)| {
        let throttled = held_back.get(&of).and_then(|values| values.last().copied());
        let (pod, container) = of;
        PodUse { pod, container, cores, memory, throttled }
    });
    Ok(used.collect())
}

/// Plausible values of each pod's containers. Containers without values are missing.
fn values_by_container(series: &[Series], unit: Unit) -> BTreeMap<(String, String), Vec<f64>> {
    let mut told: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
    for one in series {
        let Some((pod, container)) = one.labels.get("pod").zip(one.labels.get("container")) else { continue };
        let values = one.points.iter().map(|(_, value)| *value).filter(|value| unit.has(*value));
        told.entry((pod.clone(), container.clone())).or_default().extend(values);
    }
    told.retain(|_, values| !values.is_empty());
    told
}

/// The sum over all pods and timestamps. Exporters with either pod label report the same GPUs: the maximum
/// per pod and timestamp counts.
fn card_time(series: &[Series], step: f64) -> Option<CardTime> {
    let mut told: BTreeMap<(&str, u64), f64> = BTreeMap::new();
    for one in series {
        let pod = one.labels.get("exported_pod").or(one.labels.get("pod")).map_or("", String::as_str);
        for (at, value) in one.points.iter().filter(|(_, value)| Unit::Number.has(*value)) {
            let most = told.entry((pod, at.to_bits())).or_default();
            *most = most.max(*value);
        }
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "neither is below 0")]
    let micros = |steps: f64| (steps * step * 1e6) as u64;
    (!told.is_empty())
        .then(|| CardTime { worked_us: micros(told.values().sum()), told_us: micros(told.len() as f64) })
}

fn seconds(moment: Timestamp) -> f64 {
    moment.0 as f64 / 1e6
}

fn stretch(from: Timestamp, to: Timestamp) -> Stretch {
    let step = ((seconds(to) - seconds(from)) / POINTS).ceil().max(LEAST_STEP);
    Stretch { start: seconds(from), end: seconds(to).max(seconds(from)), step }
}

fn assembled(object: &str, answers: Vec<(Option<Measure>, Unit, Vec<Series>)>) -> Vec<WorkerLines> {
    let mut found: BTreeMap<String, WorkerLines> = BTreeMap::new();
    for (measure, unit, series) in answers {
        for one in series {
            let Some(pod) = one.labels.get("exported_pod").or(one.labels.get("pod")) else { continue };
            let points: Vec<Point> = one
                .points
                .iter()
                .filter(|(_, value)| unit.has(*value))
                .map(|(at, value)| [*at, *value])
                .collect();
            let Some([_, last]) = points.last().copied() else { continue };
            let name = pod.strip_prefix(object).unwrap_or(pod).trim_start_matches('-');
            let worker = found.entry(name.to_owned()).or_default();
            match measure {
                Some(measure) => drop(worker.lines.insert(measure, points)),
                None => worker.card_memory = Some(last),
            }
        }
    }
    found.into_iter().map(|(name, lines)| WorkerLines { worker: name, ..lines }).collect()
}

/// The hour before `end`, in seconds since the epoch, of a worker's series: each value is the mean since the
/// previous timestamp. Memory and power are divided by the number of GPUs.
#[must_use]
pub fn hour_of(worker: &WorkerLines, cards: u32, end: f64) -> CardHistory {
    let step = HOUR_STEP.max(2.0 * widest(worker)).min(HOUR / 4.0);
    let count = (HOUR / step).floor();
    let mut history = CardHistory { start: end - count * step, step, ..CardHistory::default() };
    let each = 1.0 / f64::from(cards.max(1));
    for (of, measure, factor) in [
        (Measure::CardUse, CardMeasure::Usage, 0.01),
        (Measure::CardMemory, CardMeasure::MemoryUsed, each),
        (Measure::CardPower, CardMeasure::Power, each),
        (Measure::Cpu, CardMeasure::HolderCpu, 1.0),
        (Measure::IoWait, CardMeasure::IoWait, 0.01),
    ] {
        let mut sums = vec![(0.0, 0_u32); count as usize + 1];
        for [at, value] in worker.lines.get(&of).into_iter().flatten() {
            let place = ((at - history.start) / step).ceil();
            if let Some(slot) = (place >= 0.0).then(|| sums.get_mut(place as usize)).flatten() {
                *slot = (slot.0 + value * factor, slot.1 + 1);
            }
        }
        let values: Vec<_> =
            sums.iter().map(|(sum, count)| (*count > 0).then(|| sum / f64::from(*count))).collect();
        if values.iter().any(Option::is_some) {
            history.series.insert(measure, values);
        }
    }
    history
}

/// The usual interval between a worker's points, in seconds. Series of long-running workers are thinned.
fn widest(worker: &WorkerLines) -> f64 {
    let of = |points: &Vec<Point>| {
        let mut apart: Vec<f64> = points.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect();
        apart.sort_by(f64::total_cmp);
        apart.get(apart.len() / 2).copied().unwrap_or(0.0)
    };
    worker.lines.values().map(of).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(step: f64) -> WorkerLines {
        let points = |value: f64| (0..(7200.0 / step) as u32).map(|n| [f64::from(n) * step, value]).collect();
        let lines = [(Measure::CardUse, 80.0), (Measure::CardMemory, 4e10), (Measure::Cpu, 3.0)];
        let lines = lines.into_iter().map(|(measure, value)| (measure, points(value))).collect();
        WorkerLines { lines, ..WorkerLines::default() }
    }

    #[test]
    fn the_past_is_asked_for_in_so_many_steps_that_end_where_the_fine_ones_begin() {
        let at = |hours: f64| Timestamp((hours * 3600.0 * 1e6) as i64);
        assert_eq!(before(at(0.0), fine(at(0.0), at(1.5))), None);
        for hours in [3.0, 100.0, 5000.0] {
            let fine = fine(at(0.0), at(hours));
            let coarse = before(at(0.0), fine).unwrap();
            assert_eq!((fine.end - fine.start, fine.step, coarse.end), (FINE, LEAST_STEP, fine.start));
            let steps = (coarse.end - coarse.start) / coarse.step + 1.0;
            assert!(steps.fract() == 0.0 && steps <= COARSE_POINTS, "{coarse:?}");
            let told = steps * coarse.step;
            let past = (hours * 3600.0 - FINE).min(COARSE);
            assert!(told <= past && told > past - coarse.step, "{coarse:?}");
        }
    }

    #[test]
    fn a_moment_of_a_pod_counts_once_whoever_tells_of_it() {
        let series = |label: &str, pod: &str, points: &[(f64, f64)]| Series {
            labels: [(label.to_owned(), pod.to_owned())].into(),
            points: points.to_vec(),
        };
        let both = [
            series("exported_pod", "a", &[(0.0, 0.5), (15.0, 0.5)]),
            series("pod", "a", &[(15.0, 0.75), (30.0, 0.25)]),
            series("pod", "b", &[(0.0, 0.0)]),
        ];
        let time = card_time(&both, 15.0).unwrap();
        assert_eq!((time.worked_us, time.told_us), (22_500_000, 60_000_000));
        assert_eq!(card_time(&[series("pod", "a", &[])], 15.0), None);
    }

    #[test]
    fn an_hour_has_the_means_of_what_was_measured() {
        for step in [1.0, 15.0, 64.0] {
            let hour = hour_of(&worker(step), 2, 7000.0);
            for (measure, expected) in
                [(CardMeasure::Usage, 0.8), (CardMeasure::MemoryUsed, 2e10), (CardMeasure::HolderCpu, 3.0)]
            {
                let values = &hour.series[&measure];
                let near =
                    |value: &Option<f64>| value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-9);
                assert!(values.iter().all(near), "{step}: {values:?}");
            }
            assert!(!hour.series.contains_key(&CardMeasure::Power));
            let last = hour.start + (hour.series[&CardMeasure::Usage].len() - 1) as f64 * hour.step;
            assert!((last - 7000.0).abs() < 1e-6, "{last}");
        }
    }

    #[test]
    fn what_was_before_the_worker_is_not_known() {
        let hour = hour_of(&worker(1.0), 1, 600.0);
        let known = hour.series[&CardMeasure::Usage].iter().flatten().count();
        assert_eq!(known, 21, "ten minutes and the first moment");
    }
}
