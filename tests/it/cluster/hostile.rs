//! Attacks by `alice` on a Kubernetes cluster against `bob`, whose jobs run in the same namespace with files
//! in the same claim. She uses forbidden requests in documents, links from her workspace into his, and a
//! program in her own pod.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use kube::api::{DynamicObject, ListParams};
use serde_json::{Value, json};

use super::harness::told;
use super::kubectl::{Kubectl, Object};
use super::product::{Mounted, add, mount, until};
use crate::api::support::{Client, Who};
use crate::hostile::programs::{attacker_with, judge_program};
use crate::hostile::{Line, Scene, judge, log, run_on};
use crate::support::{TestApp, processes};

const CLUSTER: Option<&str> = Some("node");
const IMAGE: &str = "ghcr.io/cubeloom/command:1.0.0";

/// A server whose projects `alice` and `bob` share the claim, and the folder of all workspaces.
fn scene() -> (Scene, PathBuf, Mounted) {
    let app = TestApp::new();
    let mounted = mount(&app);
    let scene = Scene::in_(app);
    add(&scene.server);
    let all = scene.server.data().join("workspace");
    (scene, all, mounted)
}

/// Waits for a run to end. Returns its state. The node may be busy.
fn ended(client: &Client, run: &str) -> String {
    super::product::ended(client, run)["state"].as_str().unwrap().to_owned()
}

/// Requests small enough for the node.
fn small(task: &Value) -> Value {
    let mut one = json!({"resources": {"cpu": "50m", "memory": "64Mi"}});
    one.as_object_mut().unwrap().extend(task.as_object().unwrap().clone());
    one
}

/// The failure messages of a run's tasks.
fn failure(scene: &Scene, run: &str) -> String {
    let tasks = scene.alice.get(&format!("/runs/{run}/tasks")).expect(200).json();
    let all = tasks["items"].as_array().unwrap().iter().map(|task| task["failure"]["message"].to_string());
    all.collect::<Vec<_>>().join(" ")
}

/// The document is refused, or its run fails before a worker starts.
fn kept_out(scene: &Scene, what: &str, task: &Value) -> Line {
    let mut one = json!({"name": "one", "template": "command", "arguments": {"command": ["true"]}});
    one.as_object_mut().unwrap().extend(small(task).as_object().unwrap().clone());
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "attack", "cluster": "node", "tasks": [one],
    });
    let answer = scene.alice.post("/projects/alice/runs", &json!({"document": document.to_string()}));
    let by = match answer.status {
        422 => Ok(answer.json()["problems"][0].to_string()),
        201 => {
            let run = answer.json()["run"]["id"].as_str().unwrap().to_owned();
            match ended(&scene.alice, &run).as_str() {
                "failed" if log(&scene.alice, &run).is_empty() => Ok(failure(scene, &run)),
                state => Err(format!("{state}: {}", log(&scene.alice, &run))),
            }
        }
        status => Err(format!("{status} {}", answer.text())),
    };
    (what.into(), by)
}

#[ignore = "needs a cluster with a real node"]
#[test]
fn a_document_asks_in_vain_for_what_a_pod_must_not_have() {
    let (scene, _all, _mounted) = scene();
    let mut lines = Vec::new();
    let line = "x\n    privileged: true";
    for (what, task) in [
        ("the node's network", json!({"placement": {"host_network": true}})),
        ("another service account", json!({"service_account": "cubeloom-spark"})),
        ("another service account, as pods have it", json!({"serviceAccountName": "cubeloom-spark"})),
        ("a token of the service account", json!({"automountServiceAccountToken": true})),
        ("all privileges", json!({"privileged": true})),
        ("a security context", json!({"securityContext": {"privileged": true, "runAsUser": 0}})),
        ("another uid", json!({"uid": 0})),
        ("capabilities", json!({"capabilities": ["SYS_ADMIN"]})),
        ("the node's processes", json!({"hostPID": true})),
        ("the namespace of others", json!({"namespace": "kube-system"})),
        ("labels", json!({"labels": {"cubeloom/run": "x"}})),
        ("annotations", json!({"annotations": {"scheduling.volcano.sh/queue-name": "root"}})),
        ("an init container", json!({"initContainers": [{"name": "i", "image": IMAGE}]})),
        ("a sidecar", json!({"containers": [{"name": "i", "image": IMAGE}]})),
        ("a folder of the node", json!({"volumes": [{"name": "root", "hostPath": {"path": "/"}}]})),
        ("a folder of the node by its path", json!({"volumes": ["/etc"]})),
        ("a volume by a way back", json!({"volumes": ["../bob"]})),
        ("a part of a volume", json!({"volumes": [{"name": "workspace", "subPath": "../bob"}]})),
        ("a volume that is not there", json!({"volumes": ["bob"]})),
        (
            "a mount over its own files by a relative path",
            json!({"volumes": [{"name": "workspace", "mount": "../etc"}]}),
        ),
        ("a secret of bob's", json!({"secrets": ["key"]})),
        ("a secret by a way back", json!({"secrets": [{"name": "key", "file": "../../etc/passwd"}]})),
        ("a Secret of the namespace", json!({"secrets": [{"name": "cl-one-0123456789", "env": "A"}]})),
        ("the variable of the job's folder", json!({"env": {"CUBELOOM_WORKSPACE": "/cubeloom"}})),
        ("a variable that is two", json!({"env": {"A=B": "x"}})),
        (
            "to tolerate what is no effect",
            json!({"placement": {"tolerations": [{"key": "a", "effect": "Everything"}]}}),
        ),
        ("to tolerate what is no key", json!({"placement": {"tolerations": [{"key": line}]}})),
        ("a selector with a line end", json!({"placement": {"selector": {"disk": line}}})),
        ("a name with a line end", json!({"name": line})),
        ("an amount with a line end", json!({"resources": {"cpu": line, "memory": "64Mi"}})),
        ("a resource of its own", json!({"resources": {"hugepages-2Mi": "1Gi"}})),
        (
            "an image with a line end",
            json!({"template": "container", "arguments": {"command": ["true"], "image": line}}),
        ),
        (
            "an image of a folder",
            json!({"template": "container", "arguments": {"command": ["true"], "image": "../../bob/image"}}),
        ),
        (
            "an image of a file",
            json!({"template": "container", "arguments": {"command": ["true"], "image": "file:///etc/shadow"}}),
        ),
        (
            "an image that is an option",
            json!({"template": "container", "arguments": {"command": ["true"], "image": "--privileged"}}),
        ),
    ] {
        lines.push(kept_out(&scene, what, &task));
    }
    let ada = scene.server.as_(Who::Administrator);
    ada.put("/projects/alice/members/alice", "*", &json!({"role": "owner"})).expect(200);
    for (what, place, status) in [
        ("another project's claim", json!({"kind": "claim", "cluster": "node", "claim": "bob"}), 403),
        ("a claim of a cluster to come", json!({"kind": "claim", "cluster": "later", "claim": "bob"}), 403),
        ("a folder of the server's machine", json!({"kind": "folder", "path": "/etc"}), 403),
        ("bob's folder of the claim", json!({"kind": "workspace", "path": "../bob"}), 422),
    ] {
        let answer = scene.alice.post("/projects/alice/volumes", &json!({"name": "mine", "place": place}));
        let by = if answer.status == status {
            Ok(answer.text())
        } else {
            Err(format!("{} {}", answer.status, answer.text()))
        };
        lines.push((format!("make a volume of {what}"), by));
    }
    judge(&lines, 38);
}

/// The parts of a pod that only the server decides.
fn of_pod(pod: &DynamicObject, lines: &mut Vec<Line>) {
    let spec = &pod.data["spec"];
    let container = &spec["containers"][0];
    let hold = |what: &str, holds: bool, seen: &Value| {
        (
            format!("a pod with {what}"),
            if holds { Ok(format!("it has {seen}")) } else { Err(seen.to_string()) },
        )
    };
    let account = &spec["serviceAccountName"];
    lines.push(hold(
        "rights",
        account == "cubeloom-worker" && spec["automountServiceAccountToken"] == false,
        account,
    ));
    let own = ["hostNetwork", "hostPID", "hostIPC"].map(|name| spec[name] == true);
    lines.push(hold("the node's namespaces", own == [false; 3], &json!(own)));
    let security = &spec["securityContext"];
    let confined = security["runAsNonRoot"] == true && security["seccompProfile"]["type"] == "RuntimeDefault";
    lines.push(hold("root's uid", confined, security));
    let security = &container["securityContext"];
    let confined =
        security["allowPrivilegeEscalation"] == false && security["capabilities"]["drop"] == json!(["ALL"]);
    lines.push(hold("privileges", confined && security["privileged"] != true, security));
    let volumes = spec["volumes"].as_array().unwrap();
    lines.push(hold(
        "a folder of the node",
        volumes.iter().all(|one| one["hostPath"].is_null()),
        &spec["volumes"],
    ));
    let mounts = container["volumeMounts"].as_array().unwrap();
    // The empty folder of its own name shows the server that both mount the same claim.
    let shown = format!(".seen/{}", pod.metadata.name.as_deref().unwrap());
    let is_hers = |mount: &Value| {
        mount["name"] != "workspace"
            || mount["subPath"] == "alice"
            || (mount["readOnly"] == true && mount["subPath"] == shown.as_str())
    };
    lines.push(hold("a folder of another project", mounts.iter().all(is_hers), &container["volumeMounts"]));
    let labels = json!(pod.metadata.labels).to_string() + &json!(pod.metadata.annotations).to_string();
    lines.push(hold("words of hers in its labels", !labels.contains("alice-was-here"), &json!(labels.len())));
}

/// Links from her workspace to his, wherever her pod, the kubelet or the server might follow one.
#[ignore = "needs a cluster with a real node"]
#[test]
fn no_link_leads_to_the_workspace_of_another_project() {
    let (scene, all, _mounted) = scene();
    fs::create_dir_all(all.join("bob")).unwrap();
    fs::write(all.join("bob/notes"), "the notes of bob\n").unwrap();
    let volume = json!({"name": "sets", "place": {"kind": "workspace", "path": "sets"}});
    let ada = scene.server.as_(Who::Administrator);
    ada.post("/projects/alice/volumes", &volume).expect(201);
    let mut lines = Vec::new();
    // A first run creates her workspace and the links for all later ones.
    let links =
        "cd $CUBELOOM_WORKSPACE && ln -sfn ../bob sets && ln -sfn ../../bob runs/bob && ln -sfn .. up && ls";
    let first = run_on(
        CLUSTER,
        &scene.alice,
        "alice",
        &["sh", "-c", links],
        &small(&json!({"description": "alice-was-here"})),
    );
    until("the pod of alice", || pods(&first).iter().any(|pod| pod.data["spec"]["nodeName"].is_string()));
    pods(&first).iter().for_each(|pod| of_pod(pod, &mut lines));
    assert_eq!(ended(&scene.alice, &first), "succeeded", "{}", failure(&scene, &first));
    let read = "cat $CUBELOOM_VOLUME_SETS/notes $CUBELOOM_WORKSPACE/sets/notes $CUBELOOM_WORKSPACE/runs/bob/notes \
                $CUBELOOM_WORKSPACE/up/bob/notes; ls -la $CUBELOOM_VOLUME_SETS/";
    for (what, more) in [
        ("a volume whose folder is a link", json!({"volumes": ["sets"]})),
        ("links in the workspace", json!({})),
    ] {
        let run = run_on(CLUSTER, &scene.alice, "alice", &["sh", "-c", read], &small(&more));
        let state = ended(&scene.alice, &run);
        let said = log(&scene.alice, &run);
        let by = if said.contains("the notes of bob") {
            Err(said)
        } else {
            Ok(format!("{state}: {said}{}", failure(&scene, &run)))
        };
        lines.push((format!("read the notes of bob by {what}"), by));
    }
    // The folders of a later task, which an earlier task of the run replaces with links.
    let plant = "set -e; cd $CUBELOOM_RUN_DIR; mkdir -p .checkpoints/later .attempts/later/0; \
                 ln -sfn ../../../../../bob .checkpoints/later/0; ln -sfn ../../../../../../bob .attempts/later/0/1; echo planted";
    let steal = "cat $CUBELOOM_CHECKPOINT_DIR/notes; cat ${CUBELOOM_OUTPUTS%/*}/../notes; echo x >$CUBELOOM_CHECKPOINT_DIR/new; true";
    let task = |name: &str, needs: Value, line: &str| {
        let mut task = small(
            &json!({"name": name, "template": "command", "arguments": {"command": ["sh", "-c", line]}}),
        );
        task["needs"] = needs;
        task
    };
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "attack", "cluster": "node",
        "tasks": [task("plants", json!([]), plant), task("later", json!(["plants"]), steal)],
    });
    let started = scene
        .alice
        .post("/projects/alice/runs", &json!({"document": document.to_string()}))
        .expect(201)
        .json();
    let run = started["run"]["id"].as_str().unwrap().to_owned();
    let state = ended(&scene.alice, &run);
    let logs = scene.alice.get(&format!("/runs/{run}/logs/text?task=later"));
    let told = failure(&scene, &run);
    let taken = logs.text().contains("the notes of bob") || state != "failed" || !told.contains("workspace");
    let by = if taken { Err(format!("{state}: {told} {}", logs.text())) } else { Ok(told) };
    lines.push(("put links in the place of a later task's folders".into(), by));
    // The server reads a worker's outputs on its own machine.
    let secret = scene.server.path("secret");
    fs::write(&secret, "{\"output\": {\"stolen\": \"the-secret-of-bob\"}}\n").unwrap();
    for to in [secret.to_str().unwrap(), "../../../../../../../../bob/report"] {
        fs::write(all.join("bob/report"), "{\"output\": {\"stolen\": \"the-secret-of-bob\"}}\n").unwrap();
        let line = format!("ln -s {to} $CUBELOOM_OUTPUTS");
        let run = run_on(CLUSTER, &scene.alice, "alice", &["sh", "-c", &line], &small(&json!({})));
        let state = ended(&scene.alice, &run);
        let outputs = scene.alice.get(&format!("/runs/{run}/outputs")).expect(200).text();
        let by = if outputs.contains("stolen") {
            Err(outputs)
        } else {
            Ok(format!("{state}, nothing was read: {outputs}"))
        };
        lines.push((format!("report what a link leads to: {to}"), by));
    }
    judge(&lines, 12);
    // Other tests of this file leave bob's own files there.
    let mut left: Vec<_> =
        fs::read_dir(all.join("bob")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.retain(|name| !["facts.json", "notes", "over", "report", "runs"].contains(&name.to_str().unwrap()));
    assert!(left.is_empty(), "alice has put there: {left:?}");
}

fn pods(run: &str) -> Vec<DynamicObject> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let kubectl = Kubectl::new().await;
        let metadata = json!({"name": "any", "namespace": told("CUBELOOM_TEST_NAMESPACE")});
        let any = Object::of(json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata}));
        let its = ListParams::default().labels(&format!("cubeloom/run={run}"));
        kubectl.api(&any).list(&its).await.unwrap().items
    })
}

/// The API server's address as seen from pods, which on a real cluster all pods can reach.
fn api_for_pods() -> String {
    let kubeconfig = fs::read_to_string(told("KUBECONFIG")).unwrap();
    let server = kubeconfig.split("https://").nth(1).unwrap();
    let server: String =
        server.chars().take_while(|c| c.is_ascii_alphanumeric() || ".:".contains(*c)).collect();
    let listener = TcpListener::bind((told("CUBELOOM_TEST_GATEWAY"), 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for there in listener.incoming().flatten() {
            let Ok(here) = TcpStream::connect(&server) else { continue };
            for (mut from, mut to) in [(there.try_clone(), here.try_clone()), (Ok(here), Ok(there))]
                .into_iter()
                .filter_map(|(from, to)| Some((from.ok()?, to.ok()?)))
            {
                thread::spawn(move || std::io::copy(&mut from, &mut to));
            }
        }
    });
    address
}

#[ignore = "needs a cluster with a real node"]
#[test]
fn a_program_in_a_pod_cannot_reach_beyond_its_project() {
    let (scene, all, _mounted) = scene();
    let secrets = json!({"secrets": [{"name": "key", "env": "BOBS_KEY"}, {"name": "key", "file": "key"}]});
    let line = "echo the notes of bob >$CUBELOOM_WORKSPACE/notes; until [ -e $CUBELOOM_WORKSPACE/over ]; do sleep 1; done; \
                cat $CUBELOOM_WORKSPACE/notes";
    let victim = run_on(CLUSTER, &scene.bob, "bob", &["sh", "-c", line], &small(&secrets));
    let storage = all.join("bob");
    until("bob is ready", || storage.join("notes").exists());
    let pid = || processes::with(&format!("CUBELOOM_RUN={victim}")).into_iter().next();
    until("bob's process on the node", || pid().is_some());
    let bob = pods(&victim).remove(0);
    let job = bob.metadata.labels.as_ref().unwrap()["cubeloom/job"].clone();
    let facts = json!({
        // The pid on the node: in another pod the same number is another process.
        "pid": pid().unwrap(),
        "uid": 10_000,
        "work": "/cubeloom/bob/work",
        "storage": "/cubeloom/bob",
        "run": format!("/cubeloom/bob/runs/{victim}"),
        "outputs": format!("/cubeloom/bob/runs/{victim}/.attempts/one/0/1/worker-0/outputs.jsonl"),
        "shared": Value::Null,
        "data": scene.server.data(),
        "server": scene.server.pid(),
        "url": scene.server.url(),
        "walls": ["privileges"],
        "api": api_for_pods(),
        "namespace": told("CUBELOOM_TEST_NAMESPACE"),
        "secret": job,
        "pod": bob.metadata.name,
    });
    let program = attacker_with(include_str!("../../hostile/pod.py"));
    let attacker = run_on(
        CLUSTER,
        &scene.alice,
        "alice",
        &["python3", "-c", &program, &facts.to_string()],
        &small(&json!({})),
    );
    let state = ended(&scene.alice, &attacker);
    judge_program(&log(&scene.alice, &attacker), 120);
    assert_eq!(state, "succeeded");
    assert!(!Path::new(&all.join("bob/new")).exists());
    fs::write(storage.join("over"), "").unwrap();
    assert_eq!(ended(&scene.bob, &victim), "succeeded");
    assert!(log(&scene.bob, &victim).contains("the notes of bob"));
}
