//! Terminals of failed tasks: their environment, permissions, and how they end.

pub mod shell;

use std::fs;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::help::{document, start, task, until, until_task};
use crate::api::identity::help::Browser;
use crate::api::pipelines::code::archive;
use crate::api::support::client::send;
use crate::api::support::{Client, Server, Who};
use crate::support::{TestApp, processes, wait_for};
use shell::{Shell, bearer};

/// A task that fails, and one that succeeds.
fn failing() -> String {
    document(
        "broken",
        &format!("tasks:\n{}{}", task("well", "true", ""), task("ill", "echo it broke; exit 3", "")),
    )
}

fn of(run: &str, task: &str) -> String {
    format!("/runs/{run}/tasks/{task}/instances/0/terminals")
}

/// A run in which `ill` has failed.
fn failed(client: &Client) -> String {
    let run = start(client, &failing());
    until(client, &run, "failed");
    run
}

#[track_caller]
fn open(client: &Client, run: &str) -> Value {
    client.post(&of(run, "ill"), &json!({})).expect(201).json()
}

/// A server with these terminal settings.
fn with(settings: &[(&str, &str)]) -> Server {
    let mut app = TestApp::new();
    for (name, value) in settings {
        app.set(&format!("CUBELOOM_TERMINALS_{}", name.to_uppercase()), *value);
    }
    Server::start_in(app)
}

/// The processes in a server's terminals.
fn inside(server: &Server) -> Vec<i32> {
    processes::workers(&server.data().join("terminals").to_string_lossy())
}

/// Waits until no terminal process is left.
#[track_caller]
fn nothing_left(server: &Server) {
    let folder = server.data().join("terminals");
    wait_for("nothing of the terminal to be left", || {
        inside(server).is_empty() && fs::read_dir(&folder).is_ok_and(|entries| entries.count() == 0)
    });
}

const PROGRAM: &[u8] = b"import os, sys\nprint('lr', sys.argv[1], file=sys.stderr)\nraise SystemExit('no ' + os.environ['WORD'])\n";

#[test]
fn a_shell_has_what_the_failed_task_had() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let secret = json!({"name": "pw", "value": "open-sesame-99"});
    server.as_(Who::Owner).post("/projects/default/secrets", &secret).expect(201);
    let files: &[(&[u8], tar::EntryType, &[u8])] = &[(b"fail.py", tar::EntryType::Regular, PROGRAM)];
    let code =
        editor.request(Method::PUT, "/projects/default/code").header("content-type", "application/gzip");
    let code = send(code.body(archive(files))).expect(200).json()["digest"].clone();
    let text = document(
        "broken",
        "tasks:\n  - name: ill\n    template: python\n    resources: {cpu: 500m, memory: 300Mi}\n    \
         env: {WORD: 'it is'}\n    secrets: [{name: pw, env: PW}]\n    \
         arguments: {script: fail.py, args: ['0.1 and more']}\n",
    );
    let sent = json!({"document": text, "code": code});
    let run = editor.post("/projects/default/runs", &sent).expect(201).json()["run"]["id"].clone();
    let run = run.as_str().expect("an id");
    until(&editor, run, "failed");
    let kept = server.data().join("runs").join(run).join("ill.0.1");
    let before = fs::read(kept.join("worker-0/stderr")).unwrap();

    let wish = json!({"worker": "worker-0", "columns": 120, "rows": 40});
    let opened = editor.post(&of(run, "ill"), &wish).expect(201);
    let terminal = opened.json();
    assert_eq!(terminal["socket"], opened.header("location"));
    assert_eq!((&terminal["worker"], &terminal["attempt"]), (&json!("worker-0"), &json!(1)));
    let mut shell = Shell::connect(&server, &editor, &terminal);
    let greeting = shell.until("again: ");
    assert!(greeting.contains("the environment of worker-0 of `ill` in attempt 1"), "{greeting}");
    let told = shell.run("echo $WORD, ${#PW}; echo $PW; stty size");
    assert!(told.contains("it is, 14\r\n***\r\n40 120\r\n"), "{told}");
    let told = shell.run("cat $CUBELOOM_CODE/fail.py | head -n 1; ls -A $HOME; pwd; echo $CUBELOOM_ATTEMPT");
    assert!(told.contains("import os, sys\r\n/") && told.contains("/work\r\n1\r\n"), "{told}");
    assert!(
        told.contains(&format!("terminals/{}/worker-0/work", terminal["id"].as_str().unwrap())),
        "{told}"
    );
    let told = shell.run("again");
    assert!(told.contains("lr 0.1 and more\r\nno it is\r\n[exit code 1]\r\n"), "{told}");
    shell.say(&json!({"kind": "resize", "columns": 77, "rows": 33}));
    let size = shell.run("stty size");
    assert!(size.contains("33 77"), "what is said is taken up in its order: {size}");
    // A program in its own process group, which Ctrl-C ends.
    shell.keys("(echo '<beg''un>'; exec sleep 1000)\r");
    shell.until("<begun>");
    shell.keys("\x03");
    assert!(shell.run("echo $?").contains("130"));
    // A terminal has the limits of its task.
    if let Some(limit) = limit_of(terminal["id"].as_str().unwrap()) {
        assert_eq!(limit, 300 << 20);
    }
    shell.run("trap '' HUP; (setsid sleep 1000 &); echo mine > kept");
    shell.keys("exit\r");
    assert_eq!(shell.end(), json!({"kind": "ended", "why": "exited"}));
    nothing_left(&server);
    assert_eq!(fs::read(kept.join("worker-0/stderr")).unwrap(), before, "what the attempt left is as it was");
    let log = server.as_(Who::Owner).get("/projects/default/audit").expect(200).text();
    assert!(!log.contains("fail.py") && !log.contains("mine"), "what was typed is nobody's business: {log}");
}

/// The memory limit of a terminal's cgroup in bytes; `None` without cgroups.
fn limit_of(id: &str) -> Option<u64> {
    let group = format!("cubeloom/terminal-{id}");
    let files = [
        format!("/sys/fs/cgroup/memory/{group}/memory.limit_in_bytes"),
        format!("/sys/fs/cgroup/{group}/memory.max"),
    ];
    files.iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
}

#[test]
fn who_may_run_may_look_into_it_and_the_log_says_that_they_did() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = failed(&editor);
    server.as_(Who::Viewer).post(&of(&run, "ill"), &json!({})).expect(403).problem("forbidden");
    server.as_(Who::Stranger).post(&of(&run, "ill"), &json!({})).expect(404);
    server.as_(Who::Anonymous).post(&of(&run, "ill"), &json!({})).expect(401);
    server.as_(Who::Runner).post(&of(&run, "ill"), &json!({})).expect(403);

    let terminal = open(&editor, &run);
    let (path, id) = (terminal["socket"].as_str().unwrap(), terminal["id"].as_str().unwrap());
    let refused = |who: Who, headers: &[(&str, String)]| {
        let own = if who == Who::Anonymous { Vec::new() } else { bearer(&server.as_(who)) };
        Shell::try_connect(&server, path, &[own.as_slice(), headers].concat()).err()
    };
    assert_eq!(refused(Who::Viewer, &[]), Some(403));
    assert_eq!(refused(Who::Stranger, &[]), Some(404));
    assert_eq!(refused(Who::Anonymous, &[]), Some(401));
    assert_eq!(refused(Who::Owner, &[]), Some(403), "it is somebody else's");
    let plain = editor.get(&format!("/runs/{run}/terminals/{id}")).expect(400);
    assert!(plain.problem("malformed")["detail"].as_str().unwrap().contains("WebSocket"));

    // Another member may close it, given the role.
    server.as_(Who::Viewer).delete(&format!("/runs/{run}/terminals/{id}"), "").expect(403);
    let mut shell = Shell::connect(&server, &editor, &terminal);
    shell.until("again: ");
    server.as_(Who::Owner).delete(&format!("/runs/{run}/terminals/{id}"), "").expect(204);
    assert_eq!(shell.end(), json!({"kind": "ended", "why": "closed"}));
    nothing_left(&server);
    assert_eq!(refused(Who::Editor, &[]), Some(404));
    server.as_(Who::Owner).delete(&format!("/runs/{run}/terminals/{id}"), "").expect(404);

    let log = server.as_(Who::Owner).get("/projects/default/audit").expect(200).json();
    let entries = log["items"].as_array().expect("a list");
    let of = |action: &str| entries.iter().find(|entry| entry["action"] == action).expect("an entry");
    let (opened, closed) = (of("terminal.open"), of("terminal.close"));
    for entry in [opened, closed] {
        assert_eq!((&entry["user"], &entry["subject"]), (&json!("emil"), &json!(format!("{run}.ill.0.1"))));
    }
    assert_eq!(opened["after"], json!({"terminal": id, "worker": "worker-0"}));
    let how = &closed["after"];
    assert_eq!((&how["why"], &how["by"]), (&json!("closed"), &json!("olga")), "{closed}");
    assert!(how["seconds"].is_u64(), "{closed}");
}

#[test]
fn a_page_of_another_site_cannot_connect_with_a_cookie() {
    let server = Server::start();
    server.as_(Who::Editor);
    let browser = Browser::new(&server, "emil");
    let run = failed(&server.as_(Who::Editor));
    let opened = browser.request(Method::POST, &of(&run, "ill")).json(&json!({}));
    let terminal = browser.send(opened).expect(201).json();
    let path = terminal["socket"].as_str().unwrap();
    let cookie = ("cookie", browser.cookie());
    let connect = |more: &[(&str, &str)]| {
        let more = more.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let headers: Vec<(&str, String)> = std::iter::once(cookie.clone()).chain(more).collect();
        Shell::try_connect(&server, path, &headers)
    };
    let other = "https://evil.example";
    assert_eq!(connect(&[("origin", other)]).err(), Some(403));
    assert_eq!(connect(&[("origin", "null")]).err(), Some(403));
    assert_eq!(connect(&[("origin", other), ("sec-fetch-site", "cross-site")]).err(), Some(403));
    assert_eq!(connect(&[("sec-fetch-site", "same-site"), ("origin", other)]).err(), Some(403));
    let own = server.url();
    let mut shell = connect(&[("origin", &own), ("sec-fetch-site", "same-origin")])
        .unwrap_or_else(|status| panic!("{status}"));
    assert!(shell.run("echo $((6 * 7))").contains("42"));
}

#[test]
fn what_has_no_shell_says_why() {
    let server = with(&[("each", "1")]);
    let editor = server.as_(Who::Editor);
    let run = failed(&editor);
    let refused = |path: &str, body: &Value, status: u16, word: &str| {
        let answer = editor.post(path, body).expect(status);
        assert!(answer.text().contains(word), "{word}: {}", answer.text());
    };
    let (ill, none) = (of(&run, "ill"), json!({}));
    refused(&of(&run, "well"), &none, 409, "has not failed");
    refused(&of(&run, "nobody"), &none, 404, "task");
    refused(&ill.replace("/0/", "/7/"), &none, 404, "instance");
    refused(&ill, &json!({"worker": "worker-9"}), 422, "such as worker-0");
    refused(&ill, &json!({"columns": 0}), 422, "/columns");
    refused(&ill, &json!({"rows": 70_000}), 422, "rows");

    let asks = "tasks:\n  - {name: ill, template: approval, arguments: {message: 'Well?'}}\n";
    let asking = start(&editor, &document("asks", asks));
    until_task(&editor, &asking, "ill", "waiting");
    refused(&of(&asking, "ill"), &none, 409, "is done by a person");

    let slow = start(&editor, &document("slow", &format!("tasks:\n{}", task("ill", "sleep 1000", ""))));
    until_task(&editor, &slow, "ill", "running");
    refused(&of(&slow, "ill"), &none, 409, "has not ended");
    editor.post(&format!("/runs/{slow}/cancel"), &none).expect(202);
    until(&editor, &slow, "cancelled");
    let cancelled = editor.post(&of(&slow, "ill"), &none).expect(201).json();
    refused(&ill, &none, 429, "you have 1 terminals open");
    let own = format!("/runs/{slow}/terminals/{}", cancelled["id"].as_str().unwrap());
    editor.delete(&own.replace(&slow, &run), "").expect(404);
    editor.delete(&own, "").expect(204);

    fs::remove_dir_all(server.data().join("workspace/default/runs").join(&run)).unwrap();
    refused(&ill, &none, 409, "the run's folder no longer exists");
    let all = with(&[("most", "0")]);
    let editor = all.as_(Who::Editor);
    let run = failed(&editor);
    let off = editor.post(&of(&run, "ill"), &none).expect(403);
    assert!(off.text().contains("turned off"), "{}", off.text());
}

#[test]
fn a_person_s_own_secrets_are_theirs_alone() {
    let server = Server::start();
    let (owner, editor) = (server.as_(Who::Owner), server.as_(Who::Editor));
    owner.post("/me/secrets", &json!({"name": "key", "value": "olgas-own-key"})).expect(201);
    let ill = task("ill", "echo $KEY; exit 3", "    secrets: [{name: key, env: KEY}]\n");
    let run = start(&owner, &document("own", &format!("tasks:\n{ill}")));
    until(&owner, &run, "failed");
    let refused = editor.post(&of(&run, "ill"), &json!({})).expect(409);
    assert!(refused.text().contains("`key`"), "{}", refused.text());
    editor.post("/me/secrets", &json!({"name": "key", "value": "emils"})).expect(201);
    let terminal = open(&editor, &run);
    let mut shell = Shell::connect(&server, &editor, &terminal);
    assert!(shell.run("echo ${#KEY}").contains("\r\n5\r\n"));
}

#[test]
fn much_output_waits_for_whoever_reads_it() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = failed(&editor);
    let terminal = open(&editor, &run);
    let mut shell = Shell::connect(&server, &editor, &terminal);
    shell.run("true");
    let before = memory(&server);
    shell.acknowledges = false;
    shell.keys("yes 0123456789abc'de' | head -c 20M; echo '<al''l>'\r");
    let ahead = shell.quiet_after(Duration::from_secs(2));
    assert!((200 << 10..300 << 10).contains(&ahead), "{ahead} bytes are sent ahead");
    shell.acknowledges = true;
    shell.say(&json!({"kind": "shown", "bytes": ahead}));
    let began = Instant::now();
    let all = shell.until("<all>");
    let lines = all.lines().filter(|line| line.ends_with("0123456789abcde")).count();
    assert_eq!(lines, (20 << 20) / 16, "after {:?}", began.elapsed());
    let grown = memory(&server).saturating_sub(before);
    assert!(grown < 16 << 20, "the server holds {grown} bytes more");
    // Endless output ends with Ctrl-C.
    shell.keys("yes\r");
    shell.until("y\r\ny\r\n");
    shell.keys("\x03");
    assert!(shell.run("echo $((6 * 7))").contains("42"));
}

/// The memory of a server's process, in bytes.
fn memory(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[test]
fn it_ends_with_its_time_with_silence_and_with_absence() {
    let server = with(&[("limit", "3s"), ("away", "1s")]);
    let editor = server.as_(Who::Editor);
    let run = failed(&editor);
    let terminal = open(&editor, &run);
    let mut shell = Shell::connect(&server, &editor, &terminal);
    shell.keys("trap '' HUP TERM; sleep 1000\r");
    assert_eq!(shell.end(), json!({"kind": "ended", "why": "limit"}));
    let warning = shell.events().first().cloned().unwrap_or_default();
    assert_eq!(warning["kind"], "warning", "{:?}", shell.events());
    assert!(warning["seconds"].as_u64().is_some_and(|left| left <= 3), "{warning}");
    nothing_left(&server);

    // Reconnecting in time shows the earlier output; reconnecting later fails.
    let terminal = open(&editor, &run);
    let mut shell = Shell::connect(&server, &editor, &terminal);
    shell.run("echo $((6 * 7))");
    drop(shell);
    let mut back = Shell::connect(&server, &editor, &terminal);
    assert!(back.until("<done>").contains("42\r\n"));
    let mut later = Shell::connect(&server, &editor, &terminal);
    assert_eq!(back.end(), json!({"kind": "replaced"}));
    assert!(later.run("true").contains("42"));
    drop(later);
    nothing_left(&server);

    let server = with(&[("idle", "1s")]);
    let editor = server.as_(Who::Editor);
    let terminal = open(&editor, &failed(&editor));
    let mut shell = Shell::connect(&server, &editor, &terminal);
    assert_eq!(shell.end(), json!({"kind": "ended", "why": "idle"}));
}

#[test]
fn it_ends_with_its_person_s_right_to_it_and_with_its_run() {
    let server = Server::start();
    let (owner, editor) = (server.as_(Who::Owner), server.as_(Who::Editor));
    let run = failed(&editor);
    let (ours, theirs) = (open(&owner, &run), open(&editor, &run));
    let mut shells = [Shell::connect(&server, &owner, &ours), Shell::connect(&server, &editor, &theirs)];
    shells.iter_mut().for_each(|shell| drop(shell.run("true")));
    owner.put("/projects/default/members/emil", "*", &json!({"role": "viewer"})).expect(200);
    assert_eq!(shells[1].end(), json!({"kind": "ended", "why": "revoked"}));
    assert!(shells[0].run("echo $((6 * 7))").contains("42"));
    owner.delete(&format!("/runs/{run}"), "").expect(204);
    assert_eq!(shells[0].end(), json!({"kind": "ended", "why": "closed"}));
    nothing_left(&server);
}

#[test]
fn it_ends_with_its_server_however_that_ends() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = failed(&editor);
    for kill in [true, false] {
        let editor = server.as_(Who::Editor);
        let mut shell = Shell::connect(&server, &editor, &open(&editor, &run));
        // Processes that ignore signals or left the session are killed, too.
        shell.run("trap '' HUP TERM; (setsid sh -c 'trap \"\" HUP TERM; sleep 1000' &)");
        shell.keys("sleep 1000\r");
        wait_for("all of it to run", || inside(&server).len() >= 4);
        if kill {
            server.kill();
        } else {
            server.stop();
            assert_eq!(shell.end(), json!({"kind": "ended", "why": "stopping"}));
        }
        nothing_left(&server);
        server.run();
    }
}

#[test]
fn what_is_not_understood_ends_the_connection_and_not_the_shell() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let terminal = open(&editor, &failed(&editor));
    for nonsense in [json!({"kind": "resize", "columns": 0, "rows": 1}), json!({"kind": "fly"}), json!(7)] {
        let mut shell = Shell::connect(&server, &editor, &terminal);
        shell.say(&nonsense);
        let last = shell.end();
        assert_eq!((&last["kind"], &last["code"]), (&json!("closed"), &json!(1008)), "{nonsense}: {last}");
    }
    // More input than the program accepts, which reads nothing, but less than the server reads after its last
    // message.
    let mut shell = Shell::connect(&server, &editor, &terminal);
    shell.run("true");
    shell.keys("stty raw -echo; sleep 1000\r");
    let _ = (0..100).all(|_| shell.try_keys(&"x".repeat(32 << 10)));
    assert_eq!(shell.end()["code"], json!(1008));
    let mut shell = Shell::connect(&server, &editor, &terminal);
    shell.until("again: ");
}
