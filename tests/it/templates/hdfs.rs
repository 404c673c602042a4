//! The `hdfs-push` and `hdfs-pull` templates, with a real HDFS. `server/storage` tests HDFS failures with the
//! program itself.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use super::rig::{app, folder, run, shipped};
use crate::api::support::{Server, Who};
use crate::support::{Hdfs, PATIENCE, TestApp, instance, outputs, states};

#[test]
fn what_one_pipeline_pushes_another_pulls() {
    let (hdfs, app) = (Hdfs::start(), app());
    let namenode = format!("namenode={}", hdfs.said["hdfs"].as_str().unwrap());
    let user = format!("user={}", hdfs.said["user"].as_str().unwrap());
    let of_hdfs = ["-p", &*namenode, "-p", &*user];
    let push = shipped("task-templates/hdfs-push/example.yaml");
    let pull = shipped("task-templates/hdfs-pull/example.yaml");
    // No partition has been written yet.
    let nothing = run(&app, 0, &pull, &of_hdfs);
    assert_eq!(outputs(&nothing, "pull")["left_out"].as_array().unwrap().len(), 7);
    let pushed = run(&app, 0, &push, &of_hdfs);
    assert_eq!(states(&pushed), [("write", "succeeded"), ("push", "succeeded")]);
    assert_eq!(outputs(&pushed, "push")["files"], 1, "three small files are one");
    let pulled = run(&app, 0, &pull, &of_hdfs);
    let of_pull = outputs(&pulled, "pull");
    assert_eq!(of_pull["files"], 1);
    assert_eq!(of_pull["left_out"].as_array().unwrap().len(), 6);
    let days = fs::read_dir(folder(&pulled).join("week")).unwrap().map(|entry| entry.unwrap().path());
    let day = days.filter(|path| path.is_dir()).collect::<Vec<_>>().remove(0);
    assert!(day.file_name().unwrap().to_str().unwrap().starts_with("dt=20"), "{day:?}");
    let text = fs::read_to_string(day.join("merged-00000.csv")).unwrap();
    assert_eq!(text, "part,rows\n1,10\n2,20\n3,30\n");
    let counted = app.expect(0, &["logs", "latest", "count", "--worker", "worker-0", "--stdout"]).out;
    assert_eq!(counted.trim().rsplit(' ').next(), Some("4"));
    the_partition_starts_a_run(&hdfs, &app, &push);
    // A user without write permission gets an error.
    let stranger = run(&app, 1, &push, &["-p", &namenode, "-p", "user=stranger"]);
    let failure = instance(&stranger, "push")["state"]["failure"].to_string();
    assert!(failure.contains("access was refused"), "{failure}");
}

/// A schedule waits for the marker of a day's partition, and the push that completes it starts the run.
#[track_caller]
fn the_partition_starts_a_run(hdfs: &Hdfs, app: &TestApp, push: &str) {
    let mut other = TestApp::new();
    other.set("CUBELOOM_SERVER_PRIVATE_ENDPOINTS", "true");
    let server = Server::start_in(other);
    let owner = server.as_(Who::Owner);
    let pipelines = "/projects/default/pipelines";
    let document = json!({
        "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "follows",
        "schedule": {"file": {
            "path": format!("{}/follows/dt=%F/_SUCCESS", hdfs.says("hdfs").trim_end_matches('/')), "every": "1s",
        }},
        "tasks": [{"name": "say", "template": "command", "arguments": {"command": ["echo", "{{ run.date }}"]}}],
    });
    owner.post(pipelines, &json!({"document": document.to_string()})).expect(201);
    let until = |path: &str, holds: fn(&Value) -> bool| {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = owner.get(path).expect(200).json();
            if holds(&found) {
                return found;
            }
            assert!(Instant::now() < deadline, "{path}: {found:#}");
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    };
    let schedule = format!("{pipelines}/follows/schedule");
    let looked = until(&schedule, |found| found["look"]["looked_at"].is_string());
    assert_eq!(looked["look"]["failures"], 0, "{looked}");
    // A UTC day, like the schedule's.
    let today = looked["look"]["looked_at"].as_str().expect("a moment")[..10].to_owned();
    let document = fs::read_to_string(push).expect("the example").replace("/result/dt=", "/follows/dt=");
    app.write("follows/pipeline.yaml", &document);
    let file = app.path("follows/pipeline.yaml").to_string_lossy().into_owned();
    let words = [("namenode", hdfs.says("hdfs")), ("user", hdfs.says("user")), ("date", &*today)];
    let words = words.map(|(name, value)| format!("{name}={value}"));
    run(app, 0, &file, &["-p", &*words[0], "-p", &*words[1], "-p", &*words[2]]);
    let history = until(&format!("{schedule}/history"), |found| found["items"][0]["state"] == "started");
    let date = &history["items"][0];
    assert_eq!(
        (&date["trigger"], date["date"].as_str().map(|at| &at[..10])),
        (&json!("file"), Some(&*today))
    );
}
