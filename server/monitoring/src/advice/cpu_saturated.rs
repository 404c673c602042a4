//! A GPU that waits for the CPU: its use is low while all of its task's cores are busy. If right-sizing has
//! reduced its CPU, restoring the requested CPU comes first.

use cubeloom_domain::monitoring::CardMeasure;

use super::{Advice, Held, Remedy, Thresholds, mean, percent};

/// Gives more cores to the GPU's own worker, or to the straggler.
pub(super) const LOAD: Remedy = Remedy {
    what: "Load with more workers, and request as many CPUs in `resources`",
    pytorch: Some("DataLoader(num_workers=…)"),
    tensorflow: Some("dataset.map(…, num_parallel_calls=tf.data.AUTOTUNE)"),
    setting: Some("resources.cpu"),
};

/// Restores the CPU that right-sizing has taken from a task.
pub(super) const AS_ASKED: Remedy = Remedy {
    what: "Give it its requested CPUs again, which right-sizing has reduced: pin its resources, or select “Revert to requested” on its page “Right-sizing”",
    pytorch: None,
    tensorflow: None,
    setting: Some("resources.pinned"),
};

/// Possible changes, most useful first. The first one applies if right-sizing has reduced the CPU.
const REMEDIES: &[Remedy] = &[
    AS_ASKED,
    Remedy {
        what: "Give the GPU more work per step, with a larger batch",
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
        what: "Copy from pinned memory, so that copying and computing overlap",
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
        what: "Decode images and audio on the GPU, with NVIDIA DALI",
        pytorch: Some("nvidia.dali.plugin.pytorch"),
        tensorflow: Some("nvidia.dali.plugin.tf"),
        setting: None,
    },
    Remedy {
        what: "Prepare the data once, in a separate task before the training",
        pytorch: None,
        tensorflow: None,
        setting: None,
    },
];

/// The busy cores, if these are almost all of the task's cores.
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
                "in the last {minutes:.0} minutes the GPU was used {}, while {used:.1} of the task's {cores:.1} CPUs were busy, and it requested {asked:.1}: the GPU waits for the CPU",
                percent(usage)
            ),
            REMEDIES,
        ),
        None => (
            format!(
                "in the last {minutes:.0} minutes the GPU was used {}, while {used:.1} of the task's {cores:.1} CPUs were busy: the GPU waits for the CPU",
                percent(usage)
            ),
            &REMEDIES[1..],
        ),
    };
    Some(Advice { rule: "cpu_saturated", evidence, remedies, processes: None })
}
