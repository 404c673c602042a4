//! Comparing target clusters before a run, and choosing one for it.

use cubeloom_web::time::Time;
use serde_json::{Value, json};

use crate::api::runs::help::{document, start, task, until, until_task};
use crate::api::storage::clusters::AWAY;
use crate::api::support::{Answer, Client, Server, Who};
use crate::support::wait_for;

const COMPARE: &str = "/projects/default/forecast/places";

fn far(server: &Server) {
    let far = json!({"name": "far", "access": "kubeconfig", "kubeconfig": AWAY,
        "node_groups": {"cards": {"selector": {"pool": "cards"}}}});
    server.as_(Who::Administrator).post("/clusters", &far).expect(201);
}

fn bind(server: &Server, places: &Value) {
    server.as_(Who::Administrator).put("/projects/default/places", "*", places).expect(200);
}

#[track_caller]
fn compare(client: &Client, text: &str) -> Value {
    client.post(COMPARE, &json!({"document": text})).expect(200).json()
}

fn names(found: &Value) -> Vec<&str> {
    found["places"].as_array().unwrap().iter().map(|place| place["place"].as_str().unwrap()).collect()
}

#[track_caller]
fn of<'f>(found: &'f Value, name: &str) -> &'f Value {
    let mut places = found["places"].as_array().unwrap().iter();
    places.find(|place| place["place"] == name).unwrap_or_else(|| panic!("no {name} in {found}"))
}

#[track_caller]
fn mistake(answer: &Answer) -> (String, String) {
    let problem = &answer.json()["problems"][0];
    let text = |name: &str| problem[name].as_str().unwrap().to_owned();
    (text("path"), text("message"))
}

#[test]
fn every_place_of_the_project_is_compared_and_nothing_is_started() {
    let server = Server::start();
    far(&server);
    let viewer = server.as_(Who::Viewer);
    let text = document("goes", &format!("tasks:\n{}", task("say", "true", "")));
    let found = compare(&viewer, &text);
    assert_eq!(names(&found), ["local", "far", "far/cards"], "the default is the first");
    let local = of(&found, "local");
    assert_eq!((&local["is_usual"], &local["outlook"]), (&json!(true), &json!("starts")), "{local}");
    assert_eq!(local["start"]["p50"], found["at"], "it starts at once");
    assert_eq!((local.get("takes"), &local["unknown_tasks"]), (None, &json!(["say"])), "nothing has run yet");
    let away = of(&found, "far");
    assert_eq!(
        (&away["is_usual"], &away["outlook"], &away["problems"]),
        (&json!(false), &json!("unknown"), &json!([]))
    );
    // The choices exclude clusters that the project may not use.
    bind(&server, &json!({"allowed": ["far/cards", "local"], "usual": "far/cards"}));
    let found = compare(&viewer, &text);
    assert_eq!(
        (names(&found), &of(&found, "far/cards")["is_usual"]),
        (vec!["far/cards", "local"], &json!(true))
    );
    assert_eq!(viewer.get("/runs").expect(200).json()["items"], json!([]));
}

#[test]
fn a_place_where_it_cannot_run_says_why_with_the_field() {
    let server = Server::start();
    far(&server);
    let editor = server.as_(Who::Editor);
    let line = task("huge", "true", "").replace("cpu: 100m", "cpu: 64");
    let found = compare(&editor, &document("goes", &format!("tasks:\n{line}")));
    let local = of(&found, "local");
    let problem = &local["problems"][0];
    assert_eq!((&local["outlook"], &problem["code"]), (&json!("never"), &json!("never_fits")), "{local}");
    assert!(problem["path"].as_str().unwrap().starts_with("/tasks/0/resources"), "{problem}");
    // A task's own node group is kept, and exists nowhere else.
    let own = task("say", "true", "    placement: {node_group: cards}\n");
    let found = compare(&editor, &document("goes", &format!("cluster: far\ntasks:\n{own}")));
    let local = of(&found, "local");
    assert_eq!(local["problems"][0]["path"], "/tasks/0/placement/node_group", "{local}");
    // A problem of every cluster is reported once.
    let wrong = compare(
        &editor,
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: goes\ntasks: [{name: a, template: nothing}]\n",
    );
    assert_eq!((&wrong["places"], &wrong["problems"][0]["path"]), (&json!([]), &json!("/tasks/0/template")));
    editor.post(COMPARE, &json!({})).expect(422).problem("invalid");
}

#[test]
fn history_and_prices_say_how_long_it_takes_and_what_it_costs() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let two = |line: &str| {
        let tasks = [task("one", line, ""), task("two", line, "    needs: [one]\n")].concat();
        document("goes", &format!("tasks:\n{tasks}"))
    };
    for _ in 0..3 {
        until(&editor, &start(&editor, &two("sleep 0.4")), "succeeded");
    }
    far(&server);
    let found = compare(&editor, &two("true"));
    let local = of(&found, "local");
    let took = local["takes"]["p50_seconds"].as_f64().unwrap();
    assert!((0.8..60.0).contains(&took), "both, one after the other: {local}");
    assert!(local["takes"]["p90_seconds"].as_f64().unwrap() >= took, "{local}");
    assert!(local["done"]["p50"].as_str() > local["start"]["p50"].as_str(), "{local}");
    assert_eq!((local.get("cost"), &local["elsewhere"]), (None, &json!([])), "nothing has a price");
    // A CPU costs 36,000 per hour, that is 10 per second. Each task has a tenth of a CPU.
    admin.post("/prices", &json!({"cluster": "local", "cpu_hour": "36000"})).expect(201);
    let found = compare(&editor, &two("true"));
    let local = of(&found, "local");
    let cost: f64 = local["cost"].as_str().unwrap().parse().unwrap();
    let longest = local["takes"]["p90_seconds"].as_f64().unwrap();
    assert!((0.8..=longest * 1.1).contains(&cost), "both tasks, each once: {cost}, {local}");
    // A manual task has no run time, so the total has none. The cost covers the other tasks.
    let more = two("true") + "  - {name: ask, template: approval, arguments: {message: 'Go on?'}}\n";
    let found = compare(&editor, &more);
    let local = of(&found, "local");
    assert_eq!((local.get("takes"), local.get("done")), (None, None), "{local}");
    assert_eq!((&local["unknown_tasks"], local["cost"].is_string()), (&json!(["ask"]), true), "{local}");
}

#[test]
fn a_place_where_it_waits_says_how_long_by_the_history_of_those_who_hold_it() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let text = |line: &str| {
        // Its timeout bounds the end, however long it has run by then.
        let work = task("work", line, "    timeout: 20m\n");
        document("goes", &format!("tasks:\n{work}")).replace("cpu: 100m", "cpu: 7")
    };
    for _ in 0..3 {
        until(&editor, &start(&editor, &text("sleep 0.3")), "succeeded");
    }
    let holds = start(&editor, &text("sleep 300"));
    until_task(&editor, &holds, "work", "running");
    let found = compare(&editor, &text("true"));
    let local = of(&found, "local");
    assert_eq!(local["outlook"], "waits", "{local}");
    assert!(local["message"].as_str().unwrap().starts_with("requests 7 CPU"), "{local}");
    let moment = |part: &str, at: &str| -> i64 {
        let Time(moment) = local[part][at].as_str().unwrap_or_else(|| panic!("{local}")).parse().unwrap();
        moment.0
    };
    let now: Time = found["at"].as_str().unwrap().parse().unwrap();
    assert!(moment("start", "p50") > now.0.0, "it is expected later than now: {local}");
    assert!(moment("start", "p90") >= moment("start", "p50"), "{local}");
    // Its end is its start plus its run time.
    assert!(moment("done", "p50") > moment("start", "p50"), "{local}");
    editor.post(&format!("/runs/{holds}/cancel"), &json!({})).expect(202);
    until(&editor, &holds, "cancelled");
}

#[test]
fn what_names_no_place_goes_to_the_projects() {
    let server = Server::start();
    far(&server);
    let editor = server.as_(Who::Editor);
    // The target of a document's run: the cluster, and the node group of its only task.
    let gone = |more: &str, own: &str| {
        let run = start(&editor, &document("goes", &format!("{more}tasks:\n{}", task("say", "true", own))));
        let plan = editor.get(&format!("/runs/{run}/plan")).expect(200).json();
        editor.post(&format!("/runs/{run}/cancel"), &json!({}));
        wait_for("it to end", || {
            editor.get(&format!("/runs/{run}")).expect(200).json()["ended_at"].is_string()
        });
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (word(&plan["cluster"]), word(&plan["tasks"][0]["placement"]["node_group"]))
    };
    let is_at = |found: (String, String), cluster: &str, node_group: &str| {
        assert_eq!((found.0.as_str(), found.1.as_str()), (cluster, node_group));
    };
    is_at(gone("", ""), "local", "");
    // Without a default, the first allowed cluster.
    bind(&server, &json!({"allowed": ["far/cards"]}));
    is_at(gone("", ""), "far", "cards");
    bind(&server, &json!({"allowed": ["local", "far", "far/cards"], "usual": "far/cards"}));
    is_at(gone("", ""), "far", "cards");
    // A document that names a cluster runs there, in the project's node group on it.
    is_at(gone("cluster: local\n", ""), "local", "");
    is_at(gone("cluster: far\n", ""), "far", "cards");
    bind(&server, &json!({"allowed": ["local", "far", "far/cards"], "usual": "local"}));
    is_at(gone("", ""), "local", "");
    is_at(gone("cluster: far\n", ""), "far", "");
    // A task's own node group is kept.
    is_at(gone("cluster: far\n", "    placement: {node_group: cards}\n"), "far", "cards");
    bind(&server, &json!({}));
    is_at(gone("", ""), "local", "");
}

#[test]
fn a_run_goes_to_the_place_that_is_chosen_for_it_alone() {
    let server = Server::start();
    far(&server);
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let text = document("goes", &format!("tasks:\n{}", task("say", "true", "")));
    let post =
        |place: &str| editor.post("/projects/default/runs", &json!({"pipeline": "goes", "place": place}));
    editor.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
    let refused = [
        ("near", "/place", "no cluster `near`"),
        ("local/cards", "/place", "no node group `cards`"),
        ("/cards", "/place", "is not a pool"),
    ];
    for (place, path, why) in refused {
        let found = mistake(&post(place).expect(422));
        assert!(found.0 == path && found.1.contains(why), "{place}: {found:?}");
    }
    let part = json!({"pipeline": "goes", "place": "local", "tasks": {"only": "say"}});
    assert_eq!(mistake(&editor.post("/projects/default/runs", &part).expect(422)).0, "/place");
    bind(&server, &json!({"allowed": ["far/cards"]}));
    let outside = mistake(&post("local").expect(422));
    assert!(outside.0 == "/place" && outside.1.contains("may not use `local`"), "{outside:?}");
    // By default it would go to the project's target.
    bind(&server, &json!({"allowed": ["local", "far/cards"], "usual": "far/cards"}));
    let run = post("local").expect(201).json()["run"]["id"].as_str().unwrap().to_owned();
    until(&editor, &run, "succeeded");
    let plan = editor.get(&format!("/runs/{run}/plan")).expect(200).json();
    assert_eq!(plan["cluster"], "local", "{plan}");
    let audited = admin.get("/audit?action=run.start&limit=1").expect(200).json();
    assert_eq!(audited["items"][0]["after"]["place"], "local", "{audited}");
    // A repeated run uses the same target.
    let again = editor.post(&format!("/runs/{run}/again"), &json!({})).expect(201).json();
    let again = again["run"]["id"].as_str().unwrap();
    until(&editor, again, "succeeded");
    assert_eq!(editor.get(&format!("/runs/{again}/plan")).expect(200).json()["cluster"], "local");
}
