//! What could be done better with a card or with a gang, from what was measured: one rule a file, each with what it saw and
//! with the settings to change. Pure, and careful: a rule that lacks a value says nothing.
//!
//! Memory that is held is never taken as use: frameworks reserve all of it.

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

/// The words of all rules.
pub const RULES: [&str; 7] =
    ["held_idle", "cpu_saturated", "io_wait", "regular_dips", "memory_empty", "straggler", "far_from_peers"];

/// The setting that divides a worker.
const PROCESSES_PER_GPU: &str = "resources.processes_per_gpu";

/// A card that a task holds.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// History of the last hour.
    pub history: &'a CardHistory,
    /// For how long the task has had it, in seconds.
    pub seconds: f64,
    /// The cores that the pods which hold it have; absent where that is not known.
    pub cores: Option<f64>,
    /// The cores that they asked for; absent where nothing is sized, which is to say that they have these.
    pub asked: Option<f64>,
    /// The memory that it has, in bytes; absent where that is not known.
    pub card_memory: Option<f64>,
    /// The most that the worker which holds it used of its own memory in the last hour, from 0 to 1; absent where that is not known.
    pub memory: Option<f64>,
    /// How it may be shared.
    pub sharing: Sharing,
}

/// By which settings of a task processes may share a card of it; by none where nothing is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// How many processes its worker starts on each of its cards, where it may be several; absent where it is one for the platform.
    pub processes: Option<u32>,
    /// Whether its workers may ask for parts of cards. Those that train together wait for each other then.
    pub parts: bool,
}

/// A worker of a task, and what it does with its cards: their mean use, their memory and their power together.
#[derive(Clone, Copy, Debug)]
pub struct Peer<'a> {
    /// Name.
    pub worker: &'a str,
    /// Its role. Workers of a role stand together.
    pub role: &'a str,
    /// Description of what it does.
    pub held: Held<'a>,
}

/// A recommendation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The rule, as a word.
    pub rule: &'static str,
    /// What was seen, as a sentence.
    pub evidence: String,
    /// Recommended changes, in order of priority.
    pub remedies: &'static [Remedy],
    /// How many processes fit on each card, where a worker may be several: the value of their setting.
    pub processes: Option<u32>,
}

/// A recommended change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Message.
    pub what: &'static str,
    /// The setting in PyTorch, where it has one.
    pub pytorch: Option<&'static str>,
    /// The setting in TensorFlow, where it has one.
    pub tensorflow: Option<&'static str>,
    /// The task's own setting in the pipeline, where it has one.
    pub setting: Option<&'static str>,
}

/// All advice about a card.
#[must_use]
pub fn advice(held: Held<'_>, thresholds: &Thresholds) -> Vec<Advice> {
    let rules = [held_idle::look, cpu_saturated::look, io_wait::look, regular_dips::look, memory_empty::look];
    rules.into_iter().filter_map(|rule| rule(held, thresholds)).collect()
}

/// All advice about a task, each rule once, with the workers that it speaks of.
#[must_use]
pub fn of_task(peers: &[Peer<'_>], thresholds: &Thresholds) -> Vec<(Advice, Vec<String>)> {
    let gang = [straggler::look, far_from_peers::look].into_iter().filter_map(|rule| rule(peers, thresholds));
    let mut found: Vec<(Advice, Vec<String>)> = gang.map(|(advice, worker)| (advice, vec![worker])).collect();
    let late = straggler::find(peers, thresholds);
    for peer in peers {
        for advice in advice(peer.held, thresholds) {
            // That the one that all wait for has no cores left is said already.
            if advice.rule == "cpu_saturated" && late.as_ref().is_some_and(|late| late.is(peer.worker)) {
                continue;
            }
            let known = found.iter_mut().find(|(known, _)| known.rule == advice.rule);
            match known {
                Some((known, workers)) => {
                    workers.push(peer.worker.to_owned());
                    // All workers of a role are as many processes: the card that has the least room tells how many.
                    let has_less =
                        advice.processes.zip(known.processes).is_some_and(|(less, most)| less < most);
                    // Of those that wait for the CPU, one that sizing took cores from has one thing more to do: it comes first.
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
    /// The setting of one of its remedies, with its value where one was found: `resources.processes_per_gpu: 4`.
    #[must_use]
    pub fn setting(&self, remedy: &Remedy) -> Option<String> {
        let setting = remedy.setting?;
        let value = self.processes.filter(|_| setting == PROCESSES_PER_GPU);
        Some(value.map_or_else(|| setting.to_owned(), |value| format!("{setting}: {value}")))
    }
}

impl Held<'_> {
    /// Whether the card is idle, as the rule `held_idle` has it.
    #[must_use]
    pub fn is_idle(&self, thresholds: &Thresholds) -> bool {
        held_idle::usage(*self, thresholds).is_some()
    }

    /// When the card was last busy within its history, in seconds since the epoch: used more than one that is idle ever is.
    #[must_use]
    pub fn busy_at(&self, thresholds: &Thresholds) -> Option<f64> {
        let values = self.history.series.get(&CardMeasure::Usage)?;
        let place =
            values.iter().rposition(|value| value.is_some_and(|usage| usage > thresholds.idle_peak))?;
        Some(self.history.start + place as f64 * self.history.step)
    }

    /// The cores that were asked for, where sizing has given fewer.
    fn cut_from(&self) -> Option<f64> {
        let cores = self.cores?;
        self.asked.filter(|asked| *asked > cores)
    }

    /// What is known of a measure in the last so many seconds, once the task has had time to begin: to download, to compile.
    fn settled(&self, measure: CardMeasure, seconds: f64, thresholds: &Thresholds) -> Option<Vec<f64>> {
        let has_begun = self.seconds >= thresholds.warm_up + seconds;
        self.last(measure, seconds, thresholds.known).filter(|_| has_begun)
    }

    /// What is known of a measure in the last so many seconds; `None` when the task is not there for so long, or when too
    /// little is known.
    fn last(&self, measure: CardMeasure, seconds: f64, known: f64) -> Option<Vec<f64>> {
        Some(self.late(measure, seconds, known)?.iter().copied().flatten().collect())
    }

    /// The same, with its gaps.
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

    /// The mean use of a card that is used and not much; `None` of another one. One that nobody uses waits for nothing.
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
