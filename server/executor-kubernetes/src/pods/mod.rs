//! What a pod's status says about its worker. Pure.

mod ends;
mod memory;

use cubeloom_domain::kubernetes::{PROGRAMS, labels};
use cubeloom_domain::outcome::WorkerName;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::{Bytes, Timestamp};
use cubeloom_workers::ends::End;
use k8s_openapi::api::core::v1::{
    Container, ContainerState, ContainerStatus, Pod, PodSpec, PodStatus, ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::cards::is_card;
use crate::quantity::number;
use crate::suspend::is_kept;
use crate::taken::requests;

pub(crate) use memory::is_refused_for_good;

use ends::{by_the_cluster, ended, last_words, of_container, with_card};

/// The init container that runs a task's `setup`.
pub const SETUP: &str = "setup";

/// Annotations and labels with a pod's index within the role, as set by controllers that count pods.
const INDICES: [&str; 5] = [
    labels::INDEX,
    "training.kubeflow.org/replica-index",
    "volcano.sh/task-index",
    "batch.kubernetes.io/job-completion-index",
    "FC_TASK_INDEX",
];

/// Label with the number of a Spark executor, from 1.
const EXECUTOR: &str = "spark-exec-id";

/// The relevant parts of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodView {
    pub name: String,
    /// Distinguishes it from another pod of the same name.
    pub uid: String,
    pub job: String,
    /// The worker that it runs.
    pub worker: WorkerName,
    /// The worker's containers in order: setup, if any, then the program. Their logs are read and their usage
    /// counts; sidecars of others are ignored.
    pub containers: Vec<String>,
    /// When a deleted pod is due to be gone.
    pub deleted: Option<Timestamp>,
    /// Whether it stays listed because its job is suspended.
    pub is_kept: bool,
    /// Time of the deletion, in whole seconds as the cluster stores it.
    pub deleted_at: Option<Timestamp>,
    /// The node that it is bound to.
    pub node: Option<String>,
    /// What it takes of the node.
    pub takes: Amount,
    /// The program's memory limit in the spec; 0 if unlimited.
    pub limit: Bytes,
    /// The actual memory limit that the node reports, which differs from the spec until a resize is done. 0
    /// if unlimited.
    pub memory: Bytes,
    /// Why a resize of it is not done.
    pub refused: Option<Refusal>,
    pub has_cards: bool,
    pub state: PodState,
    /// Why the cluster is about to end it.
    pub disruption: Option<End>,
    /// The end of a failed program's log from the termination message, available even without the log.
    pub last_words: Option<Box<str>>,
}

/// The kubelet's refusal to resize a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Whether its node could never fit the request.
    pub for_good: bool,
    /// The kubelet's message.
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    /// Not running yet.
    Waiting {
        /// The cluster's reason.
        note: Option<String>,
        /// What keeps it from ever running unless someone fixes it.
        obstacle: Option<Obstacle>,
    },
    Running {
        since: Timestamp,
    },
    Ended {
        end: End,
        /// Start of its program; `None` if it never started.
        started_at: Option<Timestamp>,
        ended_at: Timestamp,
    },
}

/// Something that waiting alone does not resolve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    pub message: String,
    /// Whether it may yet resolve: a registry is unreachable, a Secret is not created yet.
    pub may_pass: bool,
}

impl PodView {
    /// Reads a pod. Returns `None` if it is no worker of our jobs, such as a pod that an operator adds.
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
        let main = program(spec)?;
        let containers = setup.filter(|name| *name == SETUP).chain([&main.name]).cloned().collect();
        Some(Self {
            name: meta.name.clone()?,
            uid: meta.uid.clone().unwrap_or_default(),
            job: of(labels::JOB)?.clone(),
            worker: WorkerName { role: of(labels::ROLE)?.clone(), index },
            containers,
            deleted: meta.deletion_timestamp.as_ref().map(|time| moment(Some(time))),
            is_kept: is_kept(meta),
            deleted_at: meta.deletion_timestamp.as_ref().map(|time| {
                let grace = meta.deletion_grace_period_seconds.unwrap_or_default();
                Timestamp(moment(Some(time)).0.saturating_sub(grace.saturating_mul(1_000_000)))
            }),
            node: spec.node_name.clone(),
            takes: requests(pod),
            limit: limit_of(main.resources.as_ref()),
            memory: memory::had(main, pod.status.as_ref()),
            refused: pod.status.as_ref().and_then(memory::refusal),
            has_cards: asks_for_cards(main),
            state: state(&main.name, pod.status.as_ref(), meta.creation_timestamp.as_ref()),
            disruption: pod.status.as_ref().and_then(by_the_cluster),
            last_words: pod.status.as_ref().and_then(|status| last_words(&main.name, status)),
        })
    }

    /// The program's container: the last one.
    #[must_use]
    pub fn main(&self) -> &str {
        self.containers.last().map_or("", String::as_str)
    }

    /// Marks the pod as deleted. If its node has not reported an end, the cluster's deletion counts as one.
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

    /// Whether nothing in it runs or will run.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.state, PodState::Ended { .. })
    }
}

/// The state of any pod, whether it is ours or not.
#[must_use]
pub fn state_of(pod: &Pod) -> PodState {
    let main = pod.spec.as_ref().and_then(program).map_or("", |main| &main.name);
    state(main, pod.status.as_ref(), pod.metadata.creation_timestamp.as_ref())
}

/// The program's container, by its name: a mesh may inject its proxy before it, so that the proxy starts
/// first. Without a known name, the first container.
fn program(spec: &PodSpec) -> Option<&Container> {
    let named = spec.containers.iter().find(|container| PROGRAMS.contains(&container.name.as_str()));
    named.or(spec.containers.first())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is not below 0")]
fn limit_of(resources: Option<&ResourceRequirements>) -> Bytes {
    let limits = resources.and_then(|resources| resources.limits.as_ref());
    Bytes(limits.and_then(|limits| limits.get("memory")).map_or(0.0, number) as u64)
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
    // The pod's phase changes only when all containers have ended, but the worker has ended already.
    if let Some(terminated) = now.and_then(|state| state.terminated.as_ref()) {
        if by_the_cluster(status).is_some() {
            return ended(main, false, status, created);
        }
        return with_card(container, of_container(terminated, created));
    }
    if let Some(running) = now.and_then(|state| state.running.as_ref()) {
        return PodState::Running { since: moment(running.started_at.as_ref().or(created)) };
    }
    waiting(status)
}

/// Why a pod is not running yet.
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
            (format!("the image {image} is not on the node, and must not be pulled"), false)
        }
        "InvalidImageName" => (format!("`{image}` is not the name of an image"), false),
        "ErrImagePull" | "ImagePullBackOff" | "RegistryUnavailable" | "ImageInspectError" => {
            (format!("the image {image} cannot be pulled"), true)
        }
        "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
            ("its container cannot be created".to_owned(), true)
        }
        _ => return None,
    };
    let message = if message.is_empty() { sentence } else { format!("{sentence}: {message}") };
    Some(Obstacle { message, may_pass })
}

/// A time of the cluster's clock; the epoch if missing.
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
    fn a_proxy_that_stands_before_the_program_is_not_the_worker() {
        let amounts = |memory: &str| json!({"limits": {"memory": memory}});
        let running = |at: &str| json!({"running": {"startedAt": at}});
        let status = |name: &str, state: Value| {
            json!({
                "name": name, "image": "i", "imageID": "", "ready": true, "restartCount": 0, "state": state,
            })
        };
        let read = |program: &str, state: Value| {
            let before = status("istio-proxy", running("2026-11-22T03:00:01Z"));
            let pod = json!({
                "metadata": {
                    "name": "p",
                    "creationTimestamp": "2026-11-22T03:00:00Z",
                    "labels": {"cubeloom/job": "cl-a", "cubeloom/role": "worker"},
                },
                "spec": {"containers": [
                    {"name": "istio-proxy", "resources": amounts("128Mi")},
                    {"name": program, "resources": amounts("2Gi")},
                ]},
                "status": {"phase": "Running", "containerStatuses": [before, status(program, state)]},
            });
            let pod: Pod = serde_json::from_value(pod).unwrap();
            let view = PodView::read(&pod).unwrap();
            assert_eq!(state_of(&pod), view.state);
            view
        };
        for program in PROGRAMS {
            let view = read(program, running("2026-11-22T03:00:05Z"));
            assert_eq!((view.main(), &view.containers[..]), (program, &[program.to_owned()][..]));
            assert_eq!((view.limit, view.memory), (Bytes(2 << 30), Bytes(2 << 30)));
            let PodState::Running { since } = view.state else { panic!("{:?}", view.state) };
            let began: jiff::Timestamp = "2026-11-22T03:00:05Z".parse().unwrap();
            assert_eq!(since.0, began.as_microsecond());
        }
        // The proxy keeps running after the program has ended.
        let ended = read("worker", json!({"terminated": {"exitCode": 3, "reason": "Error"}}));
        assert!(matches!(ended.state, PodState::Ended { end: End::Exit { code: 3 }, .. }), "{ended:?}");
        assert_eq!(read("unknown", json!({})).main(), "istio-proxy", "the first where none is known");
    }

    #[test]
    fn a_pod_has_its_index_from_whoever_made_it() {
        for (labels, expected) in [
            (json!({"training.kubeflow.org/replica-index": "2"}), 2),
            (json!({"cubeloom/index": "3"}), 3),
            (json!({"FC_TASK_INDEX": "4"}), 4),
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
    fn what_the_kubelet_kept_of_a_failed_programs_log_is_read() {
        let words = |state| pod(terminated(state)).last_words;
        assert_eq!(words(json!({"exitCode": 3, "message": "no such file"})).as_deref(), Some("no such file"));
        assert_eq!(words(json!({"exitCode": 0, "message": "by the program"})), None);
        assert_eq!(words(json!({"exitCode": 128, "reason": "StartError", "message": "exec: x"})), None);
        assert_eq!(words(json!({"exitCode": 3})), None);
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
