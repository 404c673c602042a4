//! Quotas: limits, the impact of an edit, visibility of others' usage, and a project's allowed clusters.

use serde_json::{Value, json};

use crate::api::runs::help::{document, of_task, start, task, until, until_task};
use crate::api::support::{Answer, Client, Server, Who};
use crate::support::{TestApp, wait_for};

/// A quota on the server's own machine, which has 8 CPUs here.
fn local(quota: &Value) -> Value {
    json!({"quotas": {"local": quota}})
}

/// The field and the code of a refusal's only problem.
#[track_caller]
fn mistake(answer: &Answer) -> (String, String) {
    let problem = answer.json();
    let problems = problem["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problem}");
    let text = |name: &str| problems[0][name].as_str().unwrap().to_owned();
    (text("path"), text("code"))
}

/// A queue's share of the server's own machine.
fn share(quotas: &Value, queue: &str, resource: &str) -> Value {
    let of = |list: &Value, found: &dyn Fn(&Value) -> bool| {
        list.as_array().unwrap().iter().find(|one| found(one)).cloned().unwrap_or_default()
    };
    let queue = of(&quotas["queues"], &|one| one["name"] == queue);
    of(&queue["shares"]["local"], &|one| one["resource"] == resource)
}

/// Adds an unreachable cluster with a node group.
fn far(server: &Server) {
    let far = json!({"name": "far", "access": "kubeconfig", "kubeconfig": super::storage::clusters::AWAY,
        "node_groups": {"cards": {"selector": {"pool": "cards"}}}});
    server.as_(Who::Administrator).post("/clusters", &far).expect(201);
}

fn holding(server: &Server) -> (Client, String) {
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("holds", &format!("tasks:\n{}", task("hold", "sleep 60", ""))));
    until_task(&editor, &run, "hold", "running");
    (editor, run)
}

#[test]
fn a_tree_is_made_and_told_with_what_it_holds() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let group = json!({"quotas": {"local": {"guarantee": {"cpu": 4}}}});
    ada.put("/quotas/groups/vision", "\"0\"", &group).expect(200);
    let quota = json!({"guarantee": {"cpu": "50m"}, "limit": {"cpu": 2}, "per_person": {"runs": 3}});
    let said = json!({"parent": "vision", "quotas": {"local": quota}});
    let made = ada.put("/projects/default/quota", "\"0\"", &said).expect(200);
    assert_eq!((made.etag().as_str(), &made.json()["parent"]), ("\"1\"", &json!("vision")));
    assert_eq!(ada.get("/projects/default/quota").expect(200).json()["quotas"]["local"]["limit"]["cpu"], "2");
    let (editor, run) = holding(&server);
    let quotas = editor.get("/quotas").expect(200).json();
    let cpu = share(&quotas, "default", "cpu");
    let numbers = ["guarantee", "most", "held", "borrowed"].map(|name| cpu[name].as_f64().unwrap());
    assert_eq!(numbers, [0.05, 2.0, 0.1, 0.05], "{quotas}");
    assert_eq!(share(&quotas, "vision", "cpu")["held"], 0.1);
    assert_eq!(share(&quotas, "default", "pods")["held"], Value::Null, "nobody said anything of pods");
    let pool = &quotas["pools"][0];
    assert_eq!((&pool["pool"], &pool["resources"][0]["capacity"]), (&json!("local"), &json!(8.0)));
    assert_eq!(
        (&pool["resources"][0]["guaranteed"], &pool["resources"][0]["held"]),
        (&json!(4.0), &json!(0.1))
    );
    editor.post(&format!("/runs/{run}/cancel"), &json!({}));
    until(&editor, &run, "cancelled");
    assert_eq!(share(&editor.get("/quotas").expect(200).json(), "default", "cpu")["held"], 0.0);
}

#[test]
fn others_are_sums_without_names() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    ada.post("/projects", &json!({"name": "secluded"})).expect(201);
    let most = local(&json!({"guarantee": {"cpu": 3}}));
    ada.put("/projects/secluded/quota", "*", &most).expect(200);
    let viewer = server.as_(Who::Viewer);
    let seen = viewer.get("/quotas").expect(200);
    assert!(!seen.text().contains("secluded"), "{}", seen.text());
    let names: Vec<Value> =
        seen.json()["queues"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["default"]);
    assert_eq!(seen.json()["pools"][0]["resources"][0]["guaranteed"], 3.0);
    assert!(!viewer.get("page:/quotas").expect(200).text().contains("secluded"));
    viewer.get("/projects/secluded/quota").expect(404);
    viewer.get("/projects/secluded/quota/history").expect(404);
    for all in ["/quotas/history", "/quotas/history?queue=project/secluded"] {
        assert_eq!(viewer.get(all).expect(200).json()["items"], json!([]), "{all}");
    }
    let edits = json!({"edits": [{"kind": "project", "name": "secluded"}]});
    assert_eq!(mistake(&viewer.post("/quotas/preview", &edits).expect(422)).0, "/edits/0/name");
    // An edit does not reveal whether a hidden group exists either.
    let edits = json!({"edits": [{"kind": "project", "name": "default", "parent": "nobody-knows"}]});
    let told = viewer.post("/quotas/preview", &edits).expect(422);
    assert_eq!(mistake(&told).0, "/edits/0/parent");
    assert!(!told.text().contains("nobody-knows"), "{}", told.text());
    server.as_(Who::Owner).put("/projects/default/quota", "*", &most).expect(403);
    assert_eq!(server.as_(Who::Stranger).get("/quotas").expect(200).json()["queues"], json!([]));
    let all = ada.get("/quotas").expect(200).json();
    assert_eq!(all["queues"].as_array().unwrap().len(), 2, "{all}");
}

#[test]
fn what_cannot_be_is_refused_with_its_field_and_changes_nothing() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    ada.put("/quotas/groups/a", "*", &local(&json!({"guarantee": {"cpu": 6}}))).expect(200);
    ada.put("/quotas/groups/b", "*", &json!({"parent": "a"})).expect(200);
    let before = ada.get("/quotas").expect(200).json();
    let refused = |path: &str, body: &Value| mistake(&ada.put(path, "*", body).expect(422));
    let found = |path: &str, code: &str| (path.to_owned(), code.to_owned());
    let project = "/projects/default/quota";
    for (body, path, code) in [
        (json!({"parent": "none"}), "/parent", "unknown_place"),
        (json!({"quotas": {"far": {}}}), "/quotas/far", "unknown_place"),
        (json!({"quotas": {"/x": {}}}), "/quotas/~1x", "invalid_value"),
        (local(&json!({"guarantee": {"cpu": 3}})), "/quotas/local/guarantee/cpu", "never_fits"),
        (local(&json!({"guarantee": {"disk": 3}})), "/quotas/local/guarantee/disk", "invalid_value"),
        (local(&json!({"limit": {"memory": "much"}})), "/quotas/local/limit/memory", "invalid_value"),
        (local(&json!({"limit": {"runs": null}})), "/quotas/local/limit/runs", "invalid_value"),
        (local(&json!({"weight": 0})), "/quotas/local/weight", "invalid_value"),
        (local(&json!({"max_priority": 1001})), "/quotas/local/max_priority", "invalid_value"),
        (
            local(&json!({"guarantee": {"runs": 3}, "limit": {"runs": 2}})),
            "/quotas/local/guarantee/runs",
            "invalid_value",
        ),
    ] {
        assert_eq!(refused(project, &body), found(path, code), "{body}");
    }
    let group = "/quotas/groups/a";
    let each = local(&json!({"guarantee": {"cpu": 6}, "per_person": {"runs": 1}}));
    assert_eq!(refused(group, &each), found("/quotas/local/per_person", "invalid_value"));
    assert_eq!(refused(group, &json!({"parent": "b"})), found("/parent", "cycle"));
    assert_eq!(refused("/quotas/groups/No", &json!({})), found("/group", "invalid_name"));
    let inner = local(&json!({"guarantee": {"cpu": 7}}));
    let inner = json!({"parent": "a", "quotas": inner["quotas"]});
    assert_eq!(refused("/quotas/groups/b", &inner), found("/quotas/local/guarantee/cpu", "never_fits"));
    ada.put(project, "*", &json!({"quota": {}})).expect(422);
    ada.delete(group, "*").expect(409).problem("conflict");
    ada.put("/projects/none/quota", "*", &json!({})).expect(404);
    ada.get("/quotas/groups/none").expect(404);
    assert_eq!(ada.get("/quotas").expect(200).json(), before);
    let history = ada.get("/quotas/history").expect(200).json();
    assert_eq!(history["items"].as_array().unwrap().len(), 2, "{history}");
}

#[test]
fn nobody_names_a_priority_above_the_projects() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let capped = local(&json!({"max_priority": 5}));
    let told = ada.put("/projects/default/quota", "*", &capped).expect(200).json();
    assert_eq!(told["quotas"]["local"]["max_priority"], 5, "{told}");
    assert!(ada.get("page:/quotas").expect(200).text().contains("max priority 5"));
    let editor = server.as_(Who::Editor);
    let urgent = |priority: i32| {
        let task = task("a", "true", &format!("    priority: {priority}\n"));
        editor.post(
            "/projects/default/runs",
            &json!({"document": document("urgent", &format!("tasks:\n{task}"))}),
        )
    };
    let refused = urgent(6).expect(422);
    assert_eq!(mistake(&refused), ("/tasks/0/priority".to_owned(), "invalid_value".to_owned()));
    assert!(refused.text().contains("at most 5"), "{}", refused.text());
    urgent(5).expect(201);
}

#[test]
fn a_priority_is_held_to_that_of_the_node_group_that_the_project_is_bound_to() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    far(&server);
    ada.put("/projects/default/places", "*", &json!({"allowed": ["far/cards"]})).expect(200);
    let capped = json!({"quotas": {"far": {"max_priority": 9}, "far/cards": {"max_priority": 2}}});
    ada.put("/projects/default/quota", "*", &capped).expect(200);
    let editor = server.as_(Who::Editor);
    let text = |priority: i32| {
        let task = task("a", "true", &format!("    priority: {priority}\n"));
        json!({"document": document("urgent", &format!("tasks:\n{task}"))})
    };
    let check = |priority: i32| {
        editor.post("/projects/default/validate", &text(priority)).expect(200).json()["problems"].clone()
    };
    let told = check(3);
    assert_eq!(
        (&told[0]["path"], told.as_array().unwrap().len()),
        (&json!("/tasks/0/priority"), 1),
        "{told}"
    );
    assert!(told[0]["message"].as_str().unwrap().contains("at most 2"), "{told}");
    assert_eq!(check(2), json!([]));
    let refused = editor.post("/projects/default/runs", &text(3)).expect(422);
    assert_eq!(mistake(&refused), ("/tasks/0/priority".to_owned(), "invalid_value".to_owned()));
}

#[test]
fn a_limit_below_what_is_held_is_only_taken_from_who_knows() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let (editor, run) = holding(&server);
    let path = "/projects/default/quota";
    let tight = json!({"quotas": {"local": {"limit": {"cpu": "50m"}}}});
    let refused = ada.put(path, "*", &tight).expect(422);
    assert_eq!(mistake(&refused), ("/quotas/local/limit/cpu".into(), "conflict".into()));
    assert!(refused.text().contains("`default` uses 100m cpu of `local`, more than its new maximum of 50m"));
    assert_eq!(ada.get(path).expect(200).json()["revision"], 0);
    let edit = json!({"kind": "project", "name": "default", "quotas": tight["quotas"]});
    let preview = ada.post("/quotas/preview", &json!({"edits": [edit]})).expect(200).json();
    assert_eq!(preview["problems"][0]["path"], "/edits/0/quotas/local/limit/cpu", "{preview}");
    assert_eq!((&preview["over"]["count"], &preview["over"]["jobs"][0]["run"]), (&json!(1), &json!(run)));
    assert_eq!(ada.get(path).expect(200).json()["revision"], 0, "a preview changes nothing");
    let known = json!({"quotas": tight["quotas"], "below_use": true});
    ada.put(path, "*", &known).expect(200);
    editor.post(&format!("/runs/{run}/cancel"), &json!({}));
    until(&editor, &run, "cancelled");
}

#[test]
fn a_preview_says_what_is_wrong_with_what_it_is_asked() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let preview = |edits: Value| ada.post("/quotas/preview", &json!({ "edits": edits }));
    let nobody = preview(json!([{"kind": "project", "name": "nobody"}])).expect(422);
    assert_eq!(mistake(&nobody), ("/edits/0/name".into(), "invalid_value".into()));
    let quotas = json!({"local": {"limit": {"cpu": "much"}}});
    let bad = preview(json!([{"kind": "project", "name": "default", "quotas": quotas}])).expect(422);
    assert_eq!(mistake(&bad).0, "/edits/0/quotas/local/limit/cpu");
    let many: Vec<Value> = (0..21).map(|n| json!({"kind": "group", "name": format!("g{n}")})).collect();
    assert_eq!(mistake(&preview(json!(many)).expect(422)).0, "/edits");
    let none = preview(json!([])).expect(200).json();
    assert_eq!((&none["problems"], &none["start"]["count"]), (&json!([]), &json!(0)));
}

#[test]
fn the_history_says_who_changed_what() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let path = "/projects/default/quota";
    ada.put("/quotas/groups/a", "*", &json!({})).expect(200);
    ada.put(path, "*", &local(&json!({"limit": {"runs": 4}}))).expect(200);
    ada.put(path, "*", &local(&json!({"limit": {"runs": 5}}))).expect(200);
    ada.delete(path, "*").expect(204);
    let seen = server.as_(Who::Viewer).get(&format!("{path}/history")).expect(200).json();
    let runs = |at: usize, side: &str| seen["items"][at][side]["quotas"]["local"]["limit"]["runs"].clone();
    assert_eq!(seen["items"].as_array().unwrap().len(), 3, "{seen}");
    assert_eq!((runs(0, "before"), seen["items"][0].get("after")), (json!(5), None));
    assert_eq!((runs(1, "before"), runs(1, "after")), (json!(4), json!(5)));
    assert_eq!((seen["items"][2].get("before"), &seen["items"][2]["user"]), (None, &json!("ada")));
    let all = ada.get("/quotas/history?limit=1").expect(200).json();
    assert!(all["next_cursor"].is_string(), "{all}");
    let of_group = ada.get("/quotas/history?queue=group/a").expect(200).json();
    assert_eq!(of_group["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_pipeline_goes_where_its_project_may() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    far(&server);
    let bind = |places: &Value| ada.put("/projects/default/places", "*", places);
    let editor = server.as_(Who::Editor);
    let said = |more: &str| document("goes", &format!("{more}tasks:\n{}", task("say", "true", "")));
    let check = |more: &str| {
        let body = json!({"document": said(more)});
        editor.post("/projects/default/validate", &body).expect(200).json()["problems"].clone()
    };
    let refused = bind(&json!({"allowed": ["local", "near"], "usual": "far"})).expect(422).json();
    let fields: Vec<&Value> =
        refused["problems"].as_array().unwrap().iter().map(|one| &one["path"]).collect();
    assert_eq!(fields, ["/allowed/1", "/usual"]);
    let bound = bind(&json!({"allowed": ["local"]})).expect(200).json();
    assert_eq!(bound["places"], json!({"allowed": ["local"]}));
    assert_eq!(check(""), json!([]));
    let away = check("cluster: far\n");
    assert_eq!((&away[0]["path"], &away[0]["line"]), (&json!("/cluster"), &json!(4)), "{away}");
    assert!(
        away[0]["message"].as_str().unwrap().contains("may not use `far`: choose one of `local`"),
        "{away}"
    );
    let started = editor.post("/projects/default/runs", &json!({"document": said("cluster: far\n")}));
    assert_eq!(mistake(&started.expect(422)).0, "/cluster");
    // The project's default target, for a pipeline that names none.
    bind(&json!({"allowed": ["far/cards"]})).expect(200);
    let compiled = editor.post("/projects/default/validate", &json!({"document": said("cluster: local\n")}));
    assert_eq!(compiled.expect(200).json()["problems"][0]["path"], "/cluster");
    server.as_(Who::Owner).put("/projects/default/places", "*", &json!({})).expect(403);
    bind(&json!({})).expect(200);
    assert_eq!(check("cluster: local\n"), json!([]));
}

#[test]
fn a_named_limit_holds_tasks_back_and_is_told_to_those_who_may_see() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let text = json!({"at_once": 1, "description": "the name node of production"});
    let made = ada.put("/limits/hdfs-prod", "\"0\"", &text).expect(200);
    assert_eq!((made.etag().as_str(), &made.json()["at_once"]), ("\"1\"", &json!(1)));
    ada.put("/limits/hdfs-prod", "\"0\"", &text).expect(412);
    ada.post("/projects", &json!({"name": "secluded"})).expect(201);
    let doc = |name: &str, limit: &str| {
        document(name, &format!("tasks:\n{}", task("hold", "sleep 60", &format!("    limits: [{limit}]\n"))))
    };
    let first =
        ada.post("/projects/secluded/runs", &json!({"document": doc("first", "hdfs-prod")})).expect(201);
    let first = first.json()["run"]["id"].as_str().unwrap().to_owned();
    until_task(&ada, &first, "hold", "running");
    let editor = server.as_(Who::Editor);
    let second = start(&editor, &doc("second", "hdfs-prod"));
    until_task(&editor, &second, "hold", "waiting");
    let listed = || editor.get("/limits").expect(200).json()["items"][0].clone();
    wait_for("a job to wait for the limit", || listed()["waiting"] == 1);
    let found = listed();
    assert_eq!((&found["held"], &found["started"], &found["waiting"]), (&json!(1), &json!(1), &json!(1)));
    assert_eq!(found["holders"], json!([]), "who is in another project has no name here");
    let seen = ada.get("/limits/hdfs-prod").expect(200).json();
    assert_eq!(
        (&seen["holders"][0]["task"], &seen["holders"][0]["project"]),
        (&json!("hold"), &json!("secluded"))
    );
    let page = editor.get("page:/quotas").expect(200).text();
    assert!(page.contains("hdfs-prod") && !page.contains("secluded"), "{page}");
    // The pending run starts when the limit is raised.
    ada.put("/limits/hdfs-prod", "\"1\"", &json!({"at_once": 2})).expect(200);
    until_task(&editor, &second, "hold", "running");
    // Naming a missing limit gives a warning, and administrators see it.
    let check = json!({"document": doc("third", "hdfs-prd")});
    let checked = editor.post("/projects/default/validate", &check).expect(200).json();
    let problem = &checked["problems"][0];
    assert_eq!(
        (&problem["severity"], &problem["path"]),
        (&json!("warning"), &json!("/tasks/0/limits/0")),
        "{checked}"
    );
    ada.delete("/limits/hdfs-prod", "\"2\"").expect(204);
    let missing = ada.get("/limits").expect(200).json()["missing"].clone();
    assert_eq!((&missing[0]["name"], &missing[0]["held"]), (&json!("hdfs-prod"), &json!(2)));
    assert_eq!(editor.get("/limits").expect(200).json(), json!({"items": []}));
    for run in [first, second] {
        ada.post(&format!("/runs/{run}/cancel"), &json!({}));
    }
}

#[test]
fn a_named_limit_that_says_nothing_is_refused() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let refused = |path: &str, body: Value| mistake(&ada.put(path, "*", &body).expect(422));
    let found = |path: &str, code: &str| (path.to_owned(), code.to_owned());
    assert_eq!(refused("/limits/api", json!({})), found("/at_once", "invalid_value"));
    assert_eq!(refused("/limits/api", json!({"a_minute": 0})), found("/a_minute", "invalid_value"));
    assert_eq!(refused("/limits/No", json!({"at_once": 0})), found("/limit", "invalid_name"));
    let long = json!({"at_once": 1, "description": "x".repeat(201)});
    assert_eq!(refused("/limits/api", long), found("/description", "invalid_value"));
    ada.put("/limits/api", "*", &json!({"at_once": -1})).expect(422);
    ada.delete("/limits/api", "*").expect(404);
    ada.get("/limits/api").expect(404);
    server.as_(Who::Owner).put("/limits/api", "*", &json!({"at_once": 1})).expect(403);
    assert_eq!(ada.get("/limits").expect(200).json()["items"], json!([]));
}

#[test]
fn a_job_of_a_class_that_preempts_gets_the_place_of_a_lower_one_and_says_so_before() {
    let mut app = TestApp::new();
    app.set("CUBELOOM_SHARING_COOL_DOWN", "0s");
    let server = Server::start_in(app);
    let (ada, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    ada.put("/priority-classes/urgent", "\"0\"", &json!({"priority": 500, "preempts": "lower"})).expect(200);
    let doc = |name: &str, script: &str, more: &str| {
        let text = format!("{more}tasks:\n{}", task(name, script, ""));
        document(name, &text).replace("cpu: 100m", "cpu: 8")
    };
    let low = start(&editor, &doc("low", "sleep 600", ""));
    until_task(&editor, &low, "low", "running");
    let urgent = doc("urgent", "true", "priority: urgent\n");
    let forecast = editor.post("/projects/default/forecast", &json!({"document": urgent})).expect(200).json();
    let outlook = &forecast["tasks"][0];
    assert_eq!((&outlook["outlook"], &outlook["rule"]), (&json!("waits"), &json!("leaving")), "{forecast}");
    assert_eq!(outlook["message"], "preempts 1 job, and starts when it has ended");
    assert_eq!(outlook["holders"][0]["run"], json!(low), "who would be stopped is named: {forecast}");
    let run = start(&editor, &urgent);
    until(&editor, &run, "succeeded");
    let attempts = || editor.get(&format!("/runs/{low}/tasks/low/instances/0/attempts")).expect(200).json();
    let failure = attempts()["items"][0]["failure"].clone();
    assert_eq!(failure["kind"], "preempted", "{failure}");
    assert_eq!(failure["message"], "it was preempted for `urgent`, which has a higher priority");
    wait_for("its next attempt", || attempts()["items"][1]["state"] == "running");
    editor.post(&format!("/runs/{low}/cancel"), &json!({}));
    until(&editor, &low, "cancelled");
    // A task that is not preemptible stays; the other is pending.
    let kept = start(&editor, &doc("kept", "sleep 600", "preemptible: false\n"));
    until_task(&editor, &kept, "kept", "running");
    let run = start(&editor, &urgent);
    wait_for("a reason", || of_task(&editor, &run, "urgent")["wait"]["why"]["rule"] == "capacity");
    for run in [kept, run] {
        editor.post(&format!("/runs/{run}/cancel"), &json!({}));
    }
}

#[test]
fn a_priority_class_is_checked_and_kept_by_administrators() {
    let server = Server::start();
    let ada = server.as_(Who::Administrator);
    let refused = |path: &str, body: Value| mistake(&ada.put(path, "*", &body).expect(422));
    let found = |path: &str, code: &str| (path.to_owned(), code.to_owned());
    assert_eq!(
        refused("/priority-classes/a", json!({"priority": 1001})),
        found("/priority", "invalid_value")
    );
    assert_eq!(refused("/priority-classes/No", json!({"priority": 1})), found("/class", "invalid_name"));
    ada.put("/priority-classes/a", "*", &json!({"priority": 1, "preempts": "higher"})).expect(422);
    ada.put("/priority-classes/a", "*", &json!({})).expect(422);
    server.as_(Who::Owner).put("/priority-classes/a", "*", &json!({"priority": 1})).expect(403);
    ada.put("/priority-classes/a", "\"0\"", &json!({"priority": 1})).expect(200);
    ada.put("/priority-classes/a", "\"0\"", &json!({"priority": 2})).expect(412);
    let high = json!({"priority": 7, "preempts": "lower", "description": "for the release"});
    ada.put("/priority-classes/b", "\"0\"", &high).expect(200);
    let viewer = server.as_(Who::Viewer);
    let listed = viewer.get("/priority-classes").expect(200).json();
    let names: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["b", "a"], "the highest first");
    assert_eq!(listed["items"][1]["preempts"], "never");
    let page = viewer.get("page:/quotas").expect(200).text();
    assert!(page.contains("for the release") && page.contains("priority-class/b"), "{page}");
    let of_one = viewer.get("/quotas/history?queue=priority-class/b").expect(200).json();
    assert_eq!(of_one["items"][0]["after"], high, "{of_one}");
    // A document that names a missing class is refused at that field.
    ada.delete("/priority-classes/b", "\"1\"").expect(204);
    let text = document("p", &format!("priority: b\ntasks:\n{}", task("t", "true", "")));
    let answer =
        server.as_(Who::Editor).post("/projects/default/runs", &json!({"document": text})).expect(422);
    assert_eq!(mistake(&answer), found("/priority", "unknown_priority"));
}
