//! Documents, schemas and templates: their problems, and the compiled result.

use serde_json::Value;

use crate::support::TestApp;

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello/pipeline.yaml");

#[test]
fn every_problem_is_printed_with_its_place() {
    let app = TestApp::new();
    let file = app.pipeline(
        "wrong",
        r#"  - name: one
    template: comand
    arguments: {command: [echo]}
  - name: two
    template: command
    needs: [oen]
    timeuot: 5m
    arguments: {command: echo}
"#,
    );
    for words in [["validate", &file], ["run", &file]] {
        let done = app.expect(2, &words);
        assert!(done.out.contains(&format!("{file}:11:5: error: /tasks/1/timeuot:")), "{done:?}");
        assert!(
            done.out.contains("did you mean `timeout`?") && done.out.contains("did you mean `one`?"),
            "{done:?}"
        );
    }
    assert!(app.expect(2, &["validate", &file]).out.contains("did you mean `command`?"));
    let found = app.json(2, &["validate", &file]);
    let unknown =
        found["problems"].as_array().unwrap().iter().find(|problem| problem["code"] == "unknown_key");
    assert_eq!(
        (&unknown.unwrap()["path"], &unknown.unwrap()["line"]),
        (&"/tasks/1/timeuot".into(), &11.into())
    );
}

#[test]
fn a_document_that_is_no_document() {
    let app = TestApp::new();
    let broken = app.write("broken.yaml", "name: [1, 2\ntasks: }");
    assert!(app.expect(2, &["run", broken.to_str().unwrap()]).out.contains("broken.yaml:2:"));
    assert!(app.expect(2, &["run", "/nowhere.yaml"]).err.contains("/nowhere.yaml cannot be read"));
    let folder = app.path("folder");
    std::fs::create_dir(&folder).unwrap();
    assert!(app.expect(2, &["run", folder.to_str().unwrap()]).err.contains("is a folder"));
    std::fs::write(app.path("binary"), [0xff, 0xfe, 0]).unwrap();
    assert!(app.expect(2, &["validate", app.path("binary").to_str().unwrap()]).err.contains("not UTF-8"));
}

/// Replaces what differs from call to call or from machine to machine.
fn fixed(mut compiled: Value) -> Value {
    let run = compiled["run"]["id"].as_str().unwrap().to_owned();
    let user = compiled["run"]["user"].as_str().unwrap().to_owned();
    compiled["run"]["date"] = "<date>".into();
    compiled["run"]["code"] = "<code>".into();
    let templates = concat!(env!("CARGO_MANIFEST_DIR"), "/../task-templates");
    let templates = std::fs::canonicalize(templates).unwrap();
    let text =
        compiled.to_string().replace(&run, "<run>").replace(templates.to_str().unwrap(), "<templates>");
    let text =
        text.replace(&format!(": \"{user}\""), ":\"<user>\"").replace(&format!(":\"{user}\""), ":\"<user>\"");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn compile_prints_what_is_submitted() {
    let app = TestApp::new();
    let done = app.expect(0, &["compile", HELLO, "--for", "local"]);
    let compiled = fixed(serde_json::from_str(&done.out).unwrap());
    insta::assert_json_snapshot!("hello_for_local", compiled);
    assert!(!app.data().exists(), "compiling needs no data folder");
}

#[test]
fn schemas_are_json() {
    let app = TestApp::new();
    for (kind, title) in [("pipeline", "Pipeline"), ("template", "TaskTemplate")] {
        let schema: Value = serde_json::from_str(&app.expect(0, &["schema", kind]).out).unwrap();
        assert_eq!((&schema["title"], &schema["type"]), (&title.into(), &"object".into()));
    }
}

#[test]
fn templates_are_checked_listed_and_shown() {
    let app = TestApp::new();
    let fine = app.expect(0, &["template", "check"]);
    assert_eq!(fine.out, "");
    let listed = app.json(0, &["template", "list"]);
    assert!(listed.as_array().unwrap().iter().any(|each| each["template"]["name"] == "xgboost"));
    assert!(app.expect(0, &["template", "show", "python"]).out.contains("requirements"));
    assert!(app.expect(2, &["template", "show", "phyton"]).err.contains("there is no template `phyton`"));
    app.write(
        "own/bad/template.yaml",
        "apiVersion: cubeloom/v1\nkind: TaskTemplate\nname: worse\nrolls: []\n",
    );
    let bad = app.expect(2, &["template", "check", app.path("own").to_str().unwrap()]);
    assert!(bad.out.contains("bad/template.yaml:4:1: error: /rolls:"), "{bad:?}");
}

const OWN_TEMPLATE: &str = r#"apiVersion: cubeloom/v1
kind: TaskTemplate
name: shout
version: "1.0.0"
group: basics
label: {en: Shout, zh: 喊}
help: {en: Shouts., zh: 喊。}
framework: single
parameters: {type: object, additionalProperties: false, properties: {}}
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}]
command: [echo, WORD]
"#;

#[test]
fn a_changed_template_is_used_and_its_version_keeps_its_meaning() {
    let mut app = TestApp::new();
    let templates = app.path("own");
    app.set("CUBELOOM_SERVER_TEMPLATES", templates.to_str().unwrap());
    let file = app.pipeline("loud", "  - {name: shout, template: shout}\n");
    let said = |word: &str| {
        app.write("own/shout/template.yaml", &OWN_TEMPLATE.replace("WORD", word));
        let done = app.expect(0, &["run", &file]);
        (app.expect(0, &["logs", "latest", "shout", "--worker", "worker-0"]).out, done.err)
    };
    assert_eq!(said("one"), ("one\n".into(), String::new()));
    let (out, err) = said("two");
    assert_eq!(out, "two\n");
    assert!(err.contains("shout 1.0.0+") && err.contains("new version"), "{err}");
    assert_eq!(said("one"), ("one\n".into(), String::new()));
}

/// The first YAML block of a page.
fn first_block(page: &str) -> String {
    let path = format!("{}/../{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once("```yaml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_pipelines_of_the_documentation_are_valid() {
    let app = TestApp::new();
    let page = app.write("page.yaml", &first_block("docs/pipeline-document.md"));
    let missing = "/arguments/script: the pipeline's folder has no file `count.py`";
    let said = app.expect(2, &["validate", page.to_str().unwrap()]).out;
    assert!(said.contains(missing), "{said}");
    let shown = app.expect(0, &["compile", page.to_str().unwrap()]);
    assert!(shown.err.contains(missing) && shown.out.contains("count.py"), "{shown:?}");
    app.write("count.py", "");
    app.expect(0, &["validate", page.to_str().unwrap()]);
    let readme = app.write("readme/first.yaml", &first_block("README.md"));
    let done = app.expect(0, &["run", readme.to_str().unwrap(), "--watch"]);
    assert!(done.out.contains("✓ first succeeded"), "{done:?}");
}

#[test]
fn the_documentation_names_every_field() {
    let app = TestApp::new();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pipeline-document.md");
    let page = std::fs::read_to_string(page).unwrap();
    let schema: Value = serde_json::from_str(&app.expect(0, &["schema", "pipeline"]).out).unwrap();
    let kinds = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    let fields = kinds.filter_map(|kind| kind["properties"].as_object()).flat_map(|fields| fields.keys());
    let missing: Vec<&String> = fields.filter(|field| !page.contains(field.as_str())).collect();
    assert!(missing.is_empty(), "docs/pipeline-document.md does not name {missing:?}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md");
    let page = std::fs::read_to_string(page).unwrap();
    let help = app.expect(0, &["--help"]).out;
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in commands.filter_map(|line| line.split_whitespace().next()) {
        assert!(page.contains(&format!("`{command}")), "docs/cli.md does not name {command}");
    }
}
