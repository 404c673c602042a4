//! The audit log: every kind of change, by whom, by what, from where, before and after; and never a secret.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::help::{Browser, audited, sign_in};
use crate::api::runs::help::{document, start, task, until};
use crate::api::support::client::send;
use crate::api::support::{Client, PASSWORD, Server, Who};

/// What must stand nowhere in the log.
const SECRETS: [&str; 5] =
    [PASSWORD, "the value of a secret", "its value afterwards", "another long password", "clt_"];

/// Makes every kind of change once, and says which actions these are.
fn change_everything(server: &Server, ada: &Client) -> BTreeSet<&'static str> {
    let project = "/projects/vision";
    ada.post("/projects", &json!({"name": "vision"})).expect(201);
    ada.patch(project, "*", &json!({"label": "Vision"})).expect(200);
    ada.put(&format!("{project}/members/eve"), "", &json!({"role": "viewer"})).expect(201);
    ada.put(&format!("{project}/members/eve"), "*", &json!({"role": "editor"})).expect(200);
    ada.delete(&format!("{project}/members/eve"), "*").expect(204);
    let secret = json!({"name": "pw", "value": "the value of a secret", "description": "of the hub"});
    ada.post(&format!("{project}/secrets"), &secret).expect(201);
    ada.put(&format!("{project}/secrets/pw"), "*", &json!({"value": "its value afterwards"})).expect(200);
    let hub = json!({"name": "hub", "host": "registry.example.org", "user": "bot", "secret": "pw"});
    ada.post(&format!("{project}/registries"), &hub).expect(201);
    ada.put(&format!("{project}/registries/hub"), "*", &json!({"host": "hub.example.org", "user": "bot"}))
        .expect(200);
    ada.delete(&format!("{project}/registries/hub"), "*").expect(204);
    ada.delete(&format!("{project}/secrets/pw"), "*").expect(204);
    let place = json!({"kind": "workspace", "path": "data"});
    ada.post(&format!("{project}/volumes"), &json!({"name": "data", "place": place})).expect(201);
    ada.patch(&format!("{project}/volumes/data"), "*", &json!({"description": "rows"})).expect(200);
    ada.post(&format!("{project}/volumes/data/folders"), &json!({"path": "in"})).expect(201);
    let file = format!("{project}/volumes/data/file?path=in/rows.csv");
    send(ada.request(Method::PUT, &file).body("a,b\n")).expect(204);
    ada.delete(&file, "").expect(204);
    ada.delete(&format!("{project}/volumes/data"), "*").expect(204);
    change_pipelines(ada);
    change_people(server, ada);
    ada.delete(project, "*").expect(204);
    BTreeSet::from([
        "project.create",
        "project.update",
        "project.delete",
        "member.put",
        "member.remove",
        "secret.create",
        "secret.update",
        "secret.delete",
        "registry.create",
        "registry.update",
        "registry.delete",
        "volume.create",
        "volume.update",
        "volume.delete",
        "volume.make-folder",
        "volume.write",
        "volume.remove",
        "pipeline.create",
        "pipeline.update",
        "pipeline.delete",
        "hook.create",
        "hook.update",
        "hook.delete",
        "run.start",
        "run.delete",
        "user.create",
        "user.update",
        "user.password",
        "link.create",
        "link.revoke",
        "token.create",
        "token.revoke",
        "session.begin",
        "session.end",
    ])
}

fn change_pipelines(ada: &Client) {
    let list = "/projects/vision/pipelines";
    let text = document("count", &format!("tasks:\n{}", task("say", "true", "")));
    ada.post(list, &json!({"document": text})).expect(201);
    ada.put(&format!("{list}/count"), "*", &json!({"document": format!("{text}# more\n")})).expect(200);
    let hooks = format!("{list}/count/hooks");
    let hook = ada.post(&hooks, &json!({"name": "nightly"})).expect(201).json();
    let hook = format!("{hooks}/{}", hook["id"].as_str().unwrap());
    ada.patch(&hook, "*", &json!({"name": "weekly"})).expect(200);
    ada.delete(&hook, "*").expect(204);
    let run = start(ada, &text);
    until(ada, &run, "succeeded");
    crate::support::wait_for("the engine to let go of the run", || {
        ada.delete(&format!("/runs/{run}"), "").status == 204
    });
    ada.delete(&format!("{list}/count"), "*").expect(204);
}

fn change_people(server: &Server, ada: &Client) {
    ada.post("/users", &json!({"name": "bob", "password": PASSWORD})).expect(201);
    ada.patch("/users/bob", "*", &json!({"admin": true, "email": "bob@example.org"})).expect(200);
    let bob = Browser::new(server, "bob");
    let body = json!({"current": PASSWORD, "password": "another long password"});
    bob.send(bob.request(Method::PUT, "/me/password").json(&body)).expect(204);
    bob.send(bob.request(Method::DELETE, "/session")).expect(204);
    let made = ada.post("/tokens", &json!({"name": "nightly", "scope": "read"})).expect(201).json();
    ada.delete(&format!("/tokens/{}", made["id"].as_str().unwrap()), "").expect(204);
    let link = ada.post("/links", &json!({"kind": "invite", "note": "for Eve"})).expect(201).json();
    ada.delete(&format!("/links/{}", link["id"].as_str().unwrap()), "").expect(204);
}

#[test]
fn every_kind_of_change_is_there_and_no_secret_is() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.user("eve", &[]);
    let expected = change_everything(&server, &ada);
    let log = ada.get("/audit?limit=200").expect(200);
    let page = ada.get("page:/audit").expect(200);
    for text in [log.text(), page.text()] {
        for secret in SECRETS {
            assert!(!text.contains(secret), "`{secret}` stands in the log");
        }
    }
    let log = log.json();
    let items = log["items"].as_array().unwrap();
    let seen: BTreeSet<&str> = items.iter().map(|one| one["action"].as_str().unwrap()).collect();
    let missing: Vec<_> = expected.difference(&seen).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for item in items {
        let action = item["action"].as_str().unwrap();
        let by_hand = item["via"] == "command line";
        assert_eq!(
            item["address"],
            if by_hand || item["via"] == "server" { "" } else { "127.0.0.1" },
            "{item}"
        );
        assert!(item["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{item}");
        let has = |name: &str| item.get(name).is_some_and(|value| !value.is_null());
        let verb = action.split_once('.').unwrap().1;
        match verb {
            "create" => assert!(has("after") && !has("before"), "{item}"),
            "update" => assert!(has("after") && has("before"), "{item}"),
            "delete" => assert!(has("before") && !has("after"), "{item}"),
            _ => {}
        }
        let of_project = ["project", "member", "secret", "registry", "volume", "pipeline", "hook", "run"];
        if of_project.contains(&action.split_once('.').unwrap().0) && !by_hand {
            assert!(has("project"), "{item}");
        }
    }
}

#[test]
fn an_entry_says_who_by_what_before_and_after() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.user("eve", &["--project", "default", "--role", "owner"]);
    let eve = Browser::new(&server, "eve");
    let put = |role: &str| {
        let request = eve.request(Method::PUT, "/projects/default/members/emil");
        eve.send(request.header("if-match", "*").json(&json!({"role": role})))
    };
    server.as_(Who::Editor);
    put("viewer").expect(200);
    let entry = audited(&ada, "member.put")[0].clone();
    let part = |name: &str| entry[name].clone();
    assert_eq!(
        [part("user"), part("via"), part("project"), part("subject"), part("before"), part("after")],
        [
            json!("eve"),
            json!("session"),
            json!("default"),
            json!("emil"),
            json!({"role": "editor"}),
            json!({"role": "viewer"})
        ]
    );
    // What was refused is no change.
    let before = audited(&ada, "member.put").len();
    put("emperor").expect(422);
    send(eve.request(Method::PUT, "/projects/default/members/emil").json(&json!({"role": "owner"})))
        .expect(428);
    assert_eq!(audited(&ada, "member.put").len(), before);
    let named = server.with_token(Some(server.token("eve", &["--scope", "write"])));
    named.patch("/projects/default", "*", &json!({"label": "Ours"})).expect(200);
    let entry = audited(&ada, "project.update")[0].clone();
    assert!(entry["via"].as_str().unwrap().starts_with("token "), "{entry}");
    assert_eq!((&entry["before"]["label"], &entry["after"]["label"]), (&json!("Default"), &json!("Ours")));
    // An owner reads their project's, and nothing else's.
    let of_project = named.get("/projects/default/audit?limit=200").expect(200).json();
    let others: Vec<&Value> =
        of_project["items"].as_array().unwrap().iter().filter(|one| one["project"] != "default").collect();
    assert!(others.is_empty(), "{others:?}");
    named.get("/audit").expect(403);
    // Nobody changes it.
    let path = format!("/audit/{}", entry["id"].as_str().unwrap());
    assert!(matches!(ada.delete(&path, "*").status, 404 | 405));
}

#[test]
fn wrong_passwords_are_logged_with_their_address_and_nothing_that_was_typed() {
    let server = Server::start();
    server.user("eve", &[]);
    let nobody = server.as_(Who::Anonymous);
    sign_in(&nobody, "eve", "typed by mistake").expect(401);
    sign_in(&nobody, "my password in the wrong field", "x").expect(401);
    let log = server.log();
    assert_eq!(log.matches("somebody gave a wrong name or password").count(), 2, "{log}");
    assert!(
        log.contains("127.0.0.1") && !log.contains("typed by mistake") && !log.contains("wrong field"),
        "{log}"
    );
}
