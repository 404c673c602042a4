//! A card that waits for the CPU: its use is low while the cores that its task has are all at work. Sizing
//! may have left it fewer than it asked for: then these are the first thing to give it.

use cubeloom_domain::monitoring::CardMeasure;

use super::{Advice, Held, Remedy, Thresholds, mean, percent};

/// What gives the card's own worker, or the one that all wait for, more cores.
pub(super) const LOAD: Remedy = Remedy {
    what: "Load with more workers, and ask for as many cores in `resources`",
    pytorch: Some("DataLoader(num_workers=…)"),
    tensorflow: Some("dataset.map(…, num_parallel_calls=tf.data.AUTOTUNE)"),
    setting: Some("resources.cpu"),
};

/// What gives a task the cores again that sizing took from it.
pub(super) const AS_ASKED: Remedy = Remedy {
    what: "Give it the cores that it asked for again, of which sizing has taken some away: pin its amounts, or press “Take \
           sizing back” on its page “Sizing”",
    pytorch: None,
    tensorflow: None,
    setting: Some("resources.pinned"),
};

/// What can be done, in the order in which it is worth trying; the first where sizing has given fewer cores than were asked for.
const REMEDIES: &[Remedy] = &[
    AS_ASKED,
    Remedy {
        what: "Give the GPU more work a step: a bigger batch",
        pytorch: Some("DataLoader(batch_size=…)"),
        tensorflow: Some("dataset.batch(…)"),
        setting: None,
    },
    LOAD,
    Remedy {
        what: "Load ahead of the step that computes",
        pytorch: Some("DataLoader(prefetch_factor=4, persistent_workers=True)"),
        tensorflow: Some("dataset.prefetch(tf.data.AUTOTUNE)"),
        setting: None,
    },
    Remedy {
        what: "Copy from memory that stays where it is, so that copying and computing go on at once",
        pytorch: Some("DataLoader(pin_memory=True), tensor.to(\"cuda\", non_blocking=True)"),
        tensorflow: None,
        setting: None,
    },
    Remedy {
        what: "Keep the data in shared memory or on a RAM disk (/dev/shm)",
        pytorch: None,
        tensorflow: Some("dataset.cache()"),
        setting: Some("resources.shm"),
    },
    Remedy {
        what: "Decode pictures and sound on the GPU, with NVIDIA DALI",
        pytorch: Some("nvidia.dali.plugin.pytorch"),
        tensorflow: Some("nvidia.dali.plugin.tf"),
        setting: None,
    },
    Remedy {
        what: "Prepare the data once, in a task of its own before the training",
        pytorch: None,
        tensorflow: None,
        setting: None,
    },
];

/// The cores that were at work, where these are all that the task has, or nearly.
pub(super) fn cores(held: Held<'_>, thresholds: &Thresholds) -> Option<f64> {
    let cores = held.cores.filter(|cores| *cores > 0.0)?;
    let used = mean(&held.last(CardMeasure::HolderCpu, thresholds.saturated_for, thresholds.known)?);
    (used >= thresholds.saturated_above * cores).then_some(used)
}

pub(super) fn look(held: Held<'_>, thresholds: &Thresholds) -> Option<Advice> {
    let usage = held.low_use(thresholds)?;
    let (used, cores) = (cores(held, thresholds)?, held.cores?);
    let minutes = thresholds.saturated_for / 60.0;
    let (evidence, remedies) = match held.cut_from() {
        Some(asked) => (
            format!(
                "in the last {minutes:.0} minutes the GPU was used {}, while {used:.1} of the {cores:.1} cores that the task \
                 has were at work, and it asked for {asked:.1}: the GPU waits for the CPU",
                percent(usage)
            ),
            REMEDIES,
        ),
        None => (
            format!(
                "in the last {minutes:.0} minutes the GPU was used {}, while {used:.1} of the {cores:.1} cores that the task \
                 has were at work: the GPU waits for the CPU",
                percent(usage)
            ),
            &REMEDIES[1..],
        ),
    };
    Some(Advice { rule: "cpu_saturated", evidence, remedies, processes: None })
}
