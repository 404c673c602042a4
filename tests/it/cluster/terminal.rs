//! Terminals on a real node: a pod in place of a worker, and complete cleanup however it ends.

use std::sync::Arc;
use std::time::Duration;

use cubeloom_compiler::lower::lower;
use cubeloom_domain::job::{Job, SecretMount};
use cubeloom_domain::terminal::{Terminal, TerminalOrder, TerminalSize};
use cubeloom_testkit::conformance::{Harness, Program, random};
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::harness::{OnNode, told};
use super::kubectl::{Kubectl, Object};
use super::product::{ended, with_cluster};
use crate::api::runs::terminals::shell::Shell;
use crate::support::TestApp;

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn order(job: Job, rank: u32) -> TerminalOrder {
    TerminalOrder {
        id: format!("{:x}", random()),
        job: Arc::new(job),
        rank,
        size: TerminalSize { columns: 91, rows: 33 },
        greeting: "Hello.".into(),
        lower: Arc::new(lower),
    }
}

/// Types, and reads until a text is shown.
async fn told_by(terminal: &dyn Terminal, typed: &str, text: &str) -> String {
    terminal.write(typed.as_bytes()).await.unwrap();
    let mut shown = String::new();
    while !shown.contains(text) {
        let read = tokio::time::timeout(PATIENCE, terminal.read()).await;
        let read = read.unwrap_or_else(|_| panic!("no {text:?} in {shown:?}")).unwrap();
        assert!(!read.is_empty(), "it has ended: {shown:?}");
        shown.push_str(&String::from_utf8_lossy(&read));
    }
    shown
}

fn api(kubectl: &Kubectl, api_version: &str, kind: &str) -> Api<DynamicObject> {
    let metadata = json!({"name": "any", "namespace": told("CUBELOOM_TEST_NAMESPACE")});
    kubectl.api(&Object::of(json!({"apiVersion": api_version, "kind": kind, "metadata": metadata})))
}

/// The remaining Jobs, pods, Secrets and ConfigMaps of a terminal.
async fn left(kubectl: &Kubectl, id: &str) -> Vec<String> {
    let params = ListParams::default().labels(&format!("cubeloom/terminal={id}"));
    let mut names = Vec::new();
    for (api_version, kind) in [("batch/v1", "Job"), ("v1", "Pod"), ("v1", "Secret"), ("v1", "ConfigMap")] {
        let found = api(kubectl, api_version, kind).list(&params).await.unwrap();
        names.extend(found.items.into_iter().map(|one| format!("{kind} {}", one.metadata.name.unwrap())));
    }
    names
}

async fn nothing_left(kubectl: &Kubectl, id: &str) {
    let began = Instant::now();
    loop {
        let left = left(kubectl, id).await;
        if left.is_empty() {
            return;
        }
        assert!(began.elapsed() < PATIENCE + PATIENCE, "left: {left:?}");
        sleep(Duration::from_millis(300)).await;
    }
}

async fn on_node() -> OnNode {
    tokio::task::spawn_blocking(OnNode::new).await.unwrap()
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_in_a_pod_stands_for_its_worker_and_leaves_nothing() {
    let (node, kubectl) = (on_node().await, Kubectl::new().await);
    let text = "echo made by $CUBELOOM_RANK of $CUBELOOM_WORLD_SIZE, \"$1\"; exit 3";
    let mut job = node.job(&Program::shell(text).workers(2));
    job.roles[0].argv.extend(["sh".into(), "it's $(CUBELOOM_INDEX)".into()]);
    let order = order(job, 1);
    let id = order.id.clone();
    let terminal = node.executor().terminals().unwrap().open(order).await.unwrap();
    let said = told_by(&*terminal, "echo $CUBELOOM_RANK $TERM $(tty) $(stty size)\r", "33 91").await;
    assert!(said.contains("Hello.\r\nagain: ") && said.contains("1 xterm-256color /dev/pts/"), "{said}");
    let said = told_by(&*terminal, "again\r", "[exit code 3]").await;
    assert!(said.contains("made by 1 of 2, it's 1"), "{said}");
    // Its outputs are ignored, and its working folder ends with it.
    told_by(&*terminal, "echo {} >$CUBELOOM_OUTPUTS && touch here && pwd && echo $((6 * 7))\r", "42").await;
    terminal.resize(TerminalSize { columns: 70, rows: 20 }).await.unwrap();
    // The input is echoed, so it must differ from the expected text.
    told_by(&*terminal, "until [ \"$(stty size)\" = '20 7'0 ]; do sleep 1; done; stty size\r", "20 70").await;
    assert!(left(&kubectl, &id).await.len() >= 2);
    terminal.end().await;
    nothing_left(&kubectl, &id).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_in_a_pod_ends_with_the_server() {
    let (mut node, kubectl) = (on_node().await, Kubectl::new().await);
    let order = order(node.job(&Program::shell("exit 3")), 0);
    let id = order.id.clone();
    let terminal = node.executor().terminals().unwrap().open(order).await.unwrap();
    told_by(&*terminal, "(setsid sleep 1000 &); echo $((6 * 7))\r", "42").await;
    let jobs = api(&kubectl, "batch/v1", "Job");
    let lives = async || {
        let job = jobs.get(&format!("cl-terminal-{id}")).await.unwrap();
        job.data["spec"]["activeDeadlineSeconds"].as_u64().unwrap()
    };
    let (began, first) = (Instant::now(), lives().await);
    while lives().await == first {
        assert!(began.elapsed() < PATIENCE, "nobody holds it");
        sleep(Duration::from_millis(300)).await;
    }
    std::mem::forget(terminal);
    let node = tokio::task::spawn_blocking(move || {
        node.crash();
        node
    });
    let _node = node.await.unwrap();
    // No server has the terminal any more.
    nothing_left(&kubectl, &id).await;
}

#[ignore = "needs a cluster with a real node"]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_that_cannot_start_says_why_and_leaves_nothing() {
    let (node, kubectl) = (on_node().await, Kubectl::new().await);
    let mut job = node.job(&Program::shell("exit 3"));
    job.image = Some("Not An Image".into());
    let wanted = order(job, 0);
    let id = wanted.id.clone();
    let refused = node.executor().terminals().unwrap().open(wanted).await.err().unwrap();
    assert!(refused.message.contains("not the name of an image"), "{}", refused.message);
    nothing_left(&kubectl, &id).await;
    let mut job = node.job(&Program::shell("exit 3"));
    job.secrets.push(SecretMount { name: "pw".into(), env: Some("PW".into()), file: None });
    let refused = node.executor().terminals().unwrap().open(order(job, 0)).await.err().unwrap();
    assert!(refused.message.contains("the secret `pw` no longer exists"), "{}", refused.message);
}

#[ignore = "needs a cluster with a real node"]
#[test]
fn the_owner_of_a_failed_task_gets_a_terminal_in_a_pod() {
    let (server, admin, _mounted) = with_cluster(TestApp::new());
    let secret = json!({"name": "pw", "value": "open-sesame-99"});
    admin.post("/projects/default/secrets", &secret).expect(201);
    let document = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: broken\ncluster: node\ntasks:\n  - name: ill\n    \
         template: command\n    resources: {cpu: 50m, memory: 64Mi}\n    secrets: [{name: pw, env: PW}]\n    \
         arguments: {command: [sh, -c, 'echo it broke; exit 3']}\n";
    let started = admin.post("/projects/default/runs", &json!({"document": document})).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap().to_owned();
    assert_eq!(ended(&admin, &run)["state"], "failed");
    let path = format!("/runs/{run}/tasks/ill/instances/0/terminals");
    let terminal: Value = admin.post(&path, &json!({})).expect(201).json();
    let mut shell = Shell::connect(&server, &admin, &terminal);
    assert!(shell.run("again").contains("it broke\r\n[exit code 3]"));
    let said = shell.run("echo is $PW");
    assert!(said.contains("is ***") && !said.contains("sesame"), "{said}");
    let socket = terminal["socket"].as_str().unwrap().trim_start_matches("/api/v1");
    crate::api::support::client::send(admin.request(Method::DELETE, socket)).expect(204);
    assert_eq!(shell.end()["why"], "closed");
}
