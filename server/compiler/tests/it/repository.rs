//! Everything in this repository compiles: every template passes the lint, every example plans without a
//! warning.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cubeloom_compiler::{Outputs, check_pipeline, check_template, preview};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::{JsonMap, Problem, Severity, TaskIx};
use serde_json::{Value, json};

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
            (json!({}), "write one of: `script`, `command`"),
            (json!({"script": null, "command": []}), "write one of: `script`, `command`"),
            (json!({"script": "a.py", "command": ["b"]}), "write only one of: `script`, `command`"),
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

/// Templates with arguments, one of them wrong: its name and the message about it.
fn wrong_arguments() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    let partition = |first: &str, last: &str, from: &str| json!({"from": from, "to": "hdfs://a/b/", "first": first, "last": last});
    let program = |more: Value| {
        let mut arguments = json!({"script": "a.py"});
        arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        arguments
    };
    let video = |make: &str, more: &str| json!({"make": make, "from": "a", "to": "b", more: 8000});
    let queue = |more: Value| {
        program(json!({"url": "amqp://b", "queue": "q", "output_queue": "o", "rejected": more}))
    };
    let kafka = |more: Value| {
        let mut arguments =
            program(json!({"bootstrap_servers": "b:9092", "topics": ["t"], "output_topic": "o"}));
        arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        arguments
    };
    vec![
        (
            "approval",
            json!({"message": "a", "approvers": ["nobody"]}),
            "approvers/0",
            "no user `nobody` can see",
        ),
        ("approval", json!({"message": "a", "on_rejection": "maybe"}), "on_rejection", "is not one of"),
        ("command", json!({"command": []}), "command", "at least 1"),
        ("container", json!({"image": "a b", "command": ["a"]}), "image", "pattern"),
        ("deepspeed", program(json!({"args": ["--deepspeed_config", "x"]})), "args", "remove `--deepspeed`"),
        ("download", json!({"to": "../a", "urls": ["http://a/b"]}), "to", "not below the run's folder"),
        (
            "hdfs-pull",
            partition("2026-02-30", "2026-03-01", "hdfs://a/%Y"),
            "first",
            "2026-02-30 is not a valid date",
        ),
        ("hdfs-pull", partition("2026-02-01", "2026-02-02", "hdfs://a/%Q"), "from", "%Y, %m, %d"),
        ("hdfs-push", partition("2026-02-02", "2026-02-01", "a/%Y"), "last", "is before 2026-02-02"),
        ("horovod", program(json!({"workers": 0})), "workers", "at least 1"),
        ("http", json!({"url": "https://a:b@c/d"}), "url", "must not contain a user or password"),
        ("http", json!({"url": "ftp://a"}), "url", "pattern"),
        ("indexed", program(json!({"lease": 10})), "lease", "needs `dispatch: dynamic`"),
        ("indexed", program(json!({"attempts": 10})), "attempts", "needs `shards`"),
        ("indexed", program(json!({"min_workers": 2})), "min_workers", "needs `dispatch: dynamic`"),
        ("http", json!({"url": "https://a:b@c?d"}), "url", "must not contain a user or password"),
        ("jax", program(json!({"workers": "two"})), "workers", "whole number"),
        ("kafka", kafka(json!({"rejected": "o"})), "rejected", "mix failures with results"),
        ("kafka", kafka(json!({"rejected": "t"})), "rejected", "consumed without end"),
        ("kafka", kafka(json!({"ca": "ca.pem"})), "ca", "needs TLS"),
        ("kafka", kafka(json!({"until": "noon"})), "until", "pattern"),
        ("kaldi", json!({"script": "a.sh", "commands_per_worker": 0}), "commands_per_worker", "at least 1"),
        (
            "megatron",
            program(json!({"gpus": 8, "tensor": 3, "global_batch": 512})),
            "tensor",
            "does not divide the 8",
        ),
        ("model-convert", json!({"model": "a", "output": "b.onnx", "rows": 0}), "rows", "at least 1"),
        (
            "model-evaluate",
            json!({"model": "a", "data": "b", "target": "c", "task": "d"}),
            "task",
            "is not one of",
        ),
        (
            "model-predict",
            json!({"model": "a", "data": "b", "output": "../../x"}),
            "output",
            "not below the run's folder",
        ),
        ("model-register", json!({"model": "A B", "path": "c"}), "model", "pattern"),
        ("mpi", program(json!({"processes_per_worker": 0})), "processes_per_worker", "at least 1"),
        ("mxnet", program(json!({"servers": 0})), "servers", "at least 1"),
        (
            "nni",
            program(json!({"search_space": {"a": {"_type": "uniform", "_value": [1]}}})),
            "search_space/a/_value",
            "at least 2",
        ),
        (
            "nni",
            program(json!({"search_space": {
                "a": {"_type": "choice", "_value": [3, 2]}, "b": {"_type": "normal", "_value": [2, 1]},
                "c": {"_type": "quniform", "_value": [9, 1, 1]},
            }})),
            "search_space",
            "the smaller number first",
        ),
        ("paddle", program(json!({"workers": 0})), "workers", "at least 1"),
        ("pipeline", json!({"pipeline": "nowhere"}), "pipeline", "there is no pipeline `nowhere`"),
        ("python", json!({"code": "a", "requirements": ["-e ."]}), "requirements/0", "pattern"),
        ("pytorch", program(json!({"max_restarts": -1})), "max_restarts", "at least 0"),
        ("pytorch-export", json!({"model": "a", "output": "b.onnx", "shape": []}), "shape", "at least 1"),
        ("queue", queue(json!("o")), "rejected", "mix failures with results"),
        ("queue", queue(json!("q")), "rejected", "consumed without end"),
        ("ray", program(json!({"workers": -1})), "workers", "at least"),
        ("recommenders", json!({"model": "svd"}), "model", "is not one of"),
        ("spark", json!({"program": "a.py", "mode": "mesos"}), "mode", "is not one of"),
        ("sql", json!({"query": "select 1", "output": "/etc/x.csv"}), "output", "not below the run's folder"),
        ("tensorflow", program(json!({"servers": 4})), "servers", "need `strategy: parameter_server`"),
        ("transfer", json!({"from": ["a"], "to": "b", "parallel": 0}), "parallel", "at least 1"),
        ("video", video("audio", "width"), "width", "`make: frames`"),
        ("video", video("audio", "every"), "every", "`make: frames`"),
        ("video", video("frames", "rate"), "rate", "`make: audio`"),
        (
            "wenet",
            json!({"recipe": "a", "config": "b", "train_data": "c", "cv_data": "d", "model_dir": "e", "device": "abacus"}),
            "device",
            "is not one of",
        ),
        ("xgboost", json!({"data": "a", "model": "m.txt"}), "model", "pattern"),
    ]
}

#[test]
fn wrong_arguments_of_every_template_are_named_before_anything_starts() {
    let templates = templates(&repository().join("task-templates"));
    let facts = Facts {
        people: Some(["ada".into()].into()),
        pipelines: Some(["p".into()].into()),
        ..Facts::default()
    };
    let wrong = wrong_arguments();
    let mut missed = Vec::new();
    for (name, arguments, argument, said) in &wrong {
        let task = json!({"name": "a", "template": name, "arguments": arguments});
        let document = json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "tasks": [task]});
        let (_, problems) = check_pipeline(&document.to_string(), &templates, &facts);
        let place = format!("/tasks/0/arguments/{argument}");
        let is_told = |problem: &Problem| problem.path == place && problem.message.contains(said);
        if !problems.iter().any(is_told) {
            let found: Vec<_> = problems.iter().map(|problem| (&problem.path, &problem.message)).collect();
            missed.push(format!("{name} {arguments} {argument} {said}: {found:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    let seen: BTreeSet<&str> = wrong.iter().map(|(name, ..)| *name).collect();
    let unseen: Vec<_> = templates.keys().filter(|name| !seen.contains(name.as_str())).collect();
    assert!(unseen.is_empty(), "no wrong argument of {unseen:?}");
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
        assert_eq!(said[0]["jobs"], "a person decides: no job is submitted");
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
    assert!(refused[0].1.contains("to a Kubernetes cluster"), "{refused:?}");
}
