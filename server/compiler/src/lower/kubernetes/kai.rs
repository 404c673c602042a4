//! Parts of GPUs by KAI-Scheduler. It places a pod that names it, and reads in the pod's annotations which part of a
//! card the pod is for; no resource of a node says it. Its podgrouper makes a PodGroup of its own of each pod of a Job, so that it
//! would start workers that wait for each other in part.
//!
//! <https://github.com/NVIDIA/KAI-Scheduler/tree/main/docs/gpu-sharing>

use cubeloom_domain::Bytes;
use cubeloom_domain::kubernetes::{KubernetesFacts, QueueFacts};
use cubeloom_domain::resources::{GpuRequest, Resources};
use serde_json::{Map, Value};

use super::Frame;
use super::amounts;
use super::notes::Notes;

/// What KAI-Scheduler serves: without it nobody reads the annotations.
const SERVES: &str = "queues.scheduling.run.ai/";

/// The queue of a part of a card, where KAI-Scheduler hands it out: not where Volcano places every pod, and no slice of MIG.
pub fn queue<'f>(facts: &'f KubernetesFacts, gpu: &GpuRequest) -> Option<&'f QueueFacts> {
    let is_part = gpu.count.is_none() && amounts::mig_profile(&facts.cards, gpu).is_none();
    facts.cards.kai.as_ref().filter(|_| is_part && facts.volcano.is_none())
}

/// Whether it is there, named by the facts or not.
pub fn is_there(facts: &KubernetesFacts) -> bool {
    facts.kinds.keys().any(|kind| kind.starts_with(SERVES))
}

/// Refuses a part of a card to workers that need each other.
pub fn refuse_several(frame: &Frame<'_>, notes: &mut Notes) {
    if frame.job.workers() > 1 {
        notes.refuse(
            "resources/gpu",
            "KAI-Scheduler places pods with parts of GPUs one by one, and would start workers that wait for each \
             other in part: ask for a `count`, or for one worker",
        );
    }
}

/// Has KAI-Scheduler place the pods of workers that ask it for a part of a card.
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
    notes.decide(format!("KAI-Scheduler places it on a part of a GPU, from the queue `{queue}`"));
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
