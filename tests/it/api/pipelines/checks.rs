//! Checks of documents: problems with their positions, and what documents compile to.

use serde_json::{Value, json};
use tar::EntryType;

use super::super::support::Who;
use super::code::{archive, upload};
use super::{PIPELINES, editor, problems};

const VALIDATE: &str = "/projects/default/validate";
const COMPILE: &str = "/projects/default/compile";

const WRONG: &str = "apiVersion: cubeloom/v1
kind: Pipeline
name: wrong
surprise: 1
tasks:
  - name: a
    template: nothing
  - name: b
    template: command
    needs: [c, a]
    arguments: {comand: [echo]}
    resources: {memory: 100Ti}
    secrets: [unknown]
  - name: c
    template: command
    needs: [b]
    arguments: {command: [echo]}
";

#[test]
fn every_problem_is_told_with_its_place() {
    let (server, editor) = editor();
    let viewer = server.as_(Who::Viewer);
    let answer = viewer.post(VALIDATE, &json!({"document": WRONG})).expect(200).json();
    assert_eq!(answer["valid"], false);
    let found = problems(&answer["problems"]);
    for (path, code) in [
        ("/surprise", "unknown_key"),
        ("/tasks/0/template", "unknown_template"),
        ("/tasks/1/needs/0", "cycle"),
        ("/tasks/1/secrets/0", "unknown_secret"),
    ] {
        let near = |(at, other): &(String, String)| {
            other == code && (at == path || path.starts_with(at.as_str()) || at.starts_with(path))
        };
        assert!(found.iter().any(near), "{path} {code} in {found:?}");
    }
    let lines: Vec<u64> =
        answer["problems"].as_array().unwrap().iter().map(|one| one["line"].as_u64().unwrap()).collect();
    assert!(lines.is_sorted() && lines[0] == 4, "{lines:?}");
    let refused = editor.post(PIPELINES, &json!({"document": WRONG})).expect(422).problem("invalid");
    assert_eq!(problems(&refused["problems"]), found, "creation tells the same");
    let broken = viewer.post(VALIDATE, &json!({"document": "tasks: [\n"})).expect(200).json();
    assert_eq!(problems(&broken["problems"])[0].1, "syntax");
}

#[test]
fn to_look_at_a_document_stores_nothing() {
    let (server, editor) = editor();
    let text = WRONG.replace("wrong", "right").split("tasks:").next().unwrap().replace("surprise: 1\n", "")
        + "tasks:\n  - {name: a, template: command, arguments: {command: [echo]}}\n";
    editor.post(PIPELINES, &json!({"document": text})).expect(201);
    let run = editor.post("/projects/default/runs", &json!({"pipeline": "right"})).expect(201).json();
    let ended = crate::api::runs::help::until(&editor, run["run"]["id"].as_str().unwrap(), "succeeded");
    let owner = server.as_(Who::Owner);
    let there = || {
        let list = |path: &str| owner.get(&format!("{path}?limit=200")).expect(200).json();
        let audit = list("/projects/default/audit");
        [list(PIPELINES), list("/runs"), list(&format!("{PIPELINES}/right/versions")), audit]
    };
    let before = there();
    assert_eq!(before[1]["items"][0]["id"], ended["id"]);
    for document in [text.as_str(), &text.replace("name: right", "name: another"), WRONG] {
        for path in [VALIDATE, COMPILE] {
            let answer = editor.post(path, &json!({"document": document}));
            assert!(matches!(answer.status, 200 | 422), "{}", answer.text());
        }
    }
    assert_eq!(there(), before);
}

#[test]
fn what_only_this_place_lacks_is_stored_and_told() {
    let (_server, editor) = editor();
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: later\ntasks:\n  - {name: a, template: not-installed}\n";
    let made = editor.post(PIPELINES, &json!({"document": text})).expect(201).json();
    assert_eq!(problems(&made["problems"])[0].1, "unknown_template");
    let run =
        editor.post("/projects/default/runs", &json!({"pipeline": "later"})).expect(422).problem("invalid");
    assert_eq!(problems(&run["problems"])[0].1, "unknown_template");
}

#[test]
fn compilation_is_what_the_command_says() {
    let (server, editor) = editor();
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: both\nparameters: {n: {type: integer, default: 2}}\n\
                tasks:\n  - {name: a, template: indexed, arguments: {script: x.py, workers: \"{{ params.n }}\"}}\n\
                \x20 - {name: b, template: command, needs: [a], for_each: {list: [1, 2, 3]}, arguments: {command: [echo, \"no. {{ item }}\"]}}\n";
    let folder = server.path("both");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("pipeline.yaml"), text).unwrap();
    std::fs::write(folder.join("x.py"), "print(1)\n").unwrap();
    let file = folder.join("pipeline.yaml");
    let done = server.expect(0, &["compile", file.to_str().unwrap(), "-p", "n=3", "--for", "local"]);
    let told: Value = serde_json::from_str(&done.out).unwrap();

    let files: [(&[u8], EntryType, &[u8]); 2] = [
        (b"pipeline.yaml", EntryType::Regular, text.as_bytes()),
        (b"x.py", EntryType::Regular, b"print(1)\n"),
    ];
    let digest = upload(&editor, archive(&files)).expect(200).json()["digest"].clone();
    assert_eq!(told["run"]["code"], digest, "the folder has one digest, however it came");
    let sent = json!({"document": text, "parameters": {"n": "3"}, "code": digest});
    let answer = editor.post(COMPILE, &sent).expect(200).json();
    assert_eq!(answer["parameters"], json!({"n": 3}));
    for at in 0..2 {
        let (one, other) = (&told["tasks"][at], &answer["tasks"][at]);
        assert_eq!(one["task"], other["task"]);
        assert_eq!(plain(&one["jobs"], &told["run"]), plain(&other["jobs"], &answer["run"]), "task {at}");
    }
    assert_eq!(answer["tasks"][0]["roles"][0]["replicas"], 3);
    assert_eq!(answer["tasks"][1]["instances"], 3);
    let wrong = json!({"document": text, "parameters": {"n": "many", "m": 1}});
    let told = editor.post(COMPILE, &wrong).expect(422).problem("invalid");
    let found = problems(&told["problems"]);
    // The last problem follows from the second, and says where the value would have gone.
    let expected = [
        ("/parameters", "invalid_parameter"),
        ("/parameters/n", "invalid_parameter"),
        ("/tasks/0/arguments/workers", "invalid_argument"),
    ];
    assert_eq!(found, expected.map(|(path, code)| (path.into(), code.into())));
    // A missing script is reported before anything starts.
    let lacks = json!({"document": text.replace("x.py", "lib/y.py"), "code": digest});
    let told = editor.post(COMPILE, &lacks).expect(422).problem("invalid");
    assert_eq!(
        problems(&told["problems"]),
        [("/tasks/0/arguments/script".into(), "invalid_argument".into())]
    );
    let unknown = json!({"document": text, "code": "0".repeat(64)});
    assert_eq!(
        problems(&editor.post(COMPILE, &unknown).expect(422).problem("invalid")["problems"])[0].0,
        "/code"
    );
}

/// Jobs without ids and persons, which differ between two runs.
fn plain(jobs: &Value, run: &Value) -> Value {
    let mut text = jobs.to_string();
    for key in ["id", "user"] {
        let own = json!(run[key].as_str().unwrap()).to_string();
        text = text.replace(&own, "\"\"").replace(run["id"].as_str().unwrap(), "");
    }
    let jobs: Value = serde_json::from_str(&text).unwrap();
    assert!(jobs.as_array().is_some_and(|jobs| !jobs.is_empty()), "{jobs}");
    jobs
}

#[test]
fn schemas_are_served() {
    let (server, _) = editor();
    let viewer = server.as_(Who::Viewer);
    assert!(viewer.get("/schemas/pipeline").expect(200).json()["properties"]["tasks"].is_object());
    assert!(
        viewer.get("/schemas/arguments").expect(200).json()["python"]["parameters"]["properties"]["script"]
            .is_object()
    );
    viewer.get("/schemas/other").expect(404).problem("not-found");
}
