//! API tokens: permissions, projects and expiry.

use cubeloom_domain::Timestamp;
use cubeloom_web::time::Time;
use serde_json::{Value, json};

use crate::api::runs::help::{document, id, task, until};
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

/// A client with a token that `owner` creates through the API.
fn made(server: &Server, owner: &Client, wanted: Value) -> Client {
    let token = owner.post("/tokens", &wanted).expect(201).json()["token"].as_str().unwrap().to_owned();
    server.with_token(Some(token))
}

#[test]
fn each_scope_may_what_it_says_and_no_more() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let document = document("p", &format!("tasks:\n{}", task("say", "true", "")));
    for (scope, rank) in [("read", 0), ("run", 1), ("write", 2), ("admin", 3)] {
        let token = made(&server, &ada, json!({"name": scope, "scope": scope}));
        let me = token.get("/me").expect(200).json();
        assert_eq!((&me["via"], &me["scope"]), (&json!("token"), &json!(scope)));
        let allowed = |status: u16, needs: u32, what: &str| {
            let refused = status == 403;
            assert_eq!(refused, rank < needs, "{scope} {what}: {status}");
        };
        allowed(token.get("/projects/default/audit").status, 0, "looks");
        let run = token.post("/projects/default/runs", &json!({"document": document}));
        allowed(run.status, 1, "starts a run");
        if run.status == 201 {
            until(&ada, &id(&run.json()["run"]), "succeeded");
        }
        let secret = json!({"name": format!("of-{scope}"), "value": "a value of some length"});
        allowed(token.post("/projects/default/secrets", &secret).status, 2, "makes a secret");
        allowed(
            token.post("/projects", &json!({"name": format!("of-{scope}")})).status,
            3,
            "makes a project",
        );
        allowed(token.post("/tokens", &json!({"name": "more", "scope": "admin"})).status, 3, "makes a token");
    }
}

#[test]
fn a_token_ends_when_its_time_is_over() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let past = json!({"name": "late", "scope": "read", "expires_at": "2020-01-01T00:00:00Z"});
    assert_eq!(
        ada.post("/tokens", &past).expect(422).problem("invalid")["problems"][0]["path"],
        "/expires_at"
    );
    // By the server's clock.
    let now = ada.post("/tokens", &json!({"name": "now", "scope": "read"})).expect(201).json();
    let created = now["created_at"].as_str().unwrap();
    let until = later(created, 3);
    let short = made(&server, &ada, json!({"name": "short", "scope": "read", "expires_at": until}));
    short.get("/me").expect(200);
    let admin =
        made(&server, &ada, json!({"name": "admin", "scope": "admin", "expires_at": later(created, 60)}));
    for longer in [json!(null), json!(later(created, 61))] {
        let wanted = json!({"name": "longer", "scope": "read", "expires_at": longer});
        let refused = admin.post("/tokens", &wanted).expect(422).problem("invalid");
        assert_eq!(refused["problems"][0]["path"], "/expires_at", "it would outlive what made it: {refused}");
    }
    made(&server, &admin, json!({"name": "as long", "scope": "read", "expires_at": later(created, 60)}));
    wait_for("the token to expire", || short.get("/me").status == 401);
    let refused = short.get("/me").expect(401).problem("not-signed-in");
    assert!(refused["detail"].as_str().unwrap().contains("expired"), "{refused}");
}

/// A moment plus this many seconds.
fn later(moment: &str, seconds: i64) -> String {
    let moment: Time = moment.parse().unwrap();
    Time(Timestamp(moment.0.0 + seconds * 1_000_000)).to_string()
}

#[test]
fn a_token_is_shown_once_and_revoked_by_its_person_or_an_administrator() {
    let server = Server::start();
    let (ada, editor, viewer) =
        (server.as_(Who::Administrator), server.as_(Who::Editor), server.as_(Who::Viewer));
    let answer = editor.post("/tokens", &json!({"name": "nightly", "scope": "run"})).expect(201).json();
    let (token, id) = (answer["token"].as_str().unwrap(), answer["id"].as_str().unwrap());
    let secret = token.rsplit_once('_').unwrap().1;
    for seen in
        [editor.get("/tokens"), ada.get("/users/emil/tokens"), editor.get("page:/me"), ada.get("/audit")]
    {
        assert!(!seen.expect(200).text().contains(secret));
    }
    let path = format!("/tokens/{id}");
    viewer.delete(&path, "").expect(404).problem("not-found");
    server.with_token(Some(token.to_owned())).delete(&path, "").expect(403).problem("forbidden");
    ada.delete(&path, "").expect(204);
    let refused = server.with_token(Some(token.to_owned())).get("/me").expect(401).problem("not-signed-in");
    assert!(refused["detail"].as_str().unwrap().contains("revoked"), "{refused}");
    editor.delete(&path, "").expect(404);
    // One character changed, or the secret of another token.
    let other = editor.post("/tokens", &json!({"name": "other", "scope": "run"})).expect(201).json();
    let other = other["token"].as_str().unwrap();
    let mixed = format!("clt_{id}_{}", other.rsplit_once('_').unwrap().1);
    for wrong in [mixed, format!("{other}x"), other[..other.len() - 1].to_owned(), format!("clt_{id}_")] {
        server.with_token(Some(wrong)).get("/me").expect(401);
    }
}

#[test]
fn a_token_for_one_project_sees_and_changes_nothing_else() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    ada.post("/projects", &json!({"name": "vision"})).expect(201);
    ada.post("/me/secrets", &json!({"name": "own", "value": "a value of mine"})).expect(201);
    let bound = made(&server, &ada, json!({"name": "bound", "scope": "admin", "project": "default"}));
    assert_eq!(bound.get("/me").expect(200).json()["project"], "default");
    bound.get("/projects/default").expect(200);
    let projects = bound.get("/projects").expect(200).json();
    assert_eq!(projects["items"].as_array().unwrap().len(), 1, "{projects}");
    for path in ["/projects/vision", "/projects/vision/members", "/projects/none"] {
        bound.get(path).expect(404).problem("not-found");
    }
    // Resources of the person alone, and of the platform.
    for path in [
        "/me/secrets",
        "/me/secrets/own",
        "/me/sessions",
        "/tokens",
        "page:/me",
        "/users",
        "/users/ada",
        "/links",
        "/audit",
        "page:/users",
        "page:/audit",
        "/users/ada/tokens",
    ] {
        assert_eq!(bound.get(path).status, 403, "{path}");
    }
    for (path, body) in [
        ("/projects", json!({"name": "more"})),
        ("/tokens", json!({"name": "more", "scope": "admin"})),
        ("/me/secrets", json!({"name": "more", "value": "a value of mine"})),
        ("/links", json!({"kind": "invite", "admin": true})),
        ("/users", json!({"name": "more"})),
    ] {
        bound.post(path, &body).expect(403).problem("forbidden");
    }
    bound.patch("/me", "*", &json!({"display_name": "x"})).expect(403);
    bound.delete("/me/secrets/own", "*").expect(403);
    // Tokens for a project are for its members only, and end with the membership.
    let stranger = server.as_(Who::Stranger);
    let wanted = json!({"name": "theirs", "scope": "read", "project": "default"});
    stranger.post("/tokens", &wanted).expect(422).problem("invalid");
    let viewer = server.as_(Who::Viewer);
    let theirs = made(&server, &viewer, wanted);
    theirs.get("/projects/default").expect(200);
    ada.delete("/projects/default/members/vera", "*").expect(204);
    theirs.get("/projects/default").expect(404).problem("not-found");
    assert_eq!(theirs.get("/projects").expect(200).json()["items"], json!([]));
}
