//! The form of exported Workflows that Argo requires: names, references, amounts.

use std::collections::BTreeSet;

use cubeloom_compiler::export::argo::workflow;
use cubeloom_compiler::{parse_pipeline, plain};
use cubeloom_domain::ids::is_label;
use regex::Regex;
use serde_json::Value;

use crate::argo::PIPELINE;
use crate::support::{repository, templates};

/// The Workflows of the pipeline with all features, and of all examples.
fn workflows() -> Vec<Value> {
    let set = templates(&repository().join("task-templates"));
    let examples = std::fs::read_dir(repository().join("examples")).unwrap().flatten();
    let files = examples.filter_map(|entry| std::fs::read_to_string(entry.path().join("pipeline.yaml")).ok());
    let texts: Vec<String> = files.chain([PIPELINE.to_owned()]).collect();
    assert!(texts.len() > 3);
    let export = |text: &String| workflow(&parse_pipeline(text).unwrap(), &set).unwrap().document;
    texts.iter().map(|text| plain(&export(text)).unwrap()).collect()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn names(items: &[Value]) -> BTreeSet<&str> {
    let found: BTreeSet<&str> = items.iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(found.len(), items.len(), "no name twice: {items:?}");
    found
}

/// The tasks of a Workflow, and its templates.
fn parts(workflow: &Value) -> (&[Value], &[Value]) {
    let all = list(&workflow["spec"], "templates");
    let entry =
        all.iter().find(|one| one["name"] == workflow["spec"]["entrypoint"]).expect("the entry point");
    (list(&entry["dag"], "tasks"), all)
}

#[test]
fn the_head_and_the_names_are_as_kubernetes_wants_them() {
    for workflow in workflows() {
        assert_eq!(
            (&workflow["apiVersion"], &workflow["kind"]),
            (&"argoproj.io/v1alpha1".into(), &"Workflow".into())
        );
        let prefix = workflow["metadata"]["generateName"].as_str().unwrap();
        assert!(is_label(prefix.trim_end_matches('-')), "{prefix}");
        let (tasks, all) = parts(&workflow);
        for name in names(tasks).into_iter().chain(names(all)) {
            assert!(is_label(name), "{name}");
        }
    }
}

#[test]
fn every_task_names_a_template_and_depends_on_tasks_that_there_are() {
    let word = Regex::new(
        r"([a-z0-9-]+)\.(Succeeded|Failed|Errored|Skipped|Omitted|Daemoned|AnySucceeded|AllFailed)",
    )
    .unwrap();
    let mut edges = 0;
    for workflow in workflows() {
        let (tasks, all) = parts(&workflow);
        let (known, templates) = (names(tasks), names(all));
        for task in tasks {
            assert!(templates.contains(task["template"].as_str().unwrap()), "{task}");
            let Some(depends) = task["depends"].as_str() else { continue };
            for found in word.captures_iter(depends) {
                edges += 1;
                assert!(known.contains(&found[1]) && found[1] != task["name"], "{depends}");
            }
            let rest = word.replace_all(depends, "");
            assert!(rest.chars().all(|sign| " ()&|!".contains(sign)), "{depends}");
        }
    }
    assert!(edges > 5, "{edges}");
}

/// Whether the reference of a task or template resolves.
fn leads(reference: &str, workflow: &Value, inputs: &BTreeSet<&str>, loops: bool) -> bool {
    let (tasks, all) = parts(workflow);
    match reference.split('.').collect::<Vec<_>>()[..] {
        ["workflow", "parameters", name] => {
            names(list(&workflow["spec"]["arguments"], "parameters")).contains(name)
        }
        ["workflow", "name" | "uid" | "creationTimestamp"] | ["workflow", "creationTimestamp", _] => true,
        ["inputs", "parameters", name] => inputs.contains(name),
        ["item"] | ["item", _] => loops,
        ["tasks", task, "outputs", "parameters", output] => {
            let template = tasks.iter().find(|one| one["name"] == task).map(|one| &one["template"]);
            let body = all.iter().find(|one| Some(&one["name"]) == template);
            body.is_some_and(|body| names(list(&body["outputs"], "parameters")).contains(output))
        }
        _ => false,
    }
}

#[test]
fn every_parameter_that_is_referred_to_is_there() {
    let reference = Regex::new(r"\{\{([^{}]+)\}\}").unwrap();
    let mut seen = 0;
    for workflow in workflows() {
        let (tasks, all) = parts(&workflow);
        for task in tasks {
            let loops = task.get("withParam").or(task.get("withItems")).is_some();
            for found in reference.captures_iter(&task.to_string()) {
                seen += 1;
                assert!(leads(&found[1], &workflow, &BTreeSet::new(), loops), "{} in {task}", &found[1]);
            }
            let body = all.iter().find(|one| one["name"] == task["template"]).unwrap();
            let (given, taken) =
                (names(list(&task["arguments"], "parameters")), names(list(&body["inputs"], "parameters")));
            assert_eq!(given, taken, "a template gets what it takes: {task}");
        }
        for body in all.iter().filter(|body| body.get("dag").is_none()) {
            let inputs = names(list(&body["inputs"], "parameters"));
            for found in reference.captures_iter(&body.to_string()) {
                seen += 1;
                assert!(leads(&found[1], &workflow, &inputs, false), "{} in {body}", &found[1]);
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn retries_volumes_and_amounts_have_their_forms() {
    let quantity = Regex::new(r"^[0-9]+(\.[0-9]+)?(m|k|Ki|Mi|Gi|Ti)?$").unwrap();
    let span = Regex::new(r"^[0-9]+s$").unwrap();
    let (mut looked, mut held) = (0, 0);
    for workflow in workflows() {
        let (_, all) = parts(&workflow);
        let claims =
            list(&workflow["spec"], "volumeClaimTemplates").iter().map(|one| &one["metadata"]["name"]);
        let claims: Vec<&Value> = claims.collect();
        for body in all.iter().filter(|body| body.get("dag").is_none()) {
            // Its command depends on other tasks, and the report says so.
            if body.get("suspend").is_some() {
                held += 1;
                continue;
            }
            let container = &body["container"];
            assert!(container["image"].is_string() && !list(container, "command").is_empty(), "{body}");
            for group in ["requests", "limits"] {
                for amount in
                    container["resources"][group].as_object().into_iter().flat_map(|all| all.values())
                {
                    looked += 1;
                    assert!(quantity.is_match(amount.as_str().expect("a text")), "{amount}");
                }
            }
            let own = names(list(body, "volumes"));
            for mount in list(container, "volumeMounts") {
                let there = own.contains(mount["name"].as_str().unwrap()) || claims.contains(&&mount["name"]);
                assert!(there && mount["mountPath"].as_str().unwrap().starts_with('/'), "{mount}");
            }
            if let Some(retry) = body.get("retryStrategy") {
                looked += 1;
                assert!(retry["limit"].as_str().unwrap().parse::<u32>().is_ok(), "{retry}");
                assert_eq!(retry["retryPolicy"], "Always");
                for key in ["duration", "cap"] {
                    assert!(span.is_match(retry["backoff"][key].as_str().unwrap()), "{retry}");
                }
            }
        }
    }
    assert!(looked > 10, "{looked}");
    assert_eq!(held, 1, "`final` of the example `search` takes the best trial's values");
}
