//! The API server is unreachable, overloaded, or rejects the credentials, or another client changes the same
//! objects. No job is lost or started twice, and the cluster's page shows the problem.

use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::{Event, StopCause};
use cubeloom_domain::outcome::{FailureKind, Outcome};
use cubeloom_testkit::conformance::{Harness, Program, executions, failure, signed};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::harness::{OnNode, told};
use super::kubectl::{Kubectl, Object};
use super::proxy::{Proxy, Weather};

/// How long a change may take to be noticed.
const PATIENCE: Duration = Duration::from_secs(60);

/// An executor behind a proxy.
async fn behind() -> (OnNode, Proxy) {
    let proxy = Proxy::start(&std::fs::read_to_string(told("KUBECONFIG")).unwrap()).await;
    let kubeconfig = proxy.kubeconfig();
    let node = tokio::task::spawn_blocking(move || OnNode::by(kubeconfig)).await.unwrap();
    (node, proxy)
}

/// Waits until the cluster's state is accepted by `wanted`.
async fn stands(node: &OnNode, wanted: impl Fn(&Standing) -> bool) -> Standing {
    let look = async {
        loop {
            let standing = node.standing();
            if wanted(&standing) {
                return standing;
            }
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, look).await.unwrap_or_else(|_| panic!("it stands as {:?}", node.standing()))
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let look = async {
        while !holds() {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, look).await.unwrap_or_else(|_| panic!("not in time: {what}"));
}

async fn start(node: &OnNode, text: &str) -> AttemptKey {
    let submission = node.submission(&Program::shell(&signed(text)));
    let key = submission.job.key.clone();
    node.executor().submit(submission).await;
    key
}

/// Asserts that it succeeded, and ran once.
async fn is_well(node: &OnNode, key: &AttemptKey) {
    let ended = node.recorder().ended(key).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{ended:?}");
    assert_eq!(executions(node, key), 1);
    assert_eq!(node.recorder().ends(key), 1);
}

/// How long the API server is unreachable: these seconds, or `CUBELOOM_TEST_AWAY`.
#[allow(clippy::disallowed_methods, reason = "given by hand")]
fn absence(seconds: u64) -> Duration {
    let told = std::env::var("CUBELOOM_TEST_AWAY").ok().and_then(|told| told.parse().ok());
    Duration::from_secs(told.unwrap_or(seconds))
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_while_the_server_is_away_is_told_afterwards() {
    let (node, proxy) = behind().await;
    let before = start(&node, "sleep 4").await;
    node.recorder().started(&before).await;
    proxy.becomes(Weather::Away);
    let away = stands(&node, |standing| matches!(standing, Standing::Away { .. })).await;
    let Standing::Away { why, .. } = away else { unreachable!() };
    assert!(!why.is_empty());
    // Submitted during the outage: it is pending with that reason.
    let meanwhile = start(&node, "true").await;
    let preparing = |event: &Event| match event {
        Event::Preparing(note) => Some(note.clone()),
        _ => None,
    };
    let note = node.recorder().first(&meanwhile, "why it waits", preparing).await;
    assert!(note.contains("did not accept it; retrying"), "{note}");
    sleep(absence(10)).await;
    assert_eq!(node.recorder().ends(&before), 0, "nobody can know that it ended");
    proxy.becomes(Weather::Fine);
    is_well(&node, &before).await;
    is_well(&node, &meanwhile).await;
    stands(&node, |standing| *standing == Standing::Connected).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_whole_although_the_server_was_away() {
    let (node, proxy) = behind().await;
    let text = "for n in $(seq 1 16); do echo line $n; sleep 1; done";
    let key = start(&node, text).await;
    node.recorder().started(&key).await;
    until("it is followed while it comes", || !node.log(&key, "worker-0").is_empty()).await;
    proxy.becomes(Weather::Away);
    // Longer than the server retries a log that the cluster says it does not have.
    sleep(absence(8)).await;
    proxy.becomes(Weather::Fine);
    is_well(&node, &key).await;
    let lines: String = (1..=16).map(|n| format!("line {n}\n")).collect();
    assert_eq!(node.log(&key, "worker-0"), lines);
}

/// With watches refused this way, ends and deletions are noticed by a new list.
async fn is_listed_anew(weather: Weather) {
    let (node, proxy) = behind().await;
    let keys = [start(&node, "sleep 3").await, start(&node, "sleep 8").await];
    let deleted = start(&node, "sleep 100").await;
    node.recorder().started(&keys[1]).await;
    node.recorder().started(&deleted).await;
    let before = proxy.listed();
    proxy.becomes(weather);
    Kubectl::new().await.delete(&Object::job(&deleted)).await;
    let ended = node.recorder().ended(&deleted).await;
    assert_eq!(failure(&ended).kind, FailureKind::Lost, "{ended:?}");
    assert!(proxy.refused() > 0 && proxy.listed() > before);
    proxy.becomes(Weather::Fine);
    for key in keys {
        is_well(&node, &key).await;
    }
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_is_told_that_it_is_too_old_begins_anew() {
    is_listed_anew(Weather::Old).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_is_refused_as_too_old_begins_anew() {
    is_listed_anew(Weather::Gone).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_overloaded_server_gets_every_job_once() {
    let (node, proxy) = behind().await;
    proxy.becomes(Weather::Busy);
    let mut keys = Vec::new();
    for _ in 0..12 {
        keys.push(start(&node, "true").await);
    }
    for key in &keys {
        is_well(&node, key).await;
    }
    assert!(proxy.refused() > 0);
    proxy.becomes(Weather::Fine);
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_whose_answer_was_lost_is_not_started_again() {
    let (node, proxy) = behind().await;
    proxy.becomes(Weather::Lost);
    let key = start(&node, "sleep 1").await;
    let asked_again = |event: &Event| matches!(event, Event::Preparing(_)).then_some(());
    node.recorder().first(&key, "that it is asked again", asked_again).await;
    proxy.becomes(Weather::Fine);
    is_well(&node, &key).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credentials_that_are_no_longer_known_are_said_and_cost_nothing() {
    let (node, proxy) = behind().await;
    let key = start(&node, "sleep 3").await;
    node.recorder().started(&key).await;
    proxy.becomes(Weather::Strangers);
    stands(&node, |standing| matches!(standing, Standing::Refused { .. })).await;
    let meanwhile = start(&node, "true").await;
    until("the first ends meanwhile", || executions(&node, &key) == 1 && node.alive(&key) == 0).await;
    proxy.becomes(Weather::Fine);
    is_well(&node, &key).await;
    is_well(&node, &meanwhile).await;
}

/// Dropped packets do not break a connection: only a request reveals it.
#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_api_server_that_hangs_is_away_and_nothing_is_lost() {
    let (node, proxy) = behind().await;
    let key = start(&node, "sleep 4").await;
    node.recorder().started(&key).await;
    proxy.becomes(Weather::Hangs);
    let away = stands(&node, |standing| matches!(standing, Standing::Away { .. })).await;
    let Standing::Away { why, .. } = away else { unreachable!() };
    assert!(why.contains("no response within"), "{why}");
    until("it ends meanwhile", || executions(&node, &key) == 1 && node.alive(&key) == 0).await;
    proxy.becomes(Weather::Fine);
    stands(&node, |standing| matches!(standing, Standing::Connected)).await;
    is_well(&node, &key).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_somebody_else_deletes_is_lost_and_told_once() {
    let node = tokio::task::spawn_blocking(OnNode::new).await.unwrap();
    let kubectl = Kubectl::new().await;
    // The manifest of the job: its pods are deleted with it.
    let key = start(&node, "trap 'exit 0' TERM; sleep 60 & wait").await;
    node.recorder().started(&key).await;
    kubectl.delete(&Object::job(&key)).await;
    let ended = node.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Lost, "{ended:?}");
    assert!(failure(&ended).message.contains("another user deleted it from the cluster"), "{ended:?}");
    assert_eq!((executions(&node, &key), node.alive(&key)), (1, 0));
    // Only its pod.
    let key = start(&node, "sleep 60").await;
    node.recorder().started(&key).await;
    kubectl.delete(&Object::pod_of(&kubectl, &key).await).await;
    let ended = node.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::Lost, "it is tried again: {ended:?}");
    assert!(failure(&ended).message.contains("another user deleted the pod"), "{ended:?}");
    assert_eq!((executions(&node, &key), node.alive(&key)), (1, 0));
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_that_does_not_answer_is_waited_for() {
    let node = tokio::task::spawn_blocking(OnNode::new).await.unwrap();
    let kubectl = Kubectl::new().await;
    // It accepts connections, but never responds.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let submission = node.submission(&Program::shell(&signed("true")));
    let key = submission.job.key.clone();
    let hook = Object::of(webhook(&key, silent.local_addr().unwrap().port()));
    kubectl.create(&hook).await;
    node.executor().submit(submission).await;
    let note = |event: &Event| match event {
        Event::Preparing(note) if note.contains("webhook") => Some(note.clone()),
        _ => None,
    };
    let note = node.recorder().first(&key, "what it waits for", note).await;
    assert!(note.contains("did not accept it; retrying"), "{note}");
    // The data of the cluster's check page has it, too.
    let survey = node.executor().survey("default").expect("it can be asked").await;
    let refusals = survey.refusals.expect("it did not do what was asked");
    assert!(refusals.why.contains("webhook"), "{refusals:?}");
    assert_eq!(executions(&node, &key), 0);
    kubectl.delete(&hook).await;
    is_well(&node, &key).await;
}

/// A webhook on a silent server for one run's jobs.
fn webhook(key: &AttemptKey, port: u16) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": format!("silent-{}", key.run).to_lowercase()},
        "webhooks": [{
            "name": "silent.cubeloom.test",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 1,
            "failurePolicy": "Fail",
            "clientConfig": {"url": format!("https://127.0.0.1:{port}/")},
            "objectSelector": {"matchLabels": {"cubeloom/run": key.run.to_string()}},
            "rules": [{
                "apiGroups": ["batch.volcano.sh"], "apiVersions": ["v1alpha1"], "resources": ["jobs"],
                "operations": ["CREATE"],
            }],
        }],
    })
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_that_is_being_deleted_takes_nothing_and_says_why() {
    let kubectl = Kubectl::new().await;
    let name = format!("leaving-{:x}", cubeloom_testkit::conformance::random());
    // A finalizer keeps its contents until it is removed.
    let held = Object::of(json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "held", "namespace": name, "finalizers": ["cubeloom.test/held"]},
    }));
    let namespace = Object::of(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    kubectl.create(&namespace).await;
    kubectl.create(&held).await;
    kubectl.delete(&namespace).await;
    let there = name.clone();
    let node = tokio::task::spawn_blocking(move || OnNode::with(|config| config.facts.namespace = there))
        .await
        .unwrap();
    let key = start(&node, "true").await;
    let ended = node.recorder().ended(&key).await;
    assert_eq!(failure(&ended).kind, FailureKind::CouldNotStart, "{ended:?}");
    assert!(failure(&ended).message.contains("namespace is being deleted"), "{ended:?}");
    kubectl.merge(&held, &json!({"metadata": {"finalizers": null}})).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_is_heeded_once_the_server_is_back() {
    let (node, proxy) = behind().await;
    let key = start(&node, "sleep 100").await;
    node.recorder().started(&key).await;
    proxy.becomes(Weather::Away);
    stands(&node, |standing| matches!(standing, Standing::Away { .. })).await;
    node.executor().cancel(&key, StopCause::Cancelled, Duration::from_secs(1)).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(node.recorder().ends(&key), 0, "its pod runs on");
    assert!(node.alive(&key) > 0);
    proxy.becomes(Weather::Fine);
    let ended = node.recorder().ended(&key).await;
    assert_eq!(ended.outcome, Outcome::Cancelled);
    assert_eq!(node.alive(&key), 0);
}
