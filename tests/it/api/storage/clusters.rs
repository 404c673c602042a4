//! Clusters: their capacity and allocations.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use crate::api::runs::help::{document, of_task, start, task, until, until_task};
use crate::api::support::{Server, Who};
use crate::support::wait_for;

#[test]
fn a_running_task_is_seen_by_members_and_counted_for_others() {
    let server = Server::start();
    let (editor, stranger) = (server.as_(Who::Editor), server.as_(Who::Stranger));
    let idle = editor.get("/clusters/local").expect(200).json();
    assert_eq!((&idle["attempts"], &idle["used"]["cpu"]), (&json!(0), &json!(0.0)));
    assert_eq!(idle["capacity"]["cpu"], 8.0);
    let templates = idle["templates"].as_array().unwrap();
    let command = templates.iter().find(|template| template["name"] == "command").unwrap();
    assert_eq!(command["missing"], json!([]));
    let run = start(&editor, &document("holds", &format!("tasks:\n{}", task("hold", "sleep 60", ""))));
    until_task(&editor, &run, "hold", "running");
    let busy = editor.get("/clusters/local").expect(200).json();
    assert_eq!(busy["used"]["cpu"], 0.1, "{busy}");
    assert_eq!((&busy["running"][0]["task"], &busy["running"][0]["run"]), (&json!("hold"), &json!(run)));
    let seen = stranger.get("/clusters/local").expect(200).json();
    assert_eq!((&seen["running"], &seen["others"]), (&json!([]), &json!(1)));
    assert!(stranger.get("page:/clusters").expect(200).text().contains("local"));
    editor.post(&format!("/runs/{run}/cancel"), &json!({}));
    until(&editor, &run, "cancelled");
    assert_eq!(editor.get("/clusters").expect(200).json()["items"][0]["attempts"], 0);
    editor.get("/clusters/nowhere").expect(404).problem("not-found");
}

/// A kubeconfig for an unreachable cluster.
pub const AWAY: &str = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
    clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\n\
    users: [{name: u, user: {token: tops3cret}}]\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n";

#[test]
fn a_cluster_is_added_changed_and_removed() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    let new = json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY, "uid": 2000});
    let made = admin.post("/clusters", &new).expect(201);
    let text = made.text();
    assert!(!text.contains("tops3cret"), "{text}");
    assert_eq!((&made.json()["uid"], &made.json()["workspace_path"]), (&json!(2000), &json!("{project}")));
    admin.post("/clusters", &new).expect(409).problem("conflict");
    wait_for("it is known to be away", || {
        admin.get("/clusters/far").expect(200).json()["standing"]["state"] == "away"
    });
    let check = admin.get("/clusters/far/check").expect(200).json();
    assert!(check["error"].is_string() && check["version"].is_null(), "{check}");
    assert!(check["problems"][0].as_str().unwrap().starts_with("the cluster is unreachable"), "{check}");
    // An omitted kubeconfig is kept.
    let change = json!({
        "access": "kubeconfig", "namespace": "jobs-{project}", "description": "far away",
        "volcano_queue": "team.jobs", "kueue_queue": "", "kai_queue": "jobs-{project}",
    });
    admin.put("/clusters/far", "\"7\"", &change).expect(412);
    let changed = admin.put("/clusters/far", "\"1\"", &change).expect(200).json();
    assert_eq!((&changed["namespace"], &changed["revision"]), (&json!("jobs-{project}"), &json!(2)));
    let queues = ["volcano_queue", "kueue_queue", "kai_queue"].map(|field| &changed[field]);
    assert_eq!(queues, [&json!("team.jobs"), &json!(null), &json!("jobs-{project}")], "{changed}");
    // The cluster still exists after a restart.
    server.kill();
    server.run();
    let admin = server.as_(Who::Administrator);
    assert_eq!(admin.get("/clusters/far").expect(200).json()["kind"], "kubernetes");
    admin.delete("/clusters/far", "\"2\"").expect(204);
    admin.get("/clusters/far").expect(404);
}

#[test]
fn what_is_wrong_with_a_cluster_is_told_by_field() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    let refused = |body: serde_json::Value| {
        let problem = admin.post("/clusters", &body).expect(422).json();
        let fields = problem["problems"].as_array().unwrap().iter();
        fields.map(|one| one["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let runs_a_program = AWAY.replace("token: tops3cret", "exec: {apiVersion: v1, command: sh}");
    for (body, field) in [
        (json!({"name": "local", "access": "kubeconfig", "kubeconfig": AWAY}), "/name"),
        (json!({"name": "a", "access": "kubeconfig"}), "/kubeconfig"),
        (json!({"name": "a", "access": "kubeconfig", "kubeconfig": "- nonsense"}), "/kubeconfig"),
        (json!({"name": "a", "access": "kubeconfig", "kubeconfig": runs_a_program}), "/kubeconfig"),
        (json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "context": "b"}), "/context"),
        (json!({"name": "a", "access": "in_cluster"}), "/access"),
        (json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "uid": 0}), "/uid"),
        (
            json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "workspace_path": "../x"}),
            "/workspace_path",
        ),
        (json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "namespace": "A"}), "/namespace"),
        (
            json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "volcano_queue": ""}),
            "/volcano_queue",
        ),
        (
            json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "kueue_queue": "a b"}),
            "/kueue_queue",
        ),
        (
            json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "kai_queue": "{team}-{project}"}),
            "/kai_queue",
        ),
        (
            json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "prometheus": "p:9090"}),
            "/prometheus",
        ),
        (
            json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "prometheus_labels": {"a-b": "c"}}),
            "/prometheus_labels/a-b",
        ),
        (
            json!({"name": "a", "access": "kubeconfig", "kubeconfig": AWAY, "grafana": "javascript:0"}),
            "/grafana",
        ),
    ] {
        assert_eq!(refused(body.clone()), [field], "{body}");
    }
}

/// A mock API server that closes every connection, and the number of connections.
fn broken() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            drop(connection);
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    (AWAY.replace("https://127.0.0.1:1", &format!("http://{address}")), count)
}

#[test]
fn a_cluster_is_away_from_the_first_try_on_and_what_waits_for_it_says_so() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let (kubeconfig, tries) = broken();
    admin
        .post("/clusters", &json!({"name": "far", "access": "kubeconfig", "kubeconfig": kubeconfig}))
        .expect(201);
    let standing = || admin.get("/clusters/far").expect(200).json()["standing"].clone();
    wait_for("it is known to be away", || standing()["state"] == "away");
    let since = standing()["since"].clone();
    let text = document("one", &format!("cluster: far\ntasks:\n{}", task("works", "true", "")));
    let run = start(&editor, &text);
    wait_for("the reason", || {
        let message = of_task(&editor, &run, "works")["wait"]["message"].clone();
        message.as_str().is_some_and(|message| message.starts_with("the cluster is unreachable: "))
    });
    let before = tries.load(Ordering::Relaxed);
    wait_for("some more tries", || tries.load(Ordering::Relaxed) >= before + 4);
    assert_eq!((&standing()["state"], &standing()["since"]), (&json!("away"), &since), "no try is an answer");
}

#[test]
fn a_cluster_that_will_not_come_back_is_given_up_with_its_runs_and_removed() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    admin.post("/clusters", &json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY})).expect(201);
    let state = || admin.get("/clusters/far").expect(200).json()["standing"]["state"].clone();
    wait_for("it is known to be away", || state() == "away");
    let on = |name: &str| document(name, &format!("cluster: far\ntasks:\n{}", task("works", "true", "")));
    let waits = start(&editor, &on("one"));
    until_task(&editor, &waits, "works", "waiting");
    server.as_(Who::Owner).post("/clusters/far/give-up", &json!({})).expect(403);
    let given_up = admin.post("/clusters/far/give-up", &json!({})).expect(200).json();
    assert!(given_up["given_up_at"].is_string(), "{given_up}");
    until(&editor, &waits, "failed");
    let failure = of_task(&editor, &waits, "works")["failure"].clone();
    assert_eq!(failure["message"], "the cluster `far` was decommissioned", "{failure}");
    // It stays so after a restart, and a run started there fails at once with the reason.
    server.kill();
    server.run();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    assert_eq!(admin.get("/clusters/far").expect(200).json()["standing"]["state"], "given_up");
    let again = start(&editor, &on("two"));
    until(&editor, &again, "failed");
    let log = admin.get("/audit?action=cluster.give_up").expect(200).json();
    assert_eq!(log["items"][0]["subject"], "far", "{log}");
    // Saving its settings enables it again.
    admin.put("/clusters/far", "\"2\"", &json!({"access": "kubeconfig"})).expect(200);
    wait_for("it is looked for again", || {
        admin.get("/clusters/far").expect(200).json()["standing"]["state"] == "away"
    });
    admin.post("/clusters/far/give-up", &json!({})).expect(200);
    admin.delete("/clusters/far", "\"4\"").expect(204);
    admin.get("/clusters/far").expect(404);
}

#[test]
fn only_clusters_that_were_added_are_given_up() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    admin.post("/clusters/local/give-up", &json!({})).expect(404);
    admin.post("/clusters/nowhere/give-up", &json!({})).expect(404);
}
