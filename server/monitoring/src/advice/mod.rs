//! Recommendations for a GPU or a gang, from metrics: one rule per file, each with its evidence and the
//! settings to change. Pure, and conservative: a rule with missing values reports nothing.
//!
//! Allocated memory never counts as use: frameworks reserve all of it.

mod cpu_saturated;
mod far_from_peers;
mod gang;
mod held_idle;
mod io_wait;
mod memory_empty;
mod regular_dips;
mod straggler;
mod thresholds;

use cubeloom_domain::monitoring::{CardHistory, CardMeasure};

pub use thresholds::Thresholds;

/// Names of all rules.
pub const RULES: [&str; 7] =
    ["held_idle", "cpu_saturated", "io_wait", "regular_dips", "memory_empty", "straggler", "far_from_peers"];

/// The setting for several processes per worker.
const PROCESSES_PER_GPU: &str = "resources.processes_per_gpu";

/// An allocated GPU.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// History of the last hour.
    pub history: &'a CardHistory,
    /// How long the task has had it, in seconds.
    pub seconds: f64,
    /// Cores of the pods that it is allocated to. `None` if unknown.
    pub cores: Option<f64>,
    /// Cores that these pods requested. `None` without right-sizing, when they have what they requested.
    pub asked: Option<f64>,
    /// Its memory in bytes. `None` if unknown.
    pub card_memory: Option<f64>,
    /// Peak use of its worker's own memory in the last hour, from 0 to 1. `None` if unknown.
    pub memory: Option<f64>,
    /// How it can be shared.
    pub sharing: Sharing,
}

/// The task's settings by which processes can share a GPU. Empty if the task is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Number of processes per GPU of its worker, if it supports several. `None` if the platform only sees
    /// one.
    pub processes: Option<u32>,
    /// Whether its workers may request GPU fractions. In training jobs they would wait for each other.
    pub parts: bool,
}

/// A worker of a task, and its GPUs: mean use, total memory and total power.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    pub worker: &'a str,
    /// Its role. Workers of a role are adjacent.
    pub role: &'a str,
    /// Its GPUs.
    pub held: Held<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The rule's name.
    pub rule: &'static str,
    /// The evidence, as a sentence.
    pub evidence: String,
    /// Recommended changes, in order of priority.
    pub remedies: &'static [Remedy],
    /// How many processes fit on each GPU, if a worker may have several: the value of their setting.
    pub processes: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    pub what: &'static str,
    /// The setting in PyTorch, if there is one.
    pub pytorch: Option<&'static str>,
    /// The setting in TensorFlow, if there is one.
    pub tensorflow: Option<&'static str>,
    /// The task's setting in the pipeline, if there is one.
    pub setting: Option<&'static str>,
}

/// All recommendations for a GPU.
#[must_use]
pub fn advice(held: Held<'_>, thresholds: &Thresholds) -> Vec<Advice> {
    let rules = [held_idle::look, cpu_saturated::look, io_wait::look, regular_dips::look, memory_empty::look];
    rules.into_iter().filter_map(|rule| rule(held, thresholds)).collect()
}

/// All recommendations for a task, each rule once, with the affected workers.
#[must_use]
pub fn of_task(peers: &[Peer<'_>], thresholds: &Thresholds) -> Vec<(Advice, Vec<String>)> {
    let gang = [straggler::look, far_from_peers::look].into_iter().filter_map(|rule| rule(peers, thresholds));
    let mut found: Vec<(Advice, Vec<String>)> = gang.map(|(advice, worker)| (advice, vec![worker])).collect();
    let late = straggler::find(peers, thresholds);
    for peer in peers {
        for advice in advice(peer.held, thresholds) {
            // Saturated CPU of the straggler is already reported.
            if advice.rule == "cpu_saturated" && late.as_ref().is_some_and(|late| late.is(peer.worker)) {
                continue;
            }
            let known = found.iter_mut().find(|(known, _)| known.rule == advice.rule);
            match known {
                Some((known, workers)) => {
                    workers.push(peer.worker.to_owned());
                    // All workers of a role have the same number of processes: the GPU with the least spare
                    // capacity decides.
                    let has_less =
                        advice.processes.zip(known.processes).is_some_and(|(less, most)| less < most);
                    // Among workers that wait for the CPU, one with CPU reduced by right-sizing has an
                    // additional remedy: it comes first.
                    let is_cut =
                        known.rule == "cpu_saturated" && advice.remedies.len() > known.remedies.len();
                    if has_less || is_cut {
                        *known = advice;
                    }
                }
                None => found.push((advice, vec![peer.worker.to_owned()])),
            }
        }
    }
    found
}

impl Advice {
    /// The setting of a remedy, with its value if there is one: `resources.processes_per_gpu: 4`.
    #[must_use]
    pub fn setting(&self, remedy: &Remedy) -> Option<String> {
        let setting = remedy.setting?;
        let value = self.processes.filter(|_| setting == PROCESSES_PER_GPU);
        Some(value.map_or_else(|| setting.to_owned(), |value| format!("{setting}: {value}")))
    }
}

impl Held<'_> {
    /// Whether the GPU is idle by the rule `held_idle`.
    #[must_use]
    pub fn is_idle(&self, thresholds: &Thresholds) -> bool {
        held_idle::usage(*self, thresholds).is_some()
    }

    /// When the GPU was last busy within its history, in seconds since the epoch. Busy means used more than
    /// an idle GPU ever is.
    #[must_use]
    pub fn busy_at(&self, thresholds: &Thresholds) -> Option<f64> {
        let values = self.history.series.get(&CardMeasure::Usage)?;
        let place =
            values.iter().rposition(|value| value.is_some_and(|usage| usage > thresholds.idle_peak))?;
        Some(self.history.start + place as f64 * self.history.step)
    }

    /// The requested cores, if right-sizing has reduced them.
    fn cut_from(&self) -> Option<f64> {
        let cores = self.cores?;
        self.asked.filter(|asked| *asked > cores)
    }

    /// Values of a metric in the last `seconds`, once the task's warm-up (downloads, compilation) is over.
    fn settled(&self, measure: CardMeasure, seconds: f64, thresholds: &Thresholds) -> Option<Vec<f64>> {
        let has_begun = self.seconds >= thresholds.warm_up + seconds;
        self.last(measure, seconds, thresholds.known).filter(|_| has_begun)
    }

    /// Values of a metric in the last `seconds`. `None` if the task is younger, or too many values are
    /// missing.
    fn last(&self, measure: CardMeasure, seconds: f64, known: f64) -> Option<Vec<f64>> {
        Some(self.late(measure, seconds, known)?.iter().copied().flatten().collect())
    }

    /// The same, with missing values.
    fn late(&self, measure: CardMeasure, seconds: f64, known: f64) -> Option<&[Option<f64>]> {
        let values = self.history.series.get(&measure)?;
        if self.history.step <= 0.0 || self.seconds < seconds {
            return None;
        }
        let count = (seconds / self.history.step).round() as usize;
        let late = &values[values.len().checked_sub(count)?..];
        let found = late.iter().flatten().count();
        (count > 0 && found as f64 >= known * count as f64).then_some(late)
    }

    /// Mean use of a GPU with low use. `None` for another one. An unused GPU waits for nothing.
    fn low_use(&self, thresholds: &Thresholds) -> Option<f64> {
        let usage = mean(&self.settled(CardMeasure::Usage, thresholds.saturated_for, thresholds)?);
        (thresholds.idle_below..thresholds.low_below).contains(&usage).then_some(usage)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// `12.0 GiB`, `300.0 MiB`.
fn bytes(amount: f64) -> String {
    let (amount, unit) =
        if amount >= 1e9 { (amount / 2f64.powi(30), "GiB") } else { (amount / 2f64.powi(20), "MiB") };
    format!("{amount:.1} {unit}")
}

#[cfg(test)]
mod tests;
