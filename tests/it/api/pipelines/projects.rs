//! Projects and their members.

use serde_json::json;

use super::super::support::{Server, Who};
use super::create;

#[test]
fn a_project_from_its_beginning_to_its_end() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    server.as_(Who::Owner).post("/projects", &json!({"name": "mine"})).expect(403).problem("forbidden");
    let bad = json!({"name": "Not A Name", "label": "", "description": "x".repeat(2001)});
    let told = admin.post("/projects", &bad).expect(422).problem("invalid");
    assert_eq!(told["problems"].as_array().unwrap().len(), 3, "{told}");
    let made = admin.post("/projects", &json!({"name": "vision", "label": "Vision"})).expect(201);
    assert_eq!(made.json()["role"], "owner");
    admin.post("/projects", &json!({"name": "vision"})).expect(409).problem("conflict");

    let stranger = server.as_(Who::Stranger);
    stranger.get("/projects/vision").expect(404).problem("not-found");
    assert_eq!(stranger.get("/projects").expect(200).json()["items"], json!([]));
    admin.put("/projects/vision/members/sten", "", &json!({"role": "viewer"})).expect(201);
    stranger.get("/projects/vision").expect(200);
    assert_eq!(stranger.get("/projects").expect(200).json()["items"][0]["role"], "viewer");

    let changed = admin.patch("/projects/vision", "\"1\"", &json!({"description": "Pictures"})).expect(200);
    assert_eq!((changed.etag().as_str(), &changed.json()["label"]), ("\"2\"", &json!("Vision")));
    admin.patch("/projects/vision", "\"1\"", &json!({"label": "x"})).expect(412).problem("stale");
    admin.patch("/projects/vision", "", &json!({"label": "x"})).expect(428).problem("precondition-required");

    admin.delete("/projects/vision", "\"2\"").expect(204);
    stranger.get("/projects/vision").expect(404);
    let log = admin.get("/audit?project=vision").expect(200).json();
    // A new project of that name would show the old one's history.
    let again = admin.post("/projects", &json!({"name": "vision"})).expect(409).problem("conflict");
    assert!(again["detail"].as_str().unwrap().contains("a deleted project vision"), "{again}");
    let actions = log["items"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap());
    let (refused, done): (Vec<_>, Vec<_>) = actions.partition(|action| *action == "request.refuse");
    assert_eq!(done, ["project.delete", "project.update", "member.put", "member.put", "project.create"]);
    assert_eq!(refused.len(), 2, "the stranger's looks before and after: {log}");
}

#[test]
fn a_project_in_use_and_its_last_owner_stay() {
    let server = Server::start();
    let owner = server.as_(Who::Owner);
    let since = owner.get("/projects/default").expect(200).json()["created_at"].clone();
    assert!(since.as_str().is_some_and(|since| since > "2020"), "{since}");
    let told = owner.delete("/projects/default/members/olga", "*").expect(409).problem("conflict");
    assert!(told["detail"].as_str().unwrap().contains("last owner"), "{told}");
    owner.put("/projects/default/members/olga", "\"1\"", &json!({"role": "viewer"})).expect(409);
    let editor = server.as_(Who::Editor);
    owner.put("/projects/default/members/emil", "", &json!({"role": "viewer"})).expect(428);
    owner
        .put("/projects/default/members/nobody", "", &json!({"role": "viewer"}))
        .expect(404)
        .problem("not-found");
    owner.put("/projects/default/members/emil", "*", &json!({"role": "king"})).expect(422).problem("invalid");
    create(&editor, "greet");
    let told = owner.delete("/projects/default", "*").expect(409).problem("conflict");
    assert!(told["detail"].as_str().unwrap().contains("1 pipelines"), "{told}");
    let members = owner.get("/projects/default/members").expect(200).json();
    let names: Vec<_> =
        members["items"].as_array().unwrap().iter().map(|one| one["user"].as_str().unwrap()).collect();
    assert_eq!(names, ["emil", "olga"]);
    owner.delete("/projects/default/members/emil", "*").expect(204);
    editor.get("/projects/default").expect(404);
}
