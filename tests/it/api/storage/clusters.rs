//! Clusters: what they have, and what holds it.

use serde_json::json;

use crate::api::runs::help::{document, start, task, until, until_task};
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

/// A kubeconfig for a cluster that does not answer.
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
    assert!(check["problems"][0].as_str().unwrap().starts_with("the cluster does not answer"), "{check}");
    // The kubeconfig stays when it is left out.
    let change = json!({
        "access": "kubeconfig", "namespace": "jobs-{project}", "description": "far away",
        "volcano_queue": "team.jobs", "kueue_queue": "", "kai_queue": "jobs-{project}",
    });
    admin.put("/clusters/far", "\"7\"", &change).expect(412);
    let changed = admin.put("/clusters/far", "\"1\"", &change).expect(200).json();
    assert_eq!((&changed["namespace"], &changed["revision"]), (&json!("jobs-{project}"), &json!(2)));
    let queues = ["volcano_queue", "kueue_queue", "kai_queue"].map(|field| &changed[field]);
    assert_eq!(queues, [&json!("team.jobs"), &json!(null), &json!("jobs-{project}")], "{changed}");
    // It is there after a restart.
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
