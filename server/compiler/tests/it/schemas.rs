//! The published schemas and the decoder know the same keys.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_compiler::{parse_pipeline, parse_template, schema};
use serde_json::{Value, json};

/// The keys of every struct of a schema: name -> keys.
fn structs(schema: &Value, root: &str) -> BTreeMap<String, BTreeSet<String>> {
    let keys = |schema: &Value| -> BTreeSet<String> {
        let own = schema.get("properties").and_then(Value::as_object);
        let variants = schema.get("anyOf").and_then(Value::as_array);
        let variants = variants.into_iter().flatten().filter_map(|one| one.get("properties")?.as_object());
        own.into_iter().chain(variants).flat_map(|map| map.keys().cloned()).collect()
    };
    let definitions = schema["$defs"].as_object().into_iter().flatten();
    let named = definitions.map(|(name, schema)| (name.clone(), keys(schema)));
    named.chain([(root.to_owned(), keys(schema))]).filter(|(_, keys)| !keys.is_empty()).collect()
}

#[test]
fn the_schemas_are_what_was_published() {
    insta::assert_json_snapshot!("pipeline-schema", schema::pipeline());
    insta::assert_json_snapshot!("template-schema", schema::template());
}

/// Every key of every struct, each with a value: the decoder must accept all of them, and keep each.
#[test]
fn every_key_of_the_pipeline_schema_is_read() {
    let text = include_str!("../documents/every-key.json");
    let document: Value = serde_json::from_str(text).unwrap();
    let read = parse_pipeline(text).unwrap();
    assert_eq!(
        serde_json::to_value(&read.pipeline).unwrap(),
        document,
        "nothing is lost between text and type"
    );
    let mut used = used_keys(&document);
    // A schedule has only one of its triggers.
    for schedule in [
        json!({"every": "1h"}),
        json!({"after": {"pipeline": "clean", "project": "team", "state": "ended"}}),
        json!({"file": {"volume": "sets", "path": "dt=%Y-%m-%d/", "every": "1m"}}),
    ] {
        let mut document = document.clone();
        document["schedule"] = schedule;
        let read = parse_pipeline(&document.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&read.pipeline).unwrap(), document);
        used.extend(used_keys(&document));
    }
    for (name, keys) in structs(&schema::pipeline(), "Pipeline") {
        let missing: Vec<_> = keys.difference(&used).collect();
        assert!(missing.is_empty(), "this test's document lacks {missing:?} of {name}");
    }
}

fn used_keys(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| used_keys(value).into_iter().chain([key.clone()])).collect()
        }
        Value::Array(items) => items.iter().flat_map(used_keys).collect(),
        _ => BTreeSet::new(),
    }
}

/// The decoder lists its known keys for an unknown one: they are the schema's.
#[test]
fn the_decoder_knows_no_other_keys_than_the_schema() {
    let known = |text: &str, template: bool, path: &str| -> BTreeSet<String> {
        let problems = if template {
            parse_template(text).unwrap_err()
        } else {
            parse_pipeline(text).map(|_| ()).unwrap_err()
        };
        let problem =
            problems.iter().find(|problem| problem.path == path).unwrap_or_else(|| panic!("{problems:#?}"));
        let (_, list) = problem.message.split_once("known are: ").unwrap();
        list.split(", ").map(str::to_owned).collect()
    };
    let unknown = "zzzzzzzzzzzz: 1";
    let task = |inner: &str| format!("tasks: [{{name: a, template: t, {inner}}}]");
    let pipelines = structs(&schema::pipeline(), "Pipeline");
    for (text, path, name) in [
        (unknown.to_owned(), "", "Pipeline"),
        (format!("schedule: {{{unknown}}}"), "/schedule", "Schedule"),
        (format!("schedule: {{after: {{{unknown}}}}}"), "/schedule/after", "After"),
        (format!("schedule: {{file: {{{unknown}}}}}"), "/schedule/file", "Arrival"),
        (format!("canvas: {{{unknown}}}"), "/canvas", "Canvas"),
        (format!("canvas: {{frames: {{f: {{{unknown}}}}}}}"), "/canvas/frames/f", "Frame"),
        (format!("canvas: {{notes: {{n: {{{unknown}}}}}}}"), "/canvas/notes/n", "Note"),
        (format!("placement: {{{unknown}}}"), "/placement", "Placement"),
        (format!("placement: {{tolerations: [{{{unknown}}}]}}"), "/placement/tolerations/0", "Toleration"),
        (format!("parameters: {{x: {{{unknown}}}}}"), "/parameters/x", "Parameter"),
        (task(unknown), "/tasks/0", "Task"),
        (task(&format!("resources: {{{unknown}}}")), "/tasks/0/resources", "ResourceRequest"),
        (task(&format!("resources: {{gpu: {{{unknown}}}}}")), "/tasks/0/resources/gpu", "GpuRequest"),
        (task(&format!("retry: {{{unknown}}}")), "/tasks/0/retry", "Retry"),
        (task(&format!("retry: {{backoff: {{{unknown}}}}}")), "/tasks/0/retry/backoff", "Backoff"),
        (task(&format!("hang: {{{unknown}}}")), "/tasks/0/hang", "HangRule"),
        (task(&format!("preflight: {{{unknown}}}")), "/tasks/0/preflight", "PreflightRule"),
        (task(&format!("for_each: {{{unknown}}}")), "/tasks/0/for_each", "ForEach"),
        (task(&format!("search: {{{unknown}}}")), "/tasks/0/search", "Search"),
        (task(&format!("search: {{over: {{x: {{{unknown}}}}}}}")), "/tasks/0/search/over/x", "Range"),
        (task(&format!("search: {{early_stop: {{{unknown}}}}}")), "/tasks/0/search/early_stop", "EarlyStop"),
        (task(&format!("elastic: {{{unknown}}}")), "/tasks/0/elastic", "ElasticRange"),
        (task(&format!("secrets: [{{{unknown}}}]")), "/tasks/0/secrets/0", "SecretUse"),
        (task(&format!("volumes: [{{{unknown}}}]")), "/tasks/0/volumes/0", "VolumeUse"),
        (task(&format!("cache: {{{unknown}}}")), "/tasks/0/cache", "Cache"),
    ] {
        assert_eq!(known(&text, false, &format!("{path}/zzzzzzzzzzzz")), pipelines[name], "{name}");
    }
    let templates = structs(&schema::template(), "TaskTemplate");
    for (text, path, name) in [
        (unknown.to_owned(), "", "TaskTemplate"),
        (format!("label: {{{unknown}}}"), "/label", "Localized"),
        (format!("local: {{{unknown}}}"), "/local", "LocalRuntime"),
        (format!("local: {{python: {{{unknown}}}}}"), "/local/python", "PythonRuntime"),
        (format!("roles: [{{{unknown}}}]"), "/roles/0", "RoleTemplate"),
        (format!("checks: [{{{unknown}}}]"), "/checks/0", "CheckTemplate"),
        (format!("elastic: {{{unknown}}}"), "/elastic", "ElasticTemplate"),
        (format!("outputs: [{{{unknown}}}]"), "/outputs/0", "OutputTemplate"),
    ] {
        assert_eq!(known(&text, true, &format!("{path}/zzzzzzzzzzzz")), templates[name], "{name}");
    }
    assert_eq!(pipelines.len(), 25, "a new struct needs a line above: {:?}", pipelines.keys());
    assert_eq!(templates.len(), 8, "a new struct needs a line above: {:?}", templates.keys());
}
