//! The OpenAPI document: the program's output, docs/openapi.json, and whether each endpoint is documented.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

use super::support::{Server, Who};
use crate::texts::files;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");

fn document() -> Value {
    serde_json::from_str(&cubeloom_web::api::document::text()).unwrap()
}

/// Method, path and description of every operation.
fn operations(document: &Value) -> Vec<(String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let item = item.as_object().unwrap().clone();
        let path = path.clone();
        item.into_iter()
            .map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
    };
    paths.iter().flat_map(of_path).collect()
}

#[test]
fn the_kept_document_is_the_present_one() {
    let kept = fs::read_to_string(KEPT).unwrap_or_default();
    let present = cubeloom_web::api::document::text();
    let differs = kept.lines().zip(present.lines()).position(|(kept, present)| kept != present);
    assert!(
        kept.trim_end() == present.trim_end(),
        "docs/openapi.json does not match the program, from line {} on: run `make openapi`",
        differs.unwrap_or(kept.lines().count()) + 1
    );
}

#[test]
fn the_server_serves_it() {
    let server = Server::start();
    let served = server.as_(Who::Anonymous).get("/openapi.json").expect(200);
    assert_eq!(served.json(), document());
    assert_eq!(served.json()["openapi"], "3.1.0");
}

#[test]
fn every_endpoint_says_what_it_does_and_how_it_refuses() {
    let document = document();
    let mut missing = Vec::new();
    let mut names = BTreeSet::new();
    for (operation, said) in operations(&document) {
        let mut miss = |what: &str| missing.push(format!("{operation}: {what}"));
        if said["summary"].as_str().is_none_or(str::is_empty) {
            miss("no summary");
        }
        if said["tags"].as_array().is_none_or(Vec::is_empty) {
            miss("no tag");
        }
        if !said["operationId"].as_str().is_some_and(|name| names.insert(name.to_owned())) {
            miss("no operation id of its own");
        }
        let answers = said["responses"].as_object().unwrap();
        // Status 101 is the success of a WebSocket upgrade.
        let fine = |status: &str| status == "101" || status.starts_with(['2', '3']);
        if !answers.keys().any(|status| fine(status)) {
            miss("no answer for success");
        }
        for (status, answer) in answers.iter().filter(|(status, _)| !fine(status)) {
            let schema = &answer["content"]["application/problem+json"]["schema"]["$ref"];
            if schema != "#/components/schemas/ProblemDocument" {
                miss(&format!("the answer {status} is no problem document"));
            }
        }
        if !answers.contains_key("default") {
            miss("no answer for refusals");
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn nothing_in_it_refers_to_what_is_not_there() {
    let document = document();
    let mut references = BTreeSet::new();
    collect(&document, &mut references);
    assert!(!references.is_empty());
    let missing: Vec<_> = references.iter().filter(|name| document.pointer(&name[1..]).is_none()).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

fn collect(value: &Value, references: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(text) if name == "$ref" => {
                        references.insert(text.to_owned());
                    }
                    _ => collect(value, references),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, references)),
        _ => {}
    }
}

#[test]
fn no_two_shapes_have_one_name() {
    let pattern = r"#\[derive\([^)]*ToSchema[^)]*\)\]\s*((?:#\[[^\n]*\]\s*|///[^\n]*\s*)*)pub(?:\([a-z]+\))? (?:struct|enum) (\w+)";
    let shape = Regex::new(pattern).unwrap();
    let other_name = Regex::new(r"schema\(as = (\w+)").unwrap();
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/web/src"), &["rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        for found in shape.captures_iter(&text) {
            let name = other_name.captures(&found[1]).map_or(found[2].to_owned(), |told| told[1].to_owned());
            places.entry(name).or_default().push(path.display().to_string());
        }
    }
    assert!(places.len() > 20, "the scan finds shapes: {places:?}");
    let twice: Vec<_> = places.iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(twice.is_empty(), "one would stand for the other; write #[schema(as = OtherName)]: {twice:#?}");
}
