//! Task templates with a folder: their programs run, and malicious archives are refused.

use reqwest::Method;
use serde_json::json;
use tar::EntryType::{self, Directory, Regular, Symlink};

use super::code::archive;
use crate::api::runs::help::{start, until};
use crate::api::support::client::send;
use crate::api::support::{Answer, Client, Server, Who};

const TEMPLATE: &str = r#"apiVersion: cubeloom/v1
kind: TaskTemplate
name: greet
version: "VERSION"
group: basics
label: {en: Greet, zh: 问候}
help: {en: Greets., zh: 问候。}
framework: single
parameters:
  type: object
  additionalProperties: false
  properties: {whom: {type: string, default: world}}
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}]
command: [sh, $(CUBELOOM_TEMPLATE_DIR)/bin/greet.sh, "{{ args.whom }}"]
"#;

type Entries<'e> = [(&'e [u8], EntryType, &'e [u8])];

fn install(client: &Client, entries: &Entries<'_>) -> Answer {
    let request = client.request(Method::POST, "/templates").header("content-type", "application/gzip");
    send(request.body(archive(entries)))
}

fn greet(client: &Client, version: &str, program: &str) -> Answer {
    let recipe = TEMPLATE.replace("VERSION", version);
    install(
        client,
        &[
            (b"greet/", Directory, b""),
            (b"greet/template.yaml", Regular, recipe.as_bytes()),
            (b"greet/README.md", Regular, b"# How to greet\n"),
            (b"greet/bin/greet.sh", Regular, program.as_bytes()),
        ],
    )
}

/// The output of a run of the template.
fn said(client: &Client, template: &str) -> String {
    let task = format!("{{name: a, template: {template}, arguments: {{whom: Ada}}}}");
    let run =
        start(client, &format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {task}\n"));
    until(client, &run, "succeeded");
    client.get(&format!("/runs/{run}/logs/text?task=a")).expect(200).text()
}

#[test]
fn the_programs_of_an_uploaded_template_run_each_version_its_own() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    let made = greet(&admin, "1.0.0", "echo \"hello $1\"").expect(201);
    assert_eq!(made.header("location"), "/api/v1/templates/greet/versions/1.0.0");
    assert!(made.json()["readme_html"].as_str().unwrap().contains("How to greet"));
    greet(&admin, "1.0.0", "echo \"hello $1\"").expect(200);
    greet(&admin, "1.0.0", "echo changed").expect(409);
    greet(&admin, "1.1.0", "echo \"good day $1\"").expect(201);
    assert!(said(&admin, "greet@1.0.0").contains("hello Ada"));
    // Another process on the same data finds it, too.
    server.stop();
    server.run();
    let admin = server.as_(Who::Administrator);
    assert!(said(&admin, "greet").contains("good day Ada"));
    assert!(said(&admin, "greet@1.0.0").contains("hello Ada"));
    greet(&server.as_(Who::Editor), "2.0.0", "true").expect(403);
}

#[test]
fn archives_that_are_no_template_are_refused_with_what_is_wrong() {
    let server = Server::start();
    let admin = server.as_(Who::Administrator);
    let kept = || std::fs::read_dir(server.path("data/templates")).unwrap().count();
    let before = kept();
    let recipe = TEMPLATE.replace("VERSION", "1.0.0");
    let recipe = recipe.as_bytes();
    let problem = |entries: &Entries<'_>| {
        let refused = install(&admin, entries).expect(422).problem("invalid");
        let first = &refused["problems"][0];
        (
            first["path"].as_str().unwrap_or_default().to_owned(),
            refused["detail"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(problem(&[(b"main.sh", Regular, b"")]).0, "/template.yaml");
    let (path, detail) = problem(&[(b"template.yaml", Regular, recipe)]);
    assert!(path == "/command/1" && detail.contains("bin/greet.sh"), "{path}: {detail}");
    let (_, detail) = problem(&[(b"template.yaml", Regular, recipe), (b"../x", Regular, b"")]);
    assert!(detail.contains("must stay below the folder"), "{detail}");
    let (_, detail) = problem(&[(b"template.yaml", Regular, recipe), (b"bin", Symlink, b"")]);
    assert!(detail.contains("is a link"), "{detail}");
    let (_, detail) = problem(&[(b"template.yaml", Regular, b"kind: TaskTemplate\n")]);
    assert!(detail.contains("apiVersion"), "{detail}");
    let large = vec![0; 33 << 20];
    install(&admin, &[(b"template.yaml", Regular, recipe), (b"data", Regular, &large)]).expect(413);
    let send_bytes = |bytes: Vec<u8>| {
        let request = admin.request(Method::POST, "/templates").header("content-type", "application/gzip");
        send(request.body(bytes))
    };
    send_bytes(vec![0; (4 << 20) + 1]).expect(413);
    send_bytes(b"no archive".to_vec()).expect(422);
    admin.get("/templates/greet").expect(404);
    assert_eq!(kept(), before, "nothing was kept");
    admin.post("/templates", &json!({"document": "name: [x"})).expect(422);
}

#[test]
fn the_command_line_installs_a_folder_for_the_server_that_runs() {
    let server = Server::start();
    let file = server.write("greet/template.yaml", &TEMPLATE.replace("VERSION", "1.0.0"));
    let folder = file.parent().unwrap().to_str().unwrap().to_owned();
    let refused = server.expect(2, &["template", "install", &folder]);
    assert!(refused.out.contains("/command/1"), "{refused:?}");
    server.write("greet/bin/greet.sh", "echo \"hello $1\"");
    let done = server.expect(0, &["template", "install", &folder]);
    assert!(done.err.contains("installed greet@1.0.0"), "{done:?}");
    let admin = server.as_(Who::Administrator);
    crate::support::wait_for("the server to know it", || admin.get("/templates/greet").status == 200);
    assert!(said(&admin, "greet").contains("hello Ada"));
}
