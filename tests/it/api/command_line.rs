//! The command line against a server: from another machine, with a token only.

use std::fs;
use std::process::{Child, Command};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::identity::help::Browser;
use super::support::{Client, Server, Who};
use crate::support::{Done, Running, TestApp, states, wait_for};

/// A machine with the command line, and the server that it uses.
struct Laptop {
    app: TestApp,
    url: String,
    token: Option<String>,
}

impl Laptop {
    fn of(server: &Server, who: Who) -> Self {
        let token = server.as_(who).token().map(ToOwned::to_owned);
        Self { app: TestApp::new(), url: server.url(), token }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.app.command(words);
        command.env_remove("CUBELOOM_DATA").env_remove("CUBELOOM_SERVER_TEMPLATES");
        if let Some(token) = &self.token {
            command.env("CUBELOOM_URL", &self.url).env("CUBELOOM_TOKEN", token);
        }
        command
    }

    fn start(&self, words: &[&str]) -> Running {
        Running::of(self.command(words))
    }

    #[track_caller]
    fn expect(&self, code: i32, words: &[&str]) -> Done {
        let done = self.start(words).wait();
        assert_eq!(done.code, Some(code), "{words:?}: {done:#?}");
        done
    }

    #[track_caller]
    fn json(&self, code: i32, words: &[&str]) -> Value {
        let done = self.expect(code, &[words, &["--output", "json"]].concat());
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{words:?}: {error}: {done:#?}"))
    }
}

fn run_of(server: &Server, report: &Value) -> Value {
    let id = report["run"]["id"].as_str().expect("a run");
    server.as_(Who::Editor).get(&format!("/runs/{id}")).expect(200).json()
}

/// The newest run of the project, once a task of it has this state.
fn wait_for_state(client: &Client, task: &str, state: &str) -> String {
    let newest = || {
        client.get("/projects/default/runs?limit=1").json()["items"][0]["id"].as_str().map(ToOwned::to_owned)
    };
    wait_for(&format!("{task} to be {state}"), || {
        newest().is_some_and(|run| client.get(&format!("/runs/{run}/tasks/{task}")).json()["state"] == state)
    });
    newest().expect("a run")
}

const SUM: &str = r#"parameters:
  n: {type: integer, default: 1}
tasks:
  - name: count
    template: python
    arguments: {script: count.py, args: ["{{ params.n }}"]}
  - name: each
    template: python
    needs: [count]
    for_each: {list: [1, 2]}
    arguments: {code: "print('item', __import__('sys').argv[1])", args: ["{{ item }}"]}
  - name: sum
    template: python
    needs: [each]
    arguments: {code: "import sys, cubeloom; cubeloom.outputs(sum=int(sys.argv[1]) + 40)", args: ["{{ tasks.count.outputs.n }}"]}
"#;

#[test]
fn a_pipeline_runs_from_its_folder() {
    let server = Server::start();
    let laptop = Laptop::of(&server, Who::Editor);
    let file = laptop.app.document("sum", SUM);
    laptop.app.write(
        "sum/count.py",
        "import sys, cubeloom; print('counting'); cubeloom.outputs(n=int(sys.argv[1]))",
    );
    assert!(laptop.expect(0, &["validate", &file]).out.ends_with("valid\n"));
    let junit = laptop.app.path("tasks.xml");
    let done = laptop.expect(0, &["run", &file, "-p", "n=2", "--wait", "--junit", junit.to_str().unwrap()]);
    for part in
        ["count  ✓ succeeded", "each   ✓ succeeded", "2 instances", "sum.sum  42", "✓ sum succeeded in"]
    {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    let cases = fs::read_to_string(&junit).unwrap();
    assert!(cases.contains(r#"tests="3" failures="0" skipped="0""#), "{cases}");
    // The same again: the folder and the document are there already.
    let report = laptop.json(0, &["run", &file]);
    assert_eq!(report["run"], run_of(&server, &report), "one shape with the API");
    assert_eq!(report["run"]["version"], 1);
    assert_eq!(states(&report), [("count", "succeeded"), ("each", "succeeded"), ("sum", "succeeded")]);
    let part = laptop.json(0, &["run", &file, "--only", "sum", "--of", "latest"]);
    assert_eq!(states(&part), [("count", "reused"), ("each", "reused"), ("sum", "succeeded")]);
    let listed = laptop.json(0, &["runs", "--pipeline", "sum", "--limit", "2"]);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[0]["id"], part["run"]["id"]);
    let shown = laptop.expect(0, &["runs", "show", report["run"]["id"].as_str().unwrap()]).out;
    assert!(shown.contains(&format!("Results in {}/runs/", server.url())), "{shown}");
    let logs = laptop.expect(0, &["logs", report["run"]["id"].as_str().unwrap()]).out;
    assert_eq!(logs, "==> count <==\ncounting\n==> each <==\nitem 1\n==> each[1] <==\nitem 2\n");
    let id = report["run"]["id"].as_str().unwrap();
    assert_eq!(
        laptop.expect(0, &["logs", &id[10..], "each", "--instance", "1", "--tail", "1"]).out,
        "==> each[1] <==\nitem 2\n"
    );
    let page = laptop.expect(0, &["open", id, "sum", "--print"]).out;
    assert_eq!(page, format!("{}/runs/{id}/tasks/sum\n", server.url()));
}

#[test]
fn a_failure_is_reported_and_resumed() {
    let server = Server::start();
    let laptop = Laptop::of(&server, Who::Editor);
    let file = laptop.app.pipeline(
        "broken",
        r#"
  - {name: pull, template: command, arguments: {command: [sh, -c, "echo no such table >&2; exit 3"]}}
  - {name: train, template: command, needs: [pull], arguments: {command: ["true"]}}
"#,
    );
    let junit = laptop.app.path("tasks.xml");
    let done = laptop.expect(1, &["run", &file, "--watch", "--junit", junit.to_str().unwrap()]);
    for part in [
        "pull failed",
        "✗ pull failed (exit): worker-0 ended with exit code 3",
        "│ no such table",
        "- not run",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    let cases = fs::read_to_string(&junit).unwrap();
    assert!(
        cases.contains(r#"failures="1" skipped="1""#) && cases.contains("no such table</failure>"),
        "{cases}"
    );
    assert!(laptop.expect(1, &["run", &file]).err.contains("no such table"));
    assert!(laptop.expect(1, &["resume", "latest"]).err.contains("no such table"));
    let unknown = laptop.expect(2, &["rerun", "latest", "--from", "nothing"]).err;
    assert!(unknown.contains("has no task `nothing`"), "{unknown}");
    let mark = ["mark", "latest", "pull", "succeeded", "--reason", "copied by hand"];
    laptop.expect(0, &mark);
    let report = laptop.json(0, &["runs", "show", "latest"]);
    assert_eq!(states(&report), [("pull", "succeeded"), ("train", "succeeded")]);
    let wrong = laptop.app.document("wrong", "tasks:\n  - {name: a, template: no-such}\n");
    let said = laptop.expect(2, &["run", &wrong]).out;
    assert!(said.contains("pipeline.yaml:5:") && said.contains("/tasks/0/template"), "{said}");
}

#[test]
fn a_run_is_approved_followed_and_cancelled() {
    // An address of its own, which it still has after a restart.
    let mut app = TestApp::new();
    let [_, _, high, low] = std::process::id().to_be_bytes();
    app.set("CUBELOOM_SERVER_LISTEN", format!("127.91.{high}.{low}:8080"));
    let server = Server::start_in(app);
    let (laptop, client) = (Laptop::of(&server, Who::Editor), server.as_(Who::Editor));
    let file = laptop.app.pipeline(
        "long",
        r#"
  - {name: ask, template: approval, arguments: {message: "Go on?"}}
  - {name: hang, template: command, needs: [ask], arguments: {command: [sh, -c, "echo begun; sleep 600"]}}
"#,
    );
    let id = laptop.json(0, &["run", &file, "--detach"])["run"].as_str().unwrap().to_owned();
    wait_for_state(&client, "ask", "waiting");
    laptop.expect(0, &["decide", "latest", "ask", "yes", "--comment", "fine", "--detach"]);
    wait_for_state(&client, "hang", "running");
    let running = laptop.start(&["watch", &id]);
    let following = laptop.start(&["logs", &id, "hang", "--worker", "worker-0", "--follow"]);
    // A restart of the server ends neither.
    server.kill();
    server.run();
    laptop.expect(0, &["cancel", &id]);
    assert_eq!(running.wait().code, Some(3));
    assert_eq!(following.wait().out, "begun\n");
    let again = laptop.expect(2, &["cancel", &id]).err;
    assert!(again.contains("has ended already"), "{again}");
}

#[test]
fn the_first_interrupt_cancels_and_the_second_detaches() {
    let server = Server::start();
    let (laptop, client) = (Laptop::of(&server, Who::Editor), server.as_(Who::Editor));
    let file = laptop.app.pipeline(
        "stubborn",
        r#"
  - {name: hang, template: command, arguments: {command: [sh, -c, "trap '' TERM; echo here; sleep 600 & wait; wait"]}}
"#,
    );
    let run = laptop.start(&["run", &file]);
    wait_for_state(&client, "hang", "running");
    run.signal(Signal::INT);
    assert_eq!(run.wait().code, Some(3));
    let run = laptop.start(&["run", &file]);
    let id = wait_for_state(&client, "hang", "running");
    run.signal(Signal::TERM);
    let done = run.wait();
    assert_eq!(done.code, Some(5));
    assert!(done.err.contains("which continues"), "{}", done.err);
    client.post(&format!("/runs/{id}/cancel"), &json!(null)).expect(202);
    wait_for_state(&client, "hang", "cancelled");
}

#[test]
fn rights_and_wrong_servers_are_explained() {
    let server = Server::start();
    let mut laptop = Laptop::of(&server, Who::Viewer);
    let file =
        laptop.app.pipeline("x", "  - {name: a, template: command, arguments: {command: [\"true\"]}}\n");
    assert!(laptop.expect(2, &["run", &file]).err.contains("editor"));
    assert!(laptop.expect(2, &["runs", "--project", "other"]).err.contains("project"));
    let both = laptop.expect(2, &["runs", "--server", &server.url(), "--data", "/tmp"]).err;
    assert!(both.contains("--data"), "{both}");
    laptop.token = Some("clt_01h_wrong".into());
    assert!(laptop.expect(2, &["runs"]).err.contains("cubeloom login"));
    laptop.url = "http://127.0.0.1:1".into();
    assert!(laptop.expect(4, &["runs"]).err.contains("cannot be reached"));
    laptop.url = "ftp://example".into();
    assert!(laptop.expect(2, &["runs"]).err.contains("is not a server's URL"));
}

#[test]
fn a_context_is_kept_used_and_forgotten() {
    let server = Server::start();
    let mut laptop = Laptop::of(&server, Who::Editor);
    let token = laptop.token.take().unwrap();
    let login = |laptop: &Laptop, words: &[&str]| {
        let text = laptop.app.write("token", &token);
        let mut command = laptop.command(&[&["login", &server.url(), "--token-stdin"], words].concat());
        command.stdin(fs::File::open(text).unwrap());
        Running::of(command).wait()
    };
    let refused = login(&laptop, &["--project", "other"]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    let done = login(&laptop, &["--project", "default", "--context", "lab"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.out.contains("as emil; the context `lab` is current"), "{}", done.out);
    let file = laptop.app.path(".config/cubeloom/contexts.toml");
    assert!(fs::read_to_string(&file).unwrap().contains(&token));
    assert_eq!(laptop.expect(0, &["runs"]).out, "no runs\n");
    let listed = laptop.json(0, &["context", "list"]);
    assert_eq!(listed[0]["name"], "lab");
    assert!(!listed.to_string().contains(&token));
    laptop.expect(0, &["context", "unset"]);
    laptop.expect(0, &["runs", "--context", "lab"]);
    assert!(laptop.expect(2, &["context", "use", "other"]).err.contains("there are: lab"));
    laptop.expect(0, &["context", "use", "lab"]);
    laptop.expect(0, &["logout"]);
    server.with_token(Some(token.clone())).get("/me").expect(401);
    assert!(!fs::read_to_string(&file).unwrap().contains(&token));
}

/// `cubeloom login` that waits for its user, and the user code that it prints.
fn begin_login(laptop: &Laptop) -> (Child, String) {
    let log = laptop.app.path("login.log");
    let file = || fs::File::create(&log).unwrap();
    let mut command = laptop.command(&["login", &laptop.url, "--no-browser"]);
    let child = command.stdout(file()).stderr(file()).spawn().unwrap();
    let code = || Some(fs::read_to_string(&log).ok()?.split_once("user_code=")?.1.get(..9)?.to_owned());
    wait_for("the code", || code().is_some());
    (child, code().unwrap())
}

#[test]
fn a_user_signs_in_through_the_browser_and_out_again() {
    let server = Server::start();
    server.user("eve", &["--project", "default", "--role", "editor"]);
    let eve = Browser::new(&server, "eve");
    let laptop = Laptop { app: TestApp::new(), url: server.url(), token: None };
    let decide = |code: &str, approve: bool| {
        let body = json!({"user_code": code, "approve": approve, "scope": "run", "project": "default"});
        eve.send(eve.request(reqwest::Method::POST, "/device/decision").json(&body)).expect(204);
    };
    let (mut denied, code) = begin_login(&laptop);
    decide(&code, false);
    assert_eq!(denied.wait().unwrap().code(), Some(2));
    let (mut allowed, code) = begin_login(&laptop);
    decide(&code, true);
    assert_eq!(allowed.wait().unwrap().code(), Some(0));
    assert_eq!(laptop.expect(0, &["runs"]).out, "no runs\n");
    let contexts = fs::read_to_string(laptop.app.path(".config/cubeloom/contexts.toml")).unwrap();
    let token = contexts.split('"').find(|word| word.starts_with("clt_")).unwrap().to_owned();
    let eves = server.with_token(Some(token));
    eves.get("/projects/default").expect(200);
    let out = laptop.expect(0, &["logout"]);
    assert_eq!((out.out, out.err), (format!("signed out of {}\n", server.url()), String::new()));
    eves.get("/projects/default").expect(401);
}

#[test]
fn a_token_goes_to_its_own_server_only() {
    let server = Server::start();
    let laptop = Laptop::of(&server, Who::Editor);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other = format!("http://{}", listener.local_addr().unwrap());
    let refused = laptop.expect(2, &["runs", "--server", &other]).err;
    assert!(refused.contains(&format!("there is no token for {other}")), "{refused}");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nothing was sent");
    let here = laptop.expect(2, &["cancel", "latest", "--local", "--project", "vision"]).err;
    assert!(here.contains("--project vision needs a server"), "{here}");
}
