//! Schedules: one run per date as the person who set them, pausing, takeover and back-fill.

use std::time::{Duration, Instant};

use cubeloom_domain::clock::Clock;
use cubeloom_testkit::clock::SystemClock;
use cubeloom_web::time::Time;
use reqwest::Method;
use serde_json::{Value, json};

use super::support::client::send;
use super::support::{Client, Server, Who};

const PIPELINES: &str = "/projects/default/pipelines";
/// A pipeline whose first task prints its date.
const SAYS: &str =
    "tasks: [{name: say, template: command, arguments: {command: [echo, \"{{ run.date }}\"]}}]";

fn document(name: &str, schedule: &str) -> Value {
    let schedule = if schedule.is_empty() { String::new() } else { format!("schedule: {{{schedule}}}\n") };
    json!({"document": format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\n{schedule}{SAYS}\n")})
}

fn create(client: &Client, name: &str, schedule: &str) {
    client.post(PIPELINES, &document(name, schedule)).expect(201);
}

/// Polls until the response is as expected.
#[track_caller]
fn until(client: &Client, path: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = client.get(path).expect(200).json();
        if holds(&found) {
            return found;
        }
        assert!(Instant::now() < deadline, "{path}: {found:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn items(found: &Value) -> &[Value] {
    found["items"].as_array().expect("a list")
}

fn history(name: &str) -> String {
    format!("{PIPELINES}/{name}/schedule/history?limit=200")
}

fn count(found: &Value, state: &str) -> usize {
    items(found).iter().filter(|one| one["state"] == state).count()
}

#[test]
fn a_schedule_fires_each_date_once_in_the_name_of_who_set_it() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    create(&editor, "tick", "every: 1s, late_after: 1h");
    let found = until(&editor, &history("tick"), |found| count(found, "started") >= 3);
    let first = items(&found).iter().rfind(|one| one["state"] == "started").expect("one that started");
    let run = editor.get(&format!("/runs/{}", first["run"].as_str().unwrap())).expect(200).json();
    assert_eq!((&run["user"], &run["trigger"]), (&json!("emil"), &json!("schedule")));
    assert_eq!(run["logical_date"], first["date"]);
    assert!(run["late_at"].as_str() > run["logical_date"].as_str(), "{run}");
    assert_eq!(first["late"], false);
    let runs = editor.get("/projects/default/runs?pipeline=tick&limit=200").expect(200).json();
    let mut dates: Vec<&str> = items(&runs).iter().map(|run| run["logical_date"].as_str().unwrap()).collect();
    let all = dates.len();
    dates.sort_unstable();
    dates.dedup();
    assert_eq!(dates.len(), all, "each date has one run");

    // After its owner loses membership, a schedule starts nothing and says why. Another member takes it over.
    let owner = server.as_(Who::Owner);
    let member = "/projects/default/members/emil";
    let etag = owner.put(member, "*", &json!({"role": "viewer"})).expect(200).etag();
    let found = until(&owner, &history("tick"), |found| count(found, "refused") >= 1);
    let refused = items(&found).iter().find(|one| one["state"] == "refused").unwrap();
    assert_eq!((&refused["why"], &refused["detail"]), (&json!("user_no_editor"), &json!("emil")));
    let schedule = format!("{PIPELINES}/tick/schedule");
    assert_eq!(owner.get(&schedule).expect(200).json()["refused"], "user_no_editor");
    let page = owner.get("page:/projects/default/pipelines/tick?tab=schedule").expect(200).text();
    assert!(
        page.contains("The schedule cannot run") && page.contains("emil may no longer start runs"),
        "{page}"
    );
    owner.post(&format!("{schedule}/resume"), &json!({})).expect(200);
    assert_eq!(owner.get(&schedule).expect(200).json()["set_by"], "olga");
    let theirs =
        |found: &Value| items(found).iter().any(|one| one["state"] == "started" && one["user"] == "olga");
    until(&owner, &history("tick"), theirs);
    owner.put(member, &etag, &json!({"role": "editor"})).expect(200);

    let log = owner.get("/projects/default/audit?limit=200").expect(200).json();
    let did =
        |action: &str, via: &str| items(&log).iter().any(|one| one["action"] == action && one["via"] == via);
    assert!(did("run.start", "schedule"), "{log:#}");
    assert!(items(&log).iter().any(|one| one["action"] == "schedule.resume"));
}

#[test]
fn a_paused_schedule_does_not_fire_and_makes_up_for_nothing() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    create(&editor, "tick", "every: 1s, catch_up: all");
    until(&editor, &history("tick"), |found| count(found, "started") >= 1);
    let schedule = format!("{PIPELINES}/tick/schedule");
    server.as_(Who::Viewer).post(&format!("{schedule}/pause"), &json!({})).expect(403).problem("forbidden");
    let paused = editor.post(&format!("{schedule}/pause"), &json!({})).expect(200).json();
    assert_eq!((&paused["active"], &paused["paused_by"]), (&json!(false), &json!("emil")));
    assert_eq!(paused["next"].as_array().unwrap().len(), 5, "it says what it would do");
    editor.post(&format!("{schedule}/pause"), &json!({})).expect(200);
    // Another schedule proves by its dates that the server has checked for due dates; the first check
    // includes the past.
    let goes_on = |by: usize| {
        let dates = |found: &Value| count(found, "started");
        let so_far = dates(&editor.get(&history("beat")).expect(200).json());
        until(&editor, &history("beat"), |found| dates(found) >= so_far + by);
    };
    create(&editor, "beat", "every: 1s, catch_up: all");
    goes_on(1);
    let before = editor.get(&history("tick")).expect(200).json();
    goes_on(3);
    assert_eq!(items(&editor.get(&history("tick")).expect(200).json()).len(), items(&before).len());
    // A new version does not resume it.
    let etag = editor.get(&format!("{PIPELINES}/tick")).expect(200).etag();
    editor
        .put(&format!("{PIPELINES}/tick"), &etag, &document("tick", "every: 2s, catch_up: all"))
        .expect(200);
    assert_eq!(editor.get(&schedule).expect(200).json()["active"], false);
    let resumed = editor.post(&format!("{schedule}/resume"), &json!({})).expect(200).json();
    assert_eq!(resumed["active"], true);
    let resumed_at = resumed["set_at"].as_str().unwrap().to_owned();
    let found = until(&editor, &history("tick"), |found| items(found).len() > items(&before).len());
    let new = &items(&found)[..items(&found).len() - items(&before).len()];
    assert!(new.iter().all(|one| one["date"].as_str() > Some(&resumed_at)), "{new:#?}");
    create(&editor, "plain", "");
    let answer = editor.post(&format!("{PIPELINES}/plain/schedule/pause"), &json!({})).expect(409);
    assert!(answer.text().contains("has no schedule"));
    editor.get(&format!("{PIPELINES}/nothing/schedule")).expect(404).problem("not-found");
}

#[test]
fn a_run_that_does_not_succeed_in_time_is_marked_as_late() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let run_of = |name: &str, schedule: &str| {
        let text = format!(
            "apiVersion: cubeloom/v1\nkind: Pipeline\nname: {name}\nschedule: {{every: 1s, skip_if_running: true{schedule}}}\n\
             tasks: [{{name: rest, template: command, arguments: {{command: [sleep, \"2\"]}}}}]\n"
        );
        editor.post(PIPELINES, &json!({"document": text})).expect(201);
        let found = until(&editor, &history(name), |found| count(found, "started") >= 1);
        editor.post(&format!("{PIPELINES}/{name}/schedule/pause"), &json!({})).expect(200);
        let first = items(&found).iter().rfind(|one| one["state"] == "started").expect("one that started");
        let run = first["run"].as_str().unwrap().to_owned();
        until(&editor, &format!("/runs/{run}"), |run| run["state"] == "succeeded");
        (run, first["date"].as_str().unwrap().to_owned())
    };
    let is_late = |name: &str, date: &str| {
        let dates = editor.get(&history(name)).expect(200).json();
        let one = items(&dates).iter().find(|one| one["date"] == date);
        one.unwrap_or_else(|| panic!("{dates}"))["late"].as_bool().unwrap()
    };
    let pages = |run: &str, name: &str| {
        let paths = [
            format!("page:/runs/{run}"),
            format!("page:/projects/default/pipelines/{name}?tab=runs"),
            format!("page:/projects/default/runs?pipeline={name}"),
            format!("page:/projects/default/calendar?view=days&pipeline={name}"),
        ];
        paths.map(|path| editor.get(&path).expect(200).text().contains("Late</span>"))
    };
    let (late, date) = run_of("late", ", late_after: 1s");
    assert!(is_late("late", &date), "it took two seconds, and had one");
    assert_eq!(pages(&late, "late"), [true; 4]);
    // Without a `late_after`, a run is never late.
    let (free, date) = run_of("free", "");
    assert!(!is_late("free", &date));
    assert_eq!(pages(&free, "free"), [false; 4]);
}

#[test]
fn what_was_missed_is_made_up_for_as_the_schedule_says() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    create(&editor, "all", "every: 1s, catch_up: all");
    until(&editor, &history("all"), |found| count(found, "started") >= 1);
    server.kill();
    std::thread::sleep(Duration::from_secs(3));
    server.run();
    let editor = server.as_(Who::Editor);
    let found = until(&editor, &history("all"), |found| count(found, "started") >= 6);
    let mut dates: Vec<Time> =
        items(&found).iter().map(|one| one["date"].as_str().unwrap().parse().unwrap()).collect();
    dates.reverse();
    let gaps: Vec<i64> = dates.windows(2).map(|pair| pair[1].0.0 - pair[0].0.0).collect();
    assert!(gaps.iter().all(|gap| *gap == 1_000_000), "{gaps:?}");
}

#[test]
fn missed_firings_are_left_out_or_the_last_one_is_made_up_for() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    // Half an hour ago and in half an hour: no date is due during the test.
    let minute = (SystemClock.now().0 / 60_000_000 + 30) % 60;
    for catch_up in ["none", "latest"] {
        create(&editor, catch_up, &format!("cron: '{minute} * * * *', catch_up: {catch_up}"));
        // Storing a pipeline does not wait for its schedule to be processed; reading the schedule does.
        editor.get(&format!("{PIPELINES}/{catch_up}/schedule")).expect(200);
    }
    server.stop();
    let hours = 3 * 3_600_000_000_i64;
    server.sql(&format!("UPDATE schedules SET handled_at = handled_at - {hours}, next_at = 1"));
    assert_eq!(server.sql("SELECT count(*) FROM schedules WHERE next_at = 1"), [[json!(2)]]);
    server.run();
    let editor = server.as_(Who::Editor);
    let latest = until(&editor, &history("latest"), |found| count(found, "started") == 1);
    assert_eq!((count(&latest, "missed"), &items(&latest)[0]["state"]), (2, &json!("started")), "{latest}");
    let none = until(&editor, &history("none"), |found| count(found, "missed") == 3);
    assert_eq!(items(&none).len(), 3, "{none}");
}

#[test]
fn a_date_is_run_when_somebody_wants_it_and_again_only_when_they_say_so() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    create(&editor, "daily", "cron: '0 6 * * *', timezone: Asia/Shanghai");
    let dates = format!("{PIPELINES}/daily/schedule/dates");
    let started = editor.post(&dates, &json!({"date": "2026-01-31"})).expect(201).json();
    let run = started["run"]["id"].as_str().unwrap().to_owned();
    assert_eq!(started["run"]["logical_date"], "2026-01-30T16:00:00.000000Z");
    assert_eq!((&started["run"]["trigger"], &started["run"]["user"]), (&json!("person"), &json!("emil")));
    let refused = editor.post(&dates, &json!({"date": "2026-01-31T00:00"})).expect(409);
    assert!(refused.text().contains(&run), "{}", refused.text());
    until(&editor, &format!("/runs/{run}"), |run| run["state"] == "succeeded");
    let log = editor.get(&format!("/runs/{run}/logs/text?task=say")).expect(200).text();
    assert!(log.contains("2026-01-31"), "the date is the run's, in the zone of its schedule: {log}");
    editor.post(&dates, &json!({"date": "2026-01-31"})).expect(409);
    let again = editor.post(&dates, &json!({"date": "2026-01-31", "again": true})).expect(201).json();
    assert_ne!(again["run"]["id"], run.as_str());
    // Repeating the run keeps its logical date.
    let same = editor.post(&format!("/runs/{run}/again"), &json!({})).expect(201).json();
    assert_eq!(same["run"]["logical_date"], started["run"]["logical_date"]);
    let wrong = editor.post(&dates, &json!({"date": "tomorrow"})).expect(422).json();
    assert_eq!(wrong["problems"][0]["path"], "/date");
    create(&editor, "plain", "");
    let plain = format!("{PIPELINES}/plain/schedule/dates");
    let started = editor.post(&plain, &json!({"date": "2026-01-31T06:00:00Z"})).expect(201).json();
    assert_eq!(started["run"]["logical_date"], "2026-01-31T06:00:00.000000Z");
}

#[test]
fn a_backfill_is_previewed_watched_and_cancelled() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    create(&editor, "daily", "cron: '0 6 * * *', timezone: Europe/Berlin");
    let one = format!("{PIPELINES}/daily/schedule/dates");
    let started = editor.post(&one, &json!({"date": "2026-01-02T06:00"})).expect(201).json();
    let preview = editor.get(&format!("{one}?first=2026-01-01&last=2026-01-05")).expect(200).json();
    assert_eq!((&preview["total"], &preview["without_run"]), (&json!(5), &json!(4)));
    assert_eq!(preview["dates"][1]["run"], started["run"]["id"]);
    assert_eq!(preview["dates"][0]["date"], "2026-01-01T05:00:00.000000Z");
    let backfills = format!("{PIPELINES}/daily/backfills");
    let wanted = json!({"first": "2026-01-01", "last": "2026-01-05", "parallelism": 2});
    server.as_(Who::Viewer).post(&backfills, &wanted).expect(403).problem("forbidden");
    let made = editor.post(&backfills, &wanted).expect(201);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(made.json()["total"], 4);
    let path = format!("{backfills}/{id}");
    let done = until(&editor, &path, |found| found["state"] == "done");
    assert_eq!((&done["succeeded"], &done["failed"]), (&json!(4), &json!(0)));
    let runs = editor.get("/projects/default/runs?pipeline=daily").expect(200).json();
    let filled: Vec<_> = items(&runs).iter().filter(|run| run["trigger"] == "backfill").collect();
    assert_eq!(filled.len(), 4);
    // There were never more concurrent runs than allowed.
    for run in &filled {
        let during = |other: &&&Value| {
            other["created_at"].as_str() <= run["created_at"].as_str()
                && other["ended_at"].as_str() > run["created_at"].as_str()
        };
        assert!(filled.iter().filter(during).count() <= 2, "{filled:#?}");
    }
    let listed = editor.get(&backfills).expect(200).json();
    assert_eq!(items(&listed)[0]["id"], id.as_str());

    let long = json!({"first": "2020-01-01", "last": "2020-03-31"});
    let made = editor.post(&backfills, &long).expect(201).json();
    let path = format!("{backfills}/{}", made["id"].as_str().unwrap());
    assert_eq!(made["total"], 91);
    let stopped = editor.post(&format!("{path}/cancel"), &json!({"runs": true})).expect(200).json();
    assert_eq!(stopped["state"], "cancelled");
    let over = until(&editor, &path, |found| found["running"] == 0);
    assert!(over["cancelled"].as_u64() > Some(80), "{over}");
    editor.post(&format!("{path}/cancel"), &json!({})).expect(409).problem("conflict");

    for (wrong, field) in [
        (json!({"first": "2026-01-05", "last": "2026-01-01"}), "/last"),
        (json!({"first": "1000-01-01", "last": "2026-01-01"}), "/last"),
        (json!({"first": "2999-01-01", "last": "2999-01-02"}), "/first"),
        (json!({"first": "2026-01-01", "last": "2026-01-02", "parallelism": 0}), "/parallelism"),
        (json!({"first": "soon", "last": "2026-01-02"}), "/first"),
    ] {
        let answer = editor.post(&backfills, &wrong).expect(422).json();
        assert_eq!(answer["problems"][0]["path"], field, "{wrong}");
    }
}

#[test]
fn what_cannot_start_says_why_and_a_date_waits_for_the_one_before() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: needs\nparameters: {n: {type: integer}}\n\
                schedule: {every: 1s}\ntasks: [{name: say, template: command, arguments: {command: [echo, hi]}}]\n";
    let made = editor.post(PIPELINES, &json!({"document": text})).expect(201).json();
    let warned = made["problems"].as_array().unwrap().iter().any(|one| one["path"] == "/schedule");
    assert!(warned, "{made}");
    let found = until(&editor, &history("needs"), |found| count(found, "failed") >= 1);
    let failed = items(&found).iter().find(|one| one["state"] == "failed").unwrap();
    assert_eq!(failed["why"], "invalid");
    assert!(failed["detail"].as_str().unwrap().contains('n'), "{failed}");

    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: chain\nschedule: {every: 1s, depends_on_past: true}\n\
                tasks: [{name: fall, template: command, arguments: {command: [\"false\"]}}]\n";
    editor.post(PIPELINES, &json!({"document": text})).expect(201);
    let waits = |found: &Value| items(found).iter().any(|one| one["why"] == "past_failed");
    let found = until(&editor, &history("chain"), waits);
    assert_eq!(count(&found, "started"), 1, "{found:#}");

    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: slow\nschedule: {every: 1s, skip_if_running: true}\n\
                tasks: [{name: rest, template: command, arguments: {command: [sleep, \"300\"]}}]\n";
    editor.post(PIPELINES, &json!({"document": text})).expect(201);
    let found = until(&editor, &history("slow"), |found| count(found, "skipped") >= 2);
    assert_eq!(count(&found, "started"), 1, "{found:#}");
    assert_eq!(items(&found)[0]["why"], "running");
    // Nothing is left behind.
    for name in ["needs", "chain", "slow"] {
        editor.post(&format!("{PIPELINES}/{name}/schedule/pause"), &json!({})).expect(200);
    }
    let started = items(&found).iter().find(|one| one["state"] == "started").unwrap();
    let run = format!("/runs/{}", started["run"].as_str().unwrap());
    editor.post(&format!("{run}/cancel"), &json!({})).expect(202);
    until(&editor, &run, |run| run["state"] == "cancelled");
}

#[test]
fn the_calendar_has_what_ran_and_what_will_run() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    create(&editor, "daily", "cron: '0 6 * * *'");
    editor.post(&format!("{PIPELINES}/daily/schedule/dates"), &json!({"date": "2026-01-31"})).expect(201);
    let past = editor.get("/projects/default/calendar?first=2026-01-01&last=2026-01-31").expect(200).json();
    assert_eq!(past["dates"].as_array().unwrap().len(), 1);
    assert_eq!(past["dates"][0]["state"], "started");
    let coming = editor.get("/projects/default/calendar?first=2090-01-01&last=2090-01-31").expect(200).json();
    let dates = coming["dates"].as_array().unwrap();
    assert_eq!((dates.len(), &dates[30]["date"]), (31, &json!("2090-01-31T06:00:00.000000Z")));
    assert!(dates.iter().all(|one| one["state"] == "coming"));
    let none = "/projects/default/calendar?first=2090-01-01&last=2090-01-31&pipeline=other";
    assert_eq!(editor.get(none).expect(200).json()["dates"], json!([]));
    let wrong = editor.get("/projects/default/calendar?first=2090-01-01&last=2091-01-31").expect(422).json();
    assert_eq!(wrong["problems"][0]["path"], "/last");
    let page = editor.get("page:/projects/default/calendar?date=2090-01-15").expect(200).text();
    assert_eq!(page.matches("calendar-entry").count(), 42, "{page}");
    let page = editor.get("page:/projects/default/calendar?date=2090-01-15&view=days").expect(200).text();
    assert_eq!(page.matches("agenda-line").count(), 14, "{page}");
}

const PREVIEW: &str = "/projects/default/schedule-preview";

/// The next dates of a schedule in its time zone.
fn previewed(client: &Client, schedule: &Value) -> Vec<String> {
    let found = client.post(PREVIEW, &json!({ "schedule": schedule })).expect(200).json();
    assert_eq!(found["problems"], json!([]), "{schedule}");
    let next = found["next"].as_array().unwrap();
    next.iter().map(|one| one["local"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_next_dates_of_a_schedule_are_known_before_it_is_stored() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    // The clock is set forward: the time does not exist.
    let daily = json!({"cron": "30 2 * * *", "timezone": "Europe/Berlin", "start": "2090-03-25", "end": "2090-03-27"});
    let days = ["2090-03-25T02:30:00+01:00", "2090-03-26T03:00:00+02:00", "2090-03-27T02:30:00+02:00"];
    assert_eq!(previewed(&viewer, &daily), days);
    let found = viewer.post(PREVIEW, &json!({ "schedule": daily })).expect(200).json();
    assert_eq!(
        (&found["timezone"], &found["next"][1]["date"]),
        (&json!("Europe/Berlin"), &json!("2090-03-26T01:00:00.000000Z"))
    );
    // It is set back: a wildcard fires in both hours.
    let hourly = json!({"cron": "0 * * * *", "timezone": "Europe/Berlin", "start": "2090-10-29T01:00"});
    let hours = ["01:00:00+02:00", "02:00:00+02:00", "02:00:00+01:00", "03:00:00+01:00", "04:00:00+01:00"];
    assert_eq!(previewed(&viewer, &hourly), hours.map(|hour| format!("2090-10-29T{hour}")));
    let interval = json!({"every": "36h", "timezone": "Asia/Shanghai", "start": "2090-01-01T06:00"});
    let days = ["01T06", "02T18", "04T06", "05T18", "07T06"];
    assert_eq!(previewed(&viewer, &interval), days.map(|day| format!("2090-01-{day}:00:00+08:00")));
    for without in [
        json!({"cron": "0 6 * * *", "end": "2020-01-01"}),
        json!({"after": {"pipeline": "clean"}}),
        json!({"file": {"path": "logs/dt=%Y-%m-%d/_SUCCESS"}}),
    ] {
        assert_eq!(previewed(&viewer, &without), Vec::<String>::new(), "{without}");
    }
    // It agrees with what the stored pipeline says.
    let yearly = json!({"cron": "0 0 1 1 *", "timezone": "America/New_York"});
    create(&server.as_(Who::Editor), "yearly", "cron: '0 0 1 1 *', timezone: America/New_York");
    let stored = viewer.get(&format!("{PIPELINES}/yearly/schedule")).expect(200).json();
    let found = viewer.post(PREVIEW, &json!({ "schedule": yearly })).expect(200).json();
    let dates: Vec<&Value> = found["next"].as_array().unwrap().iter().map(|one| &one["date"]).collect();
    assert_eq!(json!(dates), stored["next"]);
}

#[test]
fn a_schedule_that_cannot_be_stored_has_its_problems_by_field() {
    let server = Server::start();
    let viewer = server.as_(Who::Viewer);
    let wrong = json!({"schedule": {"cron": "0 25 * * *", "timezone": "Mars/Olympus"}});
    let found = viewer.post(PREVIEW, &wrong).expect(200).json();
    let problems = found["problems"].as_array().unwrap();
    let paths: Vec<&Value> = problems.iter().map(|one| &one["path"]).collect();
    assert_eq!(json!(paths), json!(["/schedule/cron", "/schedule/timezone"]));
    assert!(problems[0]["message"].as_str().unwrap().contains("the hour `25` is not valid"), "{found}");
    assert_eq!(found["next"], json!([]));
    let chinese = viewer.request(Method::POST, PREVIEW).header("accept-language", "zh-CN").json(&wrong);
    assert!(send(chinese).expect(200).text().contains("时 `25` 无效"));
    for (schedule, path) in [
        (json!({}), "/schedule"),
        (json!({"every": "soon"}), "/schedule/every"),
        (json!({"crom": "0 6 * * *"}), "/schedule/crom"),
        (json!({"cron": "0 0 30 2 *"}), "/schedule/cron"),
    ] {
        let found = viewer.post(PREVIEW, &json!({ "schedule": schedule })).expect(200).json();
        assert!(found["problems"].as_array().unwrap().iter().any(|one| one["path"] == path), "{found}");
    }
    viewer.post(PREVIEW, &json!({"schedule": "0 6 * * *"})).expect(422).problem("invalid");
    viewer.post(PREVIEW, &json!({"schedule": {}, "pipeline": "a"})).expect(422).problem("invalid");
    server.as_(Who::Stranger).post(PREVIEW, &wrong).expect(404).problem("not-found");
}
