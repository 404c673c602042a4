//! The forecast of a run before it starts, and the estimated start of a pending run.

use std::fs;

use serde_json::{Value, json};

use crate::api::runs::help::{document, id, of_task, start, task, until, until_task};
use crate::api::support::{Client, Server, Who};
use crate::support::{TestApp, wait_for};

const FORECAST: &str = "/projects/default/forecast";

/// A task that requests this many of the server's 8 CPUs.
fn cores(name: &str, cpu: &str, line: &str, rest: &str) -> String {
    task(name, line, rest).replace("cpu: 100m", &format!("cpu: {cpu}"))
}

/// Runs until the run's folder has a file of that name.
const LASTS: &str = r#"until test -e "$CUBELOOM_RUN_DIR/NAME"; do sleep 0.05; done"#;

/// The forecast of each task of a document.
#[track_caller]
fn forecast(client: &Client, tasks: &str) -> Value {
    let document = document("tried", &format!("tasks:\n{tasks}"));
    client.post(FORECAST, &json!({"document": document})).expect(200).json()
}

#[track_caller]
fn of<'f>(forecast: &'f Value, name: &str) -> &'f Value {
    let mut tasks = forecast["tasks"].as_array().unwrap().iter();
    tasks.find(|task| task["task"] == name).unwrap_or_else(|| panic!("no {name} in {forecast}"))
}

/// A run that has this many CPUs allocated until it is cancelled.
fn holding(client: &Client, cpu: &str) -> String {
    let run = start(client, &document("holds", &format!("tasks:\n{}", cores("hold", cpu, "sleep 300", ""))));
    until_task(client, &run, "hold", "running");
    run
}

fn cancel(client: &Client, run: &str) {
    client.post(&format!("/runs/{run}/cancel"), &json!({})).expect(202);
    until(client, run, "cancelled");
}

#[test]
fn a_free_cluster_starts_what_comes_first() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    let tasks = [cores("a", "2", "true", ""), cores("b", "2", "true", "    needs: [a]\n")].concat();
    let found = forecast(&viewer, &tasks);
    assert_eq!(
        (&of(&found, "a")["outlook"], &of(&found, "b")["outlook"]),
        (&json!("starts"), &json!("later"))
    );
    assert_eq!(found["cluster"], "local");
    assert_eq!(of(&found, "a")["run_time"], Value::Null, "nothing has run yet");
    assert_eq!(viewer.get("/runs").expect(200).json()["items"], json!([]), "nothing is started");
}

/// The account of a person's jobs on a Slurm cluster is known here, even while Slurm is unreachable.
#[test]
fn who_has_no_account_on_a_cluster_learns_it_before_there_is_a_run() {
    let mut app = TestApp::new();
    let calls = r#"{become = ["sudo", "-n", "-u", "{account}", "--"], path = "/nonexistent"}"#;
    app.set("CUBELOOM_SLURM_HALL", calls);
    let server = Server::start_in(app);
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let facts = json!({"workspace": "/shared/{project}", "templates": "/shared/templates", "program": "/opt/cubeloom"});
    let way = json!({"accounts": {(Who::Editor.name()): "eve"}});
    let hall = json!({"name": "hall", "access": "slurm", "slurm": {"facts": facts, "way": way}});
    admin.post("/clusters", &hall).expect(201);
    let tasks = [task("a", "true", ""), task("b", "true", "    needs: [a]\n")].concat();
    let sent = json!({"document": document("tried", &format!("cluster: hall\ntasks:\n{tasks}"))});
    let message = format!(
        "`{}` has no account on the cluster `hall`: ask an administrator to add one to its `accounts`",
        Who::Administrator.name()
    );

    let found = admin.post(FORECAST, &sent).expect(200).json();
    let (a, b) = (of(&found, "a"), of(&found, "b"));
    assert_eq!((&a["outlook"], &a["rule"]), (&json!("never"), &json!("not_taken")), "{a}");
    assert_eq!((&a["message"], &b["outlook"]), (&json!(message), &json!("unknown")), "{b}");
    let places = admin.post("/projects/default/forecast/places", &sent).expect(200).json();
    let mut places = places["places"].as_array().unwrap().iter();
    let there = places.find(|place| place["place"] == "hall").unwrap();
    assert_eq!((&there["outlook"], &there["problems"][0]["message"]), (&json!("never"), &json!(message)));
    // A run whose first task would fail does not start, whether the document or the request names the
    // cluster.
    let elsewhere = json!({"document": document("tried", &format!("tasks:\n{tasks}")), "place": "hall"});
    for (sent, path) in [(&sent, "/cluster"), (&elsewhere, "/place")] {
        let refused = admin.post("/projects/default/runs", sent).expect(422).json();
        let problem = &refused["problems"][0];
        assert_eq!((&problem["path"], &problem["message"]), (&json!(path), &json!(message)), "{refused}");
    }
    // A compile-only request shows it for each job.
    let compiled = admin.post("/projects/default/compile", &sent).expect(200).json();
    assert!(compiled["tasks"][0]["jobs"].to_string().contains("has no account"), "{compiled}");

    let found = editor.post(FORECAST, &sent).expect(200).json();
    let a = of(&found, "a");
    assert_eq!((&a["outlook"], &a["message"]), (&json!("unknown"), &Value::Null), "nobody can ask its queue");
    editor.post("/projects/default/runs", &sent).expect(201);
}

#[test]
fn a_full_cluster_names_those_who_hold_it_to_those_who_see_them() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = holding(&editor, "7");
    let [small, large] = [cores("small", "500m", "true", ""), cores("large", "4", "true", "")];
    let tried = [small.as_str(), &large].concat();
    let found = forecast(&editor, &tried);
    assert_eq!(of(&found, "small")["outlook"], "starts");
    // Behind the large task it would delay that one, for an unknown time.
    let found_behind = forecast(&editor, &[large, small].concat());
    let small = of(&found_behind, "small");
    assert_eq!((&small["outlook"], &small["rule"]), (&json!("waits"), &json!("behind")), "{small}");
    let large = of(&found, "large");
    assert_eq!((&large["outlook"], &large["rule"]), (&json!("waits"), &json!("capacity")), "{large}");
    assert_eq!(
        (&large["shortages"][0]["asked"], &large["shortages"][0]["limit"]),
        (&json!(4.0), &json!(8.0))
    );
    assert!(large["message"].as_str().unwrap().starts_with("requests 4 CPU"), "{large}");
    let holder = &large["holders"][0];
    assert_eq!(
        (&holder["run"], &holder["task"], &holder["amounts"]["cpu"]),
        (&json!(run), &json!("hold"), &json!(7.0))
    );
    assert_eq!(
        (&large["start"], &large["hidden_holders"]),
        (&Value::Null, &json!(0)),
        "nobody knows how long it takes"
    );

    // A member of another project learns that the resources are in use, but not by which run.
    let admin = server.as_(Who::Administrator);
    admin.post("/projects", &json!({"name": "other"})).expect(201);
    let stranger = server.as_(Who::Stranger);
    let member = format!("/projects/other/members/{}", Who::Stranger.name());
    admin.put(&member, "", &json!({"role": "editor"})).expect(201);
    let document = document("tried", &format!("tasks:\n{tried}"));
    let found = stranger.post("/projects/other/forecast", &json!({"document": document})).expect(200).json();
    let large = of(&found, "large");
    assert_eq!(
        (&large["outlook"], &large["holders"], &large["hidden_holders"]),
        (&json!("waits"), &json!([]), &json!(1))
    );
    assert!(!found.to_string().contains(&run), "{found}");
    // It starts when the named run has ended.
    cancel(&editor, &run);
    wait_for("the room to be free", || of(&forecast(&editor, &tried), "large")["outlook"] == "starts");
}

#[test]
fn what_other_runs_or_other_tasks_keep_does_not_start_now() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let told = |rest: &str| {
        let document = document("held-back", rest);
        let found = editor.post(FORECAST, &json!({"document": document})).expect(200).json();
        let mut places = editor
            .post("/projects/default/forecast/places", &json!({"document": document}))
            .expect(200)
            .json();
        (found, places["places"][0].take())
    };
    let limited = format!("max_active_runs: 1\ntasks:\n{}", task("only", "sleep 300", ""));
    let (found, place) = told(&limited);
    assert_eq!((&of(&found, "only")["outlook"], &place["outlook"]), (&json!("starts"), &json!("starts")));
    let run = start(&editor, &document("held-back", &limited));
    until_task(&editor, &run, "only", "running");
    let (found, place) = told(&limited);
    let only = of(&found, "only");
    assert_eq!((&only["outlook"], &only["rule"]), (&json!("waits"), &json!("max_active_runs")), "{only}");
    let message = "its pipeline may have 1 active runs: 1 are active, and 0 older ones are queued";
    assert_eq!((&only["message"], &place["message"]), (&json!(message), &json!(message)));
    assert_eq!(place["outlook"], "waits", "{place}");
    cancel(&editor, &run);

    let [a, b, c] =
        ["a", "b", "c"].map(|name| task(name, "true", if name == "c" { "    priority: 5\n" } else { "" }));
    let (found, place) = told(&format!("parallelism: 2\ntasks:\n{a}{b}{c}"));
    let outlooks = ["a", "b", "c"].map(|name| of(&found, name)["outlook"].clone());
    assert_eq!(outlooks, [json!("starts"), json!("waits"), json!("starts")], "{found}");
    assert_eq!(of(&found, "b")["rule"], "pipeline_parallelism");
    assert_eq!(place["outlook"], "waits", "{place}");
}

#[test]
fn what_is_larger_than_all_machines_can_never_fit_and_the_others_are_told_of() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let tasks = [
        cores("fits", "1", "true", ""),
        cores("huge", "64", "true", ""),
        cores("later", "64", "true", "    needs: [fits]\n"),
    ];
    let found = forecast(&editor, &tasks.concat());
    assert_eq!(of(&found, "fits")["outlook"], "starts");
    for name in ["huge", "later"] {
        let never = of(&found, name);
        assert_eq!((&never["outlook"], &never["rule"]), (&json!("never"), &json!("never_fits")));
        assert!(never["message"].as_str().unwrap().contains("64"), "{never}");
        assert_eq!(
            (&never["shortages"][0]["asked"], &never["shortages"][0]["limit"]),
            (&json!(64.0), &json!(8.0))
        );
    }
    let wrong = document("tried", "tasks:\n  - name: a\n    template: nothing\n");
    let told = editor.post(FORECAST, &json!({"document": wrong})).expect(200).json();
    assert_eq!(
        (&told["tasks"], &told["problems"][0]["path"]),
        (&json!([]), &json!("/tasks/0/template")),
        "{told}"
    );
    editor.post(FORECAST, &json!({})).expect(422).problem("invalid");
    editor.post(FORECAST, &json!({"pipeline": "none"})).expect(422).problem("invalid");
}

#[test]
fn quotas_and_what_one_person_may_hold_say_whose_they_are() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let quota = json!({"limit": {"cpu": 4}, "per_person": {"cpu": 2}});
    admin.put("/projects/default/quota", "*", &json!({"quotas": {"local": quota}})).expect(200);
    let own = holding(&editor, "1");
    let one = |client: &Client, cpu: &str| {
        let found = forecast(client, &cores("a", cpu, "true", ""));
        let task = of(&found, "a").clone();
        (
            task["outlook"].as_str().unwrap().to_owned(),
            task["rule"].as_str().unwrap_or_default().to_owned(),
            task,
        )
    };
    wait_for("the engine to know the quota", || one(&editor, "5").0 == "never");
    let (_, _, never) = one(&editor, "5");
    assert!(never["message"].as_str().unwrap().contains("has a limit of"), "{never}");
    let (outlook, rule, capped) = one(&editor, "2");
    assert_eq!((outlook.as_str(), rule.as_str()), ("waits", "persons_cap"), "{capped}");
    assert_eq!(one(&editor, "1").0, "starts");
    // Another person has their own limit, within the project's limit.
    let owner = server.as_(Who::Owner);
    assert_eq!(one(&owner, "2").0, "starts");
    let theirs = holding(&owner, "2");
    let viewer = server.as_(Who::Viewer);
    let (outlook, rule, limited) = one(&viewer, "2");
    assert_eq!((outlook.as_str(), rule.as_str()), ("waits", "limit"), "{limited}");
    assert_eq!(limited["shortages"][0]["limit"], 4.0, "{limited}");
    for run in [own, theirs] {
        cancel(&owner, &run);
    }
}

#[test]
fn history_says_how_long_it_takes_and_when_what_waits_may_start() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let stored = |line: &str| document("fit", &format!("tasks:\n{}", cores("fit", "7", line, "")));
    for _ in 0..3 {
        let run = start(&editor, &stored("sleep 0.3"));
        until(&editor, &run, "succeeded");
    }
    let holds = start(&editor, &stored("sleep 300"));
    until_task(&editor, &holds, "fit", "running");
    let document = stored("true");
    let found = editor.post(FORECAST, &json!({"document": document})).expect(200).json();
    let fit = of(&found, "fit");
    assert_eq!((&fit["outlook"], &fit["run_time"]["attempts"]), (&json!("waits"), &json!(3)), "{fit}");
    let took = fit["run_time"]["p50_seconds"].as_f64().unwrap();
    assert!((0.2..60.0).contains(&took) && fit["run_time"]["p90_seconds"].as_f64().unwrap() >= took, "{fit}");
    assert!(
        fit["start"]["p50"].as_str() <= fit["start"]["p90"].as_str() && fit["start"]["p50"].is_string(),
        "{fit}"
    );

    // The same for a pending run: in the API, and as text on its page.
    let waits =
        id(&editor.post("/projects/default/runs", &json!({"document": document})).expect(201).json()["run"]);
    wait_for("an estimate", || of_task(&editor, &waits, "fit")["wait"]["start"]["p90"].is_string());
    let instances = editor.get(&format!("/runs/{waits}/tasks/fit/instances")).expect(200).json();
    assert!(instances["items"][0]["wait"]["start"]["p50"].is_string(), "{instances}");
    let page = editor.get(&format!("page:/runs/{waits}?tab=table")).expect(200).text();
    assert!(page.contains("estimated start in") && page.contains("(90 %: "), "{page}");
    cancel(&editor, &holds);
    until(&editor, &waits, "succeeded");
}

/// The pending state of a task, once the reason is known.
#[track_caller]
fn waiting(client: &Client, run: &str, name: &str) -> Value {
    let wait = || client.get(&format!("/runs/{run}/tasks/{name}")).expect(200).json()["wait"].clone();
    wait_for("why it waits to be known", || wait()["why"].is_object());
    wait()
}

#[test]
fn a_task_that_waits_says_by_which_rule_for_how_much_and_whom_to_those_who_may_know() {
    let server = Server::start();
    let (editor, admin, stranger) =
        (server.as_(Who::Editor), server.as_(Who::Administrator), server.as_(Who::Stranger));
    let holder = holding(&editor, "7");
    admin.post("/projects", &json!({"name": "other"})).expect(201);
    let member = format!("/projects/other/members/{}", Who::Stranger.name());
    admin.put(&member, "", &json!({"role": "editor"})).expect(201);
    let run_of = |client: &Client, project: &str, name: &str, cpu: &str| {
        let text = document("waits", &format!("tasks:\n{}", cores(name, cpu, "true", "")));
        let started = client.post(&format!("/projects/{project}/runs"), &json!({"document": text}));
        id(&started.expect(201).json()["run"])
    };
    let hidden = run_of(&stranger, "other", "secret-work", "6");
    let wait = waiting(&stranger, &hidden, "secret-work");
    let why = &wait["why"];
    assert_eq!(
        (&wait["rule"], &why["rule"], &why["pool"]),
        (&json!("capacity"), &json!("capacity"), &json!("local"))
    );
    let short = &why["shortages"][0];
    assert_eq!(
        (&short["resource"], &short["asked"], &short["free"], &short["held"], &short["limit"]),
        (&json!("cpu"), &json!(6.0), &json!(1.0), &json!(7.0), &json!(8.0))
    );
    assert_eq!((&why["holders"], &why["hidden_holders"]), (&json!([]), &json!(1)));
    assert!(!wait.to_string().contains(&holder), "{wait}");
    // An administrator sees the owner.
    let seen = &waiting(&admin, &hidden, "secret-work")["why"];
    assert_eq!(
        (&seen["holders"][0]["run"], &seen["holders"][0]["task"]),
        (&json!(holder), &json!("hold")),
        "{seen}"
    );

    // A task queued behind sees the position, but neither the name nor the run of the task ahead.
    let behind = run_of(&editor, "default", "behind", "7");
    let told = waiting(&editor, &behind, "behind");
    assert_eq!(told["why"]["ahead"], 1, "{told}");
    let page = editor.get(&format!("page:/runs/{behind}/tasks/behind")).expect(200).text();
    for text in [told.to_string(), page] {
        assert!(!text.contains("secret-work") && !text.contains(&hidden), "{text}");
    }
    let pages = admin.get(&format!("page:/runs/{hidden}/tasks/secret-work")).expect(200).text();
    assert!(pages.contains(&format!("/runs/{holder}/tasks/hold")), "{pages}");
    // The task starts when the named one ends.
    cancel(&editor, &behind);
    cancel(&editor, &holder);
    until(&stranger, &hidden, "succeeded");
}

#[test]
fn what_a_project_is_guaranteed_and_has_borrowed_is_told_to_who_waits() {
    let server = Server::start();
    let (admin, editor) = (server.as_(Who::Administrator), server.as_(Who::Editor));
    let quota = json!({"quotas": {"local": {"guarantee": {"cpu": 2}}}});
    admin.put("/projects/default/quota", "*", &quota).expect(200);
    let holder = holding(&editor, "5");
    let short = || {
        let found = forecast(&editor, &cores("tried", "4", "true", ""));
        of(&found, "tried")["shortages"][0].clone()
    };
    wait_for("the engine to know the quota", || short()["guaranteed"].is_number());
    let expected = [("asked", 4.0), ("free", 3.0), ("held", 5.0), ("guaranteed", 2.0), ("borrowed", 3.0)];
    for (name, amount) in expected {
        assert_eq!(short()[name], amount, "{name}: {}", short());
    }
    // The same for a pending run, and on its page.
    let waits = start(&editor, &document("waits", &format!("tasks:\n{}", cores("tried", "4", "true", ""))));
    let why = waiting(&editor, &waits, "tried")["why"].clone();
    let told = &why["shortages"][0];
    assert_eq!((&told["guaranteed"], &told["borrowed"]), (&json!(2.0), &json!(3.0)), "{why}");
    let page = editor.get(&format!("page:/runs/{waits}/tasks/tried")).expect(200).text();
    for (word, amount) in [("Guaranteed", 2), ("Borrowed", 3)] {
        let cell = format!("<td class=\"end\" data-label=\"{word}\">{amount}</td>");
        assert!(page.contains(&cell), "{cell}: {page}");
    }
    cancel(&editor, &holder);
    until(&editor, &waits, "succeeded");
}

#[test]
fn every_instance_of_a_long_queue_says_why_it_waits() {
    const COUNT: usize = 300;
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let holder = holding(&editor, "7");
    let list = (0..COUNT).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let each = cores("each", "2", "true", &format!("    for_each: {{list: [{list}]}}\n"));
    let run = start(&editor, &document("long", &format!("tasks:\n{each}")));
    let instances = || {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/runs/{run}/tasks/each/instances?limit=200{cursor}");
            let page = editor.get(&path).expect(200).json();
            found.extend(page["items"].as_array().unwrap().iter().cloned());
            let Some(next) = page["next_cursor"].as_str() else { return found };
            cursor = format!("&cursor={next}");
        }
    };
    let answered = |one: &Value| one["wait"]["why"].is_object() && one["wait"]["message"] != "";
    wait_for("all to wait", || instances().iter().filter(|one| one["state"] == "waiting").count() == COUNT);
    wait_for("the last to have an answer", || answered(instances().last().unwrap()));
    let all = instances();
    assert_eq!(all.iter().filter(|one| answered(one)).count(), COUNT, "{:#}", all[COUNT / 2]);
    let last = &all[COUNT - 1]["wait"];
    // All others are ahead of it, and it needs their end, too.
    assert!(last["why"]["ahead"].as_u64() >= Some(COUNT as u64 - 1), "{last}");
    assert_eq!(last["why"]["holders"], json!([]), "{last}");
    cancel(&editor, &run);
    cancel(&editor, &holder);
}

#[test]
fn what_waits_for_the_parallelism_of_its_task_says_who_holds_it_and_how_many_are_before_it() {
    let app = TestApp::new();
    let shared = app.data().join("workspace/default/runs");
    let server = Server::start_in(app);
    let editor = server.as_(Who::Editor);
    let each = |list: &str, line: &str| {
        let rest = format!("    for_each: {{list: {list}, parallelism: 1}}\n");
        document("sweep", &format!("tasks:\n{}", task("each", line, &rest)))
    };
    let before = start(&editor, &each("[a, b, c]", "sleep 0.3"));
    until(&editor, &before, "succeeded");
    let run = start(&editor, &each("[a, b, c, d, e]", &LASTS.replace("NAME", "{{ item }}")));
    let instances =
        || editor.get(&format!("/runs/{run}/tasks/each/instances")).expect(200).json()["items"].clone();
    wait_for("an estimate", || {
        instances().as_array().unwrap().len() == 5 && instances()[4]["wait"]["why"]["ahead"] == 3
    });
    let all = instances();
    let [next, last] = [&all[1]["wait"], &all[4]["wait"]];
    let why = &next["why"];
    assert_eq!(
        (&next["rule"], &why["rule"], &why["pool"]),
        (&json!("parallelism"), &json!("task_parallelism"), &json!("local")),
        "{next}"
    );
    let counted = |why: &Value| ["parallelism", "active", "ahead"].map(|name| why[name].as_u64().unwrap());
    assert_eq!((counted(why), counted(&last["why"])), ([1, 1, 0], [1, 1, 3]), "{all}");
    assert_eq!(
        last["message"],
        "the task's parallelism is 1: 1 of its instances is active, and 3 are queued ahead"
    );
    // The head of the line names the instance it waits for.
    let holder = &why["holders"][0];
    assert_eq!(
        (&holder["task"], &holder["instance"], &holder["amounts"]["cpu"]),
        (&json!("each"), &json!(0), &json!(0.1)),
        "{why}"
    );
    assert_eq!(last["why"]["holders"], json!([]), "{last}");
    // Three have run before, so each has an estimated start.
    let p50 = |wait: &Value| wait["start"]["p50"].as_str().map(str::to_owned);
    assert!(p50(next).is_some() && p50(next) < p50(last), "{all}");
    let page = editor.get(&format!("page:/runs/{run}/tasks/each?instance=1")).expect(200).text();
    assert!(page.contains("Next when one of these ends") && page.contains("each #0"), "{page}");
    // When it ends, the next one starts.
    fs::write(shared.join(&run).join("a"), "").unwrap();
    wait_for("the next to run", || instances()[1]["state"] == "running");
    assert_eq!(instances()[0]["state"], "succeeded");
    cancel(&editor, &run);
}

#[test]
fn what_waits_for_the_parallelism_of_its_pipeline_stands_in_one_line_of_all_tasks() {
    let app = TestApp::new();
    let shared = app.data().join("workspace/default/runs");
    let server = Server::start_in(app);
    let editor = server.as_(Who::Editor);
    let tasks = [
        task("first", &LASTS.replace("NAME", "go"), "    priority: 9\n"),
        task("late", "true", ""),
        task("early", "true", "    priority: 5\n"),
    ];
    let run = start(&editor, &document("line", &format!("parallelism: 1\ntasks:\n{}", tasks.concat())));
    let wait = |name: &str| of_task(&editor, &run, name)["wait"].clone();
    wait_for("the places", || wait("late")["why"]["ahead"] == 1 && wait("early")["why"]["ahead"] == 0);
    let (early, late) = (wait("early"), wait("late"));
    assert_eq!(early["why"]["rule"], "pipeline_parallelism", "{early}");
    assert_eq!(early["why"]["holders"][0]["task"], "first", "{early}");
    assert_eq!(
        late["message"],
        "the pipeline's parallelism is 1: 1 of its jobs is active, and 1 is queued ahead"
    );
    assert_eq!(
        (&late["why"]["holders"], late.get("start")),
        (&json!([]), None),
        "nothing has run before: {late}"
    );
    // When the named instance ends, the first one starts.
    fs::write(shared.join(&run).join("go"), "").unwrap();
    until(&editor, &run, "succeeded");
}
