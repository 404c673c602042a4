//! The content of a plan: defaults, layers of resources, complete policies.

use cubeloom_domain::executor::Facts;
use cubeloom_domain::job::SuccessRule;
use cubeloom_domain::pipeline::{RetryOn, Spread, TriggerRule};
use cubeloom_domain::plan::{Late, RunPlan};
use cubeloom_domain::{Bytes, Cpu, JsonMap, TaskIx};
use serde_json::json;

use crate::support::{fixtures, machine, try_plan};

fn plan(tasks: &str) -> RunPlan {
    let text = format!(
        "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\npriority: 3\nenv: {{A: pipeline, B: pipeline}}\n\
         placement: {{spread: preferred, selector: {{disk: fast}}}}\ntasks:\n{tasks}\n"
    );
    try_plan(&text, JsonMap::new(), &fixtures(), &machine()).unwrap().plan
}

#[test]
fn amounts_are_laid_over_each_other() {
    let plan = plan(
        "  - {name: a, template: echo, arguments: {words: [x]}}\n  \
         - {name: b, template: echo, arguments: {words: [x]}, resources: {cpu: 2, memory: 1G}}\n  \
         - {name: c, template: mpi, resources: {memory: 2Gi}, role_resources: {launcher: {cpu: 200m, memory: 64Mi}}}\n  \
         - {name: d, template: xgboost, resources: {cpu: 3, memory: 8Gi}}\n  \
         - {name: e, template: crowd, arguments: {memory: 300Mi}}",
    );
    let amounts = |task: usize| -> Vec<(String, u64, Bytes)> {
        let roles = &plan.tasks[task].roles;
        roles.iter().map(|role| (role.name.clone(), role.resources.cpu.0, role.resources.memory)).collect()
    };
    let mebi = |count: u64| Bytes(count << 20);
    assert_eq!(amounts(0), [("worker".to_owned(), 1000, mebi(256))]);
    assert_eq!(amounts(1), [("worker".to_owned(), 2000, Bytes(1_000_000_000))]);
    assert_eq!(amounts(2), [("launcher".to_owned(), 200, mebi(64)), ("worker".to_owned(), 2000, mebi(2048))]);
    assert_eq!(amounts(3)[0], ("master".to_owned(), 3000, mebi(2048)), "the template's env fixes the memory");
    assert_eq!(amounts(4), [("worker".to_owned(), 500, mebi(300))], "amounts can follow from arguments");
}

#[test]
fn settings_of_the_task_win_over_the_pipelines() {
    let plan = plan(
        "  - {name: a, template: echo, arguments: {words: [x], times: 2}, env: {B: task}, priority: -5, \
         placement: {spread: required, selector: {zone: z}}, retry: {attempts: 3}, trigger: all_done}",
    );
    let task = &plan.tasks[0];
    let env: Vec<(&str, &Late)> = task.env.iter().map(|(name, value)| (name.as_str(), value)).collect();
    let text = |text: &str| Late::Value(json!(text));
    assert_eq!(env, [("A", &text("pipeline")), ("B", &text("task")), ("ECHO_TIMES", &text("2"))]);
    assert_eq!((task.priority, task.trigger), (-5, TriggerRule::AllDone));
    assert_eq!(task.placement.spread, Some(Spread::Required));
    assert_eq!(task.placement.selector.len(), 2);
    let retry = task.retry.as_ref().unwrap();
    assert_eq!((retry.attempts, retry.factor), (3, 2.0));
    assert_eq!((retry.initial.to_string(), retry.max.to_string()), ("1s".to_owned(), "1h".to_owned()));
    assert_eq!(retry.on, [RetryOn::Error, RetryOn::OutOfMemory, RetryOn::Lost, RetryOn::Preempted]);
}

#[test]
fn gangs_and_success_follow_from_the_framework() {
    let plan = plan(
        "  - {name: a, template: echo, arguments: {words: [x]}}\n  - {name: b, template: mpi}\n  \
         - {name: c, template: xgboost, arguments: {workers: 1}}\n  - {name: d, template: pytorch}\n  \
         - {name: e, template: pytorch, arguments: {elastic: {min: 2, max: 4}}}\n  \
         - {name: f, template: pytorch, arguments: {elastic: {min: 2, max: 4}}, elastic: {min: 1, max: 3}}\n  \
         - {name: g, template: tensorflow}\n  - {name: h, template: tensorflow, arguments: {chief: 0}}\n  \
         - {name: i, template: horovod}\n  - {name: j, template: ray}\n  - {name: k, template: spark}\n  \
         - {name: l, template: jax}\n  - {name: m, template: paddle}\n  \
         - {name: n, template: paddle, arguments: {masters: 2}}\n  - {name: o, template: mxnet}\n  - {name: p, template: kaldi}\n  \
         - {name: q, template: nni, arguments: {workers: 3}}",
    );
    let facts: Vec<_> =
        plan.tasks.iter().map(|task| (task.gang, task.success.clone(), task.roles.len())).collect();
    let role = |name: &str| SuccessRule::Role(name.into());
    assert_eq!(
        facts,
        [
            (1, SuccessRule::AllWorkers, 1),
            (3, role("launcher"), 2),
            (1, role("master"), 1),
            (2, role("master"), 2),
            (2, SuccessRule::AnyWorker, 1),
            (1, SuccessRule::AnyWorker, 1),
            (4, role("chief"), 3),
            (3, SuccessRule::First("worker".into()), 2),
            (3, role("launcher"), 2),
            (3, role("head"), 2),
            (3, role("driver"), 2),
            (2, SuccessRule::AllWorkers, 1),
            (2, SuccessRule::AllWorkers, 1),
            (4, role("master"), 2),
            (4, role("worker"), 3),
            (3, role("master"), 2),
            (4, role("manager"), 2),
        ]
    );
    assert_eq!(plan.tasks[5].roles[0].replicas, 3, "the task's range wins");
}

#[test]
fn versions_are_compared_as_numbers() {
    let mut templates = fixtures();
    let versions = templates.get_mut("echo").unwrap();
    let mut newer = versions["1.2.0"].clone();
    newer.template.version = "1.10.0".into();
    versions.insert("1.10.0".into(), newer);
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {name: a, template: echo, arguments: {words: [x]}}\n  \
                - {name: b, template: echo@1.2.0, needs: [a], arguments: {words: [x]}}\n";
    let plan = try_plan(text, JsonMap::new(), &templates, &Facts::default()).unwrap().plan;
    let versions: Vec<&str> = plan.templates.iter().map(|template| template.version.as_str()).collect();
    assert_eq!(versions, ["1.10.0", "1.2.0"]);
    assert_eq!(plan.templates[0].path_arguments, ["file"]);
    assert_eq!(plan.tasks[1].needs, [TaskIx(0)]);
    assert_eq!(plan.tasks[0].roles[0].resources.cpu, Cpu(1000));
}

#[test]
fn planning_is_repeatable_and_plans_are_stored_without_loss() {
    let tasks = "  - {name: a, template: echo, arguments: {words: [x]}, cache: {inputs: [\"{{ run.dir }}/in/*\"], max_age: 7d}}\n  \
                 - {name: b, template: echo, needs: [a], arguments: {words: \"{{ tasks.a.outputs.said }}\"}, when: tasks.a.outputs.said}";
    let first = serde_json::to_string(&plan(tasks)).unwrap();
    assert_eq!(first, serde_json::to_string(&plan(tasks)).unwrap());
    let read: RunPlan = serde_json::from_str(&first).unwrap();
    assert_eq!(read, plan(tasks));
    insta::assert_json_snapshot!(read);
}
