//! Cube Studio's launchers, whose pods created other jobs: one of our templates runs such a job, or nothing
//! is generated.

use cubeloom_compiler::import::cube_studio::import;
use cubeloom_compiler::import::{DocumentKind, Fate, Imported};
use cubeloom_compiler::{check_pipeline, parse_pipeline};
use cubeloom_domain::Severity;
use serde_json::{Value, json};

use super::TEMPLATES;
use crate::support::{machine, repository, templates};

/// Each launcher that Cube Studio ships, and our template for its job.
pub const SHIPPED: [(&str, Option<&str>); 15] = [
    ("volcanojob", Some("indexed")),
    ("mpi", Some("mpi")),
    ("horovod", Some("horovod")),
    ("pytorchjob", Some("pytorch")),
    ("model-offline-predict", Some("indexed")),
    ("tfjob", Some("tensorflow")),
    ("ray", Some("ray")),
    ("ray-sklearn", Some("ray")),
    ("paddlejob", Some("paddle")),
    ("mxnet", Some("mxnet")),
    ("hyperparam-search-nni", Some("nni")),
    ("mindspore", None),
    ("megatron", None),
    ("deepspeed", None),
    ("colossalai", None),
];

fn one_task(launcher: &str, args: Value) -> (Value, Imported) {
    let task = json!({"name": "a", "job_templete": launcher, "args": args});
    let input = json!({"pipeline": {"name": "p", "dag_json": {}}, "tasks": [task]});
    let imported = import(&input.to_string(), Some(TEMPLATES), None).unwrap();
    let pipeline = parse_pipeline(&imported.documents[0].document).unwrap().pipeline;
    (serde_json::to_value(&pipeline.tasks[0]).unwrap(), imported)
}

/// The report's messages for a path.
fn said<'i>(imported: &'i Imported, path: &str) -> Vec<(Fate, &'i str)> {
    let lines = imported.report.iter().filter(|line| line.path == path);
    lines.map(|line| (line.fate, line.message.as_str())).collect()
}

#[test]
fn no_template_is_made_of_a_launcher() {
    let template = |(name, _)| {
        (
            name,
            json!({"job_template_name": name, "job_template_args": {},
        "job_template_command": "python3 launcher.py"}),
        )
    };
    let mut file: serde_json::Map<String, Value> =
        SHIPPED.into_iter().map(template).map(|(name, entry)| (name.to_owned(), entry)).collect();
    file.insert("xgb".into(), template(("xgb", None)).1);
    let imported = import(&Value::Object(file).to_string(), None, None).unwrap();
    let made: Vec<&str> = imported.documents.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(made, ["xgb"], "its launcher.py trains, and starts no other job");
    for (name, ours) in SHIPPED {
        let lines = said(&imported, &format!("/{name}"));
        let &[(fate, message)] = lines.as_slice() else { panic!("{name}: {lines:?}") };
        match ours {
            Some(ours) => {
                assert!(message.ends_with(&format!("for which the template is `{ours}`")), "{message}");
                assert_eq!(fate, Fate::Changed);
            }
            None => {
                assert!(message.ends_with("there is no template yet"), "{message}");
                assert_eq!(fate, Fate::Problem);
            }
        }
    }
}

#[test]
fn a_file_of_templates_gives_those_that_are_no_launchers() {
    let imported = import(TEMPLATES, None, None).unwrap();
    let made: Vec<&str> = imported.documents.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(made, ["detector", "template-2"]);
    assert!(imported.documents.iter().all(|one| one.kind == DocumentKind::TaskTemplate));
}

#[test]
fn what_a_launcher_started_runs_as_our_template() {
    let shipped = templates(&repository().join("task-templates"));
    for (name, ours) in SHIPPED {
        let (task, imported) = one_task(
            name,
            json!({"--working_dir": "/code", "--command": "bash start.sh", "--num_worker": "3"}),
        );
        assert_eq!(task["template"], ours.unwrap_or("command"), "{name}");
        let command = json!(["bash", "-c", "mkdir -p \"/code\" && cd \"/code\" && bash start.sh"]);
        assert_eq!(task["arguments"]["command"], command, "{name}");
        assert_eq!(task["arguments"]["workers"], ours.map_or(Value::Null, |_| 3.into()), "{name}");
        let fate = if ours.is_some() { Fate::Changed } else { Fate::Problem };
        assert_eq!(said(&imported, "/tasks/0/args")[0].0, fate, "{name}");
        let (_, problems) = check_pipeline(&imported.documents[0].document, &shipped, &machine());
        let wrong: Vec<_> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        // None of its arguments has NNI's search space, so the user must add it.
        if name == "hyperparam-search-nni" {
            assert!(wrong.len() == 1 && wrong[0].message.contains("`search_space`"), "{wrong:#?}");
            let (fate, message) = said(&imported, "/tasks/0/args")[1];
            assert!(fate == Fate::Problem && message.ends_with("requires: `search_space`"), "{message}");
        } else {
            assert!(wrong.is_empty(), "{name}: {wrong:#?}");
        }
    }
}

#[test]
fn a_launcher_without_a_command_is_told_and_not_run() {
    for args in [json!({}), json!({"--train_csv_file_path": "/data/labels.csv", "--num_worker": "2"})] {
        for (name, _) in SHIPPED {
            let (task, imported) = one_task(name, args.clone());
            assert_eq!(task["template"], "command");
            assert!(task["arguments"]["command"][2].as_str().unwrap().ends_with("is unknown' >&2; exit 1"));
            assert!(!task.to_string().contains("launcher.py"), "{task}");
            let lines = said(&imported, "/tasks/0");
            assert!(
                lines.iter().any(|(fate, message)| *fate == Fate::Problem
                    && message.contains("does not contain its command")),
                "{lines:?}"
            );
        }
    }
}

#[test]
fn the_image_of_a_launcher_is_not_that_of_its_program() {
    let (task, _) = one_task("pytorchjob", json!({"--command": "bash start.sh"}));
    assert_eq!(task["env"], Value::Null, "{task}");
    let (task, _) = one_task("pytorchjob", json!({"--command": "bash start.sh", "--image": "train:1"}));
    assert_eq!(task["env"], json!({"KFJ_TASK_IMAGES": "train:1"}));
}
