//! Event-triggered runs: after another pipeline's run, and on file arrival. Each starts once, even if the
//! server is killed in between.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::support::client::send;
use super::support::{Client, Server, Who};
use crate::support::{S3, TestApp};

const PIPELINES: &str = "/projects/default/pipelines";
const SAYS: &str =
    "tasks: [{name: say, template: command, arguments: {command: [echo, \"{{ run.date }}\"]}}]";

fn document(name: &str, schedule: &str, tasks: &str) -> Value {
    let schedule = if schedule.is_empty() { String::new() } else { format!("schedule: {{{schedule}}}\n") };
    json!({"document": format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\n{schedule}{tasks}\n")})
}

fn create(client: &Client, name: &str, schedule: &str) {
    client.post(PIPELINES, &document(name, schedule, SAYS)).expect(201);
}

#[track_caller]
fn until(client: &Client, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = client.get(path).expect(200).json();
        if holds(&found) {
            return found;
        }
        assert!(Instant::now() < deadline, "{path}: {found:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn history(name: &str) -> String {
    format!("{PIPELINES}/{name}/schedule/history?limit=200")
}

fn states(found: &Value) -> Vec<&str> {
    found["items"].as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap()).collect()
}

fn run_for(client: &Client, name: &str, date: &str) -> String {
    let path = format!("{PIPELINES}/{name}/schedule/dates");
    client.post(&path, &json!({"date": date})).expect(201).json()["run"]["id"].as_str().unwrap().into()
}

#[test]
fn the_end_of_a_run_starts_one_of_the_same_date_and_a_circle_is_refused() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    create(&editor, "clean", "");
    create(&editor, "train", "after: {pipeline: clean}, late_after: 1h");
    let broken = "tasks: [{name: t, template: command, arguments: {command: [\"false\"]}}]";
    editor.post(PIPELINES, &document("broken", "", broken)).expect(201);
    create(&editor, "report", "after: {pipeline: broken}");
    create(&editor, "mourn", "after: {pipeline: broken, state: failed}");
    // The scheduler knows them once they have been read.
    editor.get(&format!("{PIPELINES}/train/schedule")).expect(200);
    editor.get(&format!("{PIPELINES}/mourn/schedule")).expect(200);

    let first = run_for(&editor, "clean", "2026-01-31");
    let found = until(&editor, &history("train"), |found| states(found) == ["started"]);
    let date = &found["items"][0];
    assert_eq!(
        (&date["date"], &date["trigger"]),
        (&json!("2026-01-31T00:00:00.000000Z"), &json!("pipeline"))
    );
    assert_eq!(date["after_run"], first.as_str());
    let run = editor.get(&format!("/runs/{}", date["run"].as_str().unwrap())).expect(200).json();
    assert_eq!((&run["user"], &run["trigger"]), (&json!("emil"), &json!("pipeline")));
    assert_eq!(run["logical_date"], date["date"]);
    assert!(run["late_at"].as_str() > Some("2026-02-01"), "it counts from when the other has ended: {run}");

    run_for(&editor, "broken", "2026-01-30");
    let found = until(&editor, &history("mourn"), |found| states(found) == ["started"]);
    assert_eq!(found["items"][0]["date"], "2026-01-30T00:00:00.000000Z");
    assert!(states(&editor.get(&history("report")).expect(200).json()).is_empty(), "it has not succeeded");

    // After a kill and restart, nothing starts twice, and new ends are noticed.
    server.kill();
    server.run();
    let editor = server.as_(Who::Editor);
    run_for(&editor, "clean", "2026-02-01");
    let found = until(&editor, &history("train"), |found| states(found) == ["started", "started"]);
    assert_eq!(found["items"].as_array().unwrap().len(), 2);

    // A cycle would never end.
    let etag = editor.get(&format!("{PIPELINES}/clean")).expect(200).etag();
    let back = document("clean", "after: {pipeline: train}", SAYS);
    let refused = editor.put(&format!("{PIPELINES}/clean"), &etag, &back).expect(422).json();
    assert_eq!(refused["problems"][0]["path"], "/schedule/after/pipeline", "{refused}");
    assert!(refused["problems"][0]["message"].as_str().unwrap().contains("endlessly"), "{refused}");
    let own = document("own", "after: {pipeline: own}", SAYS);
    let refused = editor.post(PIPELINES, &own).expect(422).json();
    assert_eq!(refused["problems"][0]["path"], "/schedule/after/pipeline", "{refused}");

    // A hidden project is reported like a missing one. A pipeline that does not exist yet is only a warning.
    let alien = editor.post(PIPELINES, &document("alien", "after: {pipeline: x, project: secret}", SAYS));
    let alien = alien.expect(201).json();
    assert!(alien["problems"].as_array().unwrap().iter().any(|one| one["path"] == "/schedule/after/project"));
    let early =
        editor.post(PIPELINES, &document("early", "after: {pipeline: tomorrow}", SAYS)).expect(201).json();
    assert!(early["problems"].to_string().contains("has no pipeline `tomorrow` yet"), "{early}");

    // The schedule has no dates of its own, and can be paused.
    let range = format!("{PIPELINES}/train/schedule/dates?first=2026-01-01&last=2026-01-02");
    assert!(editor.get(&range).expect(409).text().contains("has no dates"));
    editor.post(&format!("{PIPELINES}/train/schedule/pause"), &json!({})).expect(200);
    run_for(&editor, "clean", "2026-02-02");
    let clean = "/projects/default/runs?pipeline=clean&limit=50";
    until(&editor, clean, |found| {
        found["items"].as_array().unwrap().iter().all(|run| run["state"] == "succeeded")
    });
    let resumed = editor.post(&format!("{PIPELINES}/train/schedule/resume"), &json!({})).expect(200).json();
    assert_eq!((&resumed["active"], &resumed["next"]), (&json!(true), &json!([])));
    run_for(&editor, "clean", "2026-02-03");
    let found = until(&editor, &history("train"), |found| states(found).len() == 3);
    assert_eq!(found["items"][0]["date"], "2026-02-03T00:00:00.000000Z", "the pause is not made up for");
    let page = editor.get("page:/projects/default/pipelines/train?tab=schedule").expect(200).text();
    assert!(page.contains("After a successful run of") && !page.contains("data-backfill>"), "{page}");
}

#[test]
fn a_file_that_arrives_starts_one_run_of_its_date() {
    let store = S3::start();
    let mut app = TestApp::new();
    app.set("CUBELOOM_SERVER_PRIVATE_ENDPOINTS", "true");
    let server = Server::start_in(app);
    let owner = server.as_(Who::Owner);
    for (name, key) in [("key-id", "access_key"), ("key-secret", "secret_key")] {
        owner.post("/projects/default/secrets", &json!({"name": name, "value": store.said[key]})).expect(201);
    }
    let volumes = "/projects/default/volumes";
    let bucket = |endpoint: &Value| {
        json!({
            "kind": "object_store", "scheme": "s3", "bucket": "data", "prefix": "", "endpoint": endpoint,
            "credentials": {"id": "key-id", "key": "key-secret"},
        })
    };
    owner.post(volumes, &json!({"name": "far", "place": bucket(&store.said["endpoint"])})).expect(201);
    owner.post(volumes, &json!({"name": "away", "place": bucket(&json!("http://127.0.0.1:1"))})).expect(201);
    let put = |client: &Client, volume: &str, path: &str| {
        let file = format!("{volumes}/{volume}/file?path={path}");
        send(client.request(Method::PUT, &file).body("x\n")).expect(204);
    };
    let years = |name: &str| format!("in/{name}/y=%Y/");
    create(&owner, "near", "file: {path: 'in/y=%Y/_SUCCESS', every: 1s}, late_after: 1h");
    create(&owner, "there", &format!("file: {{volume: far, path: '{}', every: 1s}}", years("there")));
    create(&owner, "gone", &format!("file: {{volume: away, path: '{}', every: 1s}}", years("gone")));
    let this_year =
        owner.get(&format!("{PIPELINES}/near/schedule")).expect(200).json()["set_at"].as_str().unwrap()[..4]
            .to_owned();
    let schedule = |name: &str| format!("{PIPELINES}/{name}/schedule");
    for name in ["near", "there"] {
        let looked = until(&owner, &schedule(name), |found| found["look"]["looked_at"].is_string());
        assert_eq!((&looked["look"]["failures"], &looked["next"]), (&json!(0), &json!([])));
    }
    put(&owner, "workspace", &format!("in/y={this_year}/_SUCCESS"));
    put(&owner, "far", &format!("in/there/y={this_year}/part-0"));
    for (name, path) in
        [("near", format!("in/y={this_year}/_SUCCESS")), ("there", format!("in/there/y={this_year}/"))]
    {
        let found = until(&owner, &history(name), |found| states(found) == ["started"]);
        let date = &found["items"][0];
        assert_eq!(date["date"], format!("{this_year}-01-01T00:00:00.000000Z").as_str());
        assert_eq!((&date["trigger"], &date["file"]), (&json!("file"), &json!(path)));
    }

    // An unreachable storage is polled with back-off, and the schedule shows the failures.
    let failed = until(&owner, &schedule("gone"), |found| found["look"]["failures"].as_u64() >= Some(2));
    assert!(failed["look"]["error"].is_string() && failed["look"]["looked_at"].is_null(), "{failed}");
    assert!(failed["look"]["next_at"].as_str() > failed["look"]["tried_at"].as_str());
    let page = owner.get("page:/projects/default/pipelines/gone?tab=schedule").expect(200).text();
    assert!(page.contains("Checking for files failed"), "{page}");

    // The file still exists after a crash, and its date has its run.
    server.kill();
    server.run();
    let owner = server.as_(Who::Owner);
    let before = owner.get(&schedule("near")).expect(200).json()["look"]["looked_at"].clone();
    until(&owner, &schedule("near"), |found| found["look"]["looked_at"] != before);
    assert_eq!(states(&owner.get(&history("near")).expect(200).json()), ["started"]);

    // Files from before the schedule was created start nothing.
    create(&owner, "second", "file: {path: 'in/y=%Y/_SUCCESS', every: 1s}");
    let found = until(&owner, &history("second"), |found| !states(found).is_empty());
    assert_eq!((states(&found), &found["items"][0]["why"]), (vec!["missed"], &json!("there_before")));
}
