//! Reconnected list streams: missed events arrive once, without those of hidden projects.

use serde_json::{Value, json};

use super::help::{Event, Events, document, start, task, until};
use crate::api::support::{Client, Server, Who};

/// Runs a pipeline in a project to its end.
fn run_in(client: &Client, project: &str, name: &str) -> String {
    let text = document(name, &format!("tasks:\n{}", task("a", "true", "")));
    let asked = json!({"document": text});
    let started = client.post(&format!("/projects/{project}/runs"), &asked).expect(201).json();
    let run = super::help::id(&started["run"]);
    until(client, &run, "succeeded");
    run
}

/// The events up to and including the end of a run.
fn up_to(events: &Events, run: &str) -> Vec<Event> {
    let mut all = Vec::new();
    events.find(|event| {
        all.push(event.clone());
        event.data["run"]["id"] == run && event.data["run"]["state"] == "succeeded"
    });
    all
}

/// The number in an event's id.
fn number(event: &Event) -> u64 {
    event.id.rsplit_once('-').unwrap().1.parse().unwrap()
}

fn pipelines(events: &[Event]) -> Vec<&Value> {
    let mut names: Vec<&Value> = events.iter().map(|event| &event.data["run"]["pipeline"]).collect();
    names.dedup();
    names
}

#[test]
fn a_list_goes_on_from_where_it_was_without_what_others_did_between() {
    let server = Server::start();
    let (ada, viewer) = (server.as_(Who::Administrator), server.as_(Who::Viewer));
    ada.post("/projects", &json!({"name": "vision"})).expect(201);
    for (client, path, seen) in [
        (&viewer, "/projects/default/events", false),
        (&viewer, "/events", false),
        (&ada, "/projects/default/events", false),
        (&ada, "/events", true),
    ] {
        let before = Events::open(client, path, None);
        assert_eq!(before.next().name, "snapshot");
        let last = up_to(&before, &run_in(&ada, "default", "before")).pop().unwrap();
        drop(before);
        run_in(&ada, "default", "first");
        run_in(&ada, "vision", "theirs");
        let newest = run_in(&ada, "default", "second");
        let told = up_to(&Events::open(client, path, Some(&last.id)), &newest);
        assert!(told.iter().all(|event| event.name == "run"), "not all again: {told:?}");
        let names = if seen { vec!["first", "theirs", "second"] } else { vec!["first", "second"] };
        assert_eq!(pipelines(&told), names, "{path} {seen}");
        assert!(told.iter().all(|event| number(event) > number(&last)), "{told:?}");
        // Also from the middle of the missed events.
        let middle = told.iter().rposition(|event| event.data["run"]["pipeline"] == "first").unwrap();
        let rest = up_to(&Events::open(client, path, Some(&told[middle].id)), &newest);
        let ids = |events: &[Event]| events.iter().map(|event| event.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&rest), ids(&told[middle + 1..]), "{path}: nothing twice, nothing left out");
        // A stream without events resumes, even if the last events were another project's.
        let page = format!("{path}?last_event_id={}", last.id);
        assert_eq!(pipelines(&up_to(&Events::open(client, &page, None), &newest)), names, "{page}");
    }
}

#[test]
fn a_place_that_is_not_known_begins_with_a_snapshot_of_what_may_be_seen() {
    let server = Server::start();
    let (ada, viewer) = (server.as_(Who::Administrator), server.as_(Who::Viewer));
    ada.post("/projects", &json!({"name": "vision"})).expect(201);
    run_in(&ada, "vision", "theirs");
    let text = document("ours", &format!("tasks:\n{}", task("a", "sleep 30", "")));
    let ours = start(&ada, &text);
    for path in ["/events", "/projects/default/events"] {
        for foreign in ["nonsense", "ffffffffffffffff-7"] {
            let first = Events::open(&viewer, path, Some(foreign)).next();
            assert_eq!(first.name, "snapshot", "{path} {foreign}");
            let runs: Vec<&Value> =
                first.data["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
            assert_eq!(runs, [&json!(ours)], "{path} {foreign}");
        }
    }
    ada.post(&format!("/runs/{ours}/cancel"), &json!({})).expect(202);
    until(&ada, &ours, "cancelled");
}
