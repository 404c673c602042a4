//! Usage, prices, budgets and statements: amounts, permissions and refusals.

use reqwest::Method;
use serde_json::{Value, json};

use super::runs::help::{document, start, task, until};
use super::support::{Client, Server, Who, client::send};
use crate::support::wait_for;

/// Runs one task in the project `default` to its end.
fn run_once(editor: &Client, name: &str) -> String {
    let run = start(editor, &document(name, &format!("tasks:\n{}", task("say", "sleep 0.3", ""))));
    until(editor, &run, "succeeded");
    run
}

fn month(client: &Client) -> String {
    client.get("/usage").expect(200).json()["to"].as_str().unwrap()[..7].to_owned()
}

/// A price so high that even a short run costs something.
fn dear(admin: &Client) -> Value {
    let price = json!({"cluster": "local", "cpu_hour": "900000", "memory_gib_hour": "1.5", "gpu_hour": ""});
    admin.post("/prices", &price).expect(201).json()
}

#[test]
fn usage_is_told_by_groups_to_whom_it_belongs() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let (viewer, stranger) = (server.as_(Who::Viewer), server.as_(Who::Stranger));
    run_once(&editor, "counted");
    let all = admin.get("/usage?by=pipeline").expect(200).json();
    let group = &all["groups"][0];
    assert_eq!(
        (&group["project"], &group["pipeline"], &group["attempts"]),
        (&json!("default"), &json!("counted"), &json!(1))
    );
    assert!(group["cpu_hours"].as_f64().unwrap() > 0.0, "{all}");
    assert_eq!((&all["total"]["cost"], &all["total"]["failed"]), (&json!("0.00"), &json!(0)));
    for by in ["day", "project", "user", "template", "node_group", "user,day"] {
        let told = viewer.get(&format!("/usage?by={by}")).expect(200).json();
        assert_eq!(told["total"], all["total"], "{by}");
        assert_eq!(told["groups"].as_array().unwrap().len(), 1, "{told}");
    }
    let by_user = viewer.get("/usage?by=user").expect(200).json();
    assert_eq!(by_user["groups"][0]["user"], Who::Editor.name());
    assert_eq!(viewer.get("/usage?by=template").expect(200).json()["groups"][0]["template"], "command");
    // A person without projects sees nothing, and cannot tell whether a project exists.
    assert_eq!(stranger.get("/usage").expect(200).json()["groups"], json!([]));
    stranger.get("/usage?project=default").expect(404).problem("not-found");
    viewer.get("/usage?project=nowhere").expect(404).problem("not-found");
    stranger.get("/projects/default/budget").expect(404);
    stranger.get(&format!("/projects/default/statements/{}", month(&viewer))).expect(404);
    // The usage of a deleted run still counts.
    let runs = editor.get("/projects/default/runs").expect(200).json();
    let run = runs["items"][0]["id"].as_str().unwrap().to_owned();
    editor.delete(&format!("/runs/{run}"), "*").expect(204);
    assert_eq!(admin.get("/usage?by=pipeline").expect(200).json()["total"], all["total"]);
}

#[test]
fn a_question_that_means_nothing_is_refused_with_its_field() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    for (query, path) in [
        ("from=yesterday", "/from"),
        ("to=2026-02-30", "/to"),
        ("from=2026-02-02&to=2026-02-01", "/to"),
        ("from=1990-01-01&to=2026-01-01", "/from"),
        ("by=colour", "/by"),
        ("by=day,day", "/by"),
        ("by=day,user,project", "/by"),
    ] {
        let problem = viewer.get(&format!("/usage?{query}")).expect(422).json();
        assert_eq!(problem["problems"][0]["path"], path, "{query}: {problem}");
    }
    viewer.get("/usage?format=xml").expect(422);
    viewer.get("page:/usage?by=colour").expect(422);
    viewer.get("/projects/default/statements/2026").expect(422);
    viewer.get("/projects/default/statements/2999-01").expect(404).problem("not-found");
}

#[test]
fn tables_are_for_other_programs() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    dear(&admin);
    run_once(&editor, "counted");
    let table = editor.get("/usage?by=pipeline&format=csv").expect(200);
    assert_eq!(table.header("content-type"), "text/csv; charset=utf-8");
    assert!(table.header("content-disposition").contains("usage-"));
    let text = table.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("project,pipeline,cpu_hours,used_cpu_hours,memory_gib_hours"), "{text}");
    assert!(lines.len() == 2 && lines[1].starts_with("default,counted,0.0"), "{text}");
    let statement = editor.get(&format!("/projects/default/statements/{}?format=csv", month(&editor)));
    let text = statement.expect(200).text();
    assert!(text.lines().nth(1).unwrap().starts_with("default,20"), "{text}");
    assert!(text.contains(",local,,20") && text.contains(",900000.00,1.50,0.00,"), "{text}");
}

#[test]
fn prices_are_the_administrators_and_have_a_history() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    run_once(&editor, "counted");
    editor.post("/prices", &json!({"cluster": "local"})).expect(403).problem("forbidden");
    for (price, path) in [
        (json!({"cluster": "nowhere"}), "/cluster"),
        (json!({"cluster": "local", "node_group": "No Group"}), "/node_group"),
        (json!({"cluster": "local", "valid_from": "2026-1-1"}), "/valid_from"),
        (json!({"cluster": "local", "valid_from": "2020-01-01"}), "/valid_from"),
        (json!({"cluster": "local", "cpu_hour": "-1"}), "/cpu_hour"),
        (json!({"cluster": "local", "gpu_hour": "0.0000001"}), "/gpu_hour"),
        (json!({"cluster": "local", "memory_gib_hour": "1000001"}), "/memory_gib_hour"),
    ] {
        let problem = admin.post("/prices", &price).expect(422).json();
        assert_eq!(problem["problems"][0]["path"], path, "{problem}");
    }
    admin.post("/prices", &json!({"cluster": "local", "colour": 1})).expect(422);
    // Today's earlier usage is priced once there is a price.
    let price = dear(&admin);
    let cost = |client: &Client| {
        client.get("/usage").expect(200).json()["total"]["cost"].as_str().unwrap().to_owned()
    };
    let first: f64 = cost(&editor).parse().unwrap();
    assert!(first > 0.0, "{first}");
    let again = admin.post("/prices", &json!({"cluster": "local", "cpu_hour": "2"})).expect(409);
    assert!(again.problem("conflict")["detail"].as_str().unwrap().contains("has a price from"));
    let path = format!("/prices/{}", price["id"].as_str().unwrap());
    let read = editor.get(&path).expect(200);
    assert_eq!((&read.json()["cpu_hour"], read.etag()), (&json!("900000.00"), "\"1\"".to_owned()));
    editor.put(&path, "\"1\"", &json!({"cpu_hour": "1"})).expect(403);
    admin.put(&path, "\"9\"", &json!({"cpu_hour": "1"})).expect(412);
    admin.put(&path, "\"1\"", &json!({"cpu_hour": "one"})).expect(422);
    let changed = admin.put(&path, "\"1\"", &json!({"cpu_hour": "9000"})).expect(200).json();
    assert_eq!((&changed["cpu_hour"], &changed["revision"]), (&json!("9000.00"), &json!(2)));
    let second: f64 = cost(&editor).parse().unwrap();
    assert!(second > 0.0 && second < first / 50.0, "{second} of {first}");
    let list = editor.get("/prices").expect(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    admin.delete(&path, "\"1\"").expect(412);
    admin.delete(&path, "\"2\"").expect(204);
    admin.get(&path).expect(404);
    admin.delete(&path, "*").expect(404);
    assert_eq!(cost(&editor), "0.00");
    let audit = admin.get("/audit?action=price.").expect(200).json();
    let actions: Vec<&str> =
        audit["items"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["price.delete", "price.update", "price.create"]);
}

#[test]
fn a_spent_budget_stops_new_runs_and_says_so() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let month = month(&admin);
    let path = format!("/projects/default/budgets/{month}");
    let body = json!({"amount": "0.01", "warn_percent": 50, "stop": true});
    editor.put(&path, "*", &body).expect(403).problem("forbidden");
    editor.get("/projects/default/budget").expect(404);
    for (wrong, field) in [
        (json!({"amount": "0"}), "/amount"),
        (json!({"amount": "much"}), "/amount"),
        (json!({"amount": "1", "warn_percent": 0}), "/warn_percent"),
        (json!({"amount": "1", "warn_percent": 101}), "/warn_percent"),
    ] {
        let problem = admin.put(&path, "*", &wrong).expect(422).json();
        assert_eq!(problem["problems"][0]["path"], field, "{problem}");
    }
    admin.put("/projects/default/budgets/2020-01", "*", &body).expect(409).problem("conflict");
    admin.put("/projects/default/budgets/soon", "*", &body).expect(422);
    admin.put(&path, "", &body).expect(428);
    admin.put(&path, "\"7\"", &body).expect(404);
    admin.put(&path, "*", &body).expect(201);
    admin.put(&path, "\"7\"", &body).expect(412);
    let run = run_once(&editor, "counted");
    assert_eq!(editor.get("/projects/default/budget").expect(200).json()["level"], "within");
    dear(&admin);
    // Most of the budget is spent, up to the configured threshold.
    let spent = admin.get("/usage?project=default").expect(200).json()["total"]["cost"].clone();
    let spent: f64 = spent.as_str().unwrap().parse().unwrap();
    let more = json!({"amount": format!("{:.2}", spent * 1.5), "warn_percent": 50, "stop": true});
    admin.put(&path, "\"1\"", &more).expect(200);
    assert_eq!(editor.get("/projects/default/budget").expect(200).json()["level"], "warned");
    for page in ["page:/projects/default", "page:/projects"] {
        let marked = editor.get(page).expect(200).text();
        assert!(marked.contains("Budget nearly spent") && !marked.contains("Budget spent"), "{page}");
    }
    admin.put(&path, "\"2\"", &body).expect(200);
    let standing = editor.get("/projects/default").expect(200).json()["budget"].clone();
    assert_eq!((&standing["level"], &standing["month"]), (&json!("stopped"), &json!(month)), "{standing}");
    let marked = editor.get("page:/projects/default").expect(200).text();
    assert!(marked.contains("data-level=\"stopped\""), "the page shows it");
    assert!(editor.get("page:/projects").expect(200).text().contains("Budget spent: no new runs"));
    // Nothing new starts: no run, no repeated run, no rerun and no resume.
    let text = document("more", &format!("tasks:\n{}", task("say", "true", "")));
    let refused = editor.post("/projects/default/runs", &json!({"document": text})).expect(409);
    let detail = refused.problem("conflict")["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains(&format!("the budget of project default for {month} is spent")), "{detail}");
    let found = editor.post("/projects/default/forecast", &json!({"document": text})).expect(200).json();
    let said = &found["tasks"][0];
    assert_eq!(
        (&said["outlook"], &said["rule"], &said["message"]),
        (&json!("never"), &json!("budget"), &json!(detail))
    );
    editor.post(&format!("/runs/{run}/again"), &json!({})).expect(409);
    editor.post(&format!("/runs/{run}/rerun"), &json!({"from": ["say"]})).expect(409);
    // Nor does a schedule, whose dates show the reason, or a hook.
    let text = document("often", &format!("schedule: {{every: 1s}}\ntasks:\n{}", task("say", "true", "")));
    editor.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
    let often = "/projects/default/pipelines/often";
    wait_for("a date to be refused", || {
        let dates = editor.get(&format!("{often}/schedule/history")).expect(200).json();
        let newest = &dates["items"][0];
        newest["state"] == "failed"
            && newest["detail"].as_str().is_some_and(|detail| detail.contains("is spent"))
    });
    editor.post(&format!("{often}/schedule/pause"), &json!({})).expect(200);
    let hook = editor.post(&format!("{often}/hooks"), &json!({"name": "other"})).expect(201).json();
    let url = hook["url"].as_str().unwrap().split("/api/v1").nth(1).unwrap();
    send(server.as_(Who::Anonymous).request(Method::POST, url).body("")).expect(409).problem("conflict");
    // With a larger budget, or without a stop, runs start again.
    admin.put(&path, "\"3\"", &json!({"amount": "0.01", "stop": false})).expect(200);
    assert_eq!(editor.get("/projects/default/budget").expect(200).json()["level"], "spent");
    run_once(&editor, "more");
    let list = editor.get("/projects/default/budgets").expect(200).json();
    assert_eq!((&list["items"][0]["month"], &list["items"][0]["revision"]), (&json!(month), &json!(4)));
    let statement = editor.get(&format!("/projects/default/statements/{month}")).expect(200).json();
    assert_eq!(statement["budget"]["amount"], "0.01");
    assert_eq!(statement["positions"][0]["price"]["cpu_hour"], "900000.00");
    assert_eq!(statement["total"], editor.get("/usage?project=default").expect(200).json()["total"]);
    // Memory usage is shown besides CPUs and GPUs.
    let told = editor.get(&format!("page:/projects/default/statements/{month}")).expect(200).text();
    assert_eq!(
        told.matches("data-label=\"Memory used\"").count(),
        3,
        "by two pipelines and one person: {told}"
    );
    editor.delete(&path, "*").expect(403);
    admin.delete(&path, "\"4\"").expect(204);
    admin.delete(&path, "*").expect(404);
}

#[test]
fn what_is_counted_survives_a_kill() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let run = start(&editor, &document("long", &format!("tasks:\n{}", task("say", "sleep 4", ""))));
    super::runs::help::until_task(&editor, &run, "say", "running");
    wait_for("what runs is counted", || {
        admin.get("/usage").expect(200).json()["total"]["cpu_hours"].as_f64().unwrap() > 0.0
    });
    server.kill();
    server.run();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    until(&editor, &run, "succeeded");
    let total = admin.get("/usage?by=pipeline").expect(200).json()["total"].clone();
    assert_eq!(total["attempts"], 1, "{total}");
    server.kill();
    server.run();
    let admin = server.as_(Who::Administrator);
    assert_eq!(admin.get("/usage?by=pipeline").expect(200).json()["total"], total);
}
