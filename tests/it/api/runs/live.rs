//! Live events: snapshots, changes, reconnection, revoked access and slow readers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use reqwest::Method;
use reqwest::blocking::Response;
use serde_json::{Value, json};

use super::help::{Events, document, start, task, until, until_task};
use crate::api::support::{Server, Who};
use crate::support::{PATIENCE, wait_for};

fn held(server: &Server, name: &str) -> (std::path::PathBuf, String) {
    let file = server.path(name);
    std::fs::write(&file, "").unwrap();
    let line = format!("while [ -e {} ]; do sleep 0.05; done", file.display());
    (file, line)
}

/// The state of a task in a snapshot.
fn state<'s>(snapshot: &'s Value, task: &str) -> &'s Value {
    let tasks = snapshot["tasks"].as_array().unwrap();
    &tasks.iter().find(|one| one["name"] == task).unwrap_or_else(|| panic!("no {task} in {snapshot}"))["state"]
}

#[test]
fn a_run_is_watched_from_a_snapshot_to_its_end() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let (file, line) = held(&server, "held");
    let progress = r#"echo '{"progress": {"step": 3, "total": 4}}' >> $CUBELOOM_OUTPUTS; "#;
    let tasks = [task("a", &format!("{progress}{line}"), ""), task("b", "true", "    needs: [a]\n")].concat();
    let run = start(&editor, &document("watched", &format!("tasks:\n{tasks}")));
    let events = Events::open(&server.as_(Who::Viewer), &format!("/runs/{run}/events"), None);
    let snapshot = events.next();
    assert_eq!(snapshot.name, "snapshot");
    assert_eq!(snapshot.data["runs"][0]["id"], run.as_str());
    assert_eq!(state(&snapshot.data, "b"), "pending");
    let told = events.find(|event| event.name == "task" && event.data["task"]["progress"].is_object());
    assert_eq!(told.data["task"]["progress"], json!({"step": 3.0, "total": 4.0}));
    assert_eq!(told.data["run_id"], run.as_str());
    std::fs::remove_file(&file).unwrap();
    let mut seen: Vec<String> = Vec::new();
    let end = events.find(|event| {
        seen.push(format!("{} {}", event.data["task"]["name"], event.data["task"]["state"]).replace('"', ""));
        event.name == "run" && event.data["run"]["state"] == "succeeded"
    });
    assert!(seen.contains(&"a succeeded".into()) && seen.contains(&"b succeeded".into()), "{seen:?}");
    assert_eq!(end.data["run"]["tasks"], json!({"total": 2, "states": {"succeeded": 2}}));
    // The stream stays open: the run may go on.
    editor.post(&format!("/runs/{run}/rerun"), &json!({"from": ["b"]})).expect(202);
    let ended = end.data["run"]["ended_at"].as_str().unwrap();
    events.find(|event| {
        let run = &event.data["run"];
        run["state"] == "succeeded" && run["ended_at"].as_str().is_some_and(|at| at > ended)
    });
    wait_for("the engine to let go of the run", || editor.delete(&format!("/runs/{run}"), "").status == 204);
    let rest = events.rest();
    let names: Vec<&str> = rest.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["deleted", "end"], "{rest:?}");
}

#[test]
fn whoever_comes_back_goes_on_from_where_they_were() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let (file, line) = held(&server, "held");
    let tasks = [task("a", &line, ""), task("b", "true", "    needs: [a]\n")].concat();
    let run = start(&editor, &document("back", &format!("tasks:\n{tasks}")));
    until_task(&editor, &run, "a", "running");
    let path = format!("/runs/{run}/events");
    let first = Events::open(&editor, &path, None);
    let seen = first.next();
    drop(first);
    std::fs::remove_file(&file).unwrap();
    until(&editor, &run, "succeeded");
    let back = Events::open(&editor, &path, Some(&seen.id));
    let mut names = Vec::new();
    back.find(|event| {
        names.push(event.name.clone());
        event.data["run"]["state"] == "succeeded"
    });
    assert!(!names.contains(&"snapshot".to_owned()), "what was missed is told, not all again: {names:?}");
    for foreign in ["0-0", "nonsense", "ffffffffffffffff-7"] {
        let fresh = Events::open(&editor, &path, Some(foreign)).next();
        assert_eq!(fresh.name, "snapshot", "{foreign}");
        assert_eq!(state(&fresh.data, "b"), "succeeded");
    }
    // A page that sends the last event id in the URL, to a restarted server.
    let query = format!("{path}?last_event_id={}", seen.id);
    assert_ne!(Events::open(&editor, &query, None).next().name, "snapshot");
    server.kill();
    server.run();
    let editor = server.as_(Who::Editor);
    let fresh = Events::open(&editor, &path, Some(&seen.id)).next();
    assert_eq!((fresh.name.as_str(), state(&fresh.data, "b")), ("snapshot", &json!("succeeded")));
}

#[test]
fn a_list_shows_what_has_just_been_told() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let well = |run: &Value| run["tasks"]["states"]["succeeded"].as_u64().unwrap_or_default();
    let chain: String = (0..8)
        .map(|at| {
            let needs = if at == 0 { String::new() } else { format!("    needs: [step-{}]\n", at - 1) };
            task(&format!("step-{at}"), "sleep 0.4", &needs)
        })
        .collect();
    let events = Events::open(&editor, "/projects/default/events", None);
    let run = start(&editor, &document("chain", &format!("tasks:\n{chain}")));
    let listed = || well(&editor.get("/projects/default/runs").expect(200).json()["items"][0]);
    // Another reader watches the list, so counts may come from a cache.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while listed() < 8 {
                std::thread::sleep(Duration::from_millis(30));
            }
        });
        let mut late = Vec::new();
        events.find(|event| {
            if event.data["run"]["id"] == run.as_str() {
                let (told, shown) = (well(&event.data["run"]), listed());
                late.extend((shown < told).then_some((told, shown)));
            }
            event.data["run"]["state"] == "succeeded"
        });
        assert!(late.is_empty(), "told, and shown by the list right after: {late:?}");
    });
}

#[test]
fn lists_hear_of_new_and_changed_runs_of_their_projects_only() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let mine = Events::open(&editor, "/projects/default/events", None);
    let all = Events::open(&server.as_(Who::Administrator), "/events", None);
    let others = Events::open(&server.as_(Who::Stranger), "/events", None);
    assert_eq!(others.next().data["runs"], json!([]));
    let run = start(&editor, &document("new", &format!("tasks:\n{}", task("a", "true", ""))));
    for events in [&mine, &all] {
        assert_eq!(events.next().name, "snapshot");
        let ended = events.find(|event| event.data["run"]["state"] == "succeeded");
        assert_eq!((&ended.data["run"]["id"], ended.name.as_str()), (&json!(run), "run"));
    }
    others.quiet(Duration::from_secs(1));
    let gone = server.head_of(&server.as_(Who::Stranger), Method::GET, "/projects/default/events");
    assert_eq!(gone.0, 404);
}

#[test]
fn members_hear_at_once_that_somebody_has_saved_a_pipeline() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let viewer = Events::open(&server.as_(Who::Viewer), "/projects/default/events", None);
    let stranger = Events::open(&server.as_(Who::Stranger), "/events", None);
    for events in [&viewer, &stranger] {
        assert_eq!(events.next().name, "snapshot");
    }
    let text = document("told", &format!("tasks:\n{}", task("a", "true", "")));
    editor.post("/projects/default/pipelines", &json!({"document": text})).expect(201);
    let first = viewer.find(|event| event.name == "pipeline").data;
    assert_eq!((&first["name"], &first["version"]), (&json!("told"), &json!(1)));
    let path = "/projects/default/pipelines/told";
    let put =
        |text: &str| editor.put(path, "*", &json!({"document": text, "message": "a remark"})).expect(200);
    // The same text creates no new version.
    put(&text);
    put(&format!("{text}# more\n"));
    let second = viewer.find(|event| event.name == "pipeline").data;
    assert_eq!((&second["version"], &second["message"]), (&json!(2), &json!("a remark")));
    assert_eq!(second["user"], "emil");
    stranger.quiet(Duration::from_secs(1));
}

#[test]
fn a_stream_ends_when_its_token_is_revoked() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let (file, line) = held(&server, "held");
    let run = start(&editor, &document("revoked", &format!("tasks:\n{}", task("a", &line, ""))));
    until_task(&editor, &run, "a", "running");
    let token = server.token("emil", &["--scope", "read"]);
    let reader = server.with_token(Some(token.clone()));
    let streams = [
        Events::open(&reader, &format!("/runs/{run}/events"), None),
        Events::open(&reader, &format!("/runs/{run}/logs/events?task=a"), None),
        Events::open(&reader, "/events", None),
    ];
    let id = token.split('_').nth(1).unwrap();
    editor.delete(&format!("/tokens/{id}"), "").expect(204);
    for stream in streams {
        let rest = stream.rest();
        assert_eq!(rest.last().map(|event| event.name.as_str()), Some("revoked"), "{rest:?}");
    }
    reader.get(&format!("/runs/{run}")).expect(401);
    std::fs::remove_file(&file).unwrap();
    until(&editor, &run, "succeeded");
}

#[test]
fn who_reads_slowly_is_told_the_present_state_and_holds_up_nobody() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let names: Vec<String> = (0..8).map(|n| format!("t{n}")).collect();
    // Each task logs 500 kB when it ends: two rounds are 8 MB, twice what is buffered per reader, here and in
    // the kernel.
    let say = r#"x=$(head -c 500000 /dev/zero | tr '\0' x); echo "{\"output\": {\"long\": \"$x\"}}" >> $CUBELOOM_OUTPUTS"#;
    let tasks: String = names.iter().map(|name| task(name, say, "")).collect();
    let run = start(&editor, &document("slow", &format!("tasks:\n{tasks}")));
    until(&editor, &run, "succeeded");
    let path = format!("/runs/{run}/events");
    let slow = silent(&server, &format!("/api/v1{path}"), editor.token().unwrap());
    let fast = Events::open(&editor, &path, None);
    let before = resident(server.pid());
    assert_eq!(fast.next().name, "snapshot");
    for _ in 0..2 {
        editor.post(&format!("/runs/{run}/rerun"), &json!({"from": names})).expect(202);
        let ended = until(&editor, &run, "succeeded")["ended_at"].clone();
        // A fast reader gets every event and no second snapshot. The next round starts once it has received
        // this one: rounds that overlap could be coalesced.
        let last = fast.find(|event| {
            assert_ne!(event.name, "snapshot");
            event.data["run"]["ended_at"] == ended
        });
        assert_eq!(last.data["run"]["state"], "succeeded");
    }
    let grown = resident(server.pid()).saturating_sub(before);
    assert!(grown < 64 << 10, "it costs {grown} KiB that somebody does not read");
    // A slow reader gets the buffered events, and then a snapshot in place of those it missed.
    let (mut snapshots, mut length) = (0, 0);
    let deadline = Instant::now() + PATIENCE;
    for line in BufReader::new(slow).lines() {
        let line = line.expect("a snapshot");
        assert!(Instant::now() < deadline, "nothing brings it up to date: {length} bytes");
        length += line.len();
        snapshots += usize::from(line == "event: snapshot");
        if snapshots == 2 {
            break;
        }
    }
    assert_eq!(snapshots, 2, "nothing brought it up to date: {length} bytes");
    assert!(length < 10 << 20, "what it had missed was not kept for it: {length} bytes");
}

/// A connection that requests an event stream, reads the first line of the response, and then nothing.
fn silent(server: &Server, path: &str, token: &str) -> TcpStream {
    let address = server.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n")
        .unwrap();
    let mut head = [0; 15];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    stream
}

/// The resident memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn streams_end_at_once_when_the_server_ends() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &document("end", &format!("tasks:\n{}", task("a", "true", ""))));
    until(&editor, &run, "succeeded");
    let path = format!("/runs/{run}/events");
    let mut streams: Vec<Response> = (0..20)
        .map(|_| editor.request(Method::GET, &path).timeout(PATIENCE * 2).send().expect("a stream"))
        .collect();
    for stream in &mut streams {
        stream.read_exact(&mut [0; 16]).expect("the first event");
    }
    server.stop();
    // Streams still open after the shutdown's grace period are cut off midway.
    for mut stream in streams {
        stream.read_to_end(&mut Vec::new()).expect("the end of a whole answer");
    }
}
