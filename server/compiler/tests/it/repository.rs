//! What this repository ships compiles: every template lints clean, every example plans without a warning.

use std::path::{Path, PathBuf};

use cubeloom_compiler::{Outputs, check_pipeline, check_template, preview};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::{JsonMap, Severity, TaskIx};
use serde_json::json;

use crate::support::{repository, templates, try_plan};

#[test]
fn every_template_lints_clean() {
    for (name, versions) in templates(&repository().join("task-templates")) {
        for installed in versions.values() {
            let problems = check_template(&installed.template);
            assert!(problems.is_empty(), "{name}: {problems:#?}");
            assert!(
                repository().join("task-templates").join(&name).is_dir(),
                "{name} lies in a folder of its name"
            );
        }
    }
}

#[test]
fn every_example_plans() {
    let templates = templates(&repository().join("task-templates"));
    let examples = examples();
    assert!(examples.len() >= 3, "{examples:?}");
    for path in examples {
        let text = std::fs::read_to_string(&path).unwrap();
        let planned = try_plan(&text, JsonMap::new(), &templates, &Facts::default())
            .unwrap_or_else(|problems| panic!("{}: {problems:#?}", path.display()));
        assert!(planned.warnings.is_empty(), "{}: {:#?}", path.display(), planned.warnings);
    }
}

#[test]
fn templates_take_a_script_or_a_command() {
    let templates = templates(&repository().join("task-templates"));
    for name in ["indexed", "mpi", "pytorch"] {
        for (arguments, said) in [
            (json!({}), "must fit one of: `script`, `command`"),
            (json!({"script": null, "command": []}), "must fit one of: `script`, `command`"),
            (json!({"script": "a.py", "command": ["b"]}), "give only one of: `script`, `command`"),
        ] {
            let task = json!({"name": "a", "template": name, "arguments": arguments});
            let document =
                json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "tasks": [task]});
            let (_, problems) = check_pipeline(&document.to_string(), &templates, &Facts::default());
            let found: Vec<(&str, &str)> =
                problems.iter().map(|problem| (problem.path.as_str(), problem.message.as_str())).collect();
            assert_eq!(found, [("/tasks/0/arguments", said)], "{name}: {arguments}");
        }
    }
}

/// Every `pipeline.yaml` of an example and every `example.yaml` of a template.
pub fn examples() -> Vec<PathBuf> {
    let below = |folder: &str, file: &str| -> Vec<PathBuf> {
        let folders = std::fs::read_dir(repository().join(folder)).unwrap();
        folders.map(|entry| entry.unwrap().path().join(file)).filter(|path| Path::exists(path)).collect()
    };
    let mut paths = below("examples", "pipeline.yaml");
    paths.extend(below("task-templates", "example.yaml"));
    paths.sort();
    paths
}

#[test]
fn a_task_that_a_person_does_has_no_workers_and_submits_nothing() {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - name: ask\n    template: approval\n    \
                resources: {cpu: 2}\n    retry: {attempts: 3}\n    arguments: {message: 'Go on?', approvers: [ada]}\n";
    let templates = templates(&repository().join("task-templates"));
    let planned = try_plan(text, JsonMap::new(), &templates, &Facts::default()).unwrap();
    let task = &planned.plan.tasks[0];
    assert!(task.asks && task.roles.is_empty(), "{task:?}");
    let warned: Vec<&str> = planned.warnings.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(warned, ["/tasks/0/resources", "/tasks/0/retry"]);
    let question = cubeloom_compiler::question(&planned.plan, TaskIx(0), None, &Outputs::new()).unwrap();
    assert_eq!((question.message.as_str(), question.approvers), ("Go on?", vec!["ada".to_owned()]));
    for facts in [None, Some(KubernetesFacts::default())] {
        let said = match facts {
            None => json!(preview::all(&planned.plan)),
            Some(facts) => json!(preview::on_kubernetes(&planned.plan, &facts).unwrap()),
        };
        assert_eq!(said[0]["jobs"], "a person decides: nothing is submitted");
    }
}

/// A task of the template `container`, with this image.
fn in_container(image: &str) -> String {
    json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "parameters": {"tag": {"type": "string", "default": "12"}}, "tasks": [
        {"name": "say", "template": "command", "arguments": {"command": ["true"]}},
        {"name": "own", "template": "container", "needs": ["say"],
            "arguments": {"image": image, "command": ["true"]}},
    ]})
    .to_string()
}

#[test]
fn a_container_has_the_image_that_its_task_names() {
    let templates = templates(&repository().join("task-templates"));
    let facts = Facts { registries: vec!["registry.example.org".into()], ..Facts::default() };
    let planned = try_plan(
        &in_container("registry.example.org/team/tools:{{ params.tag }}"),
        JsonMap::new(),
        &templates,
        &facts,
    )
    .unwrap();
    let job =
        |at| cubeloom_compiler::job(&planned.plan, TaskIx(at), 0, None, 1, None, &Outputs::new()).unwrap();
    assert_eq!(job(1).image.as_deref(), Some("registry.example.org/team/tools:12"));
    assert_eq!(
        job(1).registry.as_deref(),
        Some("registry.example.org"),
        "it is pulled with the project's account"
    );
    assert_ne!(job(0).image, job(1).image);
    assert_eq!(job(0).registry, None);
}

#[test]
fn an_image_that_cannot_be_is_refused_before_a_run() {
    let templates = templates(&repository().join("task-templates"));
    let told = |image: &str, facts: &Facts| -> Vec<(String, String)> {
        let (_, problems) = check_pipeline(&in_container(image), &templates, facts);
        problems
            .into_iter()
            .filter(|problem| problem.severity == Severity::Error)
            .map(|one| (one.path, one.message))
            .collect()
    };
    assert_eq!(told("debian:12@sha256:0123", &Facts::default())[0].0, "/tasks/1/arguments/image");
    assert_eq!(told("", &Facts::default())[0].0, "/tasks/1/arguments/image");
    let late = told("{{ tasks.say.outputs.image }}", &Facts::default());
    assert_eq!(late[0].0, "/tasks/1/arguments", "{late:?}");
    assert!(late[0].1.starts_with("the image must be known when the run starts"), "{late:?}");
    let here = Facts { kind: "local".into(), ..Facts::default() };
    let refused = told("debian:12", &here);
    assert_eq!(refused[0].0, "/tasks/1/template", "{refused:?}");
    assert!(refused[0].1.contains("name a cluster of Kubernetes"), "{refused:?}");
}
