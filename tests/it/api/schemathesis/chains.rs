//! The OpenAPI document with links: later requests use what earlier ones create.
//!
//! schemathesis also infers links, but only from lists: those would delete what the test itself needs. Bodies
//! of creating requests are written here, because the schema yields hardly one accepted body in a hundred.
//! Nearly each request names something new: schemathesis gives up where a request ends differently than
//! before.

use serde_json::{Map, Value, json};

/// A creating operation, the path of the created resource, and its name there.
const CREATED: [(&str, &str, &str); 18] = [
    ("create_projects", "/projects/{project}", "/name"),
    ("create_projects_pipelines", "/projects/default/pipelines/{pipeline}", "/name"),
    ("create_projects_pipelines_hooks", "/projects/default/pipelines/{pipeline}/hooks/{hook}", "/id"),
    (
        "create_backfill_projects_pipelines_backfills",
        "/projects/default/pipelines/{pipeline}/backfills/{backfill}",
        "/id",
    ),
    ("run_date_projects_pipelines_schedule_dates", "/runs/{run}", "/run/id"),
    ("start_projects_runs", "/runs/{run}", "/run/id"),
    ("again_runs", "/runs/{run}", "/run/id"),
    ("resume_with_runs_resume_with", "/runs/{run}", "/run/id"),
    ("open_runs_tasks_instances_terminals", "/runs/{run}/terminals/{terminal}", "/id"),
    ("create_projects_alerts", "/projects/default/alerts/{channel}", "/id"),
    ("create_projects_registries", "/projects/default/registries/{registry}", "/name"),
    ("create_projects_secrets", "/projects/default/secrets/{secret}", "/name"),
    ("create_projects_volumes", "/projects/default/volumes/{volume}", "/name"),
    ("create_me_secrets", "/me/secrets/{secret}", "/name"),
    ("create_users", "/users/{user}", "/id"),
    ("create_tokens", "/tokens/{token}", "/id"),
    ("create_links", "/links/{link}", "/id"),
    ("create_prices", "/prices/{price}", "/id"),
];

const NAMES: u32 = 300;

/// A body for each name.
fn named(rest: &Value) -> Vec<Value> {
    let body = |at| {
        let mut body = rest.clone();
        body["name"] = json!(format!("n{at}"));
        body
    };
    (0..NAMES).map(body).collect()
}

/// Bodies with three kinds of pipelines: one has a schedule, one fails, one waits for approval.
fn documents() -> Vec<Value> {
    let only = |program: &str, more: &str| {
        format!("  - {{name: only, template: command, arguments: {{command: ['{program}']}}{more}}}\n")
    };
    let ask = "  - {name: ask, template: approval, arguments: {message: Go on?}}\n";
    let tasks = [
        format!("schedule: {{cron: '0 0 1 1 *'}}\ntasks:\n{}", only("true", "")),
        format!("tasks:\n{}", only("false", "")),
        format!("tasks:\n{ask}{}", only("true", ", needs: [ask]")),
    ];
    let text = |(at, rest)| format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: n{at}\n{rest}");
    (0..NAMES).zip(tasks.iter().cycle()).map(|one| json!({"document": text(one)})).collect()
}

/// Request bodies, by operation.
fn bodies() -> Vec<(&'static str, Vec<Value>)> {
    let documents = documents();
    let secrets = named(&json!({"value": "the value of a secret"}));
    let channel =
        json!({"kind": "webhook", "address": "https://127.0.0.1:9/in", "rules": {"events": ["run_failed"]}});
    let prices =
        (2100..2100 + NAMES).map(|year| json!({"cluster": "local", "valid_from": format!("{year}-01-01")}));
    let marks = ["succeeded", "failed", "skipped"].map(|state| json!({"as": state, "reason": "Checked"}));
    vec![
        ("create_projects", named(&json!({}))),
        ("update_projects", vec![json!({"label": "Another"}), json!({"description": "What it is for"})]),
        ("put_projects_members", vec![json!({"role": "viewer"}), json!({"role": "owner"})]),
        ("start_projects_runs", documents[..3].to_vec()),
        ("create_projects_pipelines", documents),
        ("create_projects_pipelines_hooks", named(&json!({}))),
        ("update_projects_pipelines_hooks", vec![json!({"name": "another"})]),
        (
            "create_backfill_projects_pipelines_backfills",
            vec![json!({"first": "2020-01-01", "last": "2021-01-02"})],
        ),
        (
            "run_date_projects_pipelines_schedule_dates",
            vec![json!({"date": "2020-01-01T00:00:00Z", "again": true})],
        ),
        ("resume_with_runs_resume_with", vec![json!({}), json!({"version": 1})]),
        ("rerun_runs", vec![json!({"from": ["only"]})]),
        ("decide_runs_tasks_instances_decision", vec![json!({"approved": true}), json!({"approved": false})]),
        ("mark_runs_tasks_instances", marks.into()),
        ("open_runs_tasks_instances_terminals", vec![json!({})]),
        ("create_projects_alerts", named(&channel)),
        ("update_projects_alerts", vec![json!({"enabled": false}), json!({"enabled": true})]),
        ("create_projects_registries", named(&json!({"host": "registry.example.org"}))),
        ("update_projects_registries", vec![json!({"host": "other.example.org"})]),
        ("create_projects_volumes", named(&json!({"place": {"kind": "workspace", "path": "data"}}))),
        ("create_projects_secrets", secrets.clone()),
        ("update_projects_secrets", vec![json!({"value": "another value"})]),
        ("create_me_secrets", secrets),
        ("update_me_secrets", vec![json!({"description": "Mine"})]),
        ("create_users", named(&json!({}))),
        ("update_users", vec![json!({"disabled": true}), json!({"disabled": false}), json!({"admin": true})]),
        ("create_tokens", named(&json!({"scope": "read"}))),
        ("create_links", vec![json!({"kind": "invite"})]),
        ("create_prices", prices.collect()),
        ("update_prices", vec![json!({"cpu_hour": "2"})]),
    ]
}

/// Path parameters that no request creates.
const NAMED: [(&str, &str); 5] =
    [("task", "only"), ("instance", "0"), ("attempt", "1"), ("version", "1"), ("user", "eve")];

/// This server's document. Everything is in the project `default`, or nothing else could be created first.
pub fn document() -> Value {
    let mut document: Value = serde_json::from_str(&cubeloom_web::api::document::text()).unwrap();
    let paths = document["paths"].as_object().unwrap().clone();
    let mut paths: Map<String, Value> = paths
        .into_iter()
        .map(|(path, item)| (path.replace("/projects/{project}/", "/projects/default/"), item))
        .collect();
    let bodies = bodies();
    for (path, item) in &mut paths {
        for operation in item.as_object_mut().unwrap().values_mut() {
            narrow(operation, path, &bodies);
        }
    }
    let created = CREATED.map(|(operation, item, name)| (operation, links(&paths, operation, item, name)));
    for (name, links) in created {
        let mut operations = paths.values_mut().flat_map(|item| item.as_object_mut().unwrap().values_mut());
        let operation = operations.find(|one| one["operationId"] == name);
        operation.unwrap_or_else(|| panic!("there is no {name}"))["responses"]["201"]["links"] = links;
    }
    document["paths"] = paths.into();
    document
}

/// Reduces an operation's parameters and body to those that can succeed.
fn narrow(operation: &mut Value, path: &str, bodies: &[(&str, Vec<Value>)]) {
    if let Some(parameters) = operation["parameters"].as_array_mut() {
        parameters.retain(|one| match one["in"].as_str().unwrap() {
            "path" => path.contains(&format!("{{{}}}", one["name"].as_str().unwrap())),
            place => place != "query" || one["required"] == true,
        });
        for parameter in parameters {
            if let Some((_, value)) = NAMED.iter().find(|(name, _)| parameter["name"] == *name) {
                let value = value.parse::<u32>().map_or(json!(value), |number| json!(number));
                parameter["schema"] = json!({"enum": [value]});
            }
        }
    }
    if let Some((_, bodies)) = bodies.iter().find(|(name, _)| operation["operationId"] == *name) {
        operation["requestBody"]["content"]["application/json"]["schema"] = json!({"enum": bodies});
    }
}

/// Links from a creating operation to all operations on its result.
fn links(paths: &Map<String, Value>, creator: &str, item: &str, name: &str) -> Value {
    let mut parts: Vec<&str> = item.split(['{', '}']).skip(1).step_by(2).collect();
    let own = parts.pop().unwrap();
    let mut parameters: Map<String, Value> =
        parts.into_iter().map(|part| (part.into(), json!(format!("$request.path.{part}")))).collect();
    parameters.insert(own.into(), json!(format!("$response.body#{name}")));
    let below = format!("{item}/");
    let targets = paths.iter().filter(|(path, _)| *path == item || path.starts_with(&below));
    let targets = targets.flat_map(|(_, item)| item.as_object().unwrap().values());
    let mut links: Map<String, Value> = targets
        .map(|target| &target["operationId"])
        .map(|id| (id.as_str().unwrap().into(), json!({"operationId": id, "parameters": parameters})))
        .collect();
    if creator == "create_projects_pipelines" {
        links["put_projects_pipelines"]["requestBody"] = json!({"document": "$request.body#/document"});
        let body = json!({"pipeline": "$response.body#/name"});
        let exactly = json!({"merge_body": false});
        let start =
            json!({"operationId": "start_projects_runs", "requestBody": body, "x-schemathesis": exactly});
        links.insert("start".into(), start);
    }
    links.into()
}
