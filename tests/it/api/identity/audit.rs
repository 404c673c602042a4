//! The audit log: every kind of change with person, credential, address, before and after, and never a
//! secret.

use std::collections::BTreeSet;

use cubeloom_web::policy::POLICY;
use reqwest::Method;
use serde_json::{Value, json};

use super::changes::{SECRETS, change_everything};
use super::help::{Browser, audited, sign_in};
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};

/// Routes other than `GET` that leave no entry, with the reason.
const WITHOUT: [(&str, &str, &str); 12] = [
    ("POST", "/preferences", "writes a cookie of the browser's own; nothing on the server changes"),
    ("POST", "/api/v1/projects/{project}/validate", "only looks"),
    ("POST", "/api/v1/projects/{project}/compile", "only looks"),
    ("POST", "/api/v1/projects/{project}/forecast", "only looks"),
    ("POST", "/api/v1/projects/{project}/forecast/places", "only looks"),
    ("POST", "/api/v1/projects/{project}/schedule-preview", "only looks"),
    ("POST", "/api/v1/quotas/preview", "only looks"),
    ("POST", "/api/v1/projects/{project}/import", "only looks: what it makes is stored by other requests"),
    (
        "POST",
        "/api/v1/runs/{run}/tasks/{task}/instances/{instance}/suspend",
        "can be done on Kubernetes only: tests/it/cluster/suspend.rs looks at its entry",
    ),
    (
        "DELETE",
        "/api/v1/clusters/{cluster}/gpus/{gpu}/fault",
        "can be done only where the driver has reported an error of a GPU; it writes `card.take_back`",
    ),
    ("POST", "/api/v1/device/code", "is from a stranger and expires; what a user decides has its entry"),
    ("POST", "/api/v1/me/provider", "says where to go; `user.connect` is written when the person comes back"),
];

#[test]
fn every_change_is_there_and_no_secret_is() {
    let server = Server::start();
    let log = change_everything(&server);
    let ada = server.as_(Who::Administrator);
    let left = log.left.borrow();
    let changing = || POLICY.iter().filter(|rule| rule.method != "GET");
    for rule in changing() {
        let row = (rule.method, rule.route);
        let why = WITHOUT.iter().find(|(method, route, _)| (*method, *route) == row);
        let actions = left.get(&row);
        match why {
            Some((_, _, why)) => assert!(actions.is_none(), "{row:?} {why}, and yet is tried"),
            None => assert!(
                actions.is_some_and(|actions| !actions.is_empty()),
                "{row:?} leaves no entry in the audit log, or is not tried in changes.rs: {actions:?}"
            ),
        }
    }
    for (method, route, _) in WITHOUT {
        assert!(changing().any(|rule| (rule.method, rule.route) == (method, route)), "{method} {route}");
    }
    let text = ada.get("/audit?limit=200").expect(200).text();
    for text in [&text, &ada.get("page:/audit").expect(200).text()] {
        for secret in SECRETS {
            assert!(!text.contains(secret), "`{secret}` stands in the log");
        }
    }
    look_at_entries(&ada, left.values().flatten().map(String::as_str).collect());
}

/// Each entry is complete, and all `actions` occur.
fn look_at_entries(ada: &Client, actions: BTreeSet<&str>) {
    let log = ada.get("/audit?limit=200").expect(200).json();
    let items = log["items"].as_array().unwrap();
    let seen: BTreeSet<&str> = items.iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert!(actions.is_subset(&seen) && actions.len() > 40, "{actions:?}");
    for item in items {
        let action = item["action"].as_str().unwrap();
        let via = item["via"].as_str().unwrap();
        let by_hand = via == "command line";
        // Actions of the server itself have no address: the first run of a back-fill, or a requested date's
        // run if the scheduler is faster than the request.
        let by_itself = ["server", "backfill", "run", "person"].contains(&via);
        let address = if by_hand || by_itself { "" } else { "127.0.0.1" };
        assert_eq!(item["address"], address, "{item}");
        assert!(item["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{item}");
        let has = |name: &str| item.get(name).is_some_and(|value| !value.is_null());
        let (kind, verb) = action.split_once('.').unwrap();
        match verb {
            "create" => assert!(has("after") && !has("before"), "{item}"),
            "update" => assert!(has("after") && has("before"), "{item}"),
            "delete" => assert!(has("before") && !has("after"), "{item}"),
            _ => {}
        }
        let of_project =
            ["project", "member", "registry", "volume", "pipeline", "hook", "run", "code"].contains(&kind);
        if of_project && !by_hand {
            assert!(has("project"), "{item}");
        }
    }
}

#[test]
fn who_was_refused_is_there_and_does_not_fill_the_log() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let vera = server.as_(Who::Viewer);
    for _ in 0..15 {
        vera.post("/projects/default/pipelines", &json!({"document": ""})).expect(403);
    }
    let refused = audited(&ada, "request.refuse");
    // Ten per minute.
    assert!((10..=15).contains(&refused.len()), "{refused:?}");
    assert_eq!(
        (&refused[0]["user"], &refused[0]["subject"], &refused[0]["project"]),
        (&json!("vera"), &json!("POST /api/v1/projects/default/pipelines"), &json!("default"))
    );
    let anybody = server.as_(Who::Anonymous);
    sign_in(&anybody, "vera", "not her password").expect(401);
    sign_in(&anybody, "nobody", "not a password either").expect(401);
    let subjects: Vec<Value> =
        audited(&ada, "session.refuse").iter().map(|entry| entry["subject"].clone()).collect();
    assert_eq!(subjects, ["nobody", "vera"]);
    assert_eq!(audited(&ada, "session.refuse")[0]["user"], "", "nobody has shown that they are somebody");
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
    // A refused request is no change.
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
    // Owners read only their project's log.
    let of_project = named.get("/projects/default/audit?limit=200").expect(200).json();
    let others: Vec<&Value> =
        of_project["items"].as_array().unwrap().iter().filter(|one| one["project"] != "default").collect();
    assert!(others.is_empty(), "{others:?}");
    named.get("/audit").expect(403);
    let page = |client: &Client, path: &str| client.get(&format!("page:{path}"));
    let shown = page(&named, "/projects/default/audit?project=vision").expect(200).text();
    assert!(shown.contains("project.update") && shown.contains("Ours") && !shown.contains("token.create"));
    assert!(page(&named, "/projects/default").expect(200).text().contains("/projects/default/audit"));
    let viewer = server.as_(Who::Viewer);
    page(&viewer, "/projects/default/audit").expect(403);
    assert!(!page(&viewer, "/projects/default").expect(200).text().contains("/projects/default/audit"));
    page(&server.as_(Who::Stranger), "/projects/default/audit").expect(404);
    page(&named, "/audit").expect(403);
    // Entries cannot be changed.
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
    assert_eq!(log.matches("sign-in failed: wrong name or password").count(), 2, "{log}");
    assert!(
        log.contains("127.0.0.1") && !log.contains("typed by mistake") && !log.contains("wrong field"),
        "{log}"
    );
}
