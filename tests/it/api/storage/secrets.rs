//! Secrets can be written, reach tasks, and are never returned.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::api::runs::help::{document, id, of_task, start, task, until};
use crate::api::support::{Server, Who};
use crate::support::TestApp;

const VALUE: &str = "tops3cret-of-the-project";
const OWN: &str = "tops3cret-of-olga-alone";

#[test]
fn a_secret_is_given_to_tasks_and_is_in_no_answer_file_or_log() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let body = json!({"name": "hf-token", "value": VALUE, "description": "the hub"});
    let made = owner.post("/projects/default/secrets", &body).expect(201);
    assert_eq!((made.etag(), made.json()["name"].clone()), ("\"1\"".into(), json!("hf-token")));
    let line = format!("test \"$HF_TOKEN\" = {VALUE}");
    let run = start(
        &owner,
        &document("uses", &format!("tasks:\n{}", task("use", &line, "    secrets: [hf-token]\n"))),
    );
    let ended = until(&owner, &run, "succeeded");
    let answers = [
        made.text(),
        ended.to_string(),
        owner.get("/projects/default/secrets").expect(200).text(),
        owner.get("/projects/default/secrets/hf-token").expect(200).text(),
        owner.get(&format!("/runs/{run}/objects")).text(),
        owner.get("/projects/default/audit").text(),
        owner.get("page:/projects/default/secrets").expect(200).text(),
    ];
    // The command itself contains the value, so only parts about the secret are checked.
    for answer in [0, 2, 3, 5, 6].map(|at| &answers[at]) {
        assert!(!answer.contains(VALUE), "{answer}");
    }
    assert!(!server.log().contains(VALUE), "{}", server.log());
    let environ = fs::read(format!("/proc/{}/environ", server.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&environ).contains(VALUE));
}

#[test]
fn no_file_of_the_data_folder_holds_a_value() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let body = json!({"name": "token", "value": VALUE});
    owner.post("/projects/default/secrets", &body).expect(201);
    let change = json!({"value": format!("{VALUE}-2")});
    owner.put("/projects/default/secrets/token", "\"1\"", &change).expect(200);
    let line = "echo it is $TOKEN";
    let run =
        start(&owner, &document("says", &format!("tasks:\n{}", task("say", line, "    secrets: [token]\n"))));
    until(&owner, &run, "succeeded");
    let leaks = leaks(&server.data(), VALUE);
    assert!(leaks.is_empty(), "{leaks:?}");
}

/// Files below a folder that contain a text.
fn leaks(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(leaks(&path, text));
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn ones_own_secret_goes_over_the_projects_in_ones_own_runs_only() {
    let server = Server::start();
    let (owner, editor) = (server.as_(Who::Owner), server.as_(Who::Editor));
    owner.post("/projects/default/secrets", &json!({"name": "token", "value": VALUE})).expect(201);
    owner.post("/me/secrets", &json!({"name": "token", "value": OWN})).expect(201);
    owner.post("/me/secrets", &json!({"name": "mine", "value": OWN})).expect(201);
    let sum = |text: &str| format!("test $(printf %s \"$TOKEN\" | wc -c) = {}", text.len());
    let uses = |text: &str| {
        document("uses", &format!("tasks:\n{}", task("use", &sum(text), "    secrets: [token]\n")))
    };
    until(&owner, &start(&owner, &uses(OWN)), "succeeded");
    until(&editor, &start(&editor, &uses(VALUE)), "succeeded");
    assert_eq!(editor.get("/me/secrets").expect(200).json()["items"], json!([]));
    let mine = document("mine", &format!("tasks:\n{}", task("use", "true", "    secrets: [mine]\n")));
    let refused = editor.post("/projects/default/runs", &json!({"document": mine})).expect(422);
    assert!(refused.text().contains("there is no secret `mine` here"), "{}", refused.text());
    until(&owner, &start(&owner, &mine), "succeeded");
}

#[test]
fn a_token_for_one_project_uses_the_projects_secrets_and_not_its_persons() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let bound = server.token(Who::Owner.name(), &["--scope", "write", "--project", "default"]);
    let bound = server.with_token(Some(bound));
    for name in ["mine", "both"] {
        owner.post("/me/secrets", &json!({"name": name, "value": OWN})).expect(201);
    }
    owner.post("/projects/default/secrets", &json!({"name": "both", "value": VALUE})).expect(201);
    let length = format!("test $(printf %s \"$BOTH\" | wc -c) = {}", VALUE.len());
    let both = document("both", &format!("tasks:\n{}", task("use", &length, "    secrets: [both]\n")));
    until(&bound, &start(&bound, &both), "succeeded");
    let mine =
        document("mine", &format!("tasks:\n{}", task("use", "test -n \"$MINE\"", "    secrets: [mine]\n")));
    for path in ["/projects/default/runs", "/projects/default/compile"] {
        let refused = bound.post(path, &json!({"document": mine})).expect(422).problem("invalid");
        let message = refused["problems"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("the secret `mine` is personal"), "{path}: {refused}");
        assert_eq!(refused["problems"][0]["code"], "unknown_secret");
    }
    // The token cannot rerun what the person started with that secret.
    owner.post("/projects/default/pipelines", &json!({"document": mine})).expect(201);
    let started = owner.post("/projects/default/runs", &json!({"pipeline": "mine"})).expect(201).json();
    let run = id(&started["run"]);
    until(&owner, &run, "succeeded");
    let refused = bound.post(&format!("/runs/{run}/rerun"), &json!({"from": ["use"]})).expect(409);
    assert!(refused.problem("conflict")["detail"].as_str().unwrap().contains("`mine` is personal"));
    bound.post(&format!("/runs/{run}/again"), &json!({})).expect(422);
    owner.post(&format!("/runs/{run}/rerun"), &json!({"from": ["use"]})).expect(202);
    until(&owner, &run, "succeeded");
}

#[test]
fn who_runs_a_run_of_another_again_does_so_with_their_own_secrets() {
    let server = Server::start();
    let (owner, editor) = (server.as_(Who::Owner), server.as_(Who::Editor));
    owner.post("/me/secrets", &json!({"name": "token", "value": OWN})).expect(201);
    // The task prints the length of its value, then fails once and waits for a file.
    let line = "printf %s \"$TOKEN\" | wc -c; test -e \"$CUBELOOM_WORKSPACE/go\"";
    let tasks = format!("tasks:\n{}", task("use", line, "    secrets: [token]\n"));
    let stored = json!({"document": document("others", &tasks)});
    owner.post("/projects/default/pipelines", &stored).expect(201);
    let started = owner.post("/projects/default/runs", &json!({"pipeline": "others"})).expect(201).json();
    let run = id(&started["run"]);
    until(&owner, &run, "failed");
    let said = |attempt: u32| {
        let path = format!("/runs/{run}/logs/text?task=use&stream=stdout&attempt={attempt}");
        let text = owner.get(&path).expect(200).json()["chunks"][0]["text"].clone();
        text.as_str().unwrap_or_default().trim().to_owned()
    };
    assert_eq!(said(1), OWN.len().to_string());

    // Only the owner has such a secret: a rerun by others is refused without effect.
    for (verb, body) in [("resume", json!(null)), ("rerun", json!({"from": ["use"]}))] {
        let refused = editor.post(&format!("/runs/{run}/{verb}"), &body).expect(409).problem("conflict");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("task `use` needs the secret `token`"), "{detail}");
    }
    let refused = editor.post(&format!("/runs/{run}/again"), &json!(null)).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["code"], "unknown_secret", "{refused}");

    // With a secret of the same name, the other person's own one is used. A rerun of the owner's run uses the
    // owner's.
    editor.post("/me/secrets", &json!({"name": "token", "value": VALUE})).expect(201);
    let view = editor.post(&format!("/runs/{run}/resume"), &json!(null)).expect(202).json();
    assert_eq!((view["user"].clone(), view["acting_user"].clone()), (json!("olga"), json!("emil")), "{view}");
    until(&editor, &run, "failed");
    assert_eq!(said(2), VALUE.len().to_string());
    owner.post(&format!("/runs/{run}/rerun"), &json!({"from": ["use"]})).expect(202);
    until(&owner, &run, "failed");
    assert_eq!(said(3), OWN.len().to_string());
    let go = "/projects/default/volumes/workspace/file?path=go";
    crate::api::support::client::send(owner.request(reqwest::Method::PUT, go).body("")).expect(204);
    owner.post(&format!("/runs/{run}/resume"), &json!(null)).expect(202);
    until(&owner, &run, "succeeded");
}

#[test]
fn two_who_change_a_secret_are_told_and_mistakes_name_their_field() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let path = "/projects/default/secrets/token";
    owner.post("/projects/default/secrets", &json!({"name": "token", "value": VALUE})).expect(201);
    owner
        .post("/projects/default/secrets", &json!({"name": "token", "value": "x"}))
        .expect(409)
        .problem("conflict");
    let change = json!({"value": "another-value"});
    owner.put(path, "", &change).expect(428).problem("precondition-required");
    assert_eq!(owner.put(path, "\"1\"", &change).expect(200).etag(), "\"2\"");
    assert_eq!(owner.put(path, "\"1\"", &change).expect(412).etag(), "\"2\"");
    owner.delete(path, "\"1\"").expect(412).problem("stale");
    for (body, field) in [
        (json!({"name": "No Name", "value": "x"}), "/name"),
        (json!({"name": "empty", "value": ""}), "/value"),
        (json!({"name": "zero", "value": "a\u{0}b"}), "/value"),
        (json!({"name": "long", "value": "x".repeat(70_000)}), "/value"),
    ] {
        let refused = owner.post("/projects/default/secrets", &body).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], field, "{refused}");
    }
    owner.delete(path, "\"2\"").expect(204);
    owner.get(path).expect(404).problem("not-found");
}

#[test]
fn a_secret_that_was_deleted_fails_the_task_and_names_itself() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    owner.post("/projects/default/secrets", &json!({"name": "token", "value": VALUE})).expect(201);
    let tasks = format!(
        "tasks:\n{}{}",
        task("first", "until test -e \"$CUBELOOM_WORKSPACE/go\"; do sleep 0.1; done", ""),
        task("second", "true", "    needs: [first]\n    secrets: [token]\n")
    );
    let run = start(&owner, &document("waits", &tasks));
    owner.delete("/projects/default/secrets/token", "*").expect(204);
    let go = "/projects/default/volumes/workspace/file?path=go";
    crate::api::support::client::send(owner.request(reqwest::Method::PUT, go).body("")).expect(204);
    until(&owner, &run, "failed");
    let failed = of_task(&owner, &run, "second").to_string();
    assert!(failed.contains("the secret `token` no longer exists"), "{failed}");
}

#[test]
fn a_key_that_is_another_says_which_secret_cannot_be_read() {
    let mut app = TestApp::new();
    let key = |byte: u8| {
        // 32 equal bytes in base64.
        let text = [byte; 32].map(char::from).iter().collect::<String>();
        app_base64(&text)
    };
    let (old, new) = (key(b'a'), key(b'b'));
    let file = app.write("key", &old);
    app.set("CUBELOOM_SERVER_KEY", format!("file:{}", file.display()));
    let server = Server::start_in(app);
    let owner = server.as_(Who::Owner);
    owner.post("/projects/default/secrets", &json!({"name": "token", "value": VALUE})).expect(201);
    let uses = document("uses", &format!("tasks:\n{}", task("use", "true", "    secrets: [token]\n")));
    server.kill();
    fs::write(&file, &new).unwrap();
    server.run();
    let owner = server.as_(Who::Owner);
    let run = start(&owner, &uses);
    until(&owner, &run, "failed");
    let failed = of_task(&owner, &run, "use").to_string();
    assert!(failed.contains("the secret `token` cannot be read"), "{failed}");
    server.kill();
    // The new key encrypts, the old one still decrypts.
    fs::write(&file, format!("{new}\n{old}\n")).unwrap();
    server.run();
    let owner = server.as_(Who::Owner);
    until(&owner, &start(&owner, &uses), "succeeded");
}

/// Base64 of text whose length modulo three is two.
fn app_base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits =
            three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out
}
