//! Several quota edits at once, their impact as the scheduler computes it, and their history.

use serde_json::{Value, json};

use crate::api::runs::help::{document, of_task, start, task, until, until_task};
use crate::api::support::{Answer, Client, Server, Who};
use crate::support::wait_for;

/// An edit of a project's guarantee, out of the server's 8 CPUs, with the revision that was read.
fn edit(name: &str, cpu: u32, revision: u64) -> Value {
    let quotas = json!({"local": {"guarantee": {"cpu": cpu}}});
    json!({"kind": "project", "name": name, "quotas": quotas, "revision": revision})
}

fn change(client: &Client, edits: &[Value]) -> Answer {
    client.post("/quotas/changes", &json!({ "edits": edits }))
}

fn guaranteed(client: &Client, project: &str) -> Value {
    let said = client.get(&format!("/projects/{project}/quota")).expect(200).json();
    said["quotas"]["local"]["guarantee"]["cpu"].clone()
}

/// The projects `default`, with all CPUs, and `other`, with none.
fn two_projects(server: &Server) -> Client {
    let ada = server.as_(Who::Administrator);
    ada.post("/projects", &json!({"name": "other"})).expect(201);
    change(&ada, &[edit("default", 8, 0), edit("other", 0, 0)]).expect(200);
    ada
}

#[test]
fn a_guarantee_is_moved_by_one_change_and_the_history_says_so_once() {
    let server = Server::start();
    let ada = two_projects(&server);
    let made = change(&ada, &[edit("default", 5, 1), edit("other", 3, 1)]).expect(200).json();
    assert_eq!(
        made["items"],
        json!([{"queue": "project/default", "revision": 2}, {"queue": "project/other", "revision": 2}])
    );
    assert_eq!((guaranteed(&ada, "default"), guaranteed(&ada, "other")), (json!("5"), json!("3")));
    let history = ada.get("/quotas/history").expect(200).json();
    assert_eq!(history["items"].as_array().unwrap().len(), 2, "the first quotas, and the move: {history}");
    let moved = &history["items"][0];
    assert_eq!(moved["queue"], "project/default project/other");
    let cpu = |side: &str, queue: &str| moved[side][queue]["quotas"]["local"]["guarantee"]["cpu"].clone();
    assert_eq!((cpu("before", "project/other"), cpu("after", "project/other")), (json!("0"), json!("3")));
    assert_eq!((cpu("before", "project/default"), cpu("after", "project/default")), (json!("8"), json!("5")));
    // Members see their own part of it, and nothing of the other project.
    let own = server.as_(Who::Viewer).get("/projects/default/quota/history").expect(200);
    assert!(!own.text().contains("other"), "{}", own.text());
    let own = own.json();
    assert_eq!(own["items"][0]["after"]["quotas"]["local"]["guarantee"]["cpu"], "5", "{own}");
    let page = ada.get("page:/quotas").expect(200).text();
    assert!(page.contains("project/other local guarantee cpu"), "{page}");
}

#[test]
fn bad_moves_keep_their_answers_and_change_nothing() {
    let server = Server::start();
    let ada = two_projects(&server);
    let history = || ada.get("/quotas/history").expect(200).json()["items"].as_array().unwrap().len();
    let before = (ada.get("/quotas").expect(200).json(), history());
    let refused = |edits: &[Value]| {
        let problem = change(&ada, edits).expect(422).problem("invalid");
        let text = |name: &str| problem["problems"][0][name].as_str().unwrap().to_owned();
        (text("path"), text("code"))
    };
    let found = |path: &str, code: &str| (path.to_owned(), code.to_owned());
    // More than the capacity.
    let over = refused(&[edit("default", 6, 1), edit("other", 3, 1)]);
    assert_eq!(over, found("/edits/0/quotas/local/guarantee/cpu", "never_fits"));
    // A cycle, which neither edit creates alone.
    let group =
        |name: &str, parent: &str| json!({"kind": "group", "name": name, "parent": parent, "revision": 0});
    assert_eq!(refused(&[group("a", "b"), group("b", "a")]), found("/edits/0/parent", "cycle"));
    let unseen = json!({"kind": "project", "name": "default"});
    assert_eq!(refused(&[unseen]), found("/edits/0/revision", "invalid_value"));
    assert_eq!(refused(&[edit("other", 0, 1), edit("other", 0, 1)]), found("/edits/1/name", "invalid_value"));
    assert_eq!(refused(&[]).0, "/edits");
    change(&ada, &[edit("default", 6, 1), edit("nobody", 2, 0)]).expect(404);
    // Another person has changed one of them in the meantime.
    let stale = change(&ada, &[edit("default", 5, 1), edit("other", 3, 0)]).expect(412).problem("stale");
    assert!(stale["detail"].as_str().unwrap().contains("other"), "{stale}");
    server.as_(Who::Owner).post("/quotas/changes", &json!({"edits": [edit("default", 5, 1)]})).expect(403);
    assert_eq!((ada.get("/quotas").expect(200).json(), history()), before);
    // Only an authorized person may go below the current usage.
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("holds", &format!("tasks:\n{}", task("hold", "sleep 60", ""))));
    until_task(&editor, &run, "hold", "running");
    let quotas = json!({"local": {"limit": {"cpu": "50m"}}});
    let tight = json!({"kind": "project", "name": "default", "quotas": quotas, "revision": 1});
    assert_eq!(refused(std::slice::from_ref(&tight)), found("/edits/0/quotas/local/limit/cpu", "conflict"));
    ada.post("/quotas/changes", &json!({"edits": [tight], "below_use": true})).expect(200);
    editor.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    until(&editor, &run, "cancelled");
}

#[test]
fn a_preview_of_a_move_names_who_gives_back_and_who_starts() {
    let server = Server::start();
    let ada = two_projects(&server);
    let cores = |name: &str, cpu: &str| {
        document(name, &format!("tasks:\n{}", task("work", "sleep 300", "")))
            .replace("cpu: 100m", &format!("cpu: {cpu}"))
    };
    let runs = |client: &Client, project: &str, name: &str, cpu: &str| {
        let body = json!({"document": cores(name, cpu)});
        let started = client.post(&format!("/projects/{project}/runs"), &body).expect(201).json();
        started["run"]["id"].as_str().unwrap().to_owned()
    };
    let old = runs(&ada, "default", "old", "5");
    until_task(&ada, &old, "work", "running");
    let new = runs(&ada, "default", "new", "3");
    until_task(&ada, &new, "work", "running");
    let waits = runs(&ada, "other", "waits", "2");
    wait_for("a reason to wait", || of_task(&ada, &waits, "work")["wait"].is_object());
    let preview =
        |edits: &[Value]| ada.post("/quotas/preview", &json!({ "edits": edits })).expect(200).json();
    let same = preview(&[edit("default", 8, 1)]);
    for part in ["over", "give_back", "start", "wait"] {
        assert_eq!(same[part]["count"], 0, "{part}: {same}");
    }
    let moved = preview(&[edit("default", 5, 1), edit("other", 3, 1)]);
    let run = |part: &str| (moved[part]["count"].clone(), moved[part]["jobs"][0]["run"].clone());
    assert_eq!(run("give_back"), (json!(1), json!(new)), "{moved}");
    assert_eq!(run("start"), (json!(1), json!(waits)), "{moved}");
    assert_eq!((&moved["unknown"], &moved["problems"]), (&json!([]), &json!([])));
    // A member sees the impact on their own project; other runs that would start are only counted.
    let edits = json!({"edits": [edit("default", 5, 1)]});
    let own = server.as_(Who::Viewer).post("/quotas/preview", &edits).expect(200).json();
    assert_eq!(own["give_back"]["count"], 0, "nobody else is owed anything: {own}");
    let edits = json!({"edits": [edit("default", 5, 1), edit("other", 3, 1)]});
    let none = server.as_(Who::Viewer).post("/quotas/preview", &edits).expect(422);
    assert!(!none.text().contains(&waits), "{}", none.text());
    // The forecast comes true.
    change(&ada, &[edit("default", 5, 1), edit("other", 3, 1)]).expect(200);
    until_task(&ada, &waits, "work", "running");
    assert_eq!(of_task(&ada, &old, "work")["state"], "running");
    for run in [old, new, waits] {
        ada.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
        until(&ada, &run, "cancelled");
    }
}

#[test]
fn the_history_has_changes_of_named_limits() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    ada.put("/limits/hdfs-prod", "\"0\"", &json!({"at_once": 4})).expect(200);
    ada.put("/limits/hdfs-prod", "\"1\"", &json!({"at_once": 9})).expect(200);
    ada.put("/limits/other", "\"0\"", &json!({"a_minute": 9})).expect(200);
    let member = server.as_(Who::Viewer);
    assert_eq!(member.get("/quotas/history").expect(200).json()["items"].as_array().unwrap().len(), 3);
    assert!(member.get("page:/quotas").expect(200).text().contains("limit/hdfs-prod"));
    let of_one = member.get("/quotas/history?queue=limit/hdfs-prod").expect(200).json();
    assert_eq!(of_one["items"].as_array().unwrap().len(), 2, "{of_one}");
    let newest = &of_one["items"][0];
    assert_eq!(newest["queue"], "limit/hdfs-prod");
    assert_eq!((&newest["before"]["at_once"], &newest["after"]["at_once"]), (&json!(4), &json!(9)));
    assert_eq!(ada.get("/quotas/history").expect(200).json()["items"].as_array().unwrap().len(), 3);
    let page = ada.get("page:/quotas").expect(200).text();
    assert!(page.contains("limit/hdfs-prod") && page.contains("<code>at_once</code>"), "{page}");
}

#[test]
fn the_page_has_all_changes_a_page_at_a_time_and_those_of_one_queue() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    for n in 1..=22u64 {
        let quotas = json!({"local": {"guarantee": {"cpu": format!("{n}00m")}}});
        let etag = format!("\"{}\"", n - 1);
        ada.put("/projects/default/quota", &etag, &json!({ "quotas": quotas })).expect(200);
    }
    ada.put("/limits/other", "\"0\"", &json!({"a_minute": 9})).expect(200);
    let rows = |page: &str| page.matches("<code>local guarantee cpu</code>").count();
    let newest = ada.get("page:/quotas").expect(200).text();
    assert_eq!(rows(&newest), 19, "twenty, one of which is of the limit");
    let next = newest.split("rel=\"next\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let next =
        next.unwrap_or_else(|| panic!("no link: {newest}")).replace("&#38;", "&").replace("&amp;", "&");
    let (next, _) = next.split_once('#').unwrap();
    let last = ada.get(&format!("page:{next}")).expect(200).text();
    assert_eq!(rows(&last), 3);
    assert!(!last.contains("rel=\"next\""), "{last}");
    // Also for one project, and in pages.
    let of_one = ada.get("page:/quotas?queue=project/default").expect(200).text();
    assert_eq!(rows(&of_one), 20);
    assert!(of_one.contains("queue=project%2Fdefault&"), "the next page is of the same: {of_one}");
    assert!(of_one.contains("selected>project/default</option>"), "{of_one}");
    let of_limit = ada.get("page:/quotas?queue=limit/other").expect(200).text();
    assert_eq!((rows(&of_limit), of_limit.matches("<code>a_minute</code>").count()), (0, 1));
    // The response does not reveal whether a hidden project exists.
    ada.post("/projects", &json!({"name": "secret"})).expect(201);
    ada.put("/projects/secret/quota", "*", &json!({"quotas": {"local": {"limit": {"cpu": 7}}}})).expect(200);
    let none = server.as_(Who::Viewer).get("page:/quotas?queue=project/secret").expect(200).text();
    assert!(none.contains("No changes yet.") && !none.contains("local limit cpu"), "{none}");
    ada.get("page:/quotas?cursor=%21").expect(422);
}
