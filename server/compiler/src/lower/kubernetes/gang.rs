//! Who starts a gang whole: Volcano by a PodGroup, Kueue by letting a job start only when all of it has room.

use cubeloom_domain::kubernetes::QueueFacts;
use serde_json::{Map, Value, json};

use super::Frame;
use super::notes::Notes;
use super::operator::Start;
use super::way::Way;

/// How long the cluster keeps what has ended, in seconds. The server removes it much sooner: this is for the objects of one that
/// never comes back, and longer than any that does is away.
pub const KEPT: u32 = 31 * 24 * 3600;

/// Says who queues the job, and who starts it whole.
pub fn explain(frame: &Frame<'_>, notes: &mut Notes) {
    let (gang, all) = (frame.job.gang, frame.job.workers());
    let sentence = match (&frame.facts.volcano, &frame.facts.kueue) {
        (Some(volcano), _) if gang > 1 && starts_first(frame) => format!(
            "Volcano starts the first worker when there is room for all {all}, from the queue `{}`; it starts the others",
            volcano.queue
        ),
        (Some(volcano), _) if gang > 1 => {
            format!("Volcano starts {gang} of {all} workers together, from the queue `{}`", volcano.queue)
        }
        (Some(volcano), _) => format!("Volcano schedules it, from the queue `{}`", volcano.queue),
        (None, Some(kueue)) => {
            let each = if splits(frame) {
                "; its roles are let in one by one, so a gang may start in part"
            } else {
                ""
            };
            format!("Kueue lets it start when the queue `{}` has room{each}", kueue.queue)
        }
        (None, None) if gang > 1 => format!(
            "nothing here starts a gang whole: where there is little room, some of its {gang} workers wait for others"
        ),
        (None, None) => return,
    };
    notes.decide(sentence);
    if frame.job.elastic.is_some() && kueue(frame).is_some() {
        let keeps = "Kueue lets in whole jobs: it keeps the workers that it starts with, and gives them back together";
        notes.decide(keeps);
    }
}

/// Whether the first worker starts the others.
fn starts_first(frame: &Frame<'_>) -> bool {
    matches!(frame.way, Way::Operator(operator) if operator.start == Start::First)
}

/// Whether one gang becomes several objects.
fn splits(frame: &Frame<'_>) -> bool {
    matches!(frame.way, Way::Indexed) && frame.job.roles.len() > 1 && frame.job.gang > 1
}

/// Kueue, where Volcano does not schedule.
pub fn kueue<'a>(frame: &Frame<'a>) -> Option<&'a QueueFacts> {
    frame.facts.kueue.as_ref().filter(|_| frame.facts.volcano.is_none())
}

/// The metadata of the job's object, with the labels by which Kueue takes it up.
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

/// Which scheduler places the pods: Volcano all of them, so that two never count the same card.
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

/// The queue of a pod that no PodGroup of an operator puts into one.
pub fn pod_annotations(frame: &Frame<'_>) -> Map<String, Value> {
    let queue = frame.facts.volcano.as_ref().filter(|_| matches!(frame.way, Way::Pod));
    queue
        .map(|volcano| ("scheduling.volcano.sh/queue-name".into(), volcano.queue.as_str().into()))
        .into_iter()
        .collect()
}

/// `runPolicy` of Kubeflow's operators. What still runs when the job has ended is removed, what has ended stays until
/// its logs are kept. Only elastic workers are replaced by the operator.
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
