//! Logs of a gang: all workers or one, ranges, tails, search, and following byte by byte.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::help::{Event, Events, document, start, until, until_task};
use crate::api::support::{Client, Server, Who};

/// Three workers that write `lines` lines each, once a file is removed.
fn gang(lines: u32, held: Option<&std::path::Path>) -> String {
    let wait = held.map_or(String::new(), |held| {
        format!("echo ready; while [ -e {} ]; do sleep 0.05; done; ", held.display())
    });
    let line = format!(
        "{wait}i=0; while [ $i -lt {lines} ]; do echo line $i of $JOB_COMPLETION_INDEX; i=$((i+1)); done; \
         echo warn $JOB_COMPLETION_INDEX >&2; printf 'no end'"
    );
    let command = json!(["sh", "-c", line]);
    document(
        "gang",
        &format!(
            "tasks:\n  - name: talk\n    template: indexed\n    resources: {{cpu: 100m, memory: 64Mi}}\n    \
             arguments: {{workers: 3, command: {command}}}\n"
        ),
    )
}

/// The expected log of one stream of one worker.
fn expected(worker: u32, lines: u32) -> String {
    let lines: String = (0..lines).map(|line| format!("line {line} of {worker}\n")).collect();
    lines + "no end"
}

/// Joins chunks by worker and stream. Each must begin where the previous one ended.
#[track_caller]
fn join<'c>(chunks: impl Iterator<Item = &'c Value>) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for chunk in chunks {
        let name = format!("{} {}", chunk["worker"].as_str().unwrap(), chunk["stream"].as_str().unwrap());
        let text = all.entry(name).or_default();
        assert_eq!(chunk["offset"], text.len(), "{chunk}");
        text.push_str(chunk["text"].as_str().unwrap());
    }
    all
}

fn pages(client: &Client, path: &str) -> BTreeMap<String, String> {
    let mut chunks: Vec<Value> = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("{path}&cursor={cursor}")).expect(200).json();
        chunks.extend(page["chunks"].as_array().unwrap().iter().cloned());
        cursor = page["cursor"].as_str().unwrap().to_owned();
        if page["ended"] == true {
            return join(chunks.iter());
        }
    }
}

#[test]
fn the_logs_of_a_gang_are_read_together_and_one_by_one() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &gang(3000, None));
    until(&editor, &run, "succeeded");
    let streams = editor.get(&format!("/runs/{run}/logs?task=talk")).expect(200).json();
    assert_eq!((&streams["attempt"], &streams["ended"]), (&json!(1), &json!(true)));
    assert_eq!(streams["streams"].as_array().unwrap().len(), 6);
    assert_eq!(streams["streams"][1], json!({"worker": "worker-0", "stream": "stderr", "length": 7}));
    let together = pages(&editor, &format!("/runs/{run}/logs/text?task=talk&limit=10000"));
    for worker in 0..3 {
        assert_eq!(together[&format!("worker-{worker} stdout")], expected(worker, 3000));
        assert_eq!(together[&format!("worker-{worker} stderr")], format!("warn {worker}\n"));
    }
    let one = pages(&editor, &format!("/runs/{run}/logs/text?task=talk&worker=worker-2&stream=stdout"));
    assert_eq!(one.into_iter().collect::<Vec<_>>(), [("worker-2 stdout".into(), expected(2, 3000))]);
    let text =
        |query: &str| editor.get(&format!("/runs/{run}/logs/text?task=talk{query}")).expect(200).json();
    let tail = text("&worker=worker-1&stream=stdout&tail=2");
    let told: Vec<&str> =
        tail["chunks"].as_array().unwrap().iter().map(|chunk| chunk["text"].as_str().unwrap()).collect();
    assert_eq!(told.concat(), "line 2999 of 1\nno end");
    let part = text("&worker=worker-1&stream=stderr&offset=5");
    assert_eq!(part["chunks"][0]["text"], "1\n");
    let merged = editor.get(&format!("/runs/{run}/logs/download?task=talk")).expect(200);
    assert!(merged.header("content-disposition").contains(".log"), "{:?}", merged.headers);
    let merged = merged.text();
    assert_eq!(merged.lines().filter(|line| line.starts_with("worker-1 | line ")).count(), 3000);
    assert!(merged.lines().all(|line| line.starts_with("worker-")), "every line says whose it is");
    for (query, status) in [("task=none", 404), ("task=talk&stream=odd", 422), ("worker=x", 422)] {
        editor.get(&format!("/runs/{run}/logs?{query}")).expect(status);
    }
    editor.get(&format!("/runs/{run}/logs/text?task=talk&cursor=odd")).expect(422).problem("invalid");
    editor.get(&format!("/runs/{run}/logs/text?task=talk&offset=4")).expect(422).problem("invalid");
    for worker in ["..", "../../../keys", "worker-9"] {
        let none = editor.get(&format!("/runs/{run}/logs/text?task=talk&worker={worker}")).expect(200).json();
        assert_eq!(none["chunks"], json!([]), "{worker}");
    }
}

#[test]
fn lines_have_times_and_all_workers_come_in_their_order() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    // The first worker logs after half a second and after two and a half, the second a second later each
    // time.
    let line = "sleep 0.5; sleep $JOB_COMPLETION_INDEX; echo one of $JOB_COMPLETION_INDEX; sleep 2; \
                echo two of $JOB_COMPLETION_INDEX; echo again";
    let command = json!(["sh", "-c", line]);
    let text = document(
        "timed",
        &format!(
            "tasks:\n  - name: talk\n    template: indexed\n    resources: {{cpu: 100m, memory: 64Mi}}\n    \
             arguments: {{workers: 2, command: {command}}}\n"
        ),
    );
    let run = start(&editor, &text);
    until(&editor, &run, "succeeded");
    let told = editor.get(&format!("/runs/{run}/logs/text?task=talk")).expect(200).json();
    let chunks = told["chunks"].as_array().unwrap();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one of 0\n", "one of 1\n", "two of 0\nagain\n", "two of 1\nagain\n"], "{told}");
    let times: Vec<f64> = chunks.iter().map(|chunk| seconds(&chunk["times"][0]["at"])).collect();
    let gaps: Vec<f64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps.iter().all(|gap| (0.1..3.0).contains(gap)), "about a second from one to the next: {gaps:?}");
    assert!(
        (times[2] - times[0] - 2.0).abs() < 0.9,
        "about two seconds between one worker's lines: {times:?}"
    );
    // For one worker alone, the same lines in one piece, each with its time.
    let one = editor
        .get(&format!("/runs/{run}/logs/text?task=talk&worker=worker-0&stream=stdout"))
        .expect(200)
        .json();
    assert_eq!(one["chunks"].as_array().unwrap().len(), 1, "{one}");
    let lines: Vec<&Value> =
        one["chunks"][0]["times"].as_array().unwrap().iter().map(|time| &time["line"]).collect();
    assert_eq!(lines, [0, 1], "{one}");
}

/// The seconds of a time within its hour.
fn seconds(at: &Value) -> f64 {
    let at = at.as_str().unwrap();
    let (minutes, seconds): (f64, f64) = (at[14..16].parse().unwrap(), at[17..26].parse().unwrap());
    minutes * 60.0 + seconds
}

#[test]
fn logs_are_read_backwards_from_their_end() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &gang(3000, None));
    until(&editor, &run, "succeeded");
    let read = |query: &str| {
        editor.get(&format!("/runs/{run}/logs/text?task=talk&limit=20000&{query}")).expect(200).json()
    };
    let last = read("before=end");
    assert_eq!(last["ended"], true);
    let mut chunks: Vec<Value> = last["chunks"].as_array().unwrap().clone();
    let (mut start, mut pages) = (last["start"].as_str().map(ToOwned::to_owned), 1);
    while let Some(before) = start {
        let page = read(&format!("before={before}"));
        let earlier = page["chunks"].as_array().unwrap();
        assert!(!earlier.is_empty(), "{page}");
        chunks.splice(0..0, earlier.iter().cloned());
        start = page["start"].as_str().map(ToOwned::to_owned);
        pages += 1;
    }
    assert!(pages > 3, "it takes several pages: {pages}");
    let together = join(chunks.iter());
    for worker in 0..3 {
        assert_eq!(together[&format!("worker-{worker} stdout")], expected(worker, 3000));
        assert_eq!(together[&format!("worker-{worker} stderr")], format!("warn {worker}\n"));
    }
    // What is read forward says where it begins, unless it is the beginning.
    assert_eq!(read("")["start"], Value::Null);
    let tail = read("tail=2&worker=worker-1&stream=stdout");
    let before = read(&format!("before={}&worker=worker-1&stream=stdout", tail["start"].as_str().unwrap()));
    let text: String =
        before["chunks"].as_array().unwrap().iter().map(|chunk| chunk["text"].as_str().unwrap()).collect();
    assert!(text.ends_with("line 2998 of 1\n"), "{text}");
    let path = format!("/runs/{run}/logs/text?task=talk");
    let wrong = editor.get(&format!("{path}&before=odd")).expect(422).problem("invalid");
    assert_eq!(wrong["problems"][0]["path"], "/before");
    editor.get(&format!("{path}&before=end&tail=3")).expect(422).problem("invalid");
}

#[test]
fn logs_are_searched_in_all_workers() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &gang(3000, None));
    until(&editor, &run, "succeeded");
    let search = |query: &str| editor.get(&format!("/runs/{run}/logs/search?task=talk&{query}"));
    let found = search("q=LINE+1234+of").expect(200).json();
    assert_eq!(found["complete"], true);
    assert_eq!(found["lines"], 3 * 3002, "with the lines that have no end");
    assert_eq!(found["next_cursor"], Value::Null);
    let matches = found["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 3);
    let first = matches.iter().find(|found| found["worker"] == "worker-0").unwrap();
    let offset: usize = (0..1234).map(|line| format!("line {line} of 0\n").len()).sum();
    assert_eq!(
        (&first["stream"], &first["offset"], &first["line"], &first["text"]),
        (&json!("stdout"), &json!(offset), &json!(1235), &json!("line 1234 of 0"))
    );
    assert!(first["at"].is_string(), "{first}");
    let expression = search("q=%5Eline+29%5B89%5D%5Cd+of+2%24&regex=true").expect(200).json();
    assert_eq!(expression["matches"].as_array().unwrap().len(), 20);
    assert_eq!(search("q=LINE&case=true").expect(200).json()["matches"], json!([]));
    let one = search("q=line&worker=worker-2&stream=stderr").expect(200).json();
    assert_eq!((&one["matches"], &one["lines"]), (&json!([]), &json!(1)));
    let wrong = search("q=(&regex=true").expect(422).problem("invalid");
    assert_eq!(wrong["problems"][0]["path"], "/q");
    search("q=").expect(422);
    search("q=a&limit=0").expect(422);
    search("").expect(422);
    search("q=a&cursor=odd").expect(422).problem("invalid");
}

#[test]
fn a_search_is_continued_until_it_is_complete() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &gang(300, None));
    until(&editor, &run, "succeeded");
    let path = format!("/runs/{run}/logs/search?task=talk&q=line&limit=70");
    let (mut found, mut next) = (Vec::new(), String::new());
    loop {
        let page = editor.get(&format!("{path}&cursor={next}")).expect(200).json();
        let matches = page["matches"].as_array().unwrap();
        let place = |each: &Value| (each["worker"].to_string(), each["line"].as_u64().unwrap());
        found.extend(matches.iter().map(place));
        assert_eq!(page["complete"], page["next_cursor"].is_null());
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        assert_eq!(matches.len(), 70);
        cursor.clone_into(&mut next);
    }
    assert_eq!(found.len(), 900);
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 900, "each line once");
}

#[test]
fn the_logs_around_a_match_are_read_from_its_cursor() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run = start(&editor, &gang(3000, None));
    until(&editor, &run, "succeeded");
    for filter in ["", "&worker=worker-1&stream=stdout"] {
        let path = |name: &str| format!("/runs/{run}/logs/{name}?task=talk{filter}");
        let found = editor.get(&format!("{}&q=line+1234+of+1", path("search"))).expect(200).json();
        let (offset, cursor) =
            (&found["matches"][0]["offset"], found["matches"][0]["cursor"].as_str().unwrap());
        let part = |way: &str| {
            let read =
                editor.get(&format!("{}&{way}={cursor}&limit=200000", path("text"))).expect(200).json();
            let of_worker = |chunk: &&Value| chunk["worker"] == "worker-1" && chunk["stream"] == "stdout";
            read["chunks"].as_array().unwrap().iter().filter(of_worker).cloned().collect::<Vec<Value>>()
        };
        let after = part("cursor");
        assert_eq!(&after[0]["offset"], offset, "{filter}");
        assert!(after[0]["text"].as_str().unwrap().starts_with("line 1234 of 1\n"), "{filter}");
        let before = part("before");
        let text = before.last().unwrap()["text"].as_str().unwrap();
        assert!(text.ends_with("line 1233 of 1\n"), "{filter}");
    }
}

#[test]
fn the_first_line_that_looks_like_an_error_is_found() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    // The second worker fails first, two seconds before the other.
    let line = "echo step 1, error: 0.25; echo done without errors; sleep 1; \
                [ $JOB_COMPLETION_INDEX = 1 ] || sleep 2; \
                printf '10%%\\r\\033[31mValueError\\033[0m: no data of %s\\n' $JOB_COMPLETION_INDEX >&2; echo next";
    let command = json!(["sh", "-c", line]);
    let text = document(
        "wrong",
        &format!(
            "tasks:\n  - name: talk\n    template: indexed\n    resources: {{cpu: 100m, memory: 64Mi}}\n    \
             arguments: {{workers: 2, command: {command}}}\n"
        ),
    );
    let run = start(&editor, &text);
    until(&editor, &run, "succeeded");
    let search = |query: &str| editor.get(&format!("/runs/{run}/logs/search?task=talk&{query}"));
    let all = search("kind=error").expect(200).json();
    let workers: Vec<&Value> =
        all["matches"].as_array().unwrap().iter().map(|found| &found["worker"]).collect();
    assert_eq!(workers, ["worker-1", "worker-0"], "{all}");
    let first = search("kind=error&limit=1").expect(200).json();
    assert_eq!(first["matches"].as_array().unwrap().len(), 1);
    let found = &first["matches"][0];
    assert_eq!(
        (&found["worker"], &found["stream"], &found["line"]),
        (&json!("worker-1"), &json!("stderr"), &json!(1))
    );
    assert_eq!(found["text"], "\u{1b}[31mValueError\u{1b}[0m: no data of 1", "as it is shown");
    // Colours and overwritten text are not searched.
    assert_eq!(search("q=valueerror:").expect(200).json()["matches"].as_array().unwrap().len(), 2);
    assert_eq!(search("q=10%25").expect(200).json()["matches"], json!([]));
    search("kind=error&q=a").expect(422).problem("invalid");
    search("kind=odd").expect(422).problem("invalid");
}

#[test]
fn logs_are_followed_and_go_on_at_the_very_next_byte() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let held = server.path("held");
    std::fs::write(&held, "").unwrap();
    let run = start(&editor, &gang(500, Some(&held)));
    until_task(&editor, &run, "talk", "running");
    let path = format!("/runs/{run}/logs/events?task=talk");
    let first = Events::open(&editor, &path, None);
    let mut read: Vec<Event> = Vec::new();
    while read.iter().filter(|event| event.data["text"] == "ready\n").count() < 3 {
        read.push(first.next());
    }
    std::fs::remove_file(&held).unwrap();
    // The connection breaks midway.
    read.push(first.next());
    drop(first);
    let last = read.last().unwrap().id.clone();
    let rest = Events::open(&editor, &path, Some(&last)).rest();
    assert_eq!(rest.last().unwrap().name, "end");
    assert_eq!(rest.last().unwrap().data, json!({"attempt": 1}));
    let chunks = read.iter().chain(&rest).filter(|event| event.name == "log").map(|event| &event.data);
    let all = join(chunks);
    for worker in 0..3 {
        assert_eq!(all[&format!("worker-{worker} stdout")], format!("ready\n{}", expected(worker, 500)));
        assert_eq!(all[&format!("worker-{worker} stderr")], format!("warn {worker}\n"));
    }
    let again = Events::open(&editor, &path, Some(&rest.last().unwrap().id)).rest();
    assert_eq!(again.len(), 1, "only the end: {again:?}");
}

#[test]
fn what_is_no_text_and_what_is_very_long_is_told_in_pieces() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let line = r"printf '\377ok\n'; head -c 200000 /dev/zero | tr '\0' x; echo; printf '日本'";
    let run = start(&editor, &document("odd", &format!("tasks:\n{}", super::help::task("a", line, ""))));
    until(&editor, &run, "succeeded");
    let path = format!("/runs/{run}/logs/events?task=a&stream=stdout");
    let events = Events::open(&editor, &path, None).rest();
    let texts: Vec<&str> = events.iter().filter_map(|event| event.data["text"].as_str()).collect();
    assert!(texts.iter().all(|text| text.len() <= 65_536 + 2), "no piece is longer than 64 KiB");
    let expected = format!("\u{fffd}ok\n{}\n日本", "x".repeat(200_000));
    assert_eq!(texts.concat(), expected);
}
