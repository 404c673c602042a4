//! Why a job could not run or was lost, in the cluster's own words, and its cleanup.

use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::Cpu;
use cubeloom_domain::clusters::Subject;
use cubeloom_domain::executor::{Event, Notice, StopCause};
use cubeloom_domain::job::Job;
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_testkit::conformance::{Harness, Program, failure, random};
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::harness::{OnNode, told};
use super::kubectl::{Kubectl, Object};

/// How long the cluster may take to act.
const PATIENCE: Duration = Duration::from_secs(90);

async fn on_node(
    change: impl FnOnce(&mut cubeloom_executor_kubernetes::KubernetesConfig) + Send + 'static,
) -> OnNode {
    tokio::task::spawn_blocking(|| OnNode::with(change)).await.unwrap()
}

/// Starts one worker with this shell script and a changed job.
async fn start(node: &OnNode, text: &str, change: impl FnOnce(&mut Job)) -> AttemptKey {
    let mut job = node.job(&Program::shell(text));
    change(&mut job);
    let key = job.key.clone();
    node.executor().submit(node.submission_of(job)).await;
    key
}

/// Waits for a pending reason that contains all of these words.
async fn waits(node: &OnNode, key: &AttemptKey, words: &[&str]) -> String {
    let note = |event: &Event| match event {
        Event::Preparing(note) if words.iter().all(|word| note.contains(word)) => Some(note.clone()),
        _ => None,
    };
    node.recorder().first(key, "why it waits", note).await
}

fn api(kubectl: &Kubectl, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let metadata = json!({"name": "any", "namespace": told("CUBELOOM_TEST_NAMESPACE")});
    kubectl.api(&Object::of(json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})))
}

/// The names of a job's objects of one kind.
async fn of_job(api: &Api<DynamicObject>, key: &AttemptKey) -> Vec<String> {
    let params = ListParams::default().labels(&format!("cubeloom/job={}", key.object_name()));
    let found = api.list(&params).await.unwrap();
    found.items.into_iter().filter_map(|object| object.metadata.name).collect()
}

async fn until_gone(api: &Api<DynamicObject>, key: &AttemptKey, what: &str) {
    let began = Instant::now();
    while !of_job(api, key).await.is_empty() {
        assert!(began.elapsed() < PATIENCE, "still there: {what}");
        sleep(Duration::from_millis(200)).await;
    }
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_cannot_be_pulled_is_named_with_the_nodes_words() {
    let node = on_node(|_| {}).await;
    let key = start(&node, "true", |job| job.image = Some("127.0.0.1:1/none:1".into())).await;
    waits(&node, &key, &["127.0.0.1:1/none:1", "cannot be pulled"]).await;
    let ended = node.recorder().ended(&key).await;
    let failure = failure(&ended);
    assert_eq!(failure.kind, FailureKind::CouldNotStart, "{ended:?}");
    let message = &failure.message;
    assert!(
        message.starts_with("worker-0 could not start: the image 127.0.0.1:1/none:1 cannot be pulled"),
        "{message}"
    );
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_volume_that_cannot_be_mounted_is_named_with_the_nodes_words() {
    let name = format!("broken-{:x}", random());
    let kubectl = Kubectl::new().await;
    let form = |more: Value| {
        let mut spec = json!({"accessModes": ["ReadWriteMany"], "storageClassName": ""});
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        spec
    };
    let place = json!({"path": format!("/{name}"), "type": "Directory"});
    let volume = form(json!({"capacity": {"storage": "1Gi"}, "hostPath": place}));
    let claim = form(json!({"resources": {"requests": {"storage": "1Gi"}}, "volumeName": name}));
    let volume = Object::of(json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": volume,
    }));
    let claim = Object::of(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": told("CUBELOOM_TEST_NAMESPACE")}, "spec": claim,
    }));
    kubectl.create(&volume).await;
    kubectl.create(&claim).await;
    let node = on_node(move |config| config.facts.workspace_claim = name).await;
    let key = start(&node, "true", |_| {}).await;
    let ended = node.recorder().ended(&key).await;
    let failure = failure(&ended);
    assert_eq!(failure.kind, FailureKind::CouldNotStart, "{ended:?}");
    assert!(
        failure.message.contains("a volume cannot be mounted")
            && failure.message.contains("is not a directory"),
        "{ended:?}"
    );
    kubectl.delete(&claim).await;
    kubectl.delete(&volume).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_waits_with_the_schedulers_words_which_are_kept() {
    let mut node = on_node(|_| {}).await;
    let words = "didn't match Pod's node affinity/selector";
    let nowhere = ("cubeloom.test/nowhere".to_owned(), "true".to_owned());
    let key = start(&node, "true", |job| job.placement.selector = [nowhere].into()).await;
    waits(&node, &key, &[words]).await;
    let told = |notices: Vec<Notice>| notices.iter().any(|notice| notice.message.contains(words));
    let began = Instant::now();
    while !told(node.executor().notices(&key).await) {
        assert!(began.elapsed() < PATIENCE, "while it waits");
        sleep(Duration::from_millis(200)).await;
    }
    node.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(1)).await;
    assert_eq!(node.recorder().ended(&key).await.outcome, Outcome::Cancelled);
    let node = tokio::task::spawn_blocking(move || {
        node.crash();
        node
    })
    .await
    .unwrap();
    assert!(told(node.executor().notices(&key).await), "after its end, by another server");
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_queue_has_no_room_for_is_told_in_a_sentence() {
    let node = on_node(|_| {}).await;
    let key = start(&node, "true", |job| job.roles[0].resources.cpu = Cpu(10_000_000)).await;
    waits(&node, &key, &["Volcano has not admitted it yet"]).await;
    node.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(1)).await;
    assert_eq!(node.recorder().ended(&key).await.outcome, Outcome::Cancelled);
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_needs_goes_with_it_whoever_deletes_it() {
    let node = on_node(|_| {}).await;
    let kubectl = Kubectl::new().await;
    let submission = node.submission(&Program::shell("sleep 100").workers(2));
    let key = submission.job.key.clone();
    node.executor().submit(submission).await;
    node.recorder().started(&key).await;
    let helpers = [("v1", "Secret"), ("v1", "Pod")];
    for (version, kind) in helpers {
        assert!(!of_job(&api(&kubectl, version, kind), &key).await.is_empty(), "it has a {kind}");
    }
    kubectl.delete(&Object::job(&key)).await;
    let ended = node.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Lost, "{ended:?}");
    for (version, kind) in [("v1", "Secret"), ("v1", "ConfigMap"), ("v1", "Service"), ("v1", "Pod")] {
        until_gone(&api(&kubectl, version, kind), &key, kind).await;
    }
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ended_before_a_restart_is_removed_and_what_nobody_has_noted_stays() {
    let mut node = on_node(|config| config.keep = Duration::from_secs(8)).await;
    let kubectl = Kubectl::new().await;
    let jobs = api(&kubectl, "batch.volcano.sh/v1alpha1", "Job");
    let noted = start(&node, "true", |_| {}).await;
    let unnoted = start(&node, "true", |_| {}).await;
    for key in [&noted, &unnoted] {
        assert_eq!(node.recorder().ended(key).await.outcome, Outcome::Succeeded);
    }
    node.executor().release(&noted);
    assert_eq!(of_job(&jobs, &noted).await.len(), 1, "it is kept for a while");
    let node = tokio::task::spawn_blocking(move || {
        node.crash();
        node
    })
    .await
    .unwrap();
    until_gone(&jobs, &noted, "the job that was noted").await;
    assert_eq!(of_job(&jobs, &unnoted).await.len(), 1, "an engine may ask for it");
    node.executor().release(&unnoted);
    until_gone(&jobs, &unnoted, "the other job").await;
}

/// The server's workspace differs from the claim, as for a newcomer who adds a cluster to `cubeloom serve`.
#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_whose_files_the_server_does_not_see_is_said_instead_of_losing_outputs() {
    let apart = tempfile::tempdir().unwrap();
    let path = apart.path().join("workspace");
    let elsewhere = path.clone();
    let node = on_node(move |config| config.workspace = elsewhere).await;
    let single = |job: &mut Job| job.framework = "single".into();
    let with_output = |job: &mut Job| {
        single(job);
        job.outputs = vec!["answer".into()];
    };
    let key = start(&node, "exit 0", single).await;
    let ended = node.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "it gives the server nothing");
    let survey = node.executor().survey("conformance").unwrap().await;
    let files = survey.findings.iter().find(|one| one.subject == Subject::Files).unwrap();
    assert!(!files.found, "{files:?}");
    let key = start(&node, "exit 0", with_output).await;
    let ended = node.recorder().ended(&key).await;
    let message = &failure(&ended).message;
    assert!(message.contains("cannot access the files of the PVC `workspace`"), "{message}");
    assert!(message.contains(&path.display().to_string()), "{message}");
}
