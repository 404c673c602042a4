//! Follows docs/guide.md and docs/guide-administrators.md step by step.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};
use crate::support::{program, python};
use crate::templates::rig;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The code blocks of a guide in one language, in order.
fn blocks(guide: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(Path::new(ROOT).join("docs").join(guide)).unwrap();
    let fence = format!("\n```{language}\n");
    text.split(&fence).skip(1).map(|block| block.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_guide_does_what_it_says() {
    let server = Server::start_in(rig::app());
    // The test administrator has the name that the guide uses.
    let administrator = server.as_(Who::Administrator);
    make_run(&server, &administrator);

    let said = run_shell(&server, "guide.md");
    assert!(said.contains("succeeded"), "{said}");
    assert!(said.contains("accuracy"), "{said}");
    let versions = administrator.get("/projects/default/pipelines/digits/versions").expect(200).json();
    assert_eq!(versions["items"].as_array().unwrap().len(), 2, "{versions}");

    let mut client = python::command(&format!("{ROOT}/clients/python/requirements-test.txt"), "python");
    client
        .args(["-c", &blocks("guide.md", "python").join("\n")])
        .env("PYTHONPATH", format!("{ROOT}/clients/python/src"));
    client.env("CUBELOOM_URL", server.url()).env("CUBELOOM_TOKEN", administrator.token().unwrap());
    let accuracy: f64 = done_well(&mut client).trim().lines().last().unwrap().parse().unwrap();
    assert!(accuracy > 0.95, "{accuracy}");
}

#[test]
fn the_administrators_guide_does_what_it_says() {
    let server = Server::start();
    let administrator = server.as_(Who::Administrator);
    let said = run_shell(&server, "guide-administrators.md");
    assert!(said.contains("/link?token="), "{said}");
    assert!(said.contains("second succeeded") && said.contains("✓ two succeeded"), "{said}");
    let queues = administrator.get("/quotas").expect(200).text();
    assert!(queues.contains("research"), "{queues}");
    assert_eq!(administrator.get("/projects/vision/budget").expect(200).json()["amount"], "1200.00");
}

/// Runs the commands of a guide on the server's machine, and returns their output.
fn run_shell(server: &Server, guide: &str) -> String {
    let shell = blocks(guide, "sh").join("\n");
    assert!(shell.contains("CUBELOOM_TOKEN"), "the guide has commands");
    let shell = shell.replace("http://127.0.0.1:8080", &server.url());
    let program = program::cubeloom();
    let shell = shell.replace("target/release/cubeloom", program.to_str().unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", &shell]).current_dir(server.path(""));
    bash.env("CUBELOOM_DATA", server.data());
    done_well(&mut bash)
}

/// The state after `make run`: the example is stored and has run once.
fn make_run(server: &Server, administrator: &Client) {
    let folder = Path::new(ROOT).join("examples/digits");
    let archive = Command::new("tar").arg("-cz").arg("-C").arg(&folder).arg(".").output().unwrap().stdout;
    let upload = administrator.request(reqwest::Method::PUT, "/projects/default/code");
    let code = send(upload.header("content-type", "application/gzip").body(archive)).expect(200).json();
    let document = fs::read_to_string(folder.join("pipeline.yaml")).unwrap();
    let body = json!({"document": document, "message": "the example", "code": code["digest"]});
    administrator.post("/projects/default/pipelines", &body).expect(201);
    let run = administrator.post("/projects/default/runs", &json!({"pipeline": "digits"})).expect(201).json();
    let path = format!("/runs/{}", run["run"]["id"].as_str().unwrap());
    // The first run on a machine downloads packages.
    let deadline = Instant::now() + Duration::from_secs(240);
    while !administrator.get(&path).json()["ended_at"].is_string() {
        assert!(Instant::now() < deadline, "the example goes on for too long");
        sleep(Duration::from_millis(200));
    }
    assert_eq!(administrator.get(&path).json()["state"], "succeeded", "{}", server.log());
}

fn done_well(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    said
}
