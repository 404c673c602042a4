//! Cases shared with the browser's check: its immediate findings must be found here too.

use std::fs;

use cubeloom_compiler::schedule::Calendar;
use cubeloom_compiler::{check_pipeline, parse_schedule};
use cubeloom_domain::{JsonMap, Problem, Severity, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::{fixtures, machine, repository};

#[derive(Deserialize)]
struct Case {
    title: String,
    document: Value,
    problems: Vec<Expected>,
}

/// A text as a user may write it: it can have problems before it is a document.
#[derive(Deserialize)]
struct SourceCase {
    title: String,
    text: String,
    problems: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    #[serde(default = "error")]
    severity: String,
    code: String,
    path: String,
    /// The line in the text, if the case has one.
    #[serde(default)]
    line: Option<u32>,
}

fn error() -> String {
    "error".into()
}

/// A problem as a line to compare, with the position in the text if it is expected.
fn line(problem: &Problem, with_place: bool) -> String {
    let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
    let code = serde_json::to_value(problem.code).unwrap();
    let place = problem.line.filter(|_| with_place);
    compared(severity, code.as_str().unwrap(), &problem.path, place)
}

fn compared(severity: &str, code: &str, path: &str, place: Option<u32>) -> String {
    let place = place.map(|line| format!(" in line {line}")).unwrap_or_default();
    format!("{severity} {code} {path}{place}")
}

/// Unexpected problems of a text, and missing ones.
fn difference(title: &str, text: &str, expected: &[Expected]) -> Option<String> {
    let (_, problems) = check_pipeline(text, &fixtures(), &machine());
    let with_place = expected.iter().any(|one| one.line.is_some());
    let mut found: Vec<String> = problems.iter().map(|problem| line(problem, with_place)).collect();
    let mut expected: Vec<String> =
        expected.iter().map(|one| compared(&one.severity, &one.code, &one.path, one.line)).collect();
    found.sort();
    expected.sort();
    (found != expected).then(|| format!("{title}\n  found    {found:?}\n  expected {expected:?}"))
}

fn cases<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let text = fs::read_to_string(repository().join("tests/shared-cases").join(file)).unwrap();
    let cases: Vec<T> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 20, "{file}");
    cases
}

#[test]
fn the_browser_and_the_server_find_the_same() {
    let cases: Vec<Case> = cases("document-problems.json");
    let different =
        cases.iter().filter_map(|case| difference(&case.title, &case.document.to_string(), &case.problems));
    let different: Vec<String> = different.collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn the_browser_and_the_server_find_the_same_in_texts() {
    let cases: Vec<SourceCase> = cases("source-problems.json");
    let different = cases.iter().filter_map(|case| difference(&case.title, &case.text, &case.problems));
    let different: Vec<String> = different.collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[derive(Deserialize)]
struct CronCase {
    cron: String,
    /// The wrong field, or `fields` if there are not five.
    #[serde(default)]
    wrong: Option<String>,
    /// An expression with the same dates.
    #[serde(default)]
    same: Option<String>,
}

fn calendar(cron: &str) -> Result<Calendar, Vec<Problem>> {
    let schedule = JsonMap::from_iter([("cron".to_owned(), json!(cron))]);
    parse_schedule(schedule).and_then(|schedule| Calendar::of(&schedule))
}

#[test]
fn the_browser_and_the_server_read_the_same_cron_expressions() {
    let dates = |cron: &str| calendar(cron).map(|calendar| calendar.next(Timestamp(0), 60));
    for CronCase { cron, wrong, same } in cases("cron.json") {
        let Some(wrong) = wrong else {
            assert!(dates(&cron).is_ok(), "{cron}: {:#?}", dates(&cron));
            assert_eq!(dates(&cron), dates(same.as_ref().unwrap_or(&cron)), "{cron}");
            continue;
        };
        let said = match wrong.as_str() {
            "fields" => "the number of its fields is ",
            "minute" => "the minute `",
            "hour" => "the hour `",
            "day" => "the day of month `",
            "month" => "the month `",
            _ => "the day of week `",
        };
        let problems = calendar(&cron).unwrap_err();
        assert_eq!(problems[0].path, "/schedule/cron");
        assert!(problems[0].message.contains(said), "{cron}: {problems:#?}");
    }
}
