//! Conversions of single values of Cube Studio's pipelines.

use cubeloom_compiler::import::cube_studio::import;
use cubeloom_compiler::import::{Fate, Imported};
use cubeloom_compiler::parse_pipeline;
use cubeloom_domain::pipeline::Pipeline;
use cubeloom_domain::resources::ResourceRequest;
use serde_json::{Value, json};

use super::PIPELINES;

/// A pipeline called `p` with one task, which has these additional fields.
fn with_task(fields: Value) -> (Pipeline, Imported) {
    let mut task = json!({"name": "a", "job_templete": "自定义镜像", "args": {"command": "true"}});
    task.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let input = json!({"pipeline": {"name": "p", "dag_json": {}}, "tasks": [task]});
    let imported = import(&input.to_string(), None, None).unwrap();
    (parse_pipeline(&imported.documents[0].document).unwrap().pipeline, imported)
}

/// The resources requested by a task with this amount under `key`, and the report's outcomes.
fn asked(key: &str, amount: &Value) -> (ResourceRequest, Vec<Fate>) {
    let (pipeline, imported) = with_task(json!({key: amount}));
    let fates = imported.report.iter().filter(|line| line.path.ends_with(key)).map(|line| line.fate);
    (*pipeline.tasks[0].resources.clone().unwrap_or_default(), fates.collect())
}

#[test]
fn amounts_are_what_they_were() {
    let changed = [Fate::Changed].as_slice();
    let problem = [Fate::Problem].as_slice();
    for (key, theirs, ours, said) in [
        ("resource_cpu", json!("2"), json!({"cpu": "2"}), [].as_slice()),
        ("resource_cpu", json!(2), json!({"cpu": "2"}), &[]),
        ("resource_cpu", json!("0.5"), json!({"cpu": "500m"}), &[]),
        ("resource_cpu", json!("2~4"), json!({"cpu": "4"}), changed),
        ("resource_cpu", json!("0~4"), json!({"cpu": "4"}), changed),
        ("resource_cpu", json!("0"), json!({}), &[]),
        ("resource_cpu", json!("4~2~1"), json!({}), problem),
        ("resource_cpu", json!("many"), json!({}), problem),
        ("resource_memory", json!("5G"), json!({"memory": "5G"}), &[]),
        ("resource_memory", json!("0"), json!({}), &[]),
        ("resource_memory", json!("512Mi"), json!({"memory": "512Mi"}), &[]),
        ("resource_memory", json!("2G~4G"), json!({"memory": "4G"}), changed),
        ("resource_gpu", json!("0"), json!({}), &[]),
        ("resource_gpu", json!("1"), json!({"gpu": {"count": 1}}), &[]),
        ("resource_gpu", json!("2"), json!({"gpu": {"count": 2}}), &[]),
        ("resource_gpu", json!(2), json!({"gpu": {"count": 2}}), &[]),
        ("resource_gpu", json!("1(V100)"), json!({"gpu": {"count": 1, "type": "V100"}}), &[]),
        ("resource_gpu", json!("0.5"), json!({"gpu": {"fraction": 0.5}}), &[]),
        ("resource_gpu", json!("1.5"), json!({}), problem),
        ("resource_rdma", json!("0"), json!({}), &[]),
        ("resource_rdma", json!("1"), json!({"rdma": 1}), &[]),
        ("resource_rdma", json!("-1"), json!({}), problem),
    ] {
        let (found, fates) = asked(key, &theirs);
        assert_eq!(found, serde_json::from_value::<ResourceRequest>(ours).unwrap(), "{key} {theirs}");
        assert_eq!(fates, said, "{key} {theirs}");
    }
}

#[test]
fn variables_are_our_expressions() {
    for (theirs, ours) in [
        ("creator", "{{ run.user }}"),
        ("runner", "{{ run.user }}"),
        ("username", "{{ run.user }}"),
        ("user", "{{ run.user }}"),
        ("run_id", "{{ run.id }}"),
        ("runner_id", "{{ run.id }}"),
        ("uuid", "{{ run.id }}"),
        ("pipeline_run_id", "{{ run.id }}"),
        ("project", "{{ run.project }}"),
        ("project_name", "{{ run.project }}"),
        ("task_name", "{{ task.name }}"),
        ("task_id", "{{ task.name }}"),
        ("ds", "{{ run.date }}"),
        ("execution_date", "{{ run.date }}"),
        ("pipeline_name", "p"),
        ("pipeline_id", "p"),
        ("datetime.datetime.now()", "{{ run.timestamp }}"),
        ("datetime.datetime.now().strftime('%Y%m%d')", "{{ run.timestamp | format('%Y%m%d') }}"),
        (
            "(datetime.datetime.now() + datetime.timedelta(hours=2)).strftime(\"%H\")",
            "{{ run.timestamp | hours(2) | format('%H') }}",
        ),
        ("datetime.datetime.now() - datetime.timedelta(days=-3)", "{{ run.timestamp | days(3) }}"),
    ] {
        let (pipeline, imported) =
            with_task(json!({"args": {"command": format!("say {{{{ {theirs} }}}}.")}}));
        assert_eq!(
            pipeline.tasks[0].arguments["command"],
            json!(["bash", "-c", format!("say {ours}.")]),
            "{theirs}"
        );
        assert_eq!(imported.report, [], "{theirs}");
    }
    let (pipeline, imported) = with_task(json!({"args": {"command": "say {{ cluster_name }}"}}));
    assert_eq!(pipeline.tasks[0].arguments["command"][2], "say {{ '{{' }} cluster_name }}");
    assert_eq!(imported.report[0].fate, Fate::Problem);
}

#[test]
fn tasks_lie_where_they_lay() {
    let imported = import(PIPELINES, None, None).unwrap();
    let canvas = parse_pipeline(&imported.documents[0].document).unwrap().pipeline.canvas;
    assert_eq!(
        serde_json::to_value(&canvas).unwrap(),
        json!({"direction": "down", "positions": {"pull": [100, 20], "task-2": [100, 140]}})
    );
}
