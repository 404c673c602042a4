//! Conditional changes with ETags: of two people who change the same thing, the second gets an error.

use std::collections::BTreeSet;

use cubeloom_web::policy::POLICY;
use serde_json::{Value, json};

use crate::api::models::register;
use crate::api::policy::{filled, rule_of};
use crate::api::runs::help::{document, task};
use crate::api::storage::clusters::AWAY;
use crate::api::support::client::send as sent;
use crate::api::support::{Answer, Client, Server, Who};

/// One kind of changeable resource.
struct Kind {
    path: String,
    method: &'static str,
    change: Value,
    /// Whether it can be deleted.
    goes: bool,
}

fn send(client: &Client, kind: &Kind, etag: &str) -> Answer {
    match kind.method {
        "PUT" => client.put(&kind.path, etag, &kind.change),
        _ => client.patch(&kind.path, etag, &kind.change),
    }
}

fn kinds(ada: &Client) -> Vec<Kind> {
    let kind = |path: &str, method, change, goes| Kind { path: path.to_owned(), method, change, goes };
    let text = document("hooked", &format!("tasks:\n{}", task("say", "true", "")));
    ada.post("/projects", &json!({"name": "vision"})).expect(201);
    let project = "/projects/vision";
    ada.post(&format!("{project}/pipelines"), &json!({"document": text})).expect(201);
    let hooks = format!("{project}/pipelines/hooked/hooks");
    let hook =
        ada.post(&hooks, &json!({"name": "nightly"})).expect(201).json()["id"].as_str().unwrap().to_owned();
    ada.post(&format!("{project}/secrets"), &json!({"name": "pw", "value": "of the hub"})).expect(201);
    ada.post("/me/secrets", &json!({"name": "own", "value": "of mine"})).expect(201);
    let place = json!({"kind": "workspace", "path": "data"});
    ada.post(&format!("{project}/volumes"), &json!({"name": "data", "place": place})).expect(201);
    let hub = json!({"name": "hub", "host": "registry.example.org", "user": "bot"});
    ada.post(&format!("{project}/registries"), &hub).expect(201);
    register(ada, "vision", &json!({"name": "digits", "path": "models/digits/1"}));
    ada.put(&format!("{project}/members/emil"), "", &json!({"role": "viewer"})).expect(201);
    let ops = json!({"name": "ops", "kind": "webhook", "address": "https://hooks.example.org/in",
        "rules": {"events": ["run_failed"]}});
    let alerts = format!("{project}/alerts");
    let channel = ada.post(&alerts, &ops).expect(201).json()["id"].as_str().unwrap().to_owned();
    let far = json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY});
    ada.post("/clusters", &far).expect(201);
    ada.post("/projects", &json!({"name": "sound"})).expect(201);
    ada.put("/quotas/groups/hearing", "\"0\"", &json!({})).expect(200);
    ada.put("/limits/hdfs-prod", "\"0\"", &json!({"a_minute": 9})).expect(200);
    ada.put("/priority-classes/urgent", "\"0\"", &json!({"priority": 9})).expect(200);
    ada.put("/projects/sound/quota", "\"0\"", &json!({})).expect(200);
    let price = ada.post("/prices", &json!({"cluster": "local"})).expect(201).json();
    let price = price["id"].as_str().unwrap();
    let budget = format!("{project}/budgets/2999-01");
    ada.put(&budget, "*", &json!({"amount": "1"})).expect(201);
    vec![
        kind("/projects/sound/places", "PUT", json!({"allowed": ["local"]}), false),
        kind("/limits/hdfs-prod", "PUT", json!({"at_once": 9}), true),
        kind("/priority-classes/urgent", "PUT", json!({"priority": 8}), true),
        kind("/quotas/groups/hearing", "PUT", json!({"quotas": {"local": {"limit": {"runs": 9}}}}), true),
        kind("/projects/sound/quota", "PUT", json!({"quotas": {"local": {"weight": 7}}}), true),
        kind(&format!("/prices/{price}"), "PUT", json!({"gpu_hour": "2"}), true),
        kind(&budget, "PUT", json!({"amount": "2"}), true),
        kind("/users/emil", "PATCH", json!({"display_name": "Emil"}), false),
        kind("/me", "PATCH", json!({"display_name": "Ada"}), false),
        kind(&format!("{project}/members/emil"), "PUT", json!({"role": "editor"}), true),
        kind(&format!("{project}/secrets/pw"), "PUT", json!({"value": "another"}), true),
        kind("/me/secrets/own", "PUT", json!({"value": "another"}), true),
        kind(&format!("{project}/volumes/data"), "PATCH", json!({"description": "rows"}), true),
        kind(
            &format!("{project}/registries/hub"),
            "PUT",
            json!({"host": "hub.example.org", "user": "bot"}),
            true,
        ),
        kind(&format!("{project}/models/digits"), "PATCH", json!({"description": "numbers"}), true),
        kind(&format!("{alerts}/{channel}"), "PATCH", json!({"name": "on duty"}), true),
        kind(&format!("{hooks}/{hook}"), "PATCH", json!({"name": "weekly"}), true),
        kind(&format!("{project}/pipelines/hooked"), "PUT", json!({"document": text + "# changed\n"}), true),
        kind("/clusters/far", "PUT", json!({"access": "kubeconfig", "namespace": "jobs-{project}"}), true),
        kind(project, "PATCH", json!({"label": "Vision"}), true),
    ]
}

/// Changes that need no `If-Match`, with the reason.
const BLIND: [(&str, &str, &str); 16] = [
    ("PUT", "/api/v1/clusters/{cluster}/aside/{node}", "a node that is aside stays so for its first reason"),
    ("DELETE", "/api/v1/clusters/{cluster}/aside/{node}", "a node is aside or not"),
    ("DELETE", "/api/v1/clusters/{cluster}/gpus/{gpu}/fault", "a GPU is faulty or not"),
    (
        "PUT",
        "/api/v1/projects/{project}/models/{model}/aliases/{alias}",
        "what counts is which version it stands for, which is said",
    ),
    ("DELETE", "/api/v1/projects/{project}/models/{model}/aliases/{alias}", "an alias is taken away by name"),
    (
        "DELETE",
        "/api/v1/projects/{project}/models/{model}/versions/{version}",
        "a version never changes, it is deleted",
    ),
    ("DELETE", "/api/v1/session", "ends the session that sends it"),
    ("DELETE", "/api/v1/me/sessions/{session}", "a session never changes, it ends"),
    ("DELETE", "/api/v1/tokens/{token}", "a token never changes, it is revoked"),
    ("DELETE", "/api/v1/links/{link}", "a link never changes, it is revoked"),
    ("DELETE", "/api/v1/runs/{run}", "a run that may be deleted has ended"),
    ("DELETE", "/api/v1/runs/{run}/terminals/{terminal}", "a terminal never changes, it is closed"),
    ("PUT", "/api/v1/me/password", "the present password is sent along"),
    ("PUT", "/api/v1/projects/{project}/code", "adds what is named by its content"),
    (
        "PUT",
        "/api/v1/projects/{project}/volumes/{volume}/file",
        "programs write files that they never read; If-Match and If-None-Match hold when they are sent",
    ),
    (
        "DELETE",
        "/api/v1/projects/{project}/volumes/{volume}/file",
        "files are deleted by name; If-Match holds when it is sent",
    ),
];

/// Needs a provider: tests/e2e/oidc.test.mjs covers it.
const WITH_A_PROVIDER: (&str, &str) = ("DELETE", "/api/v1/me/provider");

/// The routes that change existing resources.
fn changing() -> BTreeSet<(&'static str, &'static str)> {
    let rows = POLICY.iter().map(|rule| (rule.method, rule.route));
    rows.filter(|(method, _)| ["PUT", "PATCH", "DELETE"].contains(method)).collect()
}

#[test]
fn every_route_that_changes_what_is_there_demands_if_match() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    // Adding a new member needs no `If-Match`.
    server.as_(Who::Viewer);
    let mut wrong = Vec::new();
    for (method, route) in changing() {
        let blind = BLIND.iter().any(|(m, r, _)| (*m, *r) == (method, route));
        let path = filled(route.strip_prefix("/api/v1").unwrap(), "01arz3ndektsv4rrffq69g5fav");
        let answer = sent(ada.request(method.parse().unwrap(), &path).json(&json!({"role": "editor"})));
        if (answer.status == 428) == blind {
            wrong.push(format!("{method} {route} (blind: {blind}): {} {}", answer.status, answer.text()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (method, route, why) in BLIND {
        assert!(changing().contains(&(method, route)), "no row {method} {route}, which {why}");
    }
}

#[test]
fn a_change_without_if_match_or_with_an_old_one_changes_nothing() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    server.as_(Who::Editor);
    let kinds = kinds(&ada);
    let tried = kinds.iter().flat_map(|kind| {
        let path = format!("/api/v1{}", kind.path);
        let row = |method| rule_of(method, &path).map(|rule| (rule.method, rule.route));
        [row(kind.method), row("DELETE").filter(|_| kind.goes)].into_iter().flatten()
    });
    let blind = BLIND.iter().map(|(method, route, _)| (*method, *route));
    let known: BTreeSet<_> = tried.chain(blind).chain([WITH_A_PROVIDER]).collect();
    assert_eq!(known, changing(), "put a new kind of thing into `kinds`");
    for kind in kinds {
        let path = &kind.path;
        send(&ada, &kind, "").expect(428).problem("precondition-required");
        send(&ada, &kind, "nonsense").expect(400).problem("malformed");
        let made = send(&ada, &kind, "\"1\"").expect(200);
        let now = made.etag();
        assert_eq!(now, "\"2\"", "{path}");
        for old in ["\"1\"", "\"7\""] {
            let refused = send(&ada, &kind, old).expect(412);
            assert_eq!(refused.header("etag"), now, "{path}: the present one is told");
            refused.problem("stale");
            if kind.goes {
                ada.delete(path, old).expect(412).problem("stale");
            }
        }
        if kind.goes {
            ada.delete(path, "").expect(428).problem("precondition-required");
        }
        // A weak tag never matches, nor does a different one. Of several tags, one suffices.
        for never in ["W/\"2\"", "\"other\"", "W/\"2\", \"1\""] {
            send(&ada, &kind, never).expect(412).problem("stale");
        }
        assert_eq!(send(&ada, &kind, "\"1\", \"2\"").expect(200).etag().len(), 3, "{path}");
        send(&ada, &kind, "*").expect(200);
        if kind.goes && *path != "/projects/vision" {
            ada.delete(path, "*").expect(204);
            let gone = ada.delete(path, "*");
            assert_eq!(gone.status, 404, "{path}: {}", gone.text());
        }
    }
    ada.delete("/projects/vision", "*").expect(204);
}

#[test]
fn of_two_people_who_change_one_thing_at_once_one_is_told() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    ada.post("/projects", &json!({"name": "vision"})).expect(201);
    for round in 0..5 {
        let etag = ada.get("/projects/vision").expect(200).etag();
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let change = |n: u32| json!({"label": format!("round {round} of {n}")});
            let asked: Vec<_> = (0..4)
                .map(|n| {
                    let (ada, etag) = (&ada, &etag);
                    scope.spawn(move || ada.patch("/projects/vision", etag, &change(n)).status)
                })
                .collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 412).count(), 3, "{statuses:?}");
    }
}
