//! Schedules triggered by files: the files to check, the decisions about those found, and the problems of
//! such schedules.

use cubeloom_compiler::parse_pipeline;
use cubeloom_compiler::schedule::{Arrivals, Calendar, awaited};
use cubeloom_domain::pipeline::{EndState, Schedule};
use cubeloom_domain::schedule::Look;
use cubeloom_domain::{Severity, Timestamp};

fn read(text: &str) -> Result<Schedule, Vec<(String, String)>> {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\nschedule: {{{text}}}\ntasks: [{{name: a, template: t}}]"
    );
    let found = parse_pipeline(&text).map_err(|problems| {
        let wrong = problems.into_iter().filter(|one| one.severity == Severity::Error);
        wrong.map(|one| (one.path, one.message)).collect::<Vec<_>>()
    })?;
    Ok(found.pipeline.schedule.unwrap())
}

fn arrivals(text: &str) -> Arrivals {
    Arrivals::of(&read(text).unwrap()).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}

fn paths(arrivals: &Arrivals, set: &str, now: &str) -> Vec<String> {
    arrivals.dates(at(set), at(now)).into_iter().map(|date| arrivals.path(date)).collect()
}

#[test]
fn a_path_has_a_date_of_each_period_since_it_was_set_and_of_the_one_before() {
    let days = arrivals("file: {path: 'dt=%Y-%m-%d/_SUCCESS'}, timezone: Asia/Shanghai");
    // 01-09 23:30 there, and 01-11 00:30.
    let found = paths(&days, "2026-01-09T15:30:00Z", "2026-01-10T16:30:00Z");
    assert_eq!(
        found,
        [
            "dt=2026-01-11/_SUCCESS",
            "dt=2026-01-10/_SUCCESS",
            "dt=2026-01-09/_SUCCESS",
            "dt=2026-01-08/_SUCCESS"
        ]
    );
    let hours = arrivals("file: {path: '%F/%H/'}");
    let found = paths(&hours, "2026-01-10T00:10:00Z", "2026-01-10T01:00:00Z");
    assert_eq!(found, ["2026-01-10/01/", "2026-01-10/00/", "2026-01-09/23/"]);
    let months = arrivals("file: {path: '%Y%m.csv'}, start: 2026-01-01, end: 2026-02-28");
    let found = paths(&months, "2026-01-10T00:10:00Z", "2026-07-10T01:00:00Z");
    assert_eq!(found, ["202602.csv", "202601.csv"], "neither before the start nor after the end");
    let all = arrivals("file: {path: '%F'}, start: 2026-01-01, catch_up: all");
    let set = at("2026-01-05T12:00:00Z");
    let handled = all.handled_when_set(set);
    assert_eq!(all.dates(handled, set).len(), 5);
    let ages = arrivals("file: {path: '%F'}, start: 2016-01-01, catch_up: all");
    assert_eq!(ages.dates(ages.handled_when_set(set), set).len(), 500);
}

/// Clocks in Berlin are set forward at 2026-03-29 02:00.
#[test]
fn dates_are_as_far_apart_as_the_clock_says() {
    let hours = arrivals("file: {path: '%F-%H'}, timezone: Europe/Berlin");
    let dates = hours.dates(at("2026-03-28T23:30:00Z"), at("2026-03-29T03:00:00Z"));
    assert!(dates.is_sorted_by(|later, one| later >= one), "{dates:?}");
    let found: std::collections::BTreeSet<String> = dates.iter().map(|date| hours.path(*date)).collect();
    assert!(found.contains("2026-03-29-01") && found.contains("2026-03-29-03"), "{found:?}");
}

#[test]
fn what_was_there_before_or_was_missed_is_made_up_for_as_the_schedule_says() {
    let minute = 60_000_000;
    let set = Timestamp(1_000 * minute);
    let now = Timestamp(1_100 * minute);
    let looked = |minutes: i64, failures| {
        let then = Some(Timestamp(now.0 - minutes * minute));
        Look { tried_at: then, looked_at: then, failures, error: None }
    };
    let dates = || vec![Timestamp(3), Timestamp(1), Timestamp(2)];
    let of = |text: &str, look: &Look| {
        let (fire, left_out) =
            arrivals(&format!("file: {{path: '%F'}}{text}")).arrived(look, set, now, dates());
        let why = left_out.first().map(|(_, why)| *why);
        (fire.into_iter().map(|date| date.0).collect::<Vec<_>>(), left_out.len(), why)
    };
    assert_eq!(of("", &Look::default()), (vec![], 3, Some("there_before")));
    // It was paused, and resumed since.
    assert_eq!(of("", &looked(101, 0)), (vec![], 3, Some("there_before")));
    assert_eq!(of("", &looked(1, 0)), (vec![1, 2, 3], 0, None));
    assert_eq!(of(", catch_up: none", &looked(2, 0)), (vec![1, 2, 3], 0, None), "a moment late is punctual");
    assert_eq!(of("", &looked(30, 0)), (vec![3], 2, Some("missed")));
    assert_eq!(of(", catch_up: none", &looked(30, 0)), (vec![], 3, Some("missed")));
    assert_eq!(of(", catch_up: all", &looked(30, 0)), (vec![1, 2, 3], 0, None));
    // The storage was unreachable, and the waits have grown: no check was missed.
    assert_eq!(of(", catch_up: none", &looked(10, 9)), (vec![1, 2, 3], 0, None));
    let all = arrivals("file: {path: '%F'}, start: 2026-01-01, catch_up: all");
    let handled = all.handled_when_set(at("2026-01-05T12:00:00Z"));
    assert_eq!(all.arrived(&Look::default(), handled, now, dates()).0.len(), 3);
}

#[test]
fn the_waits_grow_while_the_storage_does_not_answer() {
    let every = arrivals("file: {path: '%F', every: 30s}");
    let wait = |every: &Arrivals, failures| {
        let look = Look { tried_at: Some(Timestamp(0)), failures, ..Look::default() };
        every.next_look(&look, Timestamp(9)).0 / 1_000_000
    };
    assert_eq!([0, 1, 2, 5, 90].map(|failures| wait(&every, failures)), [30, 60, 120, 600, 600]);
    let daily = arrivals("file: {path: '%F', every: 24h}");
    assert_eq!(wait(&daily, 3), 86_400);
    assert_eq!(daily.next_look(&Look::default(), Timestamp(9)), Timestamp(9));
}

#[test]
fn a_pipeline_runs_after_another_from_when_it_was_set_or_starts() {
    let set = at("2026-01-05T12:00:00Z");
    let of = |text: &str| awaited(&read(text).unwrap(), "team", set).unwrap().unwrap();
    let (awaited, handled) = of("after: {pipeline: clean}");
    assert_eq!((awaited.of.project.as_str(), awaited.of.pipeline.as_str()), ("team", "clean"));
    assert_eq!((awaited.state, awaited.until, handled), (EndState::Succeeded, None, set));
    let (awaited, handled) =
        of("after: {pipeline: clean, project: ads, state: ended}, start: 2026-01-01, catch_up: all");
    assert_eq!((awaited.of.project.as_str(), awaited.state), ("ads", EndState::Ended));
    assert_eq!(handled.0, at("2026-01-01T00:00:00Z").0 - 1);
    assert_eq!(of("after: {pipeline: clean}, start: 2026-01-01").1, set);
    assert_eq!(of("after: {pipeline: clean}, start: 2026-02-01").1.0, at("2026-02-01T00:00:00Z").0 - 1);
    assert!(Calendar::of(&read("after: {pipeline: clean}").unwrap()).is_err(), "it has no dates of its own");
}

#[test]
fn mistakes_name_their_field() {
    for (text, path, said) in [
        ("after: {pipeline: a}, cron: '0 6 * * *'", "/schedule", "one of"),
        ("after: {pipeline: a}, file: {path: '%F'}", "/schedule", "one of"),
        ("timezone: UTC", "/schedule", "write `cron`"),
        ("after: {project: b}", "/schedule/after", "`pipeline` is missing"),
        ("after: {pipeline: A B}", "/schedule/after/pipeline", "A B"),
        ("after: {pipeline: a, state: done}", "/schedule/after/state", "done"),
        ("after: {pipeline: a}, start: soon", "/schedule/start", "soon"),
        ("file: {path: logs/_SUCCESS}", "/schedule/file/path", "no date"),
        ("file: {path: '%Y-%d'}", "/schedule/file/path", "needs %m"),
        ("file: {path: '%s'}", "/schedule/file/path", "`%s`"),
        ("file: {path: '/%F'}", "/schedule/file/path", "outside the volume"),
        ("file: {path: '../%F'}", "/schedule/file/path", "outside the volume"),
        ("file: {path: 's3://b/%F'}", "/schedule/file/path", "not an HDFS address"),
        ("file: {path: 'hdfs://n:1/%F', volume: v}", "/schedule/file/volume", "remove `volume`"),
        ("file: {path: '%F', every: 10ms}", "/schedule/file/every", "at least 1s"),
        ("file: {path: '%F'}, timezone: Mars", "/schedule/timezone", "Mars"),
    ] {
        let wrong = read(text).unwrap_err();
        assert!(wrong.iter().any(|(at, why)| at == path && why.contains(said)), "{text}: {wrong:?}");
    }
}
