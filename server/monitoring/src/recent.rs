//! The last hour of GPUs without a Prometheus: those of this machine. Pure.

use std::collections::VecDeque;

use cubeloom_domain::Timestamp;
use cubeloom_domain::monitoring::{CardHistory, CardMeasure, CardReading, Reading};

/// Interval between values, in microseconds.
const STEP: i64 = 15_000_000;
/// Number of values: an hour.
const COUNT: i64 = 240;
/// The last 15 minutes, in microseconds.
const RECENT: i64 = 900_000_000;

/// Readings of the last hour, oldest first.
#[derive(Debug, Default)]
pub struct Recent(VecDeque<Reading>);

impl Recent {
    /// Interval of readings, in microseconds.
    pub const EVERY: i64 = STEP;

    /// Adds a reading, and fills in the means of the stored ones. Readings older than an hour are dropped. If
    /// the clock went back, all are.
    pub fn take(&mut self, mut reading: Reading) -> Reading {
        if self.0.back().is_some_and(|last| last.at > reading.at) {
            self.0.clear();
        }
        let oldest = reading.at.0 - COUNT * STEP;
        while self.0.front().is_some_and(|first| first.at.0 < oldest) {
            self.0.pop_front();
        }
        // Additional readings in between are answered but not stored. Ticks come slightly early or late: each
        // has its slot.
        if self.0.back().is_none_or(|last| slot(reading.at) > slot(last.at)) {
            self.0.push_back(reading.clone());
        }
        let now = reading.at;
        for node in reading.nodes.values_mut() {
            for (uuid, card) in &mut node.cards {
                card.recent_usage = self.mean(uuid, now);
            }
        }
        reading
    }

    fn mean(&self, uuid: &str, now: Timestamp) -> Option<f64> {
        let late = self.0.iter().filter(|reading| now.0 - reading.at.0 <= RECENT);
        let values: Vec<f64> = late.filter_map(|reading| card(reading, uuid)?.usage).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The last hour of a GPU on `node`.
    #[must_use]
    pub fn history(&self, uuid: &str, node: &str) -> CardHistory {
        let Some(last) = self.0.back() else { return CardHistory::default() };
        let start = last.at.0 - COUNT * STEP;
        let mut history =
            CardHistory { start: start as f64 / 1e6, step: STEP as f64 / 1e6, ..CardHistory::default() };
        for measure in CardMeasure::ALL {
            let mut values = vec![None; COUNT as usize + 1];
            for reading in &self.0 {
                let place = usize::try_from((reading.at.0 - start + STEP / 2) / STEP).ok();
                if let Some(slot) = place.and_then(|place| values.get_mut(place)) {
                    *slot = value(reading, uuid, node, measure);
                }
            }
            if values.iter().any(Option::is_some) {
                history.series.insert(measure, values);
            }
        }
        history
    }
}

/// The nearest slot of a timestamp.
fn slot(at: Timestamp) -> i64 {
    (at.0 + STEP / 2).div_euclid(STEP)
}

fn card<'a>(reading: &'a Reading, uuid: &str) -> Option<&'a CardReading> {
    reading.nodes.values().find_map(|node| node.cards.get(uuid))
}

fn value(reading: &Reading, uuid: &str, node: &str, measure: CardMeasure) -> Option<f64> {
    if measure == CardMeasure::IoWait {
        return reading.nodes.get(node)?.io_wait;
    }
    if measure == CardMeasure::NodeCpu {
        let cpu = reading.nodes.get(node)?.cpu;
        return Some((cpu.used? / cpu.capacity.filter(|cores| *cores > 0.0)?).min(1.0));
    }
    let card = card(reading, uuid)?;
    match measure {
        CardMeasure::Usage => card.usage,
        CardMeasure::Tensor => card.tensor,
        CardMeasure::MemoryUsed => card.memory_used,
        CardMeasure::Temperature => card.temperature,
        CardMeasure::Power => card.power,
        CardMeasure::Nvlink => card.nvlink,
        CardMeasure::NodeCpu | CardMeasure::HolderCpu | CardMeasure::IoWait => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cubeloom_domain::monitoring::NodeReading;

    use super::*;

    fn at(seconds: i64, usage: f64) -> Reading {
        let card = CardReading { present: true, usage: Some(usage), ..CardReading::default() };
        let node = NodeReading { cards: BTreeMap::from([("GPU-1".into(), card)]), ..NodeReading::default() };
        let nodes = BTreeMap::from([("local".into(), node)]);
        Reading { at: Timestamp(seconds * 1_000_000), nodes, ..Reading::default() }
    }

    #[test]
    fn an_hour_is_kept_and_the_mean_is_of_its_last_quarter() {
        let mut recent = Recent::default();
        for n in 0..1000 {
            recent.take(at(n * 15, if n < 985 { 0.0 } else { 1.0 }));
        }
        let last = recent.take(at(1000 * 15, 1.0));
        assert_eq!(recent.0.len(), 241);
        let mean = last.nodes["local"].cards["GPU-1"].recent_usage.unwrap();
        assert!((mean - 16.0 / 61.0).abs() < 1e-9, "{mean}");
        let history = recent.history("GPU-1", "local");
        let usage = &history.series[&CardMeasure::Usage];
        assert_eq!((usage.len(), usage[0], usage[240]), (241, Some(0.0), Some(1.0)));
        assert_eq!(history.start, 12_000_f64 - 600.0);
    }

    #[test]
    fn ticks_that_come_a_little_early_and_late_are_all_kept() {
        let mut recent = Recent::default();
        for n in 0..240 {
            let early = [0, -200_000, 90_000, -1_000, 400_000, -3][n as usize % 6];
            let mut reading = at(n * 15, 0.5);
            reading.at.0 += early;
            recent.take(reading);
        }
        assert_eq!(recent.0.len(), 240);
        let history = recent.history("GPU-1", "local");
        let known = history.series[&CardMeasure::Usage].iter().flatten().count();
        assert_eq!(known, 240, "advice needs most of them");
    }

    #[test]
    fn a_clock_that_goes_back_begins_anew() {
        let mut recent = Recent::default();
        recent.take(at(5000, 1.0));
        recent.take(at(100, 0.5));
        assert_eq!(recent.0.len(), 1);
        assert_eq!(recent.history("GPU-2", "local").series.len(), 0);
    }
}
