//! Every template of this repository refuses wrong arguments before anything starts, and names the field.

use std::collections::BTreeMap;
use std::fs;

use cubeloom_compiler::{check_pipeline, plain};
use cubeloom_domain::executor::{Facts, GpuFacts, NodeFacts};
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Problem, Severity};
use regex::Regex;
use serde_json::{Map, Value, json};

use crate::support::{machine, repository, templates, try_plan};

/// A task's arguments with one problem.
struct Wrong {
    /// The wrong argument.
    argument: String,
    /// The problem, for messages.
    how: String,
    arguments: Map<String, Value>,
}

/// Wrong values for an argument, one of each type.
fn anything() -> [Value; 6] {
    [json!(true), json!("text"), json!(-1.5), json!([{"a": [1]}]), json!({"a": {"b": [1]}}), json!(null)]
}

/// Values that a schema rejects, with the reasons.
fn wrong_values(schema: &Value, in_list: bool) -> BTreeMap<&'static str, Value> {
    let mut wrong = BTreeMap::new();
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |value: &Value, name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" | "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    if !types.is_empty() {
        // In a list, numbers and booleans become text if text is accepted.
        let becomes_text =
            |value: &Value| in_list && types.contains(&"string") && (value.is_number() || value.is_boolean());
        let mut others = anything().into_iter().filter(|value| !becomes_text(value));
        let other = others.find(|value| !types.iter().any(|name| is(value, name)));
        wrong.extend(other.map(|value| ("another type", value)));
    }
    if schema["enum"].is_array() {
        wrong.insert("none of the choices", json!("no-such-choice"));
    }
    let number = |name: &str| schema[name].as_f64();
    wrong.extend(number("minimum").map(|bound| ("too small", json!(bound - 1.0))));
    wrong.extend(number("exclusiveMinimum").map(|bound| ("too small", json!(bound))));
    wrong.extend(number("maximum").map(|bound| ("too large", json!(bound + 1.0))));
    wrong.extend(number("exclusiveMaximum").map(|bound| ("too large", json!(bound))));
    if schema["minLength"].as_u64().is_some_and(|length| length > 0) {
        wrong.insert("empty", json!(""));
    }
    if schema["format"] == "run-path" {
        wrong.insert("outside", json!("a/../../b"));
        wrong.insert("absolute", json!("/b"));
    }
    if let Some(pattern) = schema["pattern"].as_str() {
        let pattern = Regex::new(pattern).unwrap();
        let texts = ["", " ", "\n", "no such", "%%%", "a\nb", "\u{1}", "-", "/", "a://b"];
        let other = texts.into_iter().find(|text| !pattern.is_match(text));
        wrong.insert("another form", json!(other.unwrap_or_else(|| panic!("everything fits {pattern}"))));
    }
    wrong
}

/// The ways in which a task's arguments can violate its template's schema.
fn mistakes(schema: &Value, right: &Map<String, Value>) -> Vec<Wrong> {
    let mut mistakes = Vec::new();
    let mut add = |argument: &str, how: &str, value: Option<Value>| {
        let mut arguments = right.clone();
        arguments.remove(argument);
        arguments.extend(value.map(|value| (argument.to_owned(), value)));
        mistakes.push(Wrong { argument: argument.to_owned(), how: how.to_owned(), arguments });
    };
    add("no_such_argument", "unknown", Some(json!(1)));
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        for (how, value) in wrong_values(property, false) {
            add(name, how, Some(value));
        }
        if property["items"].is_object() {
            for (how, value) in wrong_values(&property["items"], true) {
                add(name, &format!("an element: {how}"), Some(json!([value])));
            }
        }
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        add(name, "missing", None);
    }
    mistakes
}

fn example(name: &str) -> Value {
    plain(&fs::read_to_string(repository().join(format!("task-templates/{name}/example.yaml"))).unwrap())
        .unwrap()
}

fn errors(document: &Value, templates: &TemplateSet) -> Vec<Problem> {
    let (_, found) = check_pipeline(&document.to_string(), templates, &Facts::default());
    found.into_iter().filter(|problem| problem.severity == Severity::Error).collect()
}

#[test]
fn every_template_names_the_argument_that_is_wrong() {
    let templates = templates(&repository().join("task-templates"));
    let mut tried = 0;
    for (name, versions) in &templates {
        let schema = &versions.values().last().unwrap().template.parameters;
        let mut document = example(name);
        let tasks = document["tasks"].as_array().unwrap();
        let at = tasks.iter().position(|task| task["template"] == name.as_str());
        let at = at.unwrap_or_else(|| panic!("the example of {name} has no task of it"));
        let right = tasks[at]["arguments"].as_object().cloned().unwrap_or_default();
        for wrong in mistakes(schema, &right) {
            document["tasks"][at]["arguments"] = Value::Object(wrong.arguments);
            let found = errors(&document, &templates);
            let place = format!("/tasks/{at}/arguments");
            let named = found.iter().any(|problem| {
                let below = problem.path.strip_prefix(&place);
                let is_its_own = below.and_then(|path| path.strip_prefix(&format!("/{}", wrong.argument)));
                is_its_own.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
                    || below == Some("") && problem.message.contains(&format!("`{}`", wrong.argument))
            });
            assert!(named, "{name}, {}: {}: {found:#?}", wrong.argument, wrong.how);
            tried += 1;
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn what_arguments_must_be_together_is_said_at_one_of_them() {
    let templates = templates(&repository().join("task-templates"));
    let megatron = json!({"script": "a.py", "gpus": 8, "global_batch": 16});
    let with = |base: &Value, more: Value| {
        let mut all = base.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    let pull = json!({"from": "hdfs://n:1/%Y-%m-%d/", "to": "z/", "first": "2026-01-02"});
    for (template, arguments, cards, argument) in [
        ("megatron", megatron.clone(), 4, "gpus"),
        ("deepspeed", json!({"script": "a.py", "gpus": 16}), 4, "gpus"),
        ("deepspeed", json!({"script": "a.py", "gpus": 16}), 0, "gpus"),
        ("megatron", with(&megatron, json!({"gpus": 16, "tensor": 16})), 0, "gpus"),
        ("megatron", with(&megatron, json!({"args": ["--tensor-model-parallel-size=4"]})), 8, "args"),
        ("transfer", json!({"from": "a", "to": "http://h/x"}), 0, "to"),
        ("transfer", json!({"from": "a", "to": "../x"}), 0, "to"),
        ("transfer", json!({"from": "ftp://h/x", "to": "x"}), 0, "from"),
        ("transfer", json!({"from": "a", "to": "x", "sha256": "abc"}), 0, "sha256"),
        ("hdfs-pull", with(&pull, json!({"first": "2026-13-45"})), 0, "first"),
        ("hdfs-pull", with(&pull, json!({"last": "2026-01-01"})), 0, "last"),
        ("hdfs-pull", with(&pull, json!({"from": "hdfs://n:1/x/"})), 0, "from"),
        ("hdfs-pull", with(&pull, json!({"to": "z"})), 0, "to"),
        ("command", json!({"command": [""]}), 0, "command"),
        ("pytorch", json!({"script": "a.py", "elastic": {"min": 4, "max": 2}}), 0, "elastic"),
        ("indexed", json!({"script": "a.py", "workers": 1_000_000_000_000_u64}), 0, "workers"),
    ] {
        let resources = if cards > 0 { json!({"gpu": {"count": cards}}) } else { json!({}) };
        let task = json!({"name": "a", "template": template, "arguments": arguments, "resources": resources});
        let document = json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "tasks": [task]});
        let found = errors(&document, &templates);
        let places: Vec<&str> = found.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(places, [format!("/tasks/0/arguments/{argument}")], "{template}: {document}: {found:#?}");
    }
}

/// Tensor-parallel ranks share the GPUs of one node, so there are at most as many as the largest node has.
#[test]
fn a_tensor_parallel_group_never_crosses_nodes() {
    let templates = templates(&repository().join("task-templates"));
    let mut facts = Facts { kind: "kubernetes".into(), ..machine() };
    let card = |number: usize| GpuFacts { uuid: format!("GPU-{number}"), ..GpuFacts::default() };
    facts.nodes[0].gpus = (0..8).map(card).collect();
    facts.nodes.push(NodeFacts { name: "there".into(), ..facts.nodes[0].clone() });
    let said = |workers: u32, gpus: u32| {
        let text = format!(
            "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {{name: a, template: megatron, arguments: {{script: a.py, \
             workers: {workers}, gpus: {gpus}, tensor: {gpus}, global_batch: 16}}, resources: {{gpu: {{count: {gpus}}}}}}}\n"
        );
        match try_plan(&text, Map::new(), &templates, &facts) {
            Ok(_) => String::new(),
            Err(found) => found.iter().map(|one| format!("{}: {}", one.path, one.message)).collect(),
        }
    };
    assert_eq!(said(2, 8), "");
    let refused = said(1, 16);
    assert!(
        refused.contains("can never run here") && refused.contains("the most on one node: 8"),
        "{refused}"
    );
}

#[test]
fn the_pages_of_templates_show_tasks_that_are_right() {
    let templates = templates(&repository().join("task-templates"));
    let (mut seen, mut wrong) = (0, Vec::new());
    for name in templates.keys() {
        let page = fs::read_to_string(repository().join(format!("task-templates/{name}/README.md"))).unwrap();
        for block in page.split("```yaml\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let Some(mut document) = plain(block) else {
                wrong.push(format!("{name}: this is no YAML: {block}"));
                continue;
            };
            // The page also shows parts of a task, and files that a task reads.
            if document[0]["template"].is_string() {
                document =
                    json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "tasks": document});
            } else if !document["tasks"].is_array() {
                continue;
            }
            // Parts that the page does not show are elsewhere in the pipeline.
            let elsewhere = |problem: &Problem| {
                problem.message.starts_with("there is no task `")
                    || problem.message.contains("has no parameter")
            };
            let found = errors(&document, &templates).into_iter().filter(|problem| !elsewhere(problem));
            wrong.extend(found.map(|problem| format!("{name}: {problem}")));
            seen += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen >= templates.len(), "{seen}");
}
