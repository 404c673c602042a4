//! An allocated GPU that is not used.

use cubeloom_domain::monitoring::CardMeasure;

use super::{Advice, Held, Remedy, Thresholds, mean, percent};

const REMEDIES: &[Remedy] = &[
    Remedy {
        what: "If the program has not put its model on the GPU, put it there: it computes on the CPU now",
        pytorch: Some("model.to(\"cuda\")"),
        tensorflow: Some("tf.config.list_physical_devices(\"GPU\")"),
        setting: None,
    },
    Remedy {
        what: "If the task only prepares data or waits, move that to a separate task without `gpu`",
        pytorch: None,
        tensorflow: None,
        setting: None,
    },
    Remedy {
        what: "If it does not need a GPU, remove `gpu` from its `resources`",
        pytorch: None,
        tensorflow: None,
        setting: Some("resources.gpu"),
    },
];

/// Mean use of an idle GPU. `None` if it is not idle.
pub(super) fn usage(held: Held<'_>, thresholds: &Thresholds) -> Option<f64> {
    let usage = held.last(CardMeasure::Usage, thresholds.idle_for, thresholds.known)?;
    let (mean_usage, peak) = (mean(&usage), usage.iter().copied().fold(0.0, f64::max));
    (mean_usage < thresholds.idle_below && peak <= thresholds.idle_peak).then_some(mean_usage)
}

pub(super) fn look(held: Held<'_>, thresholds: &Thresholds) -> Option<Advice> {
    let mean_usage = usage(held, thresholds)?;
    let minutes = thresholds.idle_for / 60.0;
    Some(Advice {
        rule: "held_idle",
        evidence: format!(
            "the GPU is allocated, but was used only {} of the last {minutes:.0} minutes",
            percent(mean_usage)
        ),
        remedies: REMEDIES,
        processes: None,
    })
}
