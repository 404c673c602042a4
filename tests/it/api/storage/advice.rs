//! Advice from a cluster's Prometheus about a task's workers: usage, improvements and allocations.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::lowered::{Bindings, KubernetesBindings};
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_testkit::prometheus::Prometheus;
use cubeloom_testkit::recording::{Card, Recording};
use reqwest::Method;
use serde_json::{Value, json};

use super::clusters::AWAY;
use super::monitoring::bound;
use crate::api::runs::help::{document, start, task, until_task};
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};

/// A task on the cluster `far` for two hours, whose GPU waits for its only CPU: its names, and guards that
/// must stay alive.
struct Stage {
    server: Server,
    run: String,
    prometheus: Prometheus,
    over: tempfile::TempDir,
    _folder: tempfile::TempDir,
}

#[expect(clippy::disallowed_methods, reason = "a real Prometheus has the real time")]
fn staged() -> Stage {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let over = tempfile::tempdir().unwrap();
    let wait = format!("while test -e {}; do sleep 0.1; done", over.path().display());
    let line = task("train", &wait, "").replace("cpu: 100m", "cpu: 1");
    let run = start(&owner, &document("holds", &format!("tasks:\n{line}")));
    until_task(&owner, &run, "train", "running");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let mut recording = Recording::until(now + 600.0, 7800.0, 30.0);
    let key = AttemptKey { run: run.parse().unwrap(), task: "train".into(), instance: 0, n: 1 };
    let pod = format!("{}-x7k2p", key.object_name());
    recording.card(&Card { node: "n00", index: 0, pod: Some(&pod), memory: 0.9, xid: 0 }, |_| Some(0.3));
    recording.pod(&pod, "n00", 1.0, 1, 0.97);
    let of_pod = [("namespace", "cubeloom-jobs"), ("pod", pod.as_str()), ("interface", "eth0")];
    recording.series("container_network_receive_bytes_total", &of_pod, |at| Some(at * 2e6));
    // The kubelet does not report I/O wait, but the node does.
    let node = [("instance", "n00:9100"), ("nodename", "n00")];
    recording.series("node_uname_info", &node, |_| Some(1.0));
    recording.series("node_pressure_io_waiting_seconds_total", &node[..1], |at| Some(at * 0.1));
    let folder = tempfile::tempdir().unwrap();
    let prometheus = Prometheus::over(folder.path(), &recording);
    let far =
        json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY, "prometheus": prometheus.url()});
    server.as_(Who::Administrator).post("/clusters", &far).expect(201);
    server.stop();
    let facts = KubernetesFacts::default();
    let bindings = Bindings::Kubernetes(Box::new(KubernetesBindings { cluster: "far".into(), facts }));
    bound(&server, Timestamp((now * 1e6) as i64), &bindings);
    server.run();
    Stage { server, run, prometheus, over, _folder: folder }
}

fn usage(client: &Client, run: &str) -> Value {
    client.get(&format!("/runs/{run}/tasks/train/usage")).expect(200).json()
}

#[test]
fn what_pods_use_and_what_to_change_is_told_by_the_clusters_prometheus() {
    let stage = staged();
    let (owner, run) = (stage.server.as_(Who::Owner), &stage.run);
    let told = usage(&owner, run);
    let worker = &told["workers"][0];
    assert_eq!(
        (&told["live"], &worker["worker"], worker["limits"][0]["cpu"].as_f64()),
        (&json!(true), &json!("worker-0"), Some(1.0)),
        "{told}"
    );
    let lines = worker["lines"].as_array().unwrap();
    let line = |name: &str| {
        lines.iter().find(|line| line["name"] == name).unwrap_or_else(|| panic!("{name}: {told}"))
    };
    let last = |name: &str| line(name)["points"].as_array().unwrap().last().unwrap()[1].as_f64().unwrap();
    for (name, unit, expected) in [
        ("cpu", "cores", 0.97),
        ("memory", "bytes", 512.0 * 1_048_576.0),
        ("network_received", "bytes_per_second", 2e6),
        ("io_wait", "percent", 10.0),
        ("card_use", "percent", 30.0),
        ("card_memory", "bytes", 72.0 * 1_073_741_824.0),
        ("card_power", "watts", 250.0),
    ] {
        assert!((last(name) / expected - 1.0).abs() < 0.03, "{name}: {} is not {expected}", last(name));
        assert_eq!(line(name)["unit"], unit);
        let points = line(name)["points"].as_array().unwrap();
        let long = points.last().unwrap()[0].as_f64().unwrap() - points[0][0].as_f64().unwrap();
        assert!(long > 6500.0, "the whole attempt is told of: {long} s of {name}");
    }
    assert_eq!(worker["card_memory"].as_f64(), Some(80.0 * 1_073_741_824.0));
    assert_eq!(told["missing"], json!(["cpu_wait", "disk"]));

    let found = owner.get(&format!("/runs/{run}/tasks/train/advice")).expect(200).json();
    let advice = found["advice"].as_array().unwrap();
    assert_eq!((advice.len(), &found["workers"]), (1, &json!(1)), "{found}");
    assert_eq!(
        (&advice[0]["rule"], &advice[0]["workers"], &advice[0]["task"], &advice[0]["run"]),
        (&json!("cpu_saturated"), &json!(["worker-0"]), &json!("train"), &json!(run))
    );
    let evidence = advice[0]["evidence"].as_str().unwrap();
    assert!(evidence.contains("30.0 %") && evidence.contains("1.0 of the task's 1.0 CPUs"), "{evidence}");
    assert_eq!(advice[0]["remedies"][1]["setting"], "resources.cpu");
    let asked = owner.request(Method::GET, &format!("/runs/{run}/tasks/train/advice"));
    let chinese = send(asked.header("accept-language", "zh-CN")).expect(200).json();
    assert!(chinese["advice"][0]["evidence"].as_str().unwrap().contains("GPU 在等待 CPU"), "{chinese}");
    stage.server.as_(Who::Stranger).get(&format!("/runs/{run}/tasks/train/advice")).expect(404);

    let holders = owner.get("/holders").expect(200).json();
    let items = holders["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{holders}");
    assert_eq!(
        (&items[0]["cluster"], &items[0]["project"], &items[0]["attempts"], &items[0]["requested"]["gpus"]),
        (&json!("far"), &json!("default"), &json!(1), &json!(1))
    );
    assert_eq!((&items[0]["tasks"][0]["task"], items[0]["user"].is_string()), (&json!("train"), true));
    let hidden = stage.server.as_(Who::Stranger).get("/holders").expect(200).json();
    let hidden = &hidden["items"][0];
    assert_eq!((&hidden["attempts"], &hidden["requested"]["gpus"]), (&json!(1), &json!(1)), "{hidden}");
    for secret in ["project", "user", "tasks"] {
        assert_eq!(hidden.get(secret), None, "{hidden}");
    }
    assert!(owner.get("page:/holders").expect(200).text().contains("id=\"monitoring\""));

    drop(stage.prometheus);
    owner.get(&format!("/runs/{run}/tasks/train/usage")).expect(503);
    stage.over.close().unwrap();
}

/// A mock Prometheus without data that requires these credentials, and the credentials it received.
fn guarded(wanted: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let shown = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&shown);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut login, mut length) = (String::new(), 0);
            for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
                match line.split_once(": ") {
                    Some((name, value)) if name.eq_ignore_ascii_case("authorization") => login = value.into(),
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().unwrap();
                    }
                    _ => {}
                }
            }
            let _ = reader.read_exact(&mut vec![0; length]);
            let (status, body) = if login == wanted {
                ("200 OK", r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#)
            } else {
                ("401 Unauthorized", "no")
            };
            kept.lock().unwrap().push(login);
            let head =
                format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = reader.get_mut().write_all(format!("{head}{body}").as_bytes());
        }
    });
    (url, shown)
}

#[test]
fn a_prometheus_gets_the_token_or_the_password_that_is_kept_for_it_and_nobody_else_sees_it() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    let (url, shown) = guarded("Bearer tops3cret");
    let new = json!({
        "name": "far", "access": "kubeconfig", "kubeconfig": AWAY.replace("tops3cret", "none"), "prometheus": url,
        "prometheus_secret": "tops3cret",
    });
    let made = admin.post("/clusters", &new).expect(201).text();
    let check = || admin.get("/clusters/far/check").expect(200).json()["problems"].to_string();
    let refused = "rejects this one";
    assert!(!check().contains(refused), "{}", check());
    assert_eq!(*shown.lock().unwrap().last().unwrap(), "Bearer tops3cret");
    // Omitted credentials are kept, credentials with a name replace them, and empty ones remove them.
    let mut change = json!({"access": "kubeconfig", "prometheus": url});
    admin.put("/clusters/far", "\"1\"", &change).expect(200);
    assert!(!check().contains(refused), "{}", check());
    // Without new credentials, neither the address nor the user name can change.
    for (field, other) in [("prometheus", "http://127.0.0.1:9"), ("prometheus_user", "ada")] {
        let mut moved = change.clone();
        moved[field] = json!(other);
        let refused = admin.put("/clusters/far", "\"2\"", &moved).expect(422).text();
        assert!(refused.contains("/prometheus_secret"), "{refused}");
    }
    change["prometheus_user"] = json!("ada");
    change["prometheus_secret"] = json!("tops3cret");
    admin.put("/clusters/far", "\"2\"", &change).expect(200);
    assert!(check().contains(refused), "{}", check());
    assert_eq!(*shown.lock().unwrap().last().unwrap(), "Basic YWRhOnRvcHMzY3JldA==");
    let looked = admin.get("/clusters/far/monitoring").expect(200).json();
    assert!(looked["problems"][0].as_str().unwrap().contains(refused), "{looked}");
    let seen = admin.get("/clusters/far/settings").expect(200).text();
    let audit = admin.get("/audit").expect(200).text();
    for text in [made, seen.clone(), audit, server.log()] {
        assert!(!text.contains("tops3cret") && !text.contains("sealed"), "{text}");
    }
    assert!(seen.contains("\"prometheus_user\":\"ada\""), "{seen}");
    change["prometheus_secret"] = json!("");
    admin.put("/clusters/far", "\"3\"", &change).expect(200);
    assert!(check().contains(refused), "{}", check());
    assert_eq!(*shown.lock().unwrap().last().unwrap(), "");
}
