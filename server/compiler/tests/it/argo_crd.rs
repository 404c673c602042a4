//! Checks exported Workflows against Argo's own CRD if a folder of CRDs is configured, else against a reduced
//! schema of ours. `argo_form` checks rules that no schema has.

use cubeloom_compiler::export::argo::workflow;
use cubeloom_compiler::{parse_pipeline, plain};
use cubeloom_domain::template::TemplateSet;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::argo::PIPELINE;
use crate::crds::{Schemas, faults, schemas};
use crate::kubernetes::{self, variety};
use crate::repository::examples;
use crate::support::{repository, templates};

/// The part of Argo's CRD that our Workflows use.
const REDUCED: &str = include_str!("argo_schema.yaml");

fn workflow_key() -> (String, String) {
    ("argoproj.io/v1alpha1".into(), "Workflow".into())
}

/// Argo's own CRD if available, else ours.
fn argo() -> Schemas {
    let ours = || Schemas::from([(workflow_key(), plain(REDUCED).unwrap())]);
    schemas(&["argoproj.io_workflows"]).unwrap_or_else(ours)
}

/// The CRD's complaints about an export, including the rules that it states as expressions.
fn refused(schemas: &Schemas, text: &str, templates: &TemplateSet) -> Vec<String> {
    let document = parse_pipeline(text).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
    let made = workflow(&document, templates).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
    let made = plain(&made.document).unwrap();
    let mut found = faults(&schemas[&workflow_key()], &made);
    let bodies = made["spec"]["templates"].as_array().unwrap();
    for body in bodies {
        let is = |kind: &&str| body.get(*kind).is_some();
        if ["container", "script", "dag", "steps", "resource", "suspend"]
            .iter()
            .filter(|kind| is(kind))
            .count()
            != 1
        {
            found.push(format!("{body} is of no kind, or of two"));
        }
        for task in
            body["dag"]["tasks"].as_array().into_iter().flatten().filter(|task| task.get("depends").is_some())
        {
            if task["name"].as_str().unwrap().starts_with(|first: char| first.is_ascii_digit()) {
                found.push(format!("{task} begins with a digit"));
            }
        }
        // The schema leaves this to the pod: Kubernetes requires it.
        if body.get("container").is_some_and(|container| !container["command"].is_array()) {
            found.push(format!("{body} runs nothing"));
        }
    }
    found
}

#[test]
fn every_example_and_everything_at_once_fit_the_crd() {
    let schemas = argo();
    let set = templates(&repository().join("task-templates"));
    let texts = examples().into_iter().map(|path| std::fs::read_to_string(path).unwrap());
    for text in texts.chain([PIPELINE.to_owned()]) {
        assert_eq!(refused(&schemas, &text, &set), [""; 0], "{text}");
    }
}

/// Each of our keys is one of Argo's, with the same type, and is required if Argo requires it.
fn beyond(ours: &Value, argos: &Value, path: &str, found: &mut Vec<String>) {
    for key in ["type", "enum", "minimum", "minItems", "maxItems", "x-kubernetes-int-or-string"] {
        if ours.get(key) != argos.get(key) {
            found.push(format!("{path}: {key} is {:?}, and Argo's {:?}", ours.get(key), argos.get(key)));
        }
    }
    let demanded = argos["required"].as_array().into_iter().flatten();
    for name in demanded.filter(|name| !ours["required"].as_array().is_some_and(|own| own.contains(name))) {
        found.push(format!("{path}: Argo demands {name}"));
    }
    for (name, schema) in ours["properties"].as_object().into_iter().flatten() {
        beyond(schema, &argos["properties"][name], &format!("{path}/{name}"), found);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(schema) = ours.get(key) {
            beyond(schema, &argos[key], &format!("{path}/{key}"), found);
        }
    }
}

#[test]
fn our_reduced_schema_says_what_the_crd_says() {
    let Some(schemas) = schemas(&["argoproj.io_workflows"]) else { return };
    let mut found = Vec::new();
    beyond(&plain(REDUCED).unwrap(), &schemas[&workflow_key()], "", &mut found);
    assert_eq!(found, [""; 0]);
}

#[test]
fn our_reduced_schema_refuses_what_the_crd_refuses() {
    let schema = plain(REDUCED).unwrap();
    let container = |more: &str| format!("{{name: a, container: {{image: i, command: [a]{more}}}}}");
    let workflow = |template: &str| {
        let text = format!(
            "{{apiVersion: v, kind: Workflow, metadata: {{}}, spec: {{entrypoint: main, templates: [{template}]}}}}"
        );
        faults(&schema, &plain(&text).unwrap())
    };
    assert_eq!(workflow(&container("")), [""; 0]);
    for wrong in [
        container(", argv: [b]"),
        container(", env: [{name: A, value: 1}]"),
        container(", volumeMounts: [{name: a}]"),
        "{name: a, dag: {tasks: []}}".into(),
        "{name: a, retryStrategy: {retryPolicy: Never}}".into(),
        "{name: a, activeDeadlineSeconds: [1]}".into(),
    ] {
        assert_eq!(workflow(&wrong).len(), 1, "{wrong}: {:?}", workflow(&wrong));
    }
}

const NAMES: [&str; 6] = ["a", "2nd", "main", "with-dash", "0", "x9"];

const TRIGGERS: [&str; 7] = [
    "all_success",
    "all_done",
    "all_failed",
    "one_failed",
    "one_success",
    "none_failed",
    "none_failed_min_one_success",
];

/// Options of tasks besides those of `variety`; at most one of each row.
const OPTIONS: [&[&str]; 4] = [
    &[
        "for_each: {list: [a, 1, true, {b: [c]}]}",
        "for_each: {matrix: {rate: [0.1, 2], depth: [x]}, parallelism: 2}",
    ],
    &[
        "retry: {attempts: 3}",
        "retry: {attempts: 2, backoff: {initial: 250ms, factor: 1.5, max: 10m}, on: [error]}",
    ],
    &["when: \"params.rounds > 1 and params.day != 'x'\"", "when: \"{{ params.loss == 'squared' }}\""],
    &["cache: true", "priority: 7", "description: What it does"],
];

const SETTINGS: [&[&str]; 3] = [
    &["parallelism: 3", "max_active_runs: 1"],
    &["priority: -5"],
    &["description: \"Says: a\\nand b\"", "schedule: {cron: '0 5 * * *', timezone: UTC}"],
];

fn some(rows: &[&'static [&'static str]]) -> impl Strategy<Value = Vec<&'static str>> + use<> {
    subsequence(rows.to_vec(), 0..=rows.len())
        .prop_flat_map(|rows| rows.into_iter().map(|row| select(row.to_vec())).collect::<Vec<_>>())
}

/// Pipelines whose tasks depend on some earlier ones.
pub fn pipeline() -> impl Strategy<Value = String> {
    let task = (variety::task(), some(&OPTIONS), any::<u8>(), select(TRIGGERS.to_vec()));
    let tasks = proptest::collection::vec(task, 1..=NAMES.len());
    (tasks, subsequence(NAMES.to_vec(), NAMES.len()).prop_shuffle(), some(&SETTINGS)).prop_map(|(tasks, names, settings)| {
        let mut text = String::from("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\n");
        for line in settings {
            text += &format!("{line}\n");
        }
        text += "parameters: {rounds: {type: integer, default: 2}, day: {type: date}, loss: {type: string, enum: [squared, absolute]}}\n";
        text += "tasks:\n";
        for (at, (what, options, needs, trigger)) in tasks.into_iter().enumerate() {
            let needs: Vec<_> = (0..at).filter(|bit| needs >> bit & 1 == 1).map(|bit| names[bit]).collect();
            let options = options.iter().map(|option| format!(", {option}")).collect::<String>();
            let trigger = if needs.is_empty() { String::new() } else { format!(", trigger: {trigger}") };
            text += &format!("  - {{name: \"{}\", needs: {needs:?}{trigger}, {what}{options}}}\n", names[at]);
        }
        text
    })
}

#[test]
fn pipelines_of_every_kind_fit_the_crd() {
    let schemas = argo();
    let set = kubernetes::templates();
    let all = TestRunner::default().run(&pipeline(), |text| {
        let found = refused(&schemas, &text, &set);
        prop_assert!(found.is_empty(), "{text}: {found:#?}");
        Ok(())
    });
    all.unwrap();
}

#[test]
fn more_tasks_than_argo_takes_are_told_about() {
    let tasks = |count: usize| -> String {
        let tasks = (0..count)
            .map(|at| format!("  - {{name: t{at}, template: command, arguments: {{command: [a]}}}}\n"));
        format!("apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n{}", tasks.collect::<String>())
    };
    let set = templates(&repository().join("task-templates"));
    let told = |count: usize| {
        let made = workflow(&parse_pipeline(&tasks(count)).unwrap(), &set).unwrap();
        made.report.iter().any(|sentence| sentence.contains("Argo accepts at most 200"))
    };
    assert!(!told(199));
    assert!(told(200));
    let schemas = argo();
    assert_eq!(refused(&schemas, &tasks(199), &set), [""; 0]);
    assert_ne!(refused(&schemas, &tasks(200), &set), [""; 0]);
}

#[test]
fn a_task_whose_name_begins_with_a_digit_has_another_one_in_the_dag() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {name: 2nd, template: command, outputs: [said], \
                arguments: {command: [a]}}\n  - {name: b, needs: [2nd], template: command, \
                arguments: {command: [\"{{ tasks['2nd'].outputs.said }}\"]}, when: \"tasks['2nd'].outputs.said == 'x'\"}\n";
    let set = templates(&repository().join("task-templates"));
    let made = plain(&workflow(&parse_pipeline(text).unwrap(), &set).unwrap().document).unwrap();
    let tasks = &made["spec"]["templates"][0]["dag"]["tasks"];
    let of = |key: &str| tasks[1][key].as_str().map(str::to_owned);
    assert_eq!((tasks[0]["name"].as_str(), tasks[0]["template"].as_str()), (Some("T-2nd"), Some("2nd")));
    assert_eq!(of("depends").as_deref(), Some("T-2nd.Succeeded"));
    assert_eq!(of("when").as_deref(), Some("'{{tasks.T-2nd.outputs.parameters.said}}' == 'x'"));
    let given: &Value = &tasks[1]["arguments"]["parameters"][0]["value"];
    assert_eq!(given, "{{tasks.T-2nd.outputs.parameters.said}}");
}
