//! Import and export of other platforms' files.

use reqwest::Method;
use reqwest::blocking::multipart::{Form, Part};
use serde_json::json;

use crate::api::runs::help::{start, until};
use crate::api::support::client::send;
use crate::api::support::{Server, Who};
use crate::support::wait_for;

const FILE: &str = include_str!("../../../../server/compiler/tests/documents/cube-studio/pipelines.json");
const TEMPLATES: &str =
    include_str!("../../../../server/compiler/tests/documents/cube-studio/templates.json");

const SAY: &str = r#"apiVersion: cubeloom/v1
kind: TaskTemplate
name: say
version: "VERSION"
group: basics
label: {en: Say, zh: 说}
help: {en: Says it., zh: 说出来。}
framework: single
parameters: {type: object, additionalProperties: false, properties: {}}
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}]
command: [echo, WORD]
"#;

#[test]
fn files_of_cube_studio_become_documents_that_can_be_stored() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let path = "/projects/default/import";
    let made = editor.post(path, &json!({"file": FILE, "templates": TEMPLATES})).expect(200).json();
    let kinds: Vec<_> =
        made["documents"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["pipeline", "pipeline", "task_template", "task_template"]);
    assert!(made["documents"][0]["notes"].as_array().unwrap().len() > 3, "{made}");
    assert!(made["report"].as_array().unwrap().iter().any(|line| line["fate"] == "problem"), "{made}");
    for document in &made["documents"].as_array().unwrap()[..2] {
        let stored = editor.post("/projects/default/pipelines", &json!({"document": document["document"]}));
        assert_eq!(stored.expect(201).json()["name"], document["name"]);
    }
    let refused = editor.post(path, &json!({"file": "[]"})).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/file", "{refused}");
    let refused =
        editor.post(path, &json!({"file": FILE, "from": "elsewhere"})).expect(422).problem("invalid");
    assert_eq!(refused["problems"][0]["path"], "/from");
    server.as_(Who::Stranger).post(path, &json!({"file": FILE})).expect(404);
}

/// A form with these parts.
fn form(parts: &[(&'static str, Vec<u8>)]) -> Form {
    parts.iter().cloned().fold(Form::new(), |form, (name, bytes)| form.part(name, Part::bytes(bytes)))
}

#[test]
fn files_come_as_parts_of_a_form() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let path = "/projects/default/import";
    let sent =
        |parts: &[(&'static str, Vec<u8>)]| send(editor.request(Method::POST, path).multipart(form(parts)));
    let files = [("file", FILE.into()), ("templates", TEMPLATES.into()), ("name", Vec::new())];
    let as_text = editor.post(path, &json!({"file": FILE, "templates": TEMPLATES})).expect(200).json();
    assert_eq!(sent(&files).expect(200).json(), as_text);
    // Larger than the limit for other bodies, and still accepted.
    let padded = format!("{}{FILE}", " ".repeat(6 << 20));
    sent(&[("file", padded.into())]).expect(200);
    let refused = |parts: &[(&'static str, Vec<u8>)], place: &str, word: &str| {
        let problem = sent(parts).expect(422).problem("invalid");
        assert_eq!(problem["problems"][0]["path"], place, "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains(word), "{problem}");
    };
    refused(&[("templates", TEMPLATES.into())], "/file", "missing");
    refused(&[("file", FILE.into()), ("file", FILE.into())], "/file", "twice");
    refused(&[("file", vec![b'[', 0xff])], "/file", "not UTF-8, from byte 1");
    refused(&[("file", FILE.into()), ("flie", FILE.into())], "", "the part `flie` is unknown");
    let large = sent(&[("file", FILE.into()), ("templates", vec![b' '; (16 << 20) + 1])]).expect(413);
    assert!(large.problem("too-large")["detail"].as_str().unwrap().contains("`templates`"));
    let cut = editor.request(Method::POST, path).header("content-type", "multipart/form-data; boundary=x");
    send(cut.body("--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n["))
        .expect(400)
        .problem("malformed");
}

#[test]
fn imported_templates_are_installed_where_their_names_are_free() {
    let server = Server::start();
    let (editor, admin) = (server.as_(Who::Editor), server.as_(Who::Administrator));
    let path = "/projects/default/import";
    let made = || {
        let made = editor.post(path, &json!({"file": TEMPLATES})).expect(200).json();
        made["documents"].as_array().unwrap().clone()
    };
    let first = made().into_iter().find(|one| one["name"] == "detector").unwrap();
    assert!(first.get("taken").is_none(), "{first}");
    let sent = json!({"document": first["document"]});
    editor.post("/templates", &sent).expect(403).problem("forbidden");
    let answer = admin.post("/templates", &sent).expect(201);
    assert_eq!(answer.header("location"), "/api/v1/templates/detector/versions/1.0.0");
    assert_eq!(admin.post("/templates", &sent).expect(200).json()["digest"], answer.json()["digest"]);
    assert_eq!(made().into_iter().find(|one| one["name"] == "detector").unwrap()["taken"], "same");
    let other = first["document"].as_str().unwrap().replace("launcher.py", "other.py");
    let refused = admin.post("/templates", &json!({"document": other})).expect(409).problem("conflict");
    assert!(refused["detail"].as_str().unwrap().contains("new version"), "{refused}");
    let named = TEMPLATES.replace("\"detector\"", "\"command\"");
    let clash = editor.post(path, &json!({"file": named})).expect(200).json();
    let clash = clash["documents"].as_array().unwrap().iter().find(|one| one["name"] == "command").cloned();
    assert_eq!(clash.unwrap()["taken"], "other");
    let audit = admin.get("/audit?action=template.install").expect(200).json();
    assert_eq!(audit["items"].as_array().unwrap().len(), 1, "{audit}");
    assert_eq!(audit["items"][0]["subject"], "detector@1.0.0");
}

#[test]
fn an_installed_template_runs_and_stays() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    let say = |version: &str, word: &str| SAY.replace("VERSION", version).replace("WORD", word);
    admin.post("/templates", &json!({"document": say("1.0.0", "one")})).expect(201);
    let run = |template: &str| {
        let document = format!(
            "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {{name: a, template: {template}}}\n"
        );
        let run = start(&admin, &document);
        until(&admin, &run, "succeeded");
        admin.get(&format!("/runs/{run}/logs/text?task=a")).expect(200).text()
    };
    assert!(run("say").contains("one"));
    admin.post("/templates", &json!({"document": say("1.1.0", "two")})).expect(201);
    assert!(run("say").contains("two"));
    server.stop();
    server.run();
    let admin = server.as_(Who::Administrator);
    assert_eq!(admin.get("/templates/say").expect(200).json()["versions"], json!(["1.0.0", "1.1.0"]));
    let listed = server.json(0, &["template", "list"]);
    assert!(listed.as_array().unwrap().iter().any(|one| one["template"]["name"] == "say"), "{listed}");
    // Templates added on the command line are available in the running server.
    let file = server.write("three.yaml", &say("1.2.0", "three"));
    server.expect(0, &["template", "install", file.to_str().unwrap()]);
    wait_for("the server to know it", || {
        admin.get("/templates/say").json()["versions"] == json!(["1.0.0", "1.1.0", "1.2.0"])
    });
    let wrong = say("2.0.0", "$(CUBELOOM_TEMPLATE_DIR)/x");
    let refused = admin.post("/templates", &json!({"document": wrong})).expect(422).problem("invalid");
    assert!(refused["detail"].as_str().unwrap().contains("has no folder"), "{refused}");
    let refused = admin.post("/templates", &json!({"document": "name: [x"})).expect(422).problem("invalid");
    assert!(refused["problems"][0]["line"].is_number(), "{refused}");
}

#[test]
fn a_pipeline_is_exported() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let document = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p # kept\ntasks:\n  \
                    - {name: a, template: command, arguments: {command: [echo, \"{{ run.id }}\"]}, cache: true}\n";
    editor.post("/projects/default/pipelines", &json!({"document": document})).expect(201);
    let export = |query: &str| editor.get(&format!("/projects/default/pipelines/p/export?{query}"));
    assert_eq!(export("format=yaml").expect(200).json()["document"], document);
    let json = export("format=json&version=1").expect(200).json();
    let read: serde_json::Value = serde_json::from_str(json["document"].as_str().unwrap()).unwrap();
    assert_eq!(read["tasks"][0]["name"], "a");
    let argo = export("format=argo").expect(200).json();
    let text = argo["document"].as_str().unwrap();
    assert!(text.contains("kind: Workflow") && text.contains("{{workflow.uid}}"), "{text}");
    assert!(argo["report"].to_string().contains("`cache` of `a`"), "{argo}");
    export("format=word").expect(422);
    export("format=yaml&version=7").expect(404);
}
