//! The `download` and `video` templates: lists split over several workers, with one report.

use std::fs;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::full::{Small, linked};
use super::http::Script;
use super::ledger::{PATIENCE, of_worker, wait_for_none, worker_of};
use super::rig::{app, folder, run, shipped};
use super::web::Web;
use crate::support::{TestApp, instance, outputs, states, wait_within};

/// How many items each of two workers processed, from their own records.
fn shares(run: &Value, task: &str) -> [u64; 2] {
    [0, 1].map(|worker| {
        let path = folder(run).join(format!(".reports/{task}.0.1/{worker}.json"));
        let report = fs::read(path).expect("each worker writes one");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        report["totals"]["items"].as_u64().expect("a number")
    })
}

#[test]
fn a_list_is_fetched_by_all_workers_once() {
    let (app, web) = (TestApp::new(), Web::new(b"content\n".to_vec()));
    let list = shipped("task-templates/download/example.yaml");
    let done = run(&app, 0, &list, &["-p", &format!("server={}", web.url("files"))]);
    let fetched = outputs(&done, "fetch");
    assert_eq!(fetched["skipped"], 0, "every count is there, also where nothing was counted");
    assert_eq!(
        [&fetched["items"], &fetched["fetched"], &fetched["failed"], &fetched["bytes"]],
        [4, 4, 0, 32]
    );
    assert_eq!(shares(&done, "fetch"), [2, 2], "each worker had its share");
    for name in ["one", "two", "three", "four"] {
        let text = fs::read_to_string(folder(&done).join(format!("files/{name}.txt"))).unwrap();
        assert_eq!(text, "content\n");
    }
    // Two workers, two URLs without file names, and the second task skips what the first has fetched.
    let task = |name: &str, needs: &str, more: &str| {
        let urls = format!(
            "[\"{}\", \"{}\"{more}]",
            web.url("a/x%20y.png"),
            web.url("b/x y.png?size=2").replace(' ', "+")
        );
        format!(
            "  - name: {name}\n{needs}    template: download\n    arguments: {{urls: {urls}, to: files, rate: 100}}\n"
        )
    };
    let more = format!(", \"{}\"", web.url("c"));
    let tasks = task("first", "", "") + &task("again", "    needs: [first]\n", &more);
    let done = run(&app, 0, &app.pipeline("twice", &tasks), &[]);
    assert_eq!(outputs(&done, "first")["fetched"], 2);
    assert_eq!(
        (&outputs(&done, "again")["fetched"], &outputs(&done, "again")["skipped"]),
        (&1.into(), &2.into())
    );
    let mut names: Vec<String> = fs::read_dir(folder(&done).join("files"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["000000-x_y.png", "000001-x_y.png", "000002-c", "failures.jsonl"]);
}

#[test]
fn files_are_asked_for_again_and_not_faster_than_allowed() {
    let fetch = |app: &TestApp, code, script: &Script, names: &[&str], more: &str| {
        let urls: Vec<String> =
            names.iter().map(|name| format!("\"http://{}/{name}\"", script.address)).collect();
        let arguments = format!("{{urls: [{}], to: files, workers: 1, {more}}}", urls.join(", "));
        let task = format!("  - {{name: fetch, template: download, arguments: {arguments}}}\n");
        run(app, code, &app.pipeline("again", &task), &[])
    };
    let busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n";
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhalf";
    let whole = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nwhole";
    let (app, script) = (TestApp::new(), Script::new(&[busy, short, whole]));
    let done = fetch(&app, 0, &script, &["a.txt"], "retries: 2");
    assert_eq!(fs::read_to_string(folder(&done).join("files/000000-a.txt")).unwrap(), "whole");
    assert_eq!((&outputs(&done, "fetch")["fetched"], script.asked().len()), (&1.into(), 3));
    let script = Script::new(&[busy, busy]);
    let failed = fetch(&app, 1, &script, &["a.txt"], "retries: 1");
    assert!(instance(&failed, "fetch")["state"]["failure"].to_string().contains("503"), "{failed}");
    assert_eq!(script.asked().len(), 2, "once, and once again");
    // Four files at two a second, whatever the concurrency. Waiting ones sleep separately, so two may arrive
    // a bit closer together.
    let script = Script::new(&[whole; 4]);
    fetch(&app, 0, &script, &["a", "b", "c", "d"], "rate: 2, parallel: 4");
    assert!(script.lasted().as_millis() >= 1000, "{:?}", script.lasted());
}

#[test]
fn what_cannot_be_fetched_is_told_and_may_be_tolerated() {
    let app = TestApp::new();
    let list = shipped("task-templates/download/example.yaml");
    // No server listens there.
    let tolerated = run(&app, 0, &list, &[]);
    assert_eq!(outputs(&tolerated, "fetch")["failed"], 4);
    let report = fs::read_to_string(folder(&tolerated).join("files/failures.jsonl")).unwrap();
    assert!(report.lines().count() == 4 && report.contains("did not answer"), "{report}");
    assert!(!folder(&tolerated).join("files/one.txt").exists());
    let failed = run(&app, 1, &list, &["-p", "tolerate=3"]);
    let failure = instance(&failed, "fetch")["state"]["failure"].to_string();
    assert!(failure.contains("4 of 4 failed, 3 may") && failure.contains("one.txt"), "{failure}");
    // Wrong arguments are refused before anything starts.
    for (arguments, path) in [
        ("urls: [\"ftp://x/y\"], to: files", "/tasks/0/arguments/urls/0"),
        ("to: files", "/tasks/0/arguments"),
        ("urls: [\"http://x/y\"], to: files, rate: -1", "/tasks/0/arguments/rate"),
    ] {
        let file = app
            .pipeline("wrong", &format!("  - {{name: a, template: download, arguments: {{{arguments}}}}}\n"));
        let said = app.expect(2, &["run", &file]).out;
        assert!(said.contains(path), "{said}");
    }
}

#[test]
fn a_list_that_is_not_there_or_gives_a_name_twice_is_refused_as_a_whole() {
    let app = TestApp::new();
    let make = "mkdir files; echo old > files/kept.txt; for n in 1 2; do echo http://127.0.0.1:9/$n a.txt; done > twice.txt";
    let make = json!({"command": ["sh", "-c", format!("cd \"$CUBELOOM_RUN_DIR\"; {make}")]});
    for (list, words) in [
        ("gone.txt", "gone.txt cannot be read: [Errno 2] No such file or directory"),
        ("twice.txt", "`list`: 'a.txt' is no name of a file below the folder, or stands there twice"),
    ] {
        let fetch = json!({"list": list, "to": "files"});
        let tasks = format!(
            "  - {{name: make, template: command, arguments: {make}}}\n  - {{name: fetch, template: download, needs: [make], \
             arguments: {fetch}}}\n"
        );
        let failed = run(&app, 1, &app.pipeline("list", &tasks), &[]);
        let failure = instance(&failed, "fetch")["state"]["failure"].to_string();
        assert!(failure.contains(words), "{words}: {failure}");
        let files = folder(&failed).join("files");
        assert_eq!(fs::read_to_string(files.join("kept.txt")).unwrap(), "old\n");
        assert_eq!(
            fs::read_dir(files).unwrap().count(),
            1,
            "{list}: nothing was fetched, and no report is beside it"
        );
    }
}

#[test]
fn a_list_is_taken_up_where_a_killed_worker_left_it() {
    let (app, web) = (app(), Web::new(b"content\n".to_vec()));
    let urls: Vec<String> = (0..16).map(|number| web.url(&number.to_string())).collect();
    let task = format!(
        "  - {{name: gang, template: download, retry: {{attempts: 2, backoff: {{initial: 100ms}}}}, arguments: {{urls: {urls:?}, to: files, \
         workers: 2, parallel: 1, rate: 6}}}}\n"
    );
    let running = app.start(&["run", &app.pipeline("killed", &task)]);
    let fetched = || {
        let runs = fs::read_dir(app.data().join("workspace/default/runs")).into_iter().flatten().flatten();
        runs.map(|run| fs::read_dir(run.path().join("files")).into_iter().flatten().count()).sum::<usize>()
    };
    wait_within(PATIENCE, "some files", || fetched() > 4);
    let victim = json!({"pid": of_worker(&app, "worker", 1)});
    kill_process(worker_of(&app, &victim), Signal::KILL).expect("it can be killed");
    let done = running.wait();
    assert_eq!(done.code, Some(0), "{done:?}");
    let run = app.latest();
    let (gang, did) = (instance(&run, "gang"), outputs(&run, "gang"));
    assert_eq!((&gang["attempt"], &did["items"], &did["failed"]), (&2.into(), &16.into(), &0.into()));
    let (fetched, skipped) = (did["fetched"].as_u64().unwrap(), did["skipped"].as_u64().unwrap());
    assert!(skipped >= 4 && fetched > 0 && fetched + skipped == 16, "{did}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
fn a_full_disk_is_told_and_leaves_what_was_there() {
    let (app, web) = (TestApp::new(), Web::new(vec![7; 3 << 20]));
    // The output folder is on it.
    let disk = app.data().join("workspace/default/small");
    let Some(_small) = Small::mount(&disk) else { return };
    fs::write(disk.join("before.bin"), "before").unwrap();
    let arguments = json!({"urls": [web.url("large.bin")], "to": "small", "workers": 1});
    let tasks = linked("small", "fetch", "download", &arguments);
    let failed = run(&app, 1, &app.pipeline("full", &tasks), &[]);
    let failure = instance(&failed, "fetch")["state"]["failure"].to_string();
    assert!(failure.contains("cannot be kept as 000000-large.bin: No space left on device"), "{failure}");
    let mut names: Vec<_> = fs::read_dir(&disk).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["before.bin", "failures.jsonl"], "nothing half is left");
}

#[test]
#[ignore = "needs Debian's ffmpeg, 500 MB: make test-templates"]
fn the_example_of_video() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/video/example.yaml"), &[]);
    assert_eq!(states(&run), [("film", "succeeded"), ("frames", "succeeded"), ("audio", "succeeded")]);
    let frames = outputs(&run, "frames");
    assert_eq!([&frames["items"], &frames["made"], &frames["failed"], &frames["frames"]], [4, 3, 1, 9]);
    assert_eq!(shares(&run, "frames"), [2, 2], "each worker had its share");
    let report = fs::read_to_string(folder(&run).join("frames/failures.jsonl")).unwrap();
    assert!(report.contains("broken.avi"), "{report}");
    let picture = folder(&run).join("frames/videos/more/4.avi/000004.jpg");
    assert!(fs::read(picture).unwrap().starts_with(b"\xff\xd8"), "a JPEG");
    let sound = fs::read(folder(&run).join("audio/videos/more/3.avi.wav")).unwrap();
    assert!(sound.starts_with(b"RIFF") && sound.len() > 3 * 2 * 15_000, "three seconds of 16,000 samples");
    assert_eq!(outputs(&run, "audio")["made"], 3);
}

#[test]
#[ignore = "needs Debian's ffmpeg, 500 MB: make test-templates"]
fn video_names_what_is_wrong_and_leaves_what_was_there() {
    let app = app();
    let disk = app.data().join("workspace/default/small");
    let Some(_small) = Small::mount(&disk) else { return };
    fs::create_dir_all(disk.join("videos/film.avi")).unwrap();
    fs::write(disk.join("videos/film.avi/000001.jpg"), "old").unwrap();
    let arguments = json!({"make": "frames", "from": "nowhere/*.avi", "to": "small"});
    let missing = run(&app, 1, &app.pipeline("video", &linked("small", "cut", "video", &arguments)), &[]);
    let failure = instance(&missing, "cut")["state"]["failure"].to_string();
    assert!(failure.contains("`from`: no file matches nowhere/*.avi"), "{failure}");
    // Two minutes of sound exceed the disk, and so do thirty large images, some of which fit.
    for (made, source, more) in [
        ("tone.wav", "sine=duration=120", json!({"make": "audio"})),
        ("film.avi", "testsrc2=size=1280x720:duration=30", json!({"make": "frames", "format": "png"})),
    ] {
        let place = format!("{{{{ run.dir }}}}/{made}");
        let film = json!({"command": ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", source, place]});
        let mut arguments = json!({"from": made, "to": "small", "tolerate": 0});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let tasks = linked("small", "cut", "video", &arguments)
            .replace("needs: [link]", "needs: [link, film]")
            + &format!("  - {{name: film, template: command, arguments: {film}}}\n");
        let full = run(&app, 1, &app.pipeline("full", &tasks), &[]);
        let failure = instance(&full, "cut")["state"]["failure"].to_string();
        assert!(failure.contains("1 of 1 failed"), "{made}: {failure}");
        assert!(failure.contains("No space left on device"), "{made}: {failure}");
        assert_eq!(fs::read_to_string(disk.join("videos/film.avi/000001.jpg")).unwrap(), "old");
        let mut names: Vec<_> =
            fs::read_dir(&disk).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["failures.jsonl", "videos"], "{made}: nothing half is left");
    }
}
