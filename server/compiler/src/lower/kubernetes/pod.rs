//! The pod template, which every way of running a worker on Kubernetes shares.

use std::collections::BTreeMap;

use cubeloom_domain::job::{DEFAULT_GRACE, JobRole};
use cubeloom_domain::kubernetes::{labels, pull_secret};
use serde_json::{Map, Value, json};

use super::Frame;
use super::amounts;
use super::gang;
use super::kai;
use super::notes::Notes;
use super::placement;
use super::pods::RolePods;
use super::variables::Environment;
use super::volumes::{ROOT, Volumes};
use super::words::parts;
use crate::lower::{preflight, processes};

/// Seconds added to the engine's timeout before a pod ends by itself. A running engine stops it first and
/// waits for it to end.
const MARGIN: u64 = 60;

/// The template of one role's pods.
pub fn template(
    frame: &Frame<'_>,
    role: &JobRole,
    environment: &Environment,
    files: &BTreeMap<String, String>,
    notes: &mut Notes,
) -> Value {
    let mut own = frame.labels();
    own.insert(labels::ROLE.into(), role.name.as_str().into());
    let mut annotations = frame.annotations();
    annotations.extend(gang::pod_annotations(frame));
    let volumes = Volumes::of(frame, role, &files.keys().collect::<Vec<_>>(), notes);
    let mut spec = base(frame);
    network(frame, &mut spec, notes);
    placement::place(frame, role, &mut spec, notes);
    kai::mark(frame, &role.resources, &mut own, &mut annotations, &mut spec, notes);
    let resources = amounts::resources(frame, &role.resources, notes);
    let container = |name: &str, words: Vec<String>| {
        let mut container = Map::new();
        container.insert("name".into(), name.into());
        container.insert("image".into(), frame.job.image.as_deref().unwrap_or_default().into());
        container.insert("command".into(), words.into());
        container.insert("workingDir".into(), format!("{ROOT}/work").into());
        container.insert("env".into(), environment.list.clone().into());
        container.insert("resources".into(), resources.clone());
        container.insert("securityContext".into(), container_security(frame));
        container.insert("terminationMessagePolicy".into(), "FallbackToLogsOnError".into());
        container.insert("volumeMounts".into(), volumes.mounts.clone().into());
        Value::Object(container)
    };
    if !frame.job.setup.is_empty() {
        spec.insert(
            "initContainers".into(),
            json!([container("setup", command(&frame.job.setup, environment))]),
        );
    }
    let words = program(&role.argv, environment, files.contains_key(preflight::FILE));
    spec.insert("containers".into(), json!([container(frame.container(&role.name), words)]));
    spec.insert("volumes".into(), volumes.volumes.into());
    json!({"metadata": {"labels": own, "annotations": annotations}, "spec": spec})
}

/// The Pod of a job of one worker.
pub fn bare(frame: &Frame<'_>, role: &RolePods) -> Value {
    let mut metadata = frame.metadata(None);
    for part in ["labels", "annotations"] {
        metadata[part] = role.template["metadata"][part].clone();
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": role.template["spec"]})
}

/// Settings that do not depend on the role.
fn base(frame: &Frame<'_>) -> Map<String, Value> {
    let facts = frame.facts;
    let mut spec = Map::new();
    spec.insert("restartPolicy".into(), "Never".into());
    spec.extend(gang::pod_spec(frame));
    spec.insert("serviceAccountName".into(), facts.service_account.as_str().into());
    spec.insert("automountServiceAccountToken".into(), false.into());
    spec.insert("enableServiceLinks".into(), false.into());
    // PID 1 of a PID namespace has no default signal handlers. TERM would not end a program without a
    // handler, and its orphans would not be reaped. So the pod's pause process is PID 1.
    spec.insert("shareProcessNamespace".into(), true.into());
    spec.insert("terminationGracePeriodSeconds".into(), DEFAULT_GRACE.as_secs().into());
    if let Some(timeout) = frame.job.timeout {
        let seconds = timeout.0.as_millis().div_ceil(1000);
        let deadline = u64::try_from(seconds).unwrap_or(u64::MAX) + DEFAULT_GRACE.as_secs() + MARGIN;
        spec.insert("activeDeadlineSeconds".into(), deadline.into());
    }
    spec.insert(
        "securityContext".into(),
        json!({
            "runAsNonRoot": true,
            "runAsUser": facts.uid,
            "runAsGroup": facts.uid,
            "fsGroup": facts.uid,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        }),
    );
    // The kubelet tries them in order: the project's own account first.
    let own = frame.job.registry.as_ref().map(|_| pull_secret(&frame.name));
    let names: Vec<Value> = own.iter().chain(&facts.pull_secrets).map(|name| json!({"name": name})).collect();
    if !names.is_empty() {
        spec.insert("imagePullSecrets".into(), names.into());
    }
    spec
}

/// The host network if requested; names for the pods behind a Service.
fn network(frame: &Frame<'_>, spec: &mut Map<String, Value>, notes: &mut Notes) {
    if frame.job.placement.host_network == Some(true) {
        if frame.facts.host_network {
            spec.insert("hostNetwork".into(), true.into());
            spec.insert("dnsPolicy".into(), "ClusterFirstWithHostNet".into());
        } else {
            let message = "this cluster does not allow the host network; remove `host_network`";
            notes.refuse("placement/host_network", message);
        }
    }
    if frame.has_service() {
        spec.insert("subdomain".into(), frame.name.as_str().into());
    }
}

fn container_security(frame: &Frame<'_>) -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": !frame.job.writable_root,
        "capabilities": {"drop": ["ALL"]},
    })
}

/// The command of a worker. Several processes are started by their launcher; preflight tests are started
/// before.
fn program(words: &[String], environment: &Environment, tested: bool) -> Vec<String> {
    let own = &environment.own;
    let words =
        words.iter().map(|word| processes::guarded(word, |name| own.contains(name)).into_owned()).collect();
    let words = if own.is_empty() { words } else { processes::launched(ROOT, words) };
    let words = if tested { preflight::launched(ROOT, words) } else { words };
    replaced(&words, environment, |name| !own.contains(name))
}

/// A command whose references the kubelet, or a shell, expands.
fn command(words: &[String], environment: &Environment) -> Vec<String> {
    replaced(words, environment, |_| true)
}

fn replaced(words: &[String], environment: &Environment, may: impl Fn(&str) -> bool) -> Vec<String> {
    let known = |name: &str| may(name) && environment.names.contains(name);
    let words: Vec<_> = words.iter().map(|word| parts(word, known, &environment.late)).collect();
    environment.shell.command(&words)
}
