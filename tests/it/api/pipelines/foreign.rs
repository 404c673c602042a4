//! Files of another platform in, and out.

use serde_json::json;

use crate::api::support::{Server, Who};

const FILE: &str = include_str!("../../../../server/compiler/tests/documents/cube-studio/pipelines.json");
const TEMPLATES: &str =
    include_str!("../../../../server/compiler/tests/documents/cube-studio/templates.json");

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
