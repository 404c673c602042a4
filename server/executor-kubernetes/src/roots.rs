//! The status of a job's own object, for every operator. Pure.

use std::sync::{Arc, LazyLock};

use cubeloom_domain::job::SuccessRule;
use cubeloom_domain::kubernetes::labels;
use cubeloom_domain::{AttemptKey, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;

use crate::objects::resource;
use crate::pods::{PodState, PodView};
use crate::suspend::{self, is_suspended};

/// An object that represents a job, or one role of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootView {
    /// Its kind; shared, since there are few.
    pub resource: Arc<ApiResource>,
    pub name: String,
    pub job: String,
    pub run: String,
    /// The attempt that it belongs to.
    pub key: Option<AttemptKey>,
    /// Whether it was deleted, and only waits for its pods.
    pub deleted: bool,
    /// Distinguishes it from another object of the same name.
    pub uid: String,
    /// Whether it is suspended; `None` if users cannot suspend it.
    pub suspended: Option<bool>,
    /// Why Cubeloom is stopping it.
    pub stop: Option<String>,
    pub state: RootState,
    /// Time of its end, if the status has one.
    pub ended_at: Option<Timestamp>,
}

/// State of a job's object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootState {
    /// Not ended.
    Open {
        /// Why it is pending, if the status says so.
        note: Option<String>,
    },
    Succeeded,
    Failed(Cause),
}

/// An operator's reason why a job failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The reason, in one word.
    pub reason: String,
    pub message: String,
}

/// Annotation with the reason why a job is being stopped.
pub const STOP: &str = "cubeloom/stop";

impl RootView {
    /// Reads the pod of a job that is a bare pod, given its worker's state. Returns `None` if a controller
    /// created it.
    #[must_use]
    pub fn of_pod(pod: &Pod, view: &PodView) -> Option<Self> {
        static POD: LazyLock<Arc<ApiResource>> = LazyLock::new(|| Arc::new(resource("v1", "Pod")));
        if view.name != view.job {
            return None;
        }
        let meta = &pod.metadata;
        let noted = |name: &str| meta.annotations.as_ref().and_then(|annotations| annotations.get(name));
        let suspended = suspend::is_kept(meta);
        // A suspended job resumes later, whatever its pod's end.
        let ended = match &view.state {
            PodState::Ended { end, ended_at, .. } if !suspended => Some((end, *ended_at)),
            _ => None,
        };
        let state = match ended {
            Some((end, _)) if end.is_well() => RootState::Succeeded,
            Some(_) => RootState::Failed(Cause::default()),
            None => RootState::Open { note: None },
        };
        Some(Self {
            resource: Arc::clone(&POD),
            name: view.name.clone(),
            job: view.job.clone(),
            run: meta.labels.as_ref()?.get(labels::RUN).cloned().unwrap_or_default(),
            key: noted(labels::KEY).and_then(|key| key.parse().ok()),
            // If the cluster has a reason to remove the pod, that reason is its end, once it has ended.
            deleted: meta.deletion_timestamp.is_some() && view.disruption.is_none() && !suspended,
            uid: view.uid.clone(),
            suspended: Some(suspended),
            stop: noted(STOP).cloned(),
            ended_at: ended.map(|(_, at)| at),
            state,
        })
    }

    #[must_use]
    pub fn is_pod(&self) -> bool {
        self.resource.kind == "Pod"
    }

    /// Reads an object. Returns `None` if it is not ours.
    #[must_use]
    pub fn read(resource: &Arc<ApiResource>, object: &DynamicObject) -> Option<Self> {
        let meta = &object.metadata;
        let status = &object.data["status"];
        let noted = |name: &str| meta.annotations.as_ref().and_then(|annotations| annotations.get(name));
        let state = state(&resource.kind, status);
        Some(Self {
            resource: Arc::clone(resource),
            name: meta.name.clone()?,
            job: meta.labels.as_ref()?.get(labels::JOB)?.clone(),
            run: meta.labels.as_ref()?.get(labels::RUN).cloned().unwrap_or_default(),
            key: noted(labels::KEY).and_then(|key| key.parse().ok()),
            deleted: meta.deletion_timestamp.is_some(),
            uid: meta.uid.clone().unwrap_or_default(),
            suspended: is_suspended(resource, object),
            stop: noted(STOP).cloned(),
            ended_at: if matches!(state, RootState::Open { .. }) { None } else { ended_at(status) },
            state,
        })
    }
}

/// When an object ended, from any operator's field; without one, the last transition of a condition.
fn ended_at(status: &Value) -> Option<Timestamp> {
    let moment = |value: &Value| {
        let moment: jiff::Timestamp = value.as_str()?.parse().ok()?;
        Some(Timestamp(moment.as_microsecond()))
    };
    let own = [
        &status["completionTime"],
        &status["endTime"],
        &status["terminationTime"],
        &status["state"]["lastTransitionTime"],
    ];
    let conditions = || status["conditions"].as_array().into_iter().flatten();
    own.into_iter()
        .find_map(moment)
        .or_else(|| conditions().filter_map(|one| moment(&one["lastTransitionTime"])).max())
}

fn state(kind: &str, status: &Value) -> RootState {
    match kind {
        "RayJob" => ray(status),
        "SparkApplication" => spark(status),
        "Framework" => framework(status),
        _ if status["state"]["phase"].is_string() => volcano(&status["state"]),
        _ => conditions(status),
    }
}

/// `batch/v1` Jobs, and the jobs of Kubeflow's operators.
fn conditions(status: &Value) -> RootState {
    let holds = |name: &str| {
        let mut conditions = status["conditions"].as_array().into_iter().flatten();
        conditions.find(|one| one["type"] == name && one["status"] == "True")
    };
    // An operator may set both when it retries a job: the failure is the later one.
    if let Some(failed) = holds("Failed").or_else(|| holds("FailureTarget")) {
        return RootState::Failed(cause(failed));
    }
    if holds("Succeeded").or_else(|| holds("Complete")).is_some() {
        return RootState::Succeeded;
    }
    let note = holds("Suspended").map(|suspended| text(&suspended["message"]));
    RootState::Open { note: note.filter(|note| !note.is_empty()) }
}

fn volcano(state: &Value) -> RootState {
    match state["phase"].as_str().unwrap_or_default() {
        "Completed" => RootState::Succeeded,
        // Volcano calls a suspended job `Aborted`.
        "Failed" | "Terminated" => RootState::Failed(cause(state)),
        _ => RootState::Open { note: None },
    }
}

fn ray(status: &Value) -> RootState {
    let failed = || RootState::Failed(cause(status));
    match (status["jobDeploymentStatus"].as_str(), status["jobStatus"].as_str()) {
        (Some("Complete"), Some("SUCCEEDED")) => RootState::Succeeded,
        (Some("Complete" | "Failed" | "ValidationFailed"), _) => failed(),
        (Some("Initializing" | "Waiting" | "Retrying"), _) => {
            let note = text(&status["message"]);
            RootState::Open { note: (!note.is_empty()).then_some(note) }
        }
        _ => RootState::Open { note: None },
    }
}

fn spark(status: &Value) -> RootState {
    let state = &status["applicationState"];
    match state["state"].as_str().unwrap_or_default() {
        "COMPLETED" => RootState::Succeeded,
        "FAILED" => {
            RootState::Failed(Cause { reason: "SparkFailed".into(), message: text(&state["errorMessage"]) })
        }
        _ => RootState::Open { note: None },
    }
}

/// frameworkcontroller records how an attempt ends before it deletes its pods, and does not retry ours.
fn framework(status: &Value) -> RootState {
    let end = &status["attemptStatus"]["completionStatus"];
    let words = [&end["trigger"]["message"], &end["diagnostics"]].map(text);
    match end["type"]["name"].as_str() {
        Some("Succeeded") => RootState::Succeeded,
        Some(_) => RootState::Failed(Cause {
            reason: text(&end["phrase"]),
            message: words.into_iter().find(|words| !words.is_empty()).unwrap_or_default(),
        }),
        None => RootState::Open { note: None },
    }
}

fn cause(of: &Value) -> Cause {
    Cause { reason: text(&of["reason"]), message: text(&of["message"]) }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().trim().to_owned()
}

/// The combined result of a job's `count` objects: most jobs have one, jobs without an operator one per role.
/// `None` while the job runs.
#[must_use]
pub fn verdict<'a>(
    roots: impl Iterator<Item = &'a RootView> + Clone,
    count: usize,
    success: &SuccessRule,
) -> Option<Result<(), Cause>> {
    let failed = |root: &RootView| match &root.state {
        RootState::Failed(cause) => Some(cause.clone()),
        RootState::Open { .. } | RootState::Succeeded => None,
    };
    if let Some(cause) = roots.clone().find_map(failed) {
        return Some(Err(cause));
    }
    let well = |root: &RootView| root.state == RootState::Succeeded;
    if count > 0 && roots.clone().filter(|root| well(root)).count() >= count {
        return Some(Ok(()));
    }
    let decides = |root: &RootView| match success {
        SuccessRule::Role(role) | SuccessRule::First(role) => root.name == format!("{}-{role}", root.job),
        SuccessRule::AllWorkers | SuccessRule::AnyWorker => false,
    };
    roots.clone().any(|root| decides(root) && well(root)).then_some(Ok(()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(reason: &str, message: &str) -> RootState {
        RootState::Failed(Cause { reason: reason.into(), message: message.into() })
    }

    /// The pod of a single-worker job, with additional metadata and status.
    fn bare(meta: Value, status: Value) -> RootView {
        let mut pod = json!({
            "metadata": {
                "name": "cl-a", "uid": "u", "creationTimestamp": "2026-11-22T03:00:00Z",
                "labels": {"cubeloom/job": "cl-a", "cubeloom/role": "worker", "cubeloom/run": "r"},
            },
            "spec": {"containers": [{"name": "worker"}]},
            "status": status,
        });
        pod["metadata"].as_object_mut().unwrap().extend(meta.as_object().cloned().unwrap());
        let pod = serde_json::from_value(pod).unwrap();
        RootView::of_pod(&pod, &PodView::read(&pod).unwrap()).unwrap()
    }

    fn ended(code: i32) -> Value {
        let terminated = json!({"exitCode": code, "finishedAt": "2026-11-22T03:00:09Z"});
        let container = json!({
            "name": "worker", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
            "state": {"terminated": terminated},
        });
        json!({"phase": "Running", "containerStatuses": [container]})
    }

    #[test]
    fn a_bare_pod_has_ended_when_its_program_has() {
        let state = |code| bare(json!({}), ended(code)).state;
        assert_eq!(bare(json!({}), json!({"phase": "Pending"})).state, RootState::Open { note: None });
        assert_eq!((state(0), state(3)), (RootState::Succeeded, failed("", "")));
        assert!(bare(json!({}), ended(0)).ended_at.is_some());
        let of_a_job = json!({"metadata": {"name": "cl-a-x7", "labels": {"cubeloom/job": "cl-a", "cubeloom/role": "r"}},
            "spec": {"containers": [{"name": "worker"}]}});
        let of_a_job = serde_json::from_value(of_a_job).unwrap();
        assert_eq!(RootView::of_pod(&of_a_job, &PodView::read(&of_a_job).unwrap()), None);
    }

    #[test]
    fn a_bare_pod_that_is_suspended_has_not_ended_and_one_that_is_evicted_says_so() {
        let deleted = json!({"deletionTimestamp": "2026-11-22T03:00:30Z"});
        assert!(bare(deleted.clone(), ended(143)).deleted, "by another user");
        let mut kept = deleted.clone();
        kept["finalizers"] = json!(["cubeloom/suspended"]);
        let kept = bare(kept, ended(143));
        assert_eq!((kept.suspended, kept.deleted), (Some(true), false));
        assert_eq!((kept.state, kept.ended_at), (RootState::Open { note: None }, None));
        let mut evicted = ended(143);
        evicted["conditions"] =
            json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
        let evicted = bare(deleted, evicted);
        assert_eq!((evicted.deleted, evicted.state), (false, failed("", "")), "how it ended says why");
    }

    #[test]
    fn every_operators_words_are_read() {
        let open = RootState::Open { note: None };
        let framework =
            |state: &str, end: Value| json!({"state": state, "attemptStatus": {"completionStatus": end}});
        let condition = |kind: &str| json!({"conditions": [{"type": kind, "status": "True", "reason": "r", "message": "m"}]});
        for (kind, status, expected) in [
            ("Job", json!({}), open.clone()),
            ("Job", condition("Complete"), RootState::Succeeded),
            ("Job", condition("Failed"), failed("r", "m")),
            ("PyTorchJob", condition("Running"), open.clone()),
            ("PyTorchJob", condition("Succeeded"), RootState::Succeeded),
            ("MPIJob", condition("Suspended"), RootState::Open { note: Some("m".into()) }),
            ("Job", json!({"state": {"phase": "Running"}}), open.clone()),
            ("Job", json!({"state": {"phase": "Completed"}}), RootState::Succeeded),
            (
                "Job",
                json!({"state": {"phase": "Terminated", "reason": "r", "message": "m"}}),
                failed("r", "m"),
            ),
            ("Job", json!({"state": {"phase": "Aborted", "reason": "r", "message": "m"}}), open.clone()),
            (
                "RayJob",
                json!({"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}),
                RootState::Succeeded,
            ),
            // Ray reports `Complete` also for a stopped job.
            ("RayJob", json!({"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}), failed("", "")),
            ("RayJob", json!({"jobDeploymentStatus": "Running"}), open.clone()),
            ("SparkApplication", json!({"applicationState": {"state": "COMPLETED"}}), RootState::Succeeded),
            ("SparkApplication", json!({"applicationState": {"state": "FAILING"}}), open.clone()),
            ("Framework", json!(null), open.clone()),
            ("Framework", framework("AttemptRunning", json!(null)), open),
            // Its pods still exist then.
            (
                "Framework",
                framework("AttemptDeletionPending", json!({"type": {"name": "Succeeded"}})),
                RootState::Succeeded,
            ),
            (
                "Framework",
                framework(
                    "Completed",
                    json!({
                        "phrase": "FailedTaskCount", "type": {"name": "Failed"}, "diagnostics": "d",
                        "trigger": {"message": "m"},
                    }),
                ),
                failed("FailedTaskCount", "m"),
            ),
        ] {
            assert_eq!(state(kind, &status), expected, "{kind} {status}");
        }
    }

    #[test]
    fn every_operator_says_when_it_ended() {
        let at = "2026-11-22T03:00:00Z";
        let conditions = json!([
            {"type": "Created", "lastTransitionTime": "2026-11-22T02:00:00Z"},
            {"type": "Failed", "lastTransitionTime": at},
        ]);
        for status in [
            json!({"completionTime": at}),
            json!({"endTime": at}),
            json!({"terminationTime": at}),
            json!({"state": {"phase": "Completed", "lastTransitionTime": at}}),
            json!({"conditions": conditions}),
        ] {
            let expected: jiff::Timestamp = at.parse().unwrap();
            assert_eq!(ended_at(&status), Some(Timestamp(expected.as_microsecond())), "{status}");
        }
        assert_eq!(ended_at(&json!({"completionTime": null})), None);
    }

    #[test]
    fn objects_of_roles_decide_together() {
        let kind = ApiResource::erase::<k8s_openapi::api::batch::v1::Job>(&());
        let root = |role: &str, state: RootState| RootView {
            resource: kind.clone().into(),
            name: format!("cl-a-{role}"),
            job: "cl-a".into(),
            run: "r".into(),
            key: None,
            deleted: false,
            uid: String::new(),
            suspended: None,
            stop: None,
            state,
            ended_at: None,
        };
        let open = || RootState::Open { note: None };
        let verdict = |roots: &[RootView], success| verdict(roots.iter(), 2, &success);
        let master = SuccessRule::Role("master".into());
        let half = [root("master", RootState::Succeeded), root("worker", open())];
        assert_eq!(verdict(&half, SuccessRule::AllWorkers), None);
        assert_eq!(verdict(&half, master.clone()), Some(Ok(())));
        assert_eq!(verdict(&half[..1], SuccessRule::AllWorkers), None, "the other is not seen yet");
        let broken = [root("master", open()), root("worker", failed("r", "m"))];
        assert!(matches!(verdict(&broken, master), Some(Err(_))));
    }
}
