//! Attacks by alice through documents and requests.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::{Value, json};

use super::{Line, Scene, ended, judge, log, run};
use crate::support::TestApp;

/// The document is refused with a problem at this path.
fn refused(scene: &Scene, what: &str, task: &Value, place: &str) -> Line {
    let mut one = json!({"name": "one", "template": "command", "arguments": {"command": ["true"]}});
    one.as_object_mut().unwrap().extend(task.as_object().unwrap().clone());
    let document = json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "attack", "tasks": [one]});
    let answer = scene.alice.post("/projects/alice/runs", &json!({"document": document.to_string()}));
    let problem: Value = serde_json::from_str(&answer.text()).unwrap_or_default();
    let problems = problem["problems"].as_array().cloned().unwrap_or_default();
    let at = problems.iter().find(|one| one["path"].as_str().is_some_and(|path| path.starts_with(place)));
    let by = match at {
        Some(at) if answer.status == 422 => Ok(format!("{}: {}", at["path"], at["message"])),
        _ => Err(format!("{} {}", answer.status, answer.text())),
    };
    (what.into(), by)
}

#[test]
fn a_document_cannot_name_what_is_not_its_projects() {
    let scene = Scene::in_(TestApp::new());
    let mut lines = Vec::new();
    let requires = |what: &str| {
        let task = json!({"template": "python", "arguments": {"command": ["true"], "script": null, "requirements": [what]}});
        refused(&scene, &format!("install `{what}`"), &task, "/tasks/0/arguments")
    };
    for what in [
        "evil @ file:///srv/evil",
        "evil @ /srv/evil",
        "evil @ ./evil",
        "evil @ git+https://example.org/evil",
        "evil @ git+file:///srv/evil",
        "evil @ https://example.org/${UV_INDEX_PASSWORD}/evil.whl",
        "evil.whl",
        "requirements.txt",
        "./evil",
        "/srv/evil",
        "--index-url=https://example.org",
        "-rrequirements.txt",
        "https://example.org/evil.tar.gz",
    ] {
        lines.push(requires(what));
    }
    for name in [
        "CUBELOOM_CODE",
        "CUBELOOM_OUTPUTS",
        "CUBELOOM_VOLUME_DATA",
        "CUBELOOM_JOB_TOKEN",
        "CUBELOOM_TEMPLATE_DIR",
    ] {
        let task = json!({"env": {name: "/etc"}});
        lines.push(refused(&scene, &format!("set the variable {name}"), &task, "/tasks/0/env"));
    }
    for (name, value) in [("BAD=NAME", "x"), ("", "x"), ("A\u{0}B", "x")] {
        let task = json!({"env": {name: value}});
        lines.push(refused(&scene, &format!("set the variable {name:?}"), &task, "/tasks/0/env"));
    }
    let secrets = [json!({"name": "../key", "env": "A"}), json!({"name": "key", "file": "../../key"})];
    for secret in secrets {
        let task = json!({"secrets": [secret]});
        lines.push(refused(&scene, &format!("use a secret by a way: {secret}"), &task, "/tasks/0/secrets"));
    }
    for volume in ["../bob", "/etc", "bob"] {
        let task = json!({"volumes": [volume]});
        lines.push(refused(&scene, &format!("use the volume `{volume}`"), &task, "/tasks/0/volumes"));
    }
    judge(&lines, 25);
}

/// Variables that a document may set and that point outside the worker's folder. None of them changes an
/// owner.
#[test]
fn variables_that_lead_elsewhere_lead_nowhere() {
    let scene = Scene::in_(TestApp::new());
    let keys = scene.server.data().join("keys");
    let before = fs::metadata(&keys).unwrap();
    let folder = format!(
        "{}/runs/$(CUBELOOM_RUN)/$(CUBELOOM_TASK).$(CUBELOOM_INSTANCE).$(CUBELOOM_ATTEMPT)/worker-0",
        scene.server.data().display()
    );
    let mut lines = Vec::new();
    for name in ["HOME", "TMPDIR"] {
        for end in [
            "/../../../../keys",
            "/../../../../keys/sealing",
            "/work/../../../../../keys",
            "/../../../../new",
        ] {
            let env = json!({"env": {name: format!("{folder}{end}")}});
            let attack = run(&scene.alice, "alice", &["sh", "-c", "cat $HOME $TMPDIR"], &env);
            let state = ended(&scene.alice, &attack);
            let now = fs::metadata(&keys).unwrap();
            let unchanged = (now.uid(), now.mode()) == (before.uid(), before.mode());
            let by = if state == "failed" && unchanged && !scene.server.data().join("new").exists() {
                Ok(scene.alice.get(&format!("/runs/{attack}/attempts")).text().chars().take(300).collect())
            } else {
                Err(format!("{state}: {}", log(&scene.alice, &attack)))
            };
            lines.push((format!("{name} is {end}"), by));
        }
    }
    judge(&lines, 8);
}

/// The server, which can read everything, reads files to decide whether an earlier result can be reused.
#[test]
fn the_inputs_of_a_cache_are_the_projects_own() {
    let scene = Scene::in_(TestApp::new());
    let data = scene.server.data();
    let own = run(
        &scene.alice,
        "alice",
        &[
            "sh",
            "-ec",
            &format!("cd $CUBELOOM_WORKSPACE; ln -s {} out; mkfifo pipe; ln -s . round", data.display()),
        ],
        &json!({}),
    );
    assert_eq!(ended(&scene.alice, &own), "succeeded");
    let mut lines = Vec::new();
    for (input, why) in [
        ("/dev/zero".to_owned(), "it is not in the project's storage"),
        ("/etc/shadow".to_owned(), "it is not in the project's storage"),
        (format!("{}/keys/sealing", data.display()), "it is not in the project's storage"),
        ("../bob".to_owned(), "leads out"),
        ("$(CUBELOOM_WORKSPACE)/../../keys".to_owned(), "leads out"),
        ("out/keys/sealing".to_owned(), "leads out"),
        ("pipe".to_owned(), "neither a file nor a folder"),
        ("round".to_owned(), "leads out"),
        (".".to_owned(), "leads out"),
    ] {
        let cached = run(&scene.alice, "alice", &["true"], &json!({"cache": {"inputs": [input]}}));
        let state = ended(&scene.alice, &cached);
        let said = scene.alice.get(&format!("/runs/{cached}/tasks/one/instances")).expect(200).text();
        let by = if state == "succeeded" && said.contains(why) { Ok(why.to_owned()) } else { Err(said) };
        lines.push((format!("have the server read `{input}`"), by));
    }
    judge(&lines, 9);
}

#[test]
fn a_request_cannot_reach_the_next_project() {
    let scene = Scene::in_(TestApp::new());
    let storage = json!({"name": "one"});
    let victim = run(
        &scene.bob,
        "bob",
        &["sh", "-c", "echo from bob; echo kept > $CUBELOOM_RUN_DIR/kept"],
        &json!({}),
    );
    assert_eq!(ended(&scene.bob, &victim), "succeeded");
    // Creates her storage.
    let own = run(&scene.alice, "alice", &["true"], &json!({}));
    assert_eq!(ended(&scene.alice, &own), "succeeded");
    let mut lines = Vec::new();
    for path in [
        format!("/runs/{victim}"),
        format!("/runs/{victim}/tasks"),
        format!("/runs/{victim}/attempts"),
        format!("/runs/{victim}/logs/text?task=one"),
        format!("/runs/{victim}/files"),
        "/projects/bob".into(),
        "/projects/bob/secrets".into(),
        "/projects/bob/members".into(),
        "/projects/bob/runs".into(),
        "/projects/bob/pipelines".into(),
        "/projects/bob/volumes/workspace/files".into(),
        "/projects/alice/volumes/workspace/files?path=..%2Fbob".into(),
        "/projects/alice/volumes/workspace/files?path=%2Fetc".into(),
        "/projects/alice/volumes/workspace/files?path=a%2F..%2F..%2Fbob".into(),
        "/projects/..%2Fbob/runs".into(),
        "page:/projects/bob/runs".into(),
        format!("page:/runs/{victim}"),
    ] {
        let answer = scene.alice.get(&path);
        let by = match answer.status {
            401 | 403 | 404 | 422 => Ok(format!("HTTP {}", answer.status)),
            status => Err(format!("{status} {}", answer.text())),
        };
        lines.push((format!("GET {path}"), by));
    }
    for (path, body) in [
        (format!("/runs/{victim}/cancel"), json!({})),
        (format!("/runs/{victim}/retry"), json!({})),
        ("/projects/bob/runs".into(), json!({"document": "x"})),
        ("/projects/bob/pipelines".into(), json!({"document": "x"})),
        ("/projects/bob/secrets".into(), json!({"name": "mine", "value": "x"})),
        ("/projects/bob/volumes".into(), storage.clone()),
        ("/projects/alice/secrets".into(), json!({"name": "../bob", "value": "x"})),
    ] {
        let answer = scene.alice.post(&path, &body);
        let by = match answer.status {
            401 | 403 | 404 | 422 => Ok(format!("HTTP {}", answer.status)),
            status => Err(format!("{status} {}", answer.text())),
        };
        lines.push((format!("POST {path}"), by));
    }
    judge(&lines, 24);
    assert!(log(&scene.bob, &victim).contains("from bob"));
}
