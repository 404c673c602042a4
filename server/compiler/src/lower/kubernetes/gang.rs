//! Starts a gang as a whole: Volcano with a PodGroup, Kueue by admitting a job only when all of it fits.

use cubeloom_domain::kubernetes::QueueFacts;
use serde_json::{Map, Value, json};

use super::Frame;
use super::notes::Notes;
use super::operator::Start;
use super::way::Way;

/// TTL after finish of manifests on the cluster, in seconds. The server removes them much sooner. This is for
/// manifests of a server that never returns, and longer than the downtime of any that does.
pub const KEPT: u32 = 31 * 24 * 3600;

/// Notes which component queues the job, and which starts it as a whole.
pub fn explain(frame: &Frame<'_>, notes: &mut Notes) {
    let (gang, all) = (frame.job.gang, frame.job.workers());
    let sentence = match (&frame.facts.volcano, &frame.facts.kueue) {
        (Some(volcano), _) if gang > 1 && starts_first(frame) => format!(
            "Volcano starts the first worker when there is capacity for all {all}, from the queue `{}`; it starts the others",
            volcano.queue
        ),
        (Some(volcano), _) if gang > 1 => {
            format!("Volcano starts {gang} of {all} workers together, from the queue `{}`", volcano.queue)
        }
        (Some(volcano), _) => format!("Volcano schedules it, from the queue `{}`", volcano.queue),
        (None, Some(kueue)) => {
            let each = if splits(frame) {
                "; its roles are admitted one by one, so a gang may start in part"
            } else {
                ""
            };
            format!("Kueue admits it when the queue `{}` has capacity{each}", kueue.queue)
        }
        (None, None) if gang > 1 => format!(
            "this cluster has no gang scheduling: when resources are short, some of its {gang} workers wait for others"
        ),
        (None, None) => return,
    };
    notes.decide(sentence);
    if frame.job.elastic.is_some() && kueue(frame).is_some() {
        let keeps = "Kueue admits whole jobs: it keeps its initial workers until it ends";
        notes.decide(keeps);
    }
}

/// Whether the first worker starts the others.
fn starts_first(frame: &Frame<'_>) -> bool {
    matches!(frame.way, Way::Operator(operator) if operator.start == Start::First)
}

/// Whether one gang becomes several manifests.
fn splits(frame: &Frame<'_>) -> bool {
    matches!(frame.way, Way::Indexed) && frame.job.roles.len() > 1 && frame.job.gang > 1
}

/// Kueue, if Volcano does not schedule.
pub fn kueue<'a>(frame: &Frame<'a>) -> Option<&'a QueueFacts> {
    frame.facts.kueue.as_ref().filter(|_| frame.facts.volcano.is_none())
}

/// The metadata of the job's manifest, with the labels that make Kueue manage it.
pub fn metadata(frame: &Frame<'_>, suffix: Option<&str>) -> Value {
    let mut metadata = frame.metadata(suffix);
    if let Some(queue) = kueue(frame) {
        metadata["labels"]["kueue.x-k8s.io/queue-name"] = queue.queue.as_str().into();
        if let Some(class) = &queue.priority_class {
            metadata["labels"]["kueue.x-k8s.io/priority-class"] = class.as_str().into();
        }
    }
    metadata
}

/// The scheduler of the pods. Volcano places all of them, so that two schedulers never count the same GPU.
pub fn pod_spec(frame: &Frame<'_>) -> Map<String, Value> {
    let mut spec = Map::new();
    if let Some(volcano) = &frame.facts.volcano {
        spec.insert("schedulerName".into(), "volcano".into());
        if let Some(class) = &volcano.priority_class {
            spec.insert("priorityClassName".into(), class.as_str().into());
        }
    }
    spec
}

/// The queue of a pod that no operator's PodGroup puts into one.
pub fn pod_annotations(frame: &Frame<'_>) -> Map<String, Value> {
    let queue = frame.facts.volcano.as_ref().filter(|_| matches!(frame.way, Way::Pod));
    queue
        .map(|volcano| ("scheduling.volcano.sh/queue-name".into(), volcano.queue.as_str().into()))
        .into_iter()
        .collect()
}

/// `runPolicy` of Kubeflow's operators. Pods still running when the job ends are removed; ended pods stay
/// until their logs are stored. The operator replaces only elastic workers.
pub fn run_policy(frame: &Frame<'_>) -> Value {
    let mut policy = Map::new();
    policy.insert("cleanPodPolicy".into(), "Running".into());
    if frame.job.elastic.is_none() {
        policy.insert("backoffLimit".into(), 0.into());
    }
    policy.insert("ttlSecondsAfterFinished".into(), KEPT.into());
    policy.insert("suspend".into(), kueue(frame).is_some().into());
    if let Some(volcano) = &frame.facts.volcano {
        let mut scheduling = Map::new();
        scheduling.insert("minAvailable".into(), frame.job.gang.into());
        scheduling.insert("queue".into(), volcano.queue.as_str().into());
        scheduling.extend(volcano.priority_class.iter().map(|class| ("priorityClass".into(), json!(class))));
        policy.insert("schedulingPolicy".into(), scheduling.into());
    }
    policy.into()
}
