//! A GPU that waits for storage: its use is low while the task or its node waits for data.

use cubeloom_domain::monitoring::CardMeasure;

use super::{Advice, Held, Remedy, Thresholds, cpu_saturated, mean, percent};

const REMEDIES: &[Remedy] = &[
    Remedy {
        what: "If the data consists of many small files, pack them into a few large ones that are read sequentially",
        pytorch: Some("webdataset.WebDataset(…)"),
        tensorflow: Some("tf.data.TFRecordDataset(…)"),
        setting: None,
    },
    Remedy {
        what: "If the storage is far away, copy the data to the node before the training, in a separate task or in `setup`",
        pytorch: None,
        tensorflow: Some("dataset.cache(\"/tmp/…\")"),
        setting: Some("setup"),
    },
    Remedy {
        what: "If the program's libraries are on slow storage, put them into the image",
        pytorch: None,
        tensorflow: None,
        setting: Some("image"),
    },
    Remedy {
        what: "Read further ahead, from several files at once",
        pytorch: Some("DataLoader(num_workers=…, prefetch_factor=4)"),
        tensorflow: Some("dataset.interleave(…, num_parallel_calls=tf.data.AUTOTUNE)"),
        setting: None,
    },
    Remedy {
        what: "Keep the data in shared memory or on a RAM disk (/dev/shm)",
        pytorch: None,
        tensorflow: Some("dataset.cache()"),
        setting: Some("resources.shm"),
    },
];

pub(super) fn look(held: Held<'_>, thresholds: &Thresholds) -> Option<Advice> {
    let over = thresholds.saturated_for;
    let usage = held.low_use(thresholds)?;
    let waited = mean(&held.last(CardMeasure::IoWait, over, thresholds.known)?);
    // If all cores are busy, the GPU waits for them instead.
    if waited < thresholds.waiting_above || cpu_saturated::cores(held, thresholds).is_some() {
        return None;
    }
    let minutes = over / 60.0;
    Some(Advice {
        rule: "io_wait",
        evidence: format!(
            "in the last {minutes:.0} minutes the GPU was used {}, while the task or its node waited for storage in {} of \
             the time: the GPU waits for data",
            percent(usage),
            percent(waited)
        ),
        remedies: REMEDIES,
        processes: None,
    })
}
