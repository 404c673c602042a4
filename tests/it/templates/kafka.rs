//! The `kafka` template, with a real Kafka.
//!
//! One broker serves all parts, because each start costs as much as three runs of workers. So it is one test,
//! with separate topics for each part. It takes 50 CPU seconds including the broker, and two to three
//! minutes, mostly waiting.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::ledger::{wait_for_none, worker_of};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{Kafka, Running, TestApp, instance, outputs, states, wait_for};

/// A broker, and a data folder with its user's password as a secret.
struct Rig {
    broker: Kafka,
    app: TestApp,
}

impl Rig {
    fn new() -> Self {
        let (broker, mut app) = (Kafka::start(), app());
        // A stopped worker may finish its message.
        app.set("CUBELOOM_LOCAL_GRACE", "20s");
        for (name, value) in [
            ("KAFKA_USER", broker.fact("user")),
            ("KAFKA_PASSWORD", broker.fact("password")),
            ("WRONG", "not-the-password"),
        ] {
            app.set(&format!("A_{name}"), value);
            app.set(&format!("CUBELOOM_SECRETS_{name}"), format!("env:A_{name}"));
        }
        Self { broker, app }
    }

    /// Arguments that run the test pipeline on topics of this name.
    fn words(&self, name: &str, parameters: &[&str]) -> Vec<String> {
        let fixed = [format!("servers={}", self.broker.fact("servers")), format!("name={name}")];
        let all = fixed.into_iter().chain(parameters.iter().map(|&each| each.to_owned()));
        all.flat_map(|each| ["-p".to_owned(), each]).collect()
    }

    /// Fills a topic, processes its messages, and checks the result.
    #[track_caller]
    fn work(&self, code: i32, name: &str, parameters: &[&str]) -> Value {
        let words = self.words(name, parameters);
        run(&self.app, code, &job("kafka"), &words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Starts the same, and waits until its run's folder has this file.
    fn start_until(&self, file: &str, name: &str, parameters: &[&str]) -> (Running, PathBuf) {
        let folders = || -> BTreeSet<PathBuf> {
            let runs = fs::read_dir(self.app.data().join("workspace/default/runs"));
            runs.into_iter().flatten().flatten().map(|run| run.path()).collect()
        };
        let before = folders();
        let (words, pipeline) = (self.words(name, parameters), job("kafka"));
        let words: Vec<&str> =
            ["run", &*pipeline].into_iter().chain(words.iter().map(String::as_str)).collect();
        let running = self.app.start(&words);
        let found = || folders().difference(&before).find(|run| run.join(file).exists()).cloned();
        wait_for(file, || found().is_some());
        (running, found().expect("it is there"))
    }

    /// Runs one task with the required arguments and this change. Returns why it failed.
    #[track_caller]
    fn fails(&self, change: Value, secrets: &str) -> String {
        let mut arguments = json!({
            "bootstrap_servers": self.broker.fact("servers"), "topics": ["numbers-shared"], "command": ["true"],
            "workers": 1, "broker_timeout": 3, "group": "failing",
        });
        arguments.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        if arguments["script"].is_string() {
            arguments.as_object_mut().unwrap().remove("command");
        }
        let task = format!(
            "  - name: gang\n    template: kafka\n    arguments: {arguments}\n    secrets: {secrets}\n    resources: {{cpu: 100m, memory: 128Mi}}\n"
        );
        let report = run(&self.app, 1, &self.app.pipeline("failing", &task), &[]);
        instance(&report, "gang")["state"]["failure"].to_string()
    }

    /// Calls a verb of `kafka_ends.py` outside a pipeline of consumers.
    #[track_caller]
    fn ends(&self, verb: &str, name: &str) -> Value {
        let code = fs::read_to_string(shipped("tests/it/templates/jobs/kafka_ends.py")).unwrap();
        self.app.write("ends/ends.py", &code);
        let arguments = json!({
            "script": "ends.py", "args": [verb, self.broker.fact("servers"), name],
            "requirements": ["confluent-kafka==2.16.1"],
        });
        let task = format!("  - name: ends\n    template: python\n    arguments: {arguments}\n");
        let report = run(&self.app, 0, &self.app.pipeline("ends", &task), &[]);
        outputs(&report, "ends").clone()
    }
}

/// The numbers that the workers recorded as done, with repetitions.
fn done(run_dir: &Path) -> Vec<u64> {
    let files = fs::read_dir(run_dir).unwrap().map(|entry| entry.unwrap().path());
    let of_workers = files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("done-"));
    let texts: Vec<String> = of_workers.map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut numbers: Vec<u64> =
        texts.iter().flat_map(|text| text.lines()).map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

fn counts(run: &Value) -> [i64; 5] {
    let report = outputs(run, "gang");
    ["done", "failed", "redelivered", "published", "lag"].map(|name| report[name].as_i64().unwrap())
}

#[track_caller]
fn assert_doubled(run: &Value, numbers: impl Iterator<Item = u64>) {
    let doubles: Vec<u64> = numbers.map(|number| 2 * number).collect();
    assert_eq!(outputs(run, "left")["doubles"], json!(doubles));
}

#[test]
fn kafka_messages_are_processed_by_a_group() {
    let mut rig = Rig::new();
    the_example(&rig);
    three_workers_share_a_topic(&rig);
    a_run_continues_where_the_last_one_ended(&rig);
    partitions_of_a_killed_worker_go_to_the_others(&rig);
    a_message_that_always_fails_is_set_apart(&rig);
    too_many_failures_end_the_task(&rig);
    a_time_ends_it(&rig);
    a_snapshot_leaves_later_messages(&rig);
    a_second_run_takes_over_partitions(&rig);
    a_cancelled_worker_finishes_its_message(&rig);
    what_a_person_has_to_change_is_named(&rig);
    a_password_over_tls(&rig);
    the_group_outlives_its_broker(&mut rig);
}

fn the_example(rig: &Rig) {
    let servers = format!("bootstrap_servers={}", rig.broker.fact("servers"));
    let report = run(&rig.app, 0, &shipped("task-templates/kafka/example.yaml"), &["-p", &servers]);
    assert_eq!(states(&report), [("fill", "succeeded"), ("square", "succeeded"), ("sum", "succeeded")]);
    let text = fs::read_to_string(folder(&report).join("squares.jsonl")).unwrap();
    let squares = text.lines().map(|line| {
        let message: Value = serde_json::from_str(line).unwrap();
        let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
        body["square"].as_u64().unwrap()
    });
    assert_eq!(squares.sum::<u64>(), (0..100).map(|number| number * number).sum::<u64>());
}

fn three_workers_share_a_topic(rig: &Rig) {
    let report = rig.work(0, "shared", &["count=3000", "batch=20", "then=meet"]);
    assert_eq!(counts(&report), [3000, 0, 0, 3000, 0]);
    let workers = outputs(&report, "gang")["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 3);
    assert!(workers.iter().all(|worker| worker["done"].as_u64() > Some(0)), "{workers:?}");
    assert!(done(&folder(&report)).into_iter().eq(0..3000), "each once");
    assert_doubled(&report, 0..3000);
    assert_eq!(outputs(&report, "left")["published"], 3000);
}

fn a_run_continues_where_the_last_one_ended(rig: &Rig) {
    let report = rig.work(0, "shared", &["first=3000", "count=50", "batch=20"]);
    assert_eq!(counts(&report), [50, 0, 0, 50, 0]);
    assert!(done(&folder(&report)).into_iter().eq(3000..3050), "each once, and none of the first run's");
}

fn partitions_of_a_killed_worker_go_to_the_others(rig: &Rig) {
    let (running, run_dir) = rig.start_until("busy", "killed", &["count=200", "then=hold", "attempts=2"]);
    let pid: i32 = fs::read_to_string(run_dir.join("busy")).unwrap().parse().unwrap();
    kill_process(worker_of(&rig.app, &json!({"pid": pid})), Signal::KILL).expect("it can be killed");
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let report = rig.app.latest();
    assert_eq!(counts(&report), [200, 0, 1, 200, 0], "only its one message was begun twice");
    assert_eq!(outputs(&report, "gang")["taken"], 201);
    assert_eq!(instance(&report, "gang")["attempt"], 1, "the others went on");
    assert!(done(&run_dir).into_iter().eq(0..200), "each once");
    assert_doubled(&report, 0..200);
    assert!(wait_for_none(&rig.app).is_empty());
}

fn a_message_that_always_fails_is_set_apart(rig: &Rig) {
    let wrong = [7, 57];
    let report = rig.work(0, "poison", &["count=100", "then=fail", "attempts=2", "tolerate=2", "batch=10"]);
    assert_eq!(counts(&report), [98, 2, 0, 98, 0]);
    assert_doubled(&report, (0..100).filter(|number| !wrong.contains(number)));
    let refused = outputs(&report, "left")["refused"].as_array().unwrap();
    let numbers: BTreeSet<&str> = refused.iter().map(|one| one["body"].as_str().unwrap()).collect();
    assert_eq!(numbers, BTreeSet::from(["7", "57"]));
    let headers = &refused[0]["headers"];
    assert_eq!(headers["number"], refused[0]["body"], "its own headers are kept");
    assert!(headers["x-cubeloom-error"].as_str().unwrap().ends_with("cannot be doubled"), "{headers}");
    assert_eq!(
        (&headers["x-cubeloom-topic"], &headers["x-cubeloom-tries"]),
        (&"numbers-poison".into(), &"2".into())
    );
    let text = fs::read_to_string(folder(&report).join("failures/gang-0.jsonl")).unwrap();
    let noted: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = |one: &Value| (one["partition"].to_string(), one["offset"].to_string());
    let of_headers = |one: &Value| {
        let text = |name: &str| one["headers"][name].as_str().unwrap().to_owned();
        (text("x-cubeloom-partition"), text("x-cubeloom-offset"))
    };
    let both: [BTreeSet<_>; 2] =
        [noted.iter().map(place).collect(), refused.iter().map(of_headers).collect()];
    assert_eq!(both[0], both[1]);
}

fn too_many_failures_end_the_task(rig: &Rig) {
    let report = rig.work(1, "failing", &["count=100", "then=fail", "workers=2"]);
    let failure = instance(&report, "gang")["state"]["failure"].to_string();
    assert!(failure.contains("messages failed, 0 may: message numbers-failing/"), "{failure}");
    assert!(
        failure.contains("failures/gang-0.jsonl") && failure.contains("the topic refused-failing"),
        "{failure}"
    );
}

fn a_time_ends_it(rig: &Rig) {
    let first = rig.work(0, "time", &["count=300", "then=slow", "end=never", "duration=5"]);
    let [before, _, _, _, lag] = counts(&first);
    assert!(before > 0 && lag > 0 && before + lag == 300, "{first}");
    let rest = rig.work(0, "time", &[]);
    assert_eq!(counts(&rest), [lag, 0, 0, lag, 0]);
    let mut all = [done(&folder(&first)), done(&folder(&rest))].concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..300), "each once");
}

fn a_snapshot_leaves_later_messages(rig: &Rig) {
    let report = rig.work(0, "snapshot", &["count=100", "then=more", "end=snapshot"]);
    assert_eq!(counts(&report), [100, 0, 0, 100, 0]);
    assert_doubled(&report, 0..100);
    let rest = rig.work(0, "snapshot", &[]);
    assert!(done(&folder(&rest)).into_iter().eq(100..120), "each once");
}

/// A second worker gets partitions of a running one, and no message is processed twice.
fn a_second_run_takes_over_partitions(rig: &Rig) {
    let (first, alone) = rig.start_until("busy", "moved", &["count=120", "then=slow", "workers=1"]);
    let second = rig.work(0, "moved", &["then=slow", "workers=1"]);
    let ended = first.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let parts = [done(&alone), done(&folder(&second))];
    assert!(parts.iter().all(|part| !part.is_empty()), "{parts:?}");
    let mut all = parts.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..120), "each once");
}

fn a_cancelled_worker_finishes_its_message(rig: &Rig) {
    let parameters = ["count=100", "then=slow", "workers=1", "end=never"];
    let (running, first) = rig.start_until("done-0", "cancelled", &parameters);
    rig.app.expect(0, &["cancel", "latest"]);
    running.wait();
    let rest = rig.work(0, "cancelled", &[]);
    let mut all = [done(&first), done(&folder(&rest))].concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..100), "each once: the message in progress was committed");
}

fn what_a_person_has_to_change_is_named(rig: &Rig) {
    let servers = rig.broker.fact("servers");
    for (change, sentence) in [
        (json!({"topics": ["numbers-unknown"]}), "`topics`: the topic numbers-unknown does not exist"),
        (json!({"rejected": "refused-unknown"}), "`rejected`: the topic refused-unknown does not exist"),
        (
            json!({"output_topic": "doubles-unknown"}),
            "`output_topic`: the topic doubles-unknown does not exist",
        ),
        (json!({"security_protocol": "SASL_PLAINTEXT"}), "needs KAFKA_USER and KAFKA_PASSWORD"),
    ] {
        let message = rig.fails(change, "[]");
        assert!(message.contains(sentence), "{sentence}: {message}");
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let message = rig.fails(json!({"bootstrap_servers": closed.to_string()}), "[]");
    assert!(message.contains("were unreachable for 3 s; check `bootstrap_servers`"), "{message}");
    rig.app.write("failing/broken.py", "import no_such_module\n");
    let message = rig.fails(json!({"script": "broken.py", "group": "broken"}), "[]");
    assert!(message.contains("`script`: broken.py cannot be loaded: ModuleNotFoundError"), "{message}");
    // The broker would create topics on request.
    let topics = rig.ends("topics", "");
    assert!(!topics.to_string().contains("unknown"), "{servers}: {topics}");
}

/// TLS with user and password: right, wrong, and without permission for a topic.
fn a_password_over_tls(rig: &Rig) {
    rig.app.write("failing/ca.pem", rig.broker.fact("ca"));
    rig.ends("close", "closed");
    let secure = |more: Value| {
        let mut all = json!({
            "bootstrap_servers": rig.broker.fact("secure"), "security_protocol": "SASL_SSL", "ca": "ca.pem",
        });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let right = "[kafka-user, kafka-password]";
    let wrong = "[kafka-user, {name: wrong, env: KAFKA_PASSWORD}]";
    let message = rig.fails(secure(json!({})), wrong);
    assert!(message.contains("refused the user"), "{message}");
    let message = rig.fails(secure(json!({"topics": ["closed"]})), right);
    assert!(message.contains("`topics`: the topic closed: the user has no permission"), "{message}");
    let message = rig.fails(secure(json!({"ca": null})), right);
    assert!(message.contains("`ca`: no TLS"), "{message}");
    // It gets as far as running the program for the first message, which fails in the test's own topic.
    let message = rig.fails(secure(json!({"command": ["false"], "group": "secure", "attempts": 1})), right);
    assert!(message.contains("messages failed, 0 may: message numbers-shared/"), "{message}");
}

fn the_group_outlives_its_broker(rig: &mut Rig) {
    let (running, run_dir) = rig.start_until("busy", "outage", &["count=120", "then=slow"]);
    rig.broker.order("kill");
    rig.broker.order("start");
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let numbers: BTreeSet<u64> = done(&run_dir).into_iter().collect();
    assert!(numbers.into_iter().eq(0..120), "each at least once");
    let report = rig.app.latest();
    assert_eq!((counts(&report)[0], counts(&report)[4]), (120, 0));
    assert_doubled(&report, 0..120);
}

#[test]
fn kafka_refuses_wrong_arguments_before_anything_starts() {
    let app = TestApp::new();
    let valid = json!({"bootstrap_servers": "a:9092,b:9092", "topics": ["t"], "command": ["true"]});
    for (change, field) in [
        (json!({"bootstrap_servers": "a"}), "/tasks/0/arguments/bootstrap_servers"),
        (json!({"bootstrap_servers": "me:secret@a:9092"}), "/tasks/0/arguments/bootstrap_servers"),
        (json!({"topics": []}), "/tasks/0/arguments/topics"),
        (json!({"topics": ["a b"]}), "/tasks/0/arguments/topics"),
        (json!({"output_topic": "t"}), "/tasks/0/arguments/output_topic"),
        (json!({"rejected": "t"}), "/tasks/0/arguments/rejected"),
        (json!({"rejected": "o", "output_topic": "o"}), "/tasks/0/arguments/rejected"),
        (json!({"ca": "ca.pem"}), "/tasks/0/arguments/ca"),
        (json!({"until": "tomorrow"}), "/tasks/0/arguments/until"),
        (json!({"end": "idle"}), "/tasks/0/arguments/end"),
        (json!({"attempts": 0}), "/tasks/0/arguments/attempts"),
        (json!({"command": []}), "/tasks/0/arguments"),
    ] {
        let mut arguments = valid.clone();
        arguments.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let text = format!("  - name: work\n    template: kafka\n    arguments: {arguments}\n");
        let refused = app.expect(2, &["run", &app.pipeline("refused", &text)]);
        assert!(refused.out.contains(field), "{field}: {refused:?}");
    }
}
