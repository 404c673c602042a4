//! The `queue` template, with a real RabbitMQ.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::ledger::{PATIENCE, is_there, wait_for_none, worker_of};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{Amqp, TestApp, instance, outputs, states, wait_within};

/// A data folder with a broker's names and passwords as secrets.
fn app_of(broker: &Amqp) -> TestApp {
    let mut app = app();
    let secrets = [
        ("AMQP_USER", "user"),
        ("AMQP_PASSWORD", "password"),
        ("READER_USER", "reader"),
        ("READER_PASSWORD", "reader_password"),
    ];
    for (name, fact) in secrets {
        app.set(&format!("A_{name}"), broker.fact(fact));
        app.set(&format!("CUBELOOM_SECRETS_{name}"), format!("env:A_{name}"));
    }
    app
}

/// Runs the test pipeline: it fills a queue, processes it, and reads what is left.
#[track_caller]
fn work(app: &TestApp, code: i32, broker: &Amqp, parameters: &[&str]) -> Value {
    run(app, code, &job("queue"), &words(&format!("url={}", broker.fact("url")), parameters))
}

fn words<'a>(url: &'a str, parameters: &[&'a str]) -> Vec<&'a str> {
    std::iter::once(url).chain(parameters.iter().copied()).flat_map(|each| ["-p", each]).collect()
}

/// The numbers that the workers recorded as done, without repetitions.
fn done(run_dir: &Path) -> BTreeSet<u64> {
    let files = fs::read_dir(run_dir)
        .expect("as the template writes it")
        .map(|entry| entry.expect("as the template writes it").path());
    let of_workers = files.filter(|path| {
        path.file_name()
            .expect("as the template writes it")
            .to_str()
            .expect("as the template writes it")
            .starts_with("done-")
    });
    let texts: Vec<String> =
        of_workers.map(|path| fs::read_to_string(path).expect("as the template writes it")).collect();
    texts
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| line.parse().expect("as the template writes it"))
        .collect()
}

fn up_to(end: u64) -> BTreeSet<u64> {
    (0..end).collect()
}

/// The output queue has the double of each of these numbers.
#[track_caller]
fn assert_doubled(run: &Value, numbers: impl Iterator<Item = u64>) {
    let doubles: Vec<u64> = numbers.map(|number| 2 * number).collect();
    assert_eq!(outputs(run, "left")["doubles"], json!(doubles));
}

fn failure(run: &Value) -> String {
    instance(run, "gang")["state"]["failure"].to_string()
}

#[test]
fn queue_messages_are_shared_and_each_is_done() {
    let broker = Amqp::start();
    let app = app_of(&broker);
    let url = format!("url={}", broker.fact("url"));
    let of_example = run(&app, 0, &shipped("task-templates/queue/example.yaml"), &["-p", &*url]);
    assert_eq!(states(&of_example), [("fill", "succeeded"), ("square", "succeeded"), ("sum", "succeeded")]);
    let text = fs::read_to_string(folder(&of_example).join("squares.jsonl")).unwrap();
    let squares = text.lines().map(|line| {
        let message: Value = serde_json::from_str(line).unwrap();
        let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
        body["square"].as_u64().unwrap()
    });
    assert_eq!(squares.sum::<u64>(), (0..100).map(|number| number * number).sum::<u64>());

    let shared = work(&app, 0, &broker, &["then=slow", "prefetch=5"]);
    let told = outputs(&shared, "gang");
    let counts =
        |told: &Value| ["taken", "done", "failed", "published"].map(|name| told[name].as_u64().unwrap());
    assert_eq!(counts(told), [200, 200, 0, 200]);
    let workers = told["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 3);
    assert!(workers.iter().all(|worker| worker["done"].as_u64() > Some(0)), "{told}");
    assert_eq!(workers.iter().map(|worker| worker["done"].as_u64().unwrap()).sum::<u64>(), 200);
    assert_eq!(done(&folder(&shared)), up_to(200));
    assert_doubled(&shared, 0..200);
    assert_eq!(outputs(&shared, "left")["ready"], 0);

    // At most the requested number is processed; the rest stays in the queue.
    let few = work(&app, 0, &broker, &["count=30", "max_messages=10", "prefetch=5"]);
    assert_eq!(counts(outputs(&few, "gang")), [10, 10, 0, 10]);
    assert_eq!(outputs(&few, "left")["ready"], 20);
}

#[test]
fn queue_message_of_a_worker_that_is_killed_is_done_by_another() {
    let broker = Amqp::start();
    let app = app_of(&broker);
    let (pipeline, url) = (job("queue"), format!("url={}", broker.fact("url")));
    let running = app.start(&[&["run", &pipeline], &*words(&url, &["then=hold", "attempts=2"])].concat());
    wait_within(PATIENCE, "a worker to hold a message", || is_there(&app.data(), "runs", "busy"));
    let run_dir = folder(&app.latest());
    let pid: i32 = fs::read_to_string(run_dir.join("busy")).unwrap().parse().unwrap();
    kill_process(worker_of(&app, &json!({"pid": pid})), Signal::KILL).expect("it can be killed");
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run = app.latest();
    let told = outputs(&run, "gang");
    assert_eq!((&told["taken"], &told["done"]), (&201.into(), &200.into()), "{told}");
    assert_eq!((&told["redelivered"], &told["failed"]), (&1.into(), &0.into()), "{told}");
    assert_eq!(instance(&run, "gang")["attempt"], 1, "the others went on");
    assert_eq!(done(&run_dir), up_to(200));
    assert_doubled(&run, 0..200);

    // A message that kills its worker each time does not kill all workers.
    let run = work(&app, 0, &broker, &["then=end-worker", "count=30", "attempts=2", "tolerate=1"]);
    let told = outputs(&run, "gang");
    assert_eq!((&told["done"], &told["failed"]), (&29.into(), &1.into()), "{told}");
    let text = fs::read_to_string(folder(&run).join(told["failures"].as_str().unwrap())).unwrap();
    let failed: Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!((&failed["id"], &failed["body"]), (&"m-5".into(), &"5".into()), "{failed}");
    assert_eq!(failed["error"], "2 workers ended in the middle of it");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
fn queue_messages_that_fail_are_kept_and_counted() {
    let broker = Amqp::start();
    let app = app_of(&broker);
    let wrong = [7, 57, 107, 157];
    // Tolerated failures go to a separate queue.
    let run = work(&app, 0, &broker, &["then=fail", "attempts=2", "tolerate=4", "rejected=refused"]);
    let told = outputs(&run, "gang");
    assert_eq!((&told["done"], &told["failed"]), (&196.into(), &4.into()), "{told}");
    assert_doubled(&run, (0..200).filter(|number| !wrong.contains(number)));
    let refused = outputs(&run, "left")["refused"].as_array().unwrap();
    let numbers: BTreeSet<u64> =
        refused.iter().map(|one| one["headers"]["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, BTreeSet::from(wrong));
    let headers = &refused[0]["headers"];
    assert!(headers["x-cubeloom-error"].as_str().unwrap().ends_with("cannot be doubled"), "{headers}");
    assert_eq!(headers["x-cubeloom-tries"], 2);
    let text = fs::read_to_string(folder(&run).join("failures/gang-0.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 4, "{text}");

    // Not tolerated: the task ends, and unprocessed messages are left alone.
    let run = work(&app, 1, &broker, &["then=fail"]);
    let message = failure(&run);
    assert!(message.contains("messages failed, 0 may: message m-"), "{message}");
    assert!(message.contains("failures/gang-0.jsonl"), "{message}");
    let text = fs::read_to_string(folder(&run).join("failures/gang-0.jsonl")).unwrap();
    let failed = u64::try_from(text.lines().count()).unwrap();
    assert!((1..=3).contains(&failed), "{text}");
    let ready = outputs(&run, "left")["ready"].as_u64().unwrap();
    let finished = u64::try_from(done(&folder(&run)).len()).unwrap();
    assert!(ready > 0 && ready + finished + failed >= 200, "{ready} ready, {finished} done, {failed} failed");

    // A process that exits by itself fails only its message.
    let parameters = ["then=end-process", "count=60", "attempts=2", "tolerate=2"];
    let run = work(&app, 0, &broker, &parameters);
    let told = outputs(&run, "gang");
    assert_eq!((&told["done"], &told["failed"]), (&58.into(), &2.into()), "{told}");
}

#[test]
fn queue_says_why_it_cannot_begin_and_takes_nothing() {
    let mut broker = Amqp::start();
    let mut app = app_of(&broker);
    let three = |app: &TestApp, broker: &Amqp, parameters: &[&str], sentence: &str| {
        let run = work(app, 1, broker, &[&["count=3"], parameters].concat());
        let message = failure(&run);
        assert!(message.contains(sentence), "{sentence}: {message}");
        assert_eq!(outputs(&run, "left")["ready"], 3, "{sentence}");
    };
    three(&app, &broker, &["queue=nothing"], "`queue`: NOT_FOUND - no queue 'nothing'");
    three(&app, &broker, &["rejected=nothing"], "`rejected`: NOT_FOUND - no queue 'nothing'");
    let full = "`output_queue`: the queue full took no message for 2 s; is it full?";
    three(&app, &broker, &["output=full", "broker_timeout=2"], full);
    // The broker of this task only; the tasks around it use the real one.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = format!("address={}/closed", broker.fact("url"));
    three(&app, &broker, &[&*closed], "does not allow it");
    let address = format!("address=amqp://{nobody}");
    three(&app, &broker, &[&*address, "broker_timeout=2"], "was away for 2 s");
    app.set("A_READER_PASSWORD", "not-the-password");
    three(&app, &broker, &[], "refused the user");

    // A broker that accepts connections but never responds: the queue is filled while it still does.
    app.set("A_READER_PASSWORD", broker.fact("reader_password"));
    let tasks = format!(
        "  - name: gang\n    template: queue\n    arguments: {}\n    secrets: [amqp-user, amqp-password]\n",
        json!({"url": broker.fact("url"), "queue": "numbers", "command": ["true"], "broker_timeout": 5})
    );
    let silent = app.pipeline("silent", &tasks);
    broker.order("freeze");
    let told = run(&app, 1, &silent, &[]);
    broker.order("thaw");
    assert!(failure(&told).contains("was away for 5 s"), "{told}");
}

#[test]
fn queue_outlives_its_broker() {
    let mut broker = Amqp::start();
    let app = app_of(&broker);
    let (pipeline, url) = (job("queue"), format!("url={}", broker.fact("url")));
    let running = app.start(&[&["run", &pipeline], &*words(&url, &["then=slow", "count=150"])].concat());
    wait_within(PATIENCE, "the workers to work", || is_there(&app.data(), "runs", "busy"));
    broker.order("stop");
    broker.order("start");
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let run = app.latest();
    let told = outputs(&run, "gang");
    assert!(told["done"].as_u64() >= Some(150) && told["failed"] == 0, "{told}");
    assert!(told["redelivered"].as_u64() > Some(0), "{told}");
    assert_doubled(&run, 0..150);
    assert_eq!(outputs(&run, "left")["ready"], 0);
    let said = app.expect(0, &["logs", "latest", "gang", "--worker", "worker-0", "--stdout"]).out;
    assert!(said.contains("; again in "), "{said}");
}

#[test]
fn queue_refuses_wrong_arguments_before_anything_starts() {
    let app = TestApp::new();
    let valid = json!({"url": "amqp://a", "queue": "q", "command": ["true"]});
    for (change, field) in [
        (json!({"url": "amqp://me:secret@a"}), "/tasks/0/arguments/url"),
        (json!({"url": "http://a"}), "/tasks/0/arguments/url"),
        (json!({"queue": ""}), "/tasks/0/arguments/queue"),
        (json!({"batch": 10, "prefetch": 5}), "/tasks/0/arguments/prefetch"),
        (json!({"output_queue": "q"}), "/tasks/0/arguments/output_queue"),
        (json!({"rejected": "q"}), "/tasks/0/arguments/rejected"),
        (json!({"attempts": 0}), "/tasks/0/arguments/attempts"),
        (json!({"command": []}), "/tasks/0/arguments"),
    ] {
        let mut arguments = valid.clone();
        arguments.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let text = format!("  - name: work\n    template: queue\n    arguments: {arguments}\n");
        let refused = app.expect(2, &["run", &app.pipeline("refused", &text)]);
        assert!(refused.out.contains(field), "{field}: {refused:?}");
    }
}
