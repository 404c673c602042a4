//! A GPU with spare capacity: most of its memory was never allocated, and it is not always busy. Allocated
//! memory does not indicate use, but memory that was never allocated was not needed.

use cubeloom_domain::monitoring::CardMeasure;
use cubeloom_domain::resources::MOST_PROCESSES_PER_GPU;

use super::{Advice, Held, PROCESSES_PER_GPU, Remedy, Sharing, Thresholds, bytes, mean, percent};

const BIGGER: Remedy = Remedy {
    what: "Give the GPU more work per step, with a larger batch",
    pytorch: Some("DataLoader(batch_size=…)"),
    tensorflow: Some("dataset.batch(…)"),
    setting: None,
};
/// For training: processes of one job do not wait for each other's GPU fraction. NCCL does not support two of
/// them on one GPU.
const PROCESSES: Remedy = Remedy {
    what: "Share the GPU: let each worker start several processes on it, which share its CPUs and memory, see docs/gpu-sharing.md",
    pytorch: Some("torch.distributed.init_process_group(\"gloo\")"),
    tensorflow: Some(
        "tf.distribute.experimental.CommunicationOptions(implementation=tf.distribute.experimental.CommunicationImplementation.RING)",
    ),
    setting: Some(PROCESSES_PER_GPU),
};
/// For inference, and for independent tasks.
const PARTS: Remedy = Remedy {
    what: "Share the GPU: request a GPU fraction for each process, in concurrent trials of a search or instances of `for_each`; Kubernetes needs HAMi or KAI-Scheduler, see docs/gpu-sharing.md",
    pytorch: Some("torch.cuda.set_per_process_memory_fraction(…)"),
    tensorflow: Some("tf.config.experimental.set_memory_growth(gpu, True)"),
    setting: Some("resources.gpu.fraction"),
};
const ALONE: &[Remedy] = &[BIGGER];
const BY_PROCESSES: &[Remedy] = &[BIGGER, PROCESSES];
const BY_PARTS: &[Remedy] = &[BIGGER, PARTS];
const BY_EITHER: &[Remedy] = &[BIGGER, PROCESSES, PARTS];

pub(super) fn look(held: Held<'_>, thresholds: &Thresholds) -> Option<Advice> {
    let over = thresholds.empty_for;
    let total = held.card_memory.filter(|bytes| *bytes > 0.0)?;
    let used = held.settled(CardMeasure::MemoryUsed, over, thresholds)?;
    let peak = used.iter().copied().fold(0.0, f64::max);
    let usage = mean(&held.last(CardMeasure::Usage, over, thresholds.known)?);
    // Another rule covers unused GPUs.
    if peak > thresholds.empty_below * total
        || !(thresholds.idle_below..thresholds.room_below).contains(&usage)
    {
        return None;
    }
    let fit = fit(held, usage, peak / total, thresholds);
    // Processes of one worker share its memory; other workers bring their own.
    let by_worker = held.memory.map(|share| times(share, thresholds));
    let within = by_worker.map_or(fit, |most| fit.min(most));
    let remedies = remedies(fit, within, held.sharing);
    let is_divided = remedies.iter().any(|remedy| remedy.setting == PROCESSES.setting);
    let processes = held.sharing.processes.filter(|_| is_divided).map(|each| all(within, each));
    let minutes = over / 60.0;
    let (used, peak, total) = (percent(usage), bytes(peak), bytes(total));
    let evidence = if remedies.len() > 1 {
        let fit = processes.unwrap_or(fit);
        if is_divided && by_worker.is_some() {
            format!(
                "in the last {minutes:.0} minutes the GPU was used {used}, and at most {peak} of its {total} of memory was in use: by its use, its memory, and the worker's CPUs and memory, {fit} processes like this one fit on it"
            )
        } else {
            format!(
                "in the last {minutes:.0} minutes the GPU was used {used}, and at most {peak} of its {total} of memory was in use: by its use, its memory and the CPUs, {fit} processes like this one fit on it"
            )
        }
    } else {
        format!(
            "in the last {minutes:.0} minutes the GPU was used {used}, and at most {peak} of its {total} of memory was in use"
        )
    };
    Some(Advice { rule: "memory_empty", evidence, remedies, processes })
}

/// Possible changes if `fit` workers like this one fit on the GPU, and `within` of them into one worker.
fn remedies(fit: u32, within: u32, sharing: Sharing) -> &'static [Remedy] {
    match (sharing.processes.is_some() && within >= 2, sharing.parts) {
        _ if fit < 2 => ALONE,
        (true, true) => BY_EITHER,
        (true, false) => BY_PROCESSES,
        (false, true) => BY_PARTS,
        (false, false) => ALONE,
    }
}

/// Number of processes of this many workers with `each` processes per GPU. A worker keeps at least its
/// current number.
fn all(fit: u32, each: u32) -> u32 {
    fit.max(1).saturating_mul(each).min(MOST_PROCESSES_PER_GPU)
}

/// How many processes like this one fit on a GPU, by its use, its memory and the task's cores.
fn fit(held: Held<'_>, usage: f64, memory: f64, thresholds: &Thresholds) -> u32 {
    let cpu = held.last(CardMeasure::HolderCpu, thresholds.empty_for, thresholds.known);
    let cores = held.cores.filter(|cores| *cores > 0.0).zip(cpu).map(|(cores, used)| mean(&used) / cores);
    // Without known cores, none can be shared.
    let by_cores = cores.map_or(1, |share| times(share, thresholds));
    times(usage, thresholds).min(times(memory, thresholds)).min(by_cores)
}

/// How many times a share fits into the total.
fn times(share: f64, thresholds: &Thresholds) -> u32 {
    (thresholds.share_up_to / share.max(0.01)).floor() as u32
}
