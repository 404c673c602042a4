//! How a container ended, by itself or by the cluster.

use cubeloom_workers::ends::End;
use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::{PodState, SETUP, moment};
use crate::cards::is_card;

/// The message from `terminationMessagePolicy: FallbackToLogsOnError`: at most 2 KiB, 80 lines.
pub(super) fn last_words(main: &str, status: &PodStatus) -> Option<Box<str>> {
    let container = status.container_statuses.iter().flatten().find(|container| container.name == main)?;
    let ended = container.state.as_ref()?.terminated.as_ref()?;
    let of_program = ended.exit_code != 0 && !matches!(of_exit(ended), End::CouldNotStart { .. });
    ended.message.as_deref().filter(|words| of_program && !words.is_empty()).map(Into::into)
}

/// Attributes the failure of a program to a GPU of its container that the kubelet reports as unhealthy.
pub(super) fn with_card(container: Option<&ContainerStatus>, mut state: PodState) -> PodState {
    let resources = container.into_iter().flat_map(|container| container.allocated_resources_status.iter());
    let cards = resources.flatten().filter(|resource| is_card(&resource.name));
    let mut parts = cards.flat_map(|card| card.resources.iter().flatten());
    let sick = parts.find(|part| part.health.as_deref() == Some("Unhealthy"));
    if let PodState::Ended { end, .. } = &mut state
        && let (Some(sick), End::Exit { code: 1.. } | End::Signal { .. }) = (sick, &*end)
    {
        *end = End::CardLost { message: format!("its node reports {} as unhealthy", sick.resource_id) };
    }
    state
}

/// How a pod of phase `Failed` or `Succeeded` ended.
pub(super) fn ended(main: &str, well: bool, status: &PodStatus, created: Option<&Time>) -> PodState {
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

pub(super) fn of_container(ended: &ContainerStateTerminated, created: Option<&Time>) -> PodState {
    let end = of_exit(ended);
    let started = ended.started_at.as_ref().filter(|_| !matches!(end, End::CouldNotStart { .. }));
    PodState::Ended {
        started_at: started.map(|time| moment(Some(time))),
        ended_at: moment(ended.finished_at.as_ref().or(created)),
        end,
    }
}

/// How a container ended. Exit code 128 + n means signal n.
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

/// Turns a container runtime's start error (`exec: "name": executable file not found in $PATH: unknown`) into
/// a sentence.
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

/// An end that the cluster caused, not the program.
pub(super) fn by_the_cluster(status: &PodStatus) -> Option<End> {
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

/// The message of the pod's status.
fn words(status: &PodStatus) -> Option<String> {
    let message = status.message.as_ref().map(|text| text.trim()).filter(|text| !text.is_empty());
    message.or(status.reason.as_deref()).map(ToOwned::to_owned)
}
