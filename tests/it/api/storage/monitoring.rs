//! Monitoring of nodes and GPUs: of this machine, and of a cluster whose Prometheus has exporter metrics.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::record::{AttemptRecord, Changes};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_store::Lease;
use cubeloom_testkit::prometheus::Prometheus;
use cubeloom_testkit::recording::{Card, Recording};
use serde_json::{Value, json};

use super::clusters::AWAY;
use crate::api::alerts;
use crate::api::identity::help::with_store;
use crate::api::runs::help::{document, start, task, until, until_task};
use crate::api::support::{Client, Server, Who};
use crate::support::wait_within;

#[test]
fn this_machine_is_measured_and_other_projects_are_sums() {
    let server = Server::start();
    let (editor, stranger) = (server.as_(Who::Editor), server.as_(Who::Stranger));
    let run = start(&editor, &document("holds", &format!("tasks:\n{}", task("hold", "sleep 60", ""))));
    until_task(&editor, &run, "hold", "running");
    let seen = editor.get("/clusters/local/monitoring").expect(200).json();
    assert_eq!(
        (&seen["source"], &seen["nodes"], &seen["problems"]),
        (&json!("machine"), &json!(1), &json!([]))
    );
    assert_eq!((&seen["cpu"]["capacity"], &seen["cpu"]["requested"]), (&json!(8.0), &json!(0.1)));
    assert!(seen["memory"]["used"].as_f64().unwrap() > 0.0, "{seen}");
    assert_eq!((&seen["projects"][0]["attempts"], seen.get("others")), (&json!(1), None));
    let hidden = stranger.get("/clusters/local/monitoring").expect(200).json();
    assert_eq!((&hidden["projects"], &hidden["others"]["attempts"]), (&json!([]), &json!(1)));
    assert_eq!(hidden["others"].get("project"), None);
    let nodes = stranger.get("/clusters/local/nodes").expect(200).json();
    assert_eq!((&nodes["items"][0]["name"], nodes["items"].as_array().unwrap().len()), (&json!("local"), 1));
    editor.get("/clusters/local/gpus/GPU-none").expect(404).problem("not-found");
    editor.get("/clusters/nowhere/nodes").expect(404).problem("not-found");
    editor.get("page:/clusters/nowhere").expect(404);
    editor.get("page:/clusters/local/gpus/GPU-none").expect(404);
    let fault = "/clusters/local/gpus/GPU-none/fault";
    editor.delete(fault, "").expect(403).problem("forbidden");
    let said = server.as_(Who::Administrator).delete(fault, "").expect(404).problem("not-found");
    assert!(said.to_string().contains("faulty GPU"), "{said}");
    editor.post(&format!("/runs/{run}/cancel"), &json!({}));
    until(&editor, &run, "cancelled");
}

/// A recording of twenty minutes: nodes from `n00` on with a GPU each. On the first node, one GPU is
/// allocated and idle, one unhealthy, one free and one missing.
#[expect(clippy::disallowed_methods, reason = "a real Prometheus has the real time")]
fn recorded(nodes: usize) -> Recording {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let mut recording = Recording::until(now + 600.0, 1800.0, 60.0);
    let card = |index, pod, xid| Card { node: "n00", index, pod, memory: 0.5, xid };
    recording.node("n00", 2, 8.0, 4, 0.5);
    recording.card(&card(0, Some("notebook-0"), 0), |_| Some(0.0));
    recording.card(&card(1, None, 79), |_| Some(0.0));
    recording.card(&card(2, None, 0), |_| Some(0.0));
    recording.card(&card(3, None, 0), |at| (at < 600.0).then_some(0.0));
    for node in 1..nodes {
        let name = format!("n{node:02}");
        recording.card(&Card { node: &name, index: 0, pod: None, memory: 0.0, xid: 0 }, |_| Some(0.0));
    }
    recording
}

/// A mock Prometheus without data that takes `each` per query, and the number of collections started.
fn slow(each: Duration) -> (String, Arc<AtomicUsize>) {
    pretended(each, None)
}

/// The same, with a clock that is `ahead` seconds ahead, if given.
fn pretended(each: Duration, ahead: Option<f64>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&looks);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                let mut request = [0; 8192];
                let mut read = 0;
                while !String::from_utf8_lossy(&request[..read]).contains("query=") {
                    match stream.read(&mut request[read..]) {
                        Ok(more) if more > 0 => read += more,
                        _ => return,
                    }
                }
                // A collection starts with the time query.
                let is_clock = String::from_utf8_lossy(&request[..read]).ends_with("query=time%28%29");
                if is_clock {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
                thread::sleep(each);
                let data = match ahead.filter(|_| is_clock) {
                    Some(ahead) => json!({"resultType": "scalar", "result": [0, clock(ahead).to_string()]}),
                    None => json!({"resultType": "vector", "result": []}),
                };
                let body = json!({"status": "success", "data": data}).to_string();
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length:";
                let _ = write!(stream, "{head} {}\r\n\r\n{body}", body.len());
            });
        }
    });
    (url, looks)
}

/// The machine's time plus `ahead` seconds, in seconds since the epoch.
#[expect(clippy::disallowed_methods, reason = "the server has the real time")]
fn clock(ahead: f64) -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() + ahead
}

#[test]
fn clocks_that_are_apart_are_told_of() {
    let server = Server::start();
    let (admin, viewer) = (server.as_(Who::Administrator), server.as_(Who::Viewer));
    for (name, ahead, told) in [("early", 3600.0, "60 min ahead of"), ("late", -7600.0, "2 h behind")] {
        let (url, _) = pretended(Duration::ZERO, Some(ahead));
        let far = json!({"name": name, "access": "kubeconfig", "kubeconfig": AWAY, "prometheus": url});
        admin.post("/clusters", &far).expect(201);
        let seen = viewer.get(&format!("/clusters/{name}/monitoring")).expect(200).json();
        let sentence = format!("Prometheus' clock is {told} this server's: values are shown at its moments");
        assert_eq!((&seen["source"], &seen["problems"]), (&json!("prometheus"), &json!([sentence])));
    }
}

#[test]
fn a_look_that_takes_longer_than_it_is_good_for_is_shared() {
    let server = Server::start();
    let (admin, viewer) = (server.as_(Who::Administrator), server.as_(Who::Viewer));
    let (url, looks) = slow(Duration::from_millis(2800));
    let far = json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY, "prometheus": url});
    admin.post("/clusters", &far).expect(201);
    let began = Instant::now();
    let pages: Vec<_> = (0..4)
        .map(|_| {
            let viewer = viewer.clone();
            thread::spawn(move || viewer.get("/clusters/far/monitoring").expect(200).json())
        })
        .collect();
    for page in pages {
        assert_eq!(page.join().unwrap()["source"], "prometheus");
    }
    assert!(began.elapsed() > Duration::from_secs(10), "the test wants a look that takes longer");
    assert_eq!(looks.load(Ordering::SeqCst), 1);
}

#[test]
fn what_was_found_a_moment_ago_is_shown_while_it_is_looked_anew() {
    let server = Server::start();
    let (admin, viewer) = (server.as_(Who::Administrator), server.as_(Who::Viewer));
    let (url, looks) = slow(Duration::from_millis(600));
    let far = json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY, "prometheus": url});
    admin.post("/clusters", &far).expect(201);
    // Even the first viewer need not wait.
    wait_within(Duration::from_secs(10), "a look that nobody asked for", || {
        looks.load(Ordering::SeqCst) == 1
    });
    let at = || viewer.get("/clusters/far/monitoring").expect(200).json()["at"].clone();
    let old = at();
    // A result is fresh for ten seconds. A later request starts a new collection without waiting for it.
    wait_within(Duration::from_secs(30), "an answer while it is looked", || {
        let looks_again = looks.load(Ordering::SeqCst) == 2;
        at() == old && looks_again
    });
    wait_within(Duration::from_secs(30), "what is found anew", || at() != old);
    // Collection goes on without requests, so that a returning viewer need not wait.
    let before = looks.load(Ordering::SeqCst);
    wait_within(Duration::from_secs(60), "a look without a viewer", || looks.load(Ordering::SeqCst) > before);
    // After a change of settings, no old result is shown.
    let changed = json!({"access": "kubeconfig", "prometheus": "http://127.0.0.1:9"});
    admin.put("/clusters/far", "\"1\"", &changed).expect(200);
    assert_eq!(viewer.get("/clusters/far/monitoring").expect(200).json()["source"], "none");
}

/// Makes a run's attempts look remote: other servers lead it, and its tasks have run on a cluster for two
/// hours, each with a GPU.
fn moved(server: &Server, now: Timestamp) {
    bound(server, now, &Bindings::None);
}

/// The same, bound to a cluster.
pub(super) fn bound(server: &Server, now: Timestamp, bindings: &Bindings) {
    with_store(server, async |store| {
        let led = store.acquire("other", now, Duration::from_secs(3600), 10).await.unwrap();
        assert_eq!(led.len(), 1);
        let attempts = store.holding().await.unwrap().into_iter().map(|held| AttemptRecord {
            bindings: bindings.clone(),
            state: AttemptState::Running { started_at: now.minus(Duration::from_secs(7200)) },
            amount: Amount { gpus: 1, ..held.attempt.amount },
            ..held.attempt
        });
        let changes = Changes { attempts: attempts.collect(), ..Changes::default() };
        store.commit(&Lease { owner: "other".into() }, &changes).await.unwrap();
    });
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a real Prometheus has the real time")]
fn a_task_that_does_not_use_its_card_is_told_of_and_a_busy_one_is_not() {
    let server = alerts::server(&[]);
    let owner = server.as_(Who::Owner);
    let over = tempfile::tempdir().unwrap();
    let wait = format!("while test -e {}; do sleep 0.1; done", over.path().display());
    let tasks = ["idle", "busy"].map(|name| task(name, &wait, "")).concat();
    let run = start(&owner, &document("holds", &format!("tasks:\n{tasks}")));
    for name in ["idle", "busy"] {
        until_task(&owner, &run, name, "running");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    let mut recording = Recording::until(now + 600.0, 4200.0, 30.0);
    for (index, (name, usage)) in (0..).zip([("idle", 0.0), ("busy", 0.9)]) {
        let key = AttemptKey { run: run.parse().unwrap(), task: name.into(), instance: 0, n: 1 };
        let pod = format!("{}-worker-0", key.object_name());
        let card = Card { node: "n00", index, pod: Some(&pod), memory: 0.9, xid: 0 };
        // Both were busy until three quarters of an hour ago.
        recording.card(&card, |at| Some(if at < 900.0 { 0.9 } else { usage }));
    }
    let folder = tempfile::tempdir().unwrap();
    let prometheus = Prometheus::over(folder.path(), &recording);
    let far =
        json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY, "prometheus": prometheus.url()});
    server.as_(Who::Administrator).post("/clusters", &far).expect(201);
    let (url, heard) = alerts::receiver(alerts::FINE);
    let channel =
        json!({"name": "ops", "kind": "webhook", "address": url, "rules": {"events": ["gpu_idle"]}});
    owner.post("/projects/default/alerts", &channel).expect(201);
    server.stop();
    moved(&server, Timestamp((now * 1e6) as i64));
    server.run();
    wait_within(Duration::from_secs(90), "the idle GPU to be told of", || !heard.lock().unwrap().is_empty());
    let told = heard.lock().unwrap().clone();
    let body: Value = serde_json::from_str(&told[0].1).unwrap();
    let alert = &body["alerts"][0];
    assert_eq!((told.len(), body["alerts"].as_array().unwrap().len()), (1, 1), "{body}");
    assert_eq!(
        (&alert["kind"], &alert["task"], &alert["run"]),
        (&json!("gpu_idle"), &json!("idle"), &json!(run))
    );
    assert!(alert["url"].as_str().unwrap().ends_with(&format!("/runs/{run}/tasks/idle")), "{body}");
    let text = body["text"].as_str().unwrap();
    assert!(text.contains("of its 1 GPUs, 1 were hardly used for 30 minutes"), "{text}");
    assert!(body["title"].as_str().unwrap().contains("has not used its GPUs for 45 min"), "{body}");
    let owner = server.as_(Who::Owner);
    let list = owner.get("/projects/default/alert-deliveries").expect(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    is_sampled(&owner);
    // Their processes, which no server leads any more, end by themselves.
    over.close().unwrap();
}

/// The same two GPUs in the samples that the server takes by itself, with their tasks.
fn is_sampled(owner: &Client) {
    let last = |view: &Value, of: &str| view[of].as_array().unwrap().iter().rev().find_map(Value::as_f64);
    let history = |query: &str| owner.get(&format!("/clusters/far/gpu-history{query}")).expect(200).json();
    // The lease of a server that was killed expires after 90 seconds.
    wait_within(Duration::from_secs(170), "a sample of the GPUs", || last(&history(""), "total").is_some());
    let seen = history("");
    for (name, value) in
        [("total", 2.0), ("allocated", 2.0), ("measured", 2.0), ("used", 0.9), ("power", 680.0)]
    {
        assert_eq!(last(&seen, name), Some(value), "{name}: {seen}");
    }
    let models = history("?by=model");
    assert_eq!(models["groups"][0]["model"], "NVIDIA H100 80GB HBM3");
    let idle = owner.get("/idle-gpus?by=task&cluster=far").expect(200).json();
    let tasks: Vec<_> = idle["groups"].as_array().unwrap().iter().map(|group| &group["task"]).collect();
    assert_eq!(tasks, ["idle", "busy"], "{idle}");
    let hours = |at: usize, of: &str| idle["groups"][at][of].as_f64().unwrap();
    assert_eq!(hours(0, "idle_gpu_hours"), hours(0, "gpu_hours"));
    assert!(hours(1, "idle_gpu_hours") < hours(1, "gpu_hours") * 0.11, "{idle}");
}

#[test]
fn a_cluster_is_shown_as_its_prometheus_tells_and_also_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let prometheus = Prometheus::over(folder.path(), &recorded(30));
    let server = Server::start();
    let (admin, viewer) = (server.as_(Who::Administrator), server.as_(Who::Viewer));
    let far = json!({
        "name": "far", "access": "kubeconfig", "kubeconfig": AWAY,
        "prometheus": prometheus.url(), "grafana": "https://grafana.example.org/d/1",
    });
    let made = admin.post("/clusters", &far).expect(201).json();
    assert_eq!((&made["prometheus"], &made["revision"]), (&json!(prometheus.url()), &json!(1)));

    let seen = viewer.get("/clusters/far/monitoring").expect(200).json();
    assert_eq!(
        (&seen["source"], &seen["nodes"], &seen["grafana"]),
        (&json!("prometheus"), &json!(30), &far["grafana"])
    );
    let expected = json!({"away": 1, "busy": 0, "faulty": 1, "fragment": 1, "free": 29, "idle": 1});
    assert_eq!(seen["cards"], expected);
    let problems = seen["problems"].as_array().unwrap();
    assert!(problems.len() == 1 && problems[0].as_str().unwrap().contains("1, on `n00` (1)"), "{problems:?}");

    let first = viewer.get("/clusters/far/nodes?limit=20").expect(200).json();
    let cursor = first["next_cursor"].as_str().expect("a second page");
    let second = viewer.get(&format!("/clusters/far/nodes?limit=20&cursor={cursor}")).expect(200).json();
    let names = |page: &Value| {
        let items = page["items"].as_array().unwrap();
        items.iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let all = [names(&first), names(&second)].concat();
    assert_eq!(all, (0..30).map(|node| format!("n{node:02}")).collect::<Vec<_>>());
    let cards = first["items"][0]["cards"].as_array().unwrap();
    let states: Vec<_> = cards.iter().map(|card| card["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["idle", "faulty", "fragment", "away"]);
    assert_eq!(
        (&cards[0]["others"], cards[0].get("holders"), &cards[1]["xid"]),
        (&json!(1), None, &json!(79))
    );

    let card = viewer.get("/clusters/far/gpus/GPU-n00-0").expect(200).json();
    assert_eq!(
        (&card["node"], &card["state"], &card["history"]["step"]),
        (&json!("n00"), &json!("idle"), &json!(30.0))
    );
    let series = card["history"]["series"].as_array().unwrap();
    let of: Vec<_> = series.iter().map(|one| one["of"].as_str().unwrap()).collect();
    assert_eq!(of, ["usage", "memory", "temperature", "power", "node_cpu"]);
    assert_eq!(card["advice"], json!([]), "whoever holds it is nobody's task here");
    for page in ["", "/nodes", "/gpus/GPU-n00-0"] {
        assert!(viewer.get(&format!("page:/clusters/far{page}")).expect(200).text().contains("far"));
    }

    let check = admin.get("/clusters/far/check").expect(200).json();
    let found = check["exporters"].as_array().unwrap().iter().map(|one| one["found"].as_bool().unwrap());
    assert_eq!(found.collect::<Vec<_>>(), [true, false, false, true, true, false], "{check}");

    drop(prometheus);
    // A new revision of the settings starts a new collection.
    let change = json!({"access": "kubeconfig", "prometheus": far["prometheus"]});
    admin.put("/clusters/far", "\"1\"", &change).expect(200);
    let away = viewer.get("/clusters/far/monitoring").expect(200).json();
    assert_eq!((&away["source"], &away["nodes"]), (&json!("none"), &json!(0)));
    assert!(away["problems"][0].as_str().unwrap().starts_with("Prometheus is unreachable"), "{away}");
    viewer.get("/clusters/far/nodes").expect(200);
    viewer.get("/clusters/far/gpus/GPU-n00-0").expect(404);
    viewer.get("page:/clusters/far/gpus/GPU-n00-0").expect(200);
    let check = admin.get("/clusters/far/check").expect(200).json();
    assert!(check["problems"].to_string().contains("Prometheus is unreachable"), "{check}");
}
