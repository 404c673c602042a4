//! What a pod's status says about its worker. Pure.

use cubeloom_domain::Timestamp;
use cubeloom_domain::kubernetes::labels;
use cubeloom_domain::outcome::WorkerName;
use cubeloom_workers::ends::End;
use k8s_openapi::api::core::v1::{
    Container, ContainerState, ContainerStateTerminated, ContainerStatus, Pod, PodStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::cards::is_card;

/// The init container that runs a task's `setup`.
pub const SETUP: &str = "setup";

/// Where a pod may have its index within the role: annotations and labels of the controllers that count pods.
const INDICES: [&str; 4] = [
    labels::INDEX,
    "training.kubeflow.org/replica-index",
    "volcano.sh/task-index",
    "batch.kubernetes.io/job-completion-index",
];

/// Where Spark's executors have their number, the first of which is 1.
const EXECUTOR: &str = "spark-exec-id";

/// A pod, as far as it is of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodView {
    /// Its name.
    pub name: String,
    /// Tells it from another of the same name.
    pub uid: String,
    /// The name of the job that it belongs to.
    pub job: String,
    /// The worker that it is.
    pub worker: WorkerName,
    /// Its containers that write logs of interest, in the order in which they run.
    pub containers: Vec<String>,
    /// By when it is to be gone, once somebody has deleted it.
    pub deleted: Option<Timestamp>,
    /// The node that it was put on.
    pub node: Option<String>,
    /// Whether it has graphics cards.
    pub has_cards: bool,
    /// What it does.
    pub state: PodState,
    /// What the cluster is about to end it for.
    pub disruption: Option<End>,
}

/// What a pod does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    /// It does not run yet.
    Waiting {
        /// What it waits for, as the cluster says it.
        note: Option<String>,
        /// What keeps it from ever running unless somebody mends it.
        obstacle: Option<Obstacle>,
    },
    /// Its program runs.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// It has ended.
    Ended {
        /// How.
        end: End,
        /// When its program began; absent when it never did.
        started_at: Option<Timestamp>,
        /// When it ended.
        ended_at: Timestamp,
    },
}

/// Something that does not pass by waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// A sentence.
    pub message: String,
    /// Whether it may yet pass: a registry that does not answer, a Secret that is still on its way.
    pub may_pass: bool,
}

impl PodView {
    /// Reads a pod; `None` when it is no worker of a job of ours, such as a pod that an operator adds.
    #[must_use]
    pub fn read(pod: &Pod) -> Option<Self> {
        let meta = &pod.metadata;
        let of = |key: &str| {
            let labels = meta.labels.as_ref().and_then(|labels| labels.get(key));
            labels.or_else(|| meta.annotations.as_ref().and_then(|annotations| annotations.get(key)))
        };
        let number = |text: &String| text.parse::<u32>().ok();
        let counted = || of(EXECUTOR).and_then(number).map(|count| count.saturating_sub(1));
        let index = INDICES.iter().find_map(|key| of(key)).and_then(number).or_else(counted).unwrap_or(0);
        let spec = pod.spec.as_ref()?;
        let setup = spec.init_containers.iter().flatten().map(|container| &container.name);
        let main = spec.containers.first()?;
        let containers = setup.filter(|name| *name == SETUP).chain([&main.name]).cloned().collect();
        Some(Self {
            name: meta.name.clone()?,
            uid: meta.uid.clone().unwrap_or_default(),
            job: of(labels::JOB)?.clone(),
            worker: WorkerName { role: of(labels::ROLE)?.clone(), index },
            containers,
            deleted: meta.deletion_timestamp.as_ref().map(|time| moment(Some(time))),
            node: spec.node_name.clone(),
            has_cards: asks_for_cards(main),
            state: state(&main.name, pod.status.as_ref(), meta.creation_timestamp.as_ref()),
            disruption: pod.status.as_ref().and_then(by_the_cluster),
        })
    }

    /// It is there no more. Where its node has not told of its end before, the cluster's word for it counts.
    pub fn go(&mut self) {
        let started_at = match &self.state {
            PodState::Running { since } => Some(*since),
            PodState::Waiting { .. } => None,
            PodState::Ended { .. } => return,
        };
        if let (Some(end), Some(ended_at)) = (self.disruption.clone(), self.deleted) {
            self.state = PodState::Ended { end, started_at, ended_at };
        }
    }

    /// Whether nothing of it runs, nor will.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, PodState::Ended { .. })
    }
}

fn asks_for_cards(container: &Container) -> bool {
    let limits = container.resources.iter().flat_map(|resources| resources.limits.iter().flatten());
    limits.into_iter().any(|(name, _)| is_card(name))
}

fn state(main: &str, status: Option<&PodStatus>, created: Option<&Time>) -> PodState {
    let Some(status) = status else { return PodState::Waiting { note: None, obstacle: None } };
    let phase = status.phase.as_deref().unwrap_or_default();
    let statuses = status.container_statuses.iter().flatten();
    let container = statuses.clone().find(|container| container.name == main);
    let now = container.and_then(|container| container.state.as_ref());
    if let "Failed" | "Succeeded" = phase {
        return with_card(container, ended(main, phase == "Succeeded", status, created));
    }
    // The pod's phase follows when its other containers have ended, too: the worker has ended already.
    if let Some(terminated) = now.and_then(|state| state.terminated.as_ref()) {
        return with_card(container, of_container(terminated, created));
    }
    if let Some(running) = now.and_then(|state| state.running.as_ref()) {
        return PodState::Running { since: moment(running.started_at.as_ref().or(created)) };
    }
    waiting(status)
}

/// A program that failed while the kubelet finds a card of its container not healthy failed because of it.
fn with_card(container: Option<&ContainerStatus>, mut state: PodState) -> PodState {
    let resources = container.into_iter().flat_map(|container| container.allocated_resources_status.iter());
    let cards = resources.flatten().filter(|resource| is_card(&resource.name));
    let mut parts = cards.flat_map(|card| card.resources.iter().flatten());
    let sick = parts.find(|part| part.health.as_deref() == Some("Unhealthy"));
    if let PodState::Ended { end, .. } = &mut state
        && let (Some(sick), End::Exit { code: 1.. } | End::Signal { .. }) = (sick, &*end)
    {
        *end = End::CardLost { message: format!("its node finds {} unhealthy", sick.resource_id) };
    }
    state
}

/// How a pod of phase `Failed` or `Succeeded` ended.
fn ended(main: &str, well: bool, status: &PodStatus, created: Option<&Time>) -> PodState {
    let terminated = |statuses: &Option<Vec<ContainerStatus>>, name: &str| {
        let mut statuses = statuses.iter().flatten();
        let found = statuses.find(|container| container.name == name)?;
        found.state.as_ref()?.terminated.clone()
    };
    let program = terminated(&status.container_statuses, main);
    let began = program.as_ref().and_then(|ended| ended.started_at.as_ref());
    let last = program.as_ref().and_then(|ended| ended.finished_at.as_ref());
    if let Some(end) = by_the_cluster(status) {
        let started_at = began.map(|time| moment(Some(time)));
        return PodState::Ended { end, started_at, ended_at: moment(last.or(disrupted(status)).or(created)) };
    }
    let setup = terminated(&status.init_container_statuses, SETUP).filter(|ended| ended.exit_code != 0);
    if let Some(setup) = setup {
        let end = match of_exit(&setup) {
            End::OutOfMemory => End::OutOfMemory,
            End::CouldNotStart { message } => End::CouldNotStart { message },
            End::Signal { signal } => End::SetupFailed { code: None, signal: Some(signal) },
            _ => End::SetupFailed { code: Some(setup.exit_code), signal: None },
        };
        return PodState::Ended { end, started_at: None, ended_at: moment(setup.finished_at.as_ref()) };
    }
    match program {
        Some(ended) => of_container(&ended, created),
        None if well => PodState::Ended {
            end: End::Exit { code: 0 },
            started_at: status.start_time.as_ref().map(|time| moment(Some(time))),
            ended_at: moment(created),
        },
        None => {
            let end =
                End::CouldNotStart { message: words(status).unwrap_or_else(|| "the node refused it".into()) };
            PodState::Ended {
                end,
                started_at: None,
                ended_at: moment(status.start_time.as_ref().or(created)),
            }
        }
    }
}

fn of_container(ended: &ContainerStateTerminated, created: Option<&Time>) -> PodState {
    let end = of_exit(ended);
    let started = ended.started_at.as_ref().filter(|_| !matches!(end, End::CouldNotStart { .. }));
    PodState::Ended {
        started_at: started.map(|time| moment(Some(time))),
        ended_at: moment(ended.finished_at.as_ref().or(created)),
        end,
    }
}

/// How a container ended. A signal is told by an exit code of 128 and its number.
fn of_exit(ended: &ContainerStateTerminated) -> End {
    let reason = ended.reason.as_deref().unwrap_or_default();
    let signal = ended.signal.filter(|signal| *signal > 0);
    match (reason, ended.exit_code) {
        ("OOMKilled", _) => End::OutOfMemory,
        ("StartError" | "ContainerCannotRun", _) => {
            End::CouldNotStart { message: start_error(ended.message.as_deref().unwrap_or(reason)) }
        }
        (_, code) if let Some(signal) = signal.or((129..=192).contains(&code).then(|| code - 128)) => {
            End::Signal { signal }
        }
        (_, code) => End::Exit { code },
    }
}

/// What container run-times say when a program cannot be started (`exec: "name": executable file not found in $PATH:
/// unknown`), as a sentence.
fn start_error(message: &str) -> String {
    let exec = message.find("exec: ").map_or(message, |at| &message[at..]);
    let name = exec.split('"').nth(1).unwrap_or_default();
    let reasons = [
        ("executable file not found in $PATH", "was not found on the PATH"),
        ("no such file or directory", "does not exist"),
        ("permission denied", "may not be read or executed"),
        ("argument list too long", "has arguments that are too long"),
    ];
    let known = reasons.iter().find(|(said, _)| exec.contains(said));
    match (name, known) {
        ("", _) | (_, None) => exec.trim_end_matches(": unknown").trim().to_owned(),
        (name, Some((_, sentence))) => format!("the command `{name}` {sentence}"),
    }
}

/// An end that the cluster, not the program, brought about.
fn by_the_cluster(status: &PodStatus) -> Option<End> {
    let reason = status.reason.as_deref().unwrap_or_default();
    let message = || words(status).unwrap_or_else(|| reason.to_owned());
    match reason {
        "DeadlineExceeded" => return Some(End::TimedOut),
        "Evicted" | "Preempting" => return Some(End::Evicted { message: message() }),
        "NodeLost" | "NodeShutdown" | "Terminated" | "Shutdown" => {
            return Some(End::NodeLost { message: message() });
        }
        _ => {}
    }
    let mut conditions = status.conditions.iter().flatten();
    let disrupted =
        conditions.find(|condition| condition.type_ == "DisruptionTarget" && condition.status == "True")?;
    let message = disrupted.message.clone().unwrap_or_default();
    match disrupted.reason.as_deref().unwrap_or_default() {
        "DeletionByPodGC" | "DeletionByTaintManager" => Some(End::NodeLost { message }),
        _ => Some(End::Evicted { message }),
    }
}

fn disrupted(status: &PodStatus) -> Option<&Time> {
    let mut conditions = status.conditions.iter().flatten();
    conditions.find(|condition| condition.type_ == "DisruptionTarget")?.last_transition_time.as_ref()
}

/// The pod's own sentence.
fn words(status: &PodStatus) -> Option<String> {
    let message = status.message.as_ref().map(|text| text.trim()).filter(|text| !text.is_empty());
    message.or(status.reason.as_deref()).map(ToOwned::to_owned)
}

/// What a pod waits for that does not run yet.
fn waiting(status: &PodStatus) -> PodState {
    let mut conditions = status.conditions.iter().flatten();
    let unscheduled =
        conditions.find(|condition| condition.type_ == "PodScheduled" && condition.status == "False");
    if let Some(condition) = unscheduled {
        return PodState::Waiting { note: condition.message.clone(), obstacle: None };
    }
    let containers = status.init_container_statuses.iter().chain(&status.container_statuses).flatten();
    let reasons = containers.filter_map(|container| {
        let waiting = container.state.as_ref().and_then(|state: &ContainerState| state.waiting.as_ref())?;
        Some((container, waiting.reason.as_deref()?, waiting.message.as_deref().unwrap_or_default()))
    });
    let obstacle =
        reasons.filter_map(|(container, reason, message)| obstacle(container, reason, message)).next();
    PodState::Waiting { note: obstacle.as_ref().map(|obstacle| obstacle.message.clone()), obstacle }
}

fn obstacle(container: &ContainerStatus, reason: &str, message: &str) -> Option<Obstacle> {
    let image = &container.image;
    let (sentence, may_pass) = match reason {
        "ErrImageNeverPull" => {
            (format!("the image {image} is not on the node, and may not be pulled"), false)
        }
        "InvalidImageName" => (format!("`{image}` is no image's name"), false),
        "ErrImagePull" | "ImagePullBackOff" | "RegistryUnavailable" | "ImageInspectError" => {
            (format!("the image {image} cannot be pulled"), true)
        }
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
            ("its container cannot be made".to_owned(), true)
        }
        _ => return None,
    };
    let message = if message.is_empty() { sentence } else { format!("{sentence}: {message}") };
    Some(Obstacle { message, may_pass })
}

/// A moment of the cluster's clock; the epoch's when it is not told.
pub fn moment(time: Option<&Time>) -> Timestamp {
    Timestamp(time.map_or(0, |time| time.0.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(status: Value) -> PodView {
        let pod = json!({
            "metadata": {
                "name": "cl-a-worker-1",
                "uid": "u",
                "creationTimestamp": "2026-11-22T03:00:00Z",
                "labels": {"cubeloom/job": "cl-a", "cubeloom/role": "worker"},
                "annotations": {"volcano.sh/task-index": "1"},
            },
            "spec": {"initContainers": [{"name": "istio"}, {"name": "setup"}], "containers": [{"name": "worker"}]},
            "status": status,
        });
        PodView::read(&serde_json::from_value(pod).unwrap()).unwrap()
    }

    fn end_of(status: Value) -> End {
        match pod(status).state {
            PodState::Ended { end, .. } => end,
            other => panic!("it has not ended: {other:?}"),
        }
    }

    fn terminated(state: Value) -> Value {
        json!({
            "phase": "Failed",
            "containerStatuses": [
                {"name": "worker", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
                 "state": {"terminated": state}},
            ],
        })
    }

    #[test]
    fn a_pod_is_a_worker_with_the_logs_of_its_setup_and_its_program() {
        let pod = pod(json!({"phase": "Pending"}));
        assert_eq!(pod.worker.to_string(), "worker-1");
        assert_eq!(pod.containers, ["setup", "worker"]);
    }

    #[test]
    fn a_pod_has_its_index_from_whoever_made_it() {
        for (labels, expected) in [
            (json!({"training.kubeflow.org/replica-index": "2"}), 2),
            (json!({"cubeloom/index": "3"}), 3),
            (json!({"spark-exec-id": "1"}), 0),
            (json!({}), 0),
        ] {
            let mut labels = labels;
            labels["cubeloom/job"] = "cl-a".into();
            labels["cubeloom/role"] = "executor".into();
            let pod =
                json!({"metadata": {"name": "p", "labels": labels}, "spec": {"containers": [{"name": "c"}]}});
            let view = PodView::read(&serde_json::from_value(pod).unwrap()).unwrap();
            assert_eq!(view.worker.index, expected);
        }
    }

    #[test]
    fn ends_are_told_apart() {
        let ended = |state| end_of(terminated(state));
        assert_eq!(ended(json!({"exitCode": 3, "reason": "Error"})), End::Exit { code: 3 });
        assert_eq!(ended(json!({"exitCode": 137, "reason": "Error"})), End::Signal { signal: 9 });
        assert_eq!(ended(json!({"exitCode": 137, "reason": "OOMKilled"})), End::OutOfMemory);
        let message = r#"failed to create containerd task: OCI runtime: exec: "train": executable file not found in $PATH: unknown"#;
        let message = json!({"exitCode": 128, "reason": "StartError", "message": message});
        let sentence = "the command `train` was not found on the PATH".to_owned();
        assert_eq!(ended(message), End::CouldNotStart { message: sentence });
    }

    #[test]
    fn what_the_cluster_did_is_not_the_programs_fault() {
        let by = |reason: &str| {
            let mut status = terminated(json!({"exitCode": 143, "reason": "Error"}));
            status["reason"] = reason.into();
            status["message"] = "why".into();
            end_of(status)
        };
        assert_eq!(by("Evicted"), End::Evicted { message: "why".into() });
        assert_eq!(by("NodeLost"), End::NodeLost { message: "why".into() });
        assert_eq!(by("DeadlineExceeded"), End::TimedOut);
        let mut status = terminated(json!({"exitCode": 143, "reason": "Error"}));
        status["conditions"] = json!([{"type": "DisruptionTarget", "status": "True",
            "reason": "PreemptionByScheduler", "message": "for another"}]);
        assert_eq!(end_of(status), End::Evicted { message: "for another".into() });
    }

    #[test]
    fn a_pod_that_went_without_a_word_of_its_node_was_ended_by_the_cluster() {
        let mut pod = pod(json!({
            "phase": "Running",
            "conditions": [{"type": "DisruptionTarget", "status": "True",
                            "reason": "EvictionByEvictionAPI", "message": "evicting"}],
        }));
        pod.deleted = Some(Timestamp(7));
        assert!(!pod.has_ended());
        pod.go();
        let end = End::Evicted { message: "evicting".into() };
        assert_eq!(pod.state, PodState::Ended { end, started_at: None, ended_at: Timestamp(7) });
    }

    #[test]
    fn a_setup_that_failed_is_an_end_of_its_own() {
        let status = json!({
            "phase": "Failed",
            "initContainerStatuses": [
                {"name": "setup", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
                 "state": {"terminated": {"exitCode": 4}}},
            ],
        });
        assert_eq!(end_of(status), End::SetupFailed { code: Some(4), signal: None });
    }

    #[test]
    fn waiting_says_for_what() {
        let unscheduled = pod(json!({
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                            "message": "0/3 nodes are available"}],
        }));
        let note = Some("0/3 nodes are available".to_owned());
        assert_eq!(unscheduled.state, PodState::Waiting { note, obstacle: None });
        let waiting = |reason: &str| {
            let status = json!({
                "phase": "Pending",
                "containerStatuses": [
                    {"name": "worker", "image": "none:1", "imageID": "", "ready": false, "restartCount": 0,
                     "state": {"waiting": {"reason": reason, "message": "why"}}},
                ],
            });
            match pod(status).state {
                PodState::Waiting { obstacle, .. } => {
                    obstacle.map(|obstacle| (obstacle.message, obstacle.may_pass))
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(waiting("ContainerCreating"), None);
        let pulled = "the image none:1 cannot be pulled: why".to_owned();
        assert_eq!(waiting("ImagePullBackOff"), Some((pulled, true)));
        assert_eq!(waiting("InvalidImageName").map(|(_, may_pass)| may_pass), Some(false));
    }
}
