//! GPU fractions with KAI-Scheduler. It places pods that name it, and reads the GPU fraction from the pod's
//! annotations; no node resource expresses it. Its podgrouper creates a separate PodGroup for each pod of a
//! Job, so it would start only some of the workers that wait for each other.
//!
//! <https://github.com/NVIDIA/KAI-Scheduler/tree/main/docs/gpu-sharing>

use cubeloom_domain::Bytes;
use cubeloom_domain::kubernetes::{KubernetesFacts, QueueFacts};
use cubeloom_domain::resources::{GpuRequest, Resources};
use serde_json::{Map, Value};

use super::Frame;
use super::amounts;
use super::notes::Notes;

/// The API that KAI-Scheduler serves: without it nothing reads the annotations.
const SERVES: &str = "queues.scheduling.run.ai/";

/// The queue of a GPU fraction, if KAI-Scheduler provides it: not if Volcano places every pod, and not for
/// MIG slices.
pub fn queue<'f>(facts: &'f KubernetesFacts, gpu: &GpuRequest) -> Option<&'f QueueFacts> {
    let is_part = gpu.count.is_none() && amounts::mig_profile(&facts.cards, gpu).is_none();
    facts.cards.kai.as_ref().filter(|_| is_part && facts.volcano.is_none())
}

/// Whether it is installed, whether or not the facts name its queue.
pub fn is_there(facts: &KubernetesFacts) -> bool {
    facts.kinds.keys().any(|kind| kind.starts_with(SERVES))
}

/// Refuses a GPU fraction for workers that need each other.
pub fn refuse_several(frame: &Frame<'_>, notes: &mut Notes) {
    if frame.job.workers() > 1 {
        notes.refuse(
            "resources/gpu",
            "KAI-Scheduler schedules pods with GPU fractions one by one, so a gang might start in part: request a `count`, or a single worker",
        );
    }
}

/// Makes KAI-Scheduler place the pods of workers that request a GPU fraction from it.
pub fn mark(
    frame: &Frame<'_>,
    resources: &Resources,
    labels: &mut Map<String, Value>,
    annotations: &mut Map<String, Value>,
    spec: &mut Map<String, Value>,
    notes: &mut Notes,
) {
    let Some(gpu) = &resources.gpu else { return };
    let Some(QueueFacts { queue, priority_class }) = queue(frame.facts, gpu) else { return };
    notes.decide(format!("KAI-Scheduler schedules it on a GPU fraction, from the queue `{queue}`"));
    spec.insert("schedulerName".into(), "kai-scheduler".into());
    labels.insert("kai.scheduler/queue".into(), queue.as_str().into());
    if let Some(class) = priority_class {
        labels.insert("priorityClassName".into(), class.as_str().into());
    }
    if let Some(fraction) = gpu.fraction {
        annotations.insert("gpu-fraction".into(), fraction.to_string().into());
    }
    if let Some(Bytes(memory)) = gpu.memory {
        annotations.insert("gpu-memory".into(), memory.div_ceil(1 << 20).to_string().into());
    }
}
