//! A GPU that stops at regular intervals: something is written too often. The period is the mean interval
//! between the beginnings of dips. Irregular, rare or short dips are ignored.

use cubeloom_domain::monitoring::CardMeasure;

use super::{Advice, Held, Remedy, Thresholds, mean, percent};

const REMEDIES: &[Remedy] = &[
    Remedy {
        what: "Write checkpoints less often, or asynchronously",
        pytorch: Some("torch.distributed.checkpoint.async_save(…)"),
        tensorflow: Some("tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)"),
        setting: None,
    },
    Remedy {
        what: "Log and write to TensorBoard less often: each value that is read from the GPU makes it wait",
        pytorch: Some("SummaryWriter(max_queue=1000, flush_secs=120)"),
        tensorflow: Some("tf.keras.callbacks.TensorBoard(update_freq=…)"),
        setting: None,
    },
    Remedy {
        what: "Write to a disk of the node or to shared memory (/dev/shm) first, and copy from there",
        pytorch: None,
        tensorflow: None,
        setting: Some("resources.shm"),
    },
    Remedy {
        what: "If the pauses are evaluations of the model, evaluate less often, or in a separate task",
        pytorch: None,
        tensorflow: Some("model.fit(…, validation_freq=…)"),
        setting: None,
    },
];

/// Dips in a GPU's use.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dips {
    /// Share of the total time, from 0 to 1.
    share: f64,
    /// Seconds between the beginnings of two dips.
    period: f64,
    /// Seconds per dip.
    long: f64,
    /// Use in between, from 0 to 1.
    level: f64,
}

pub(super) fn look(held: Held<'_>, thresholds: &Thresholds) -> Option<Advice> {
    let usage = held.late(CardMeasure::Usage, thresholds.dips_for, thresholds.known)?;
    let dips = find(usage, held.history.step, thresholds)?;
    let minutes = thresholds.dips_for / 60.0;
    Some(Advice {
        rule: "regular_dips",
        evidence: format!(
            "in the last {minutes:.0} minutes the GPU stopped every {:.0} s for about {:.0} s, and was used {} in between: \
             {} of its time is lost to that",
            dips.period,
            dips.long,
            percent(dips.level),
            percent(dips.share)
        ),
        remedies: REMEDIES,
        processes: None,
    })
}

/// The dips, if they are regular and take enough of the time.
fn find(usage: &[Option<f64>], step: f64, thresholds: &Thresholds) -> Option<Dips> {
    let mut known: Vec<f64> = usage.iter().copied().flatten().collect();
    known.sort_by(f64::total_cmp);
    let upper = *known.get(known.len() * 3 / 4)?;
    let is_low = |value: &f64| *value < thresholds.dip_below * upper;
    let (low, high): (Vec<f64>, Vec<f64>) = known.iter().partition(|value| is_low(value));
    let (share, level) = (low.len() as f64 / known.len() as f64, mean(&high));
    if level < thresholds.dips_level || !(thresholds.dips_least..=thresholds.dips_most).contains(&share) {
        return None;
    }
    // A dip that began before the window is not counted, because its start is unknown. A gap neither begins
    // nor ends a dip.
    let mut begun = true;
    let mut starts = Vec::new();
    for (at, value) in usage.iter().enumerate() {
        let Some(value) = value else { continue };
        if is_low(value) && !begun {
            starts.push(at as f64);
        }
        begun = is_low(value);
    }
    let distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let period = mean(&distances);
    let squares: Vec<f64> = distances.iter().map(|distance| (distance - period).powi(2)).collect();
    let is_regular = mean(&squares).sqrt() <= thresholds.dips_regular * period;
    (starts.len() >= thresholds.dips_count && is_regular).then_some(Dips {
        share,
        period: period * step,
        long: share * period * step,
        level,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: impl Fn(usize) -> f64) -> Option<Dips> {
        let usage: Vec<Option<f64>> = (0..90).map(|at| Some(value(at))).collect();
        find(&usage, 30.0, &Thresholds::default())
    }

    #[test]
    fn the_period_is_found_in_the_series() {
        let found = of(|at| if at % 10 < 3 { 0.0 } else { 0.9 }).unwrap();
        assert!((found.period - 300.0).abs() < 1e-9 && (found.long - 90.0).abs() < 1e-9, "{found:?}");
        assert!((found.share - 0.3).abs() < 1e-9 && (found.level - 0.9).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn what_is_rare_irregular_or_most_of_the_time_is_none() {
        assert_eq!(of(|at| if at % 10 == 0 { 0.0 } else { 0.9 }), None, "a tenth of the time");
        assert_eq!(of(|at| if at % 10 < 7 { 0.0 } else { 0.9 }), None, "bursts");
        assert_eq!(of(|at| if at % 10 < 3 { 0.5 } else { 0.9 }), None, "it goes on at half its speed");
        assert_eq!(of(|at| if at % 10 < 3 { 0.0 } else { 0.3 }), None, "it is never used much");
        let at_random = [2, 6, 9, 30, 34, 60, 61, 80, 86];
        let is_low = |at: usize| at_random.iter().any(|start| (*start..start + 2).contains(&at));
        assert_eq!(of(|at| if is_low(at) { 0.0 } else { 0.9 }), None);
    }
}
