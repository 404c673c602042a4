//! Clusters: what they have, and what holds it.

use serde_json::json;

use crate::api::runs::help::{document, start, task, until, until_task};
use crate::api::support::{Server, Who};

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
