//! Cases that the browser's check is held to as well: what it finds at once is what is found here.

use std::fs;

use cubeloom_compiler::check_pipeline;
use cubeloom_domain::{Problem, Severity};
use serde::Deserialize;
use serde_json::Value;

use crate::support::{fixtures, machine, repository};

#[derive(Deserialize)]
struct Case {
    title: String,
    document: Value,
    problems: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    #[serde(default = "error")]
    severity: String,
    code: String,
    path: String,
}

fn error() -> String {
    "error".into()
}

fn line(problem: &Problem) -> String {
    let severity = if problem.severity == Severity::Error { "error" } else { "warning" };
    let code = serde_json::to_value(problem.code).unwrap();
    format!("{severity} {} {}", code.as_str().unwrap(), problem.path)
}

#[test]
fn the_browser_and_the_server_find_the_same() {
    let text = fs::read_to_string(repository().join("tests/shared-cases/document-problems.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 20);
    let mut different = Vec::new();
    for case in cases {
        let (_, problems) = check_pipeline(&case.document.to_string(), &fixtures(), &machine());
        let mut found: Vec<String> = problems.iter().map(line).collect();
        let mut expected: Vec<String> =
            case.problems.iter().map(|one| format!("{} {} {}", one.severity, one.code, one.path)).collect();
        found.sort();
        expected.sort();
        if found != expected {
            different.push(format!("{}\n  found    {found:?}\n  expected {expected:?}", case.title));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
