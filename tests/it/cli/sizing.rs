//! Generated traces, and the scores of right-sizing rules on them.

use serde_json::{Value, json};

use crate::support::{Done, TestApp};

const HEADER: &str = "task,submitted,finished,requested_cpu,requested_memory_bytes,peak_memory_bytes,cpu_used,input_bytes,status";
const RULES: [&str; 6] = ["cubeloom", "request", "cube-studio", "vpa", "line", "oracle"];

fn replay(app: &TestApp, trace: &str) -> Done {
    app.call_with_input(&["sizing", "replay", "-", "--policy", "vpa,oracle", "--output", "json"], trace)
}

#[test]
fn a_trace_that_is_made_is_the_same_each_time_and_is_scored_by_every_rule() {
    let app = TestApp::new();
    let make =
        |seed| app.expect(0, &["sizing", "generate", "mixed", "--attempts", "500", "--seed", seed]).out;
    let made = make("3");
    assert_eq!(made, make("3"));
    assert_ne!(made, make("4"));
    assert_eq!((made.lines().next(), made.lines().count()), (Some(HEADER), 501));
    let trace = app.write("made.csv", &made);
    let trace = trace.to_str().unwrap();
    let scores = app.json(0, &["sizing", "replay", trace]);
    let scores = scores.as_array().unwrap();
    let names: Vec<&str> = scores.iter().map(|score| score["policy"].as_str().unwrap()).collect();
    assert_eq!(names, RULES);
    for score in scores {
        let mut keys: Vec<&String> = score.as_object().unwrap().keys().collect();
        keys.sort();
        assert_eq!(
            keys,
            [
                "attempts",
                "core_hours",
                "core_hours_of_request",
                "decided",
                "gb_hours",
                "gb_hours_of_oracle",
                "gb_hours_of_request",
                "out_of_memory",
                "out_of_memory_rate",
                "policy"
            ]
        );
        assert_eq!(score["attempts"], 500);
        assert!(score["gb_hours_of_oracle"].as_f64().unwrap() >= 1.0, "{score}");
    }
    let of = |name: &str| &scores[RULES.iter().position(|rule| *rule == name).unwrap()];
    assert_eq!(
        (&of("request")["gb_hours_of_request"], &of("oracle")["gb_hours_of_oracle"]),
        (&json!(1.0), &json!(1.0))
    );
    assert_eq!(
        (&of("oracle")["out_of_memory"], &of("oracle")["out_of_memory_rate"]),
        (&json!(0), &json!(0.0))
    );
    let table = app.expect(0, &["sizing", "replay", trace, "--policy", "vpa,oracle"]).out;
    let rules: Vec<&str> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(rules, ["RULE", "vpa", "oracle"]);
    // A trace with start times is also replayed as if decided at the start.
    let lines = made.lines().enumerate().map(|(at, line)| match at {
        0 => format!("{line},started\n"),
        _ => format!("{line},{}\n", line.split(',').nth(2).unwrap()),
    });
    let started = app.write("started.csv", &lines.collect::<String>());
    let both = app.json(0, &["sizing", "replay", started.to_str().unwrap(), "--policy", "vpa"]);
    let moments: Vec<&Value> = both.as_array().unwrap().iter().map(|score| &score["decided"]).collect();
    assert_eq!(moments, ["submission", "start"]);
    // A bound is not a rule: it is replayed only if named.
    let bound = app.json(0, &["sizing", "replay", trace, "--policy", "known-after-first,cubeloom"]);
    let names: Vec<_> = bound.as_array().unwrap().iter().map(|score| &score["policy"]).collect();
    assert_eq!(names, ["cubeloom", "known-after-first"]);
    assert!(bound[1]["gb_hours"].as_f64() >= of("oracle")["gb_hours"].as_f64(), "{bound}");
}

#[test]
fn a_trace_may_come_from_elsewhere_and_what_is_odd_in_it_is_noted_beside_the_scores() {
    let app = TestApp::new();
    let odd = format!(
        "{HEADER}\na,0,3600,1,4294967296,2147483648,1,,COMPLETED\na,0,1,1,4294967296,2147483648,1,,RUNNING\n\
         a,0,3600,1,4294967296,2147483648,1,,gone fishing\na,0,3600,1,4294967296,2147483648,many,,ok\n\
         a,3600,0,1,4294967296,2147483648,1,,ok\n"
    );
    let done = replay(&app, &odd);
    let said = &done.err;
    assert_eq!(done.code, Some(0), "{said}");
    let scores: Value = serde_json::from_str(&done.out).unwrap();
    let told: Vec<_> =
        scores.as_array().unwrap().iter().map(|score| (&score["policy"], &score["gb_hours"])).collect();
    assert_eq!(told, [(&json!("vpa"), &json!(8.0)), (&json!("oracle"), &json!(4.0))]);
    for (count, why) in [
        ("3 lines are not attempts that ran and are skipped", "line 3, status: `RUNNING` is not an attempt"),
        ("1 line has an unknown status", "line 4, status: `gone fishing` is not a state"),
    ] {
        assert!(said.lines().any(|line| line.contains(count) && line.contains(why)), "{said}");
    }
}

#[test]
fn a_trace_that_cannot_be_one_is_refused_with_the_place() {
    let app = TestApp::new();
    for (trace, why) in [
        (
            format!("{HEADER}\na,0,1,1,4,2,1,,CACHED\na,0,1,1,4,2,many,,ok\na,0,1,1,4,2,-1,,ok\n"),
            "line 3, cpu_used: `many` is not a number",
        ),
        (format!("{HEADER}\na,0,1,1,4,2,1,,ok\na,0,1\n"), "found record with 3 fields"),
        (format!("{HEADER}\na,0,1,1,4,2,1,,gone fishing\n"), "line 2, status: `gone fishing` is not a state"),
        (format!("{HEADER}\na,0,1,1,4,2,1,,CACHED\n"), "it contains no attempts"),
        ("task,submitted\na,0\n".to_owned(), "the column `finished` is missing"),
    ] {
        let done = replay(&app, &trace);
        assert_eq!((done.code, done.out.as_str()), (Some(2), ""), "{done:?}");
        assert!(done.err.contains(why), "{done:?}");
    }
    let away = app.expect(4, &["sizing", "replay", "nowhere.csv"]);
    assert!(away.err.contains("nowhere.csv cannot be read"), "{away:?}");
    app.expect(2, &["sizing", "replay", "nowhere.csv", "--policy", "guess"]);
}
