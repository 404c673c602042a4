//! Values known only when a task is ready: items, conditions, late arguments.

use cubeloom_compiler::{Outputs, condition, expand, job};
use cubeloom_domain::outcome::FailureKind;
use cubeloom_domain::plan::{Late, RunPlan};
use cubeloom_domain::{JsonMap, TaskIx};
use serde_json::{Value, json};

use crate::support::{fixtures, machine, try_plan};

const TEXT: &str = r#"
apiVersion: cubeloom/v1
kind: Pipeline
name: p
parameters: {limit: {type: integer, default: 2}}
tasks:
  - {name: list-files, template: echo, arguments: {words: [ls]}}
  - name: each
    template: echo
    needs: [list-files]
    for_each: {from: "tasks.list-files.outputs.files[:params.limit]"}
    when: "{{ item.size > 0 }}"
    arguments: {words: ["{{ item.name }}", "n={{ item.size }}"], times: "{{ item.size }}"}
    env: {NAME: "{{ item.name }}"}
  - {name: sum, template: echo, needs: [each], arguments: {words: "{{ tasks.each.outputs.said }}"}}
  - name: grid
    template: echo
    for_each: {matrix: {b: [1, 2], a: [x, y]}}
    arguments: {words: ["{{ item.a }}{{ item.b }}", "{{ run.date }}"]}
"#;

fn plan() -> RunPlan {
    try_plan(TEXT, JsonMap::new(), &fixtures(), &machine()).unwrap().plan
}

fn outputs(files: Value) -> Outputs {
    [("list-files".to_owned(), json!({ "files": files }))].into()
}

#[test]
fn a_task_expands_over_an_earlier_output() {
    let plan = plan();
    assert_eq!(plan.tasks[1].reads, [TaskIx(0)]);
    let outputs =
        outputs(json!([{"name": "a", "size": 3}, {"name": "b", "size": 0}, {"name": "c", "size": 1}]));
    let items = expand(&plan, TaskIx(1), &outputs).unwrap();
    assert_eq!(items.len(), 2, "the limit is a parameter");
    assert!(condition(&plan, TaskIx(1), Some(&items[0]), &outputs).unwrap());
    assert!(!condition(&plan, TaskIx(1), Some(&items[1]), &outputs).unwrap());
    let job = job(&plan, TaskIx(1), 0, Some(&items[0]), 1, None, &outputs).unwrap();
    assert_eq!(job.roles[0].argv, ["echo", "--times=3", "a", "n=3"]);
    assert_eq!(job.env["NAME"], "a");
    assert_eq!(job.env["ECHO_TIMES"], "3", "the template's env follows a late argument");
}

/// One moment has different dates in different time zones.
#[test]
fn a_run_has_the_calendar_of_its_schedule() {
    let of = |schedule: &str| {
        let text = TEXT.replace("parameters:", &format!("{schedule}\nparameters:")).replace(
            r#""{{ run.date }}""#,
            r#""{{ run.date }}", "{{ run.date_utc }}", "{{ run.timestamp | timezone('Asia/Kolkata') }}""#,
        );
        let plan = try_plan(&text, JsonMap::new(), &fixtures(), &machine()).unwrap().plan;
        let items = expand(&plan, TaskIx(3), &Outputs::new()).unwrap();
        job(&plan, TaskIx(3), 0, Some(&items[0]), 1, None, &Outputs::new()).unwrap().roles[0].argv[3..]
            .to_vec()
    };
    // The tests' moment is 06:30 UTC.
    assert_eq!(of(""), ["2026-07-15", "2026-07-15", "2026-07-15T12:00:00"]);
    let western = "schedule: {cron: '0 0 * * *', timezone: America/Anchorage}";
    assert_eq!(of(western), ["2026-07-14", "2026-07-15", "2026-07-15T12:00:00"]);
}

#[test]
fn a_matrix_is_expanded_at_planning() {
    let plan = plan();
    let items = expand(&plan, TaskIx(3), &Outputs::new()).unwrap();
    let expected = [
        json!({"a": "x", "b": 1}),
        json!({"a": "x", "b": 2}),
        json!({"a": "y", "b": 1}),
        json!({"a": "y", "b": 2}),
    ];
    assert_eq!(items, expected);
    let job = job(&plan, TaskIx(3), 3, Some(&items[3]), 1, None, &Outputs::new()).unwrap();
    assert_eq!(job.roles[0].argv, ["echo", "--times=1", "y2", "2026-07-15"]);
}

#[test]
fn what_is_late_stays_a_source_and_what_is_known_a_value() {
    let plan = plan();
    assert!(matches!(plan.tasks[1].arguments.get("words"), Some(Late::Source(_))));
    assert_eq!(plan.tasks[0].arguments.get("words"), Some(&Late::Value(json!(["ls"]))));
    assert_eq!(plan.tasks[0].arguments.get("times"), Some(&Late::Value(json!(1))), "defaults are filled in");
    assert!(!plan.templates[0].parameters.is_null(), "late arguments are checked against it");
}

#[test]
fn what_fails_late_says_which_task_and_why() {
    let plan = plan();
    let item = |size: Value| json!({"name": "a", "size": size});
    let say = |failure: cubeloom_domain::outcome::Failure| {
        assert_eq!(failure.kind, FailureKind::Expression);
        failure.message
    };
    let none = Outputs::new();
    let messages = [
        say(expand(&plan, TaskIx(1), &outputs(json!("text"))).unwrap_err()),
        say(expand(&plan, TaskIx(1), &[("list-files".to_owned(), json!({"other": 1}))].into()).unwrap_err()),
        say(expand(&plan, TaskIx(1), &none).unwrap_err()),
        say(job(&plan, TaskIx(1), 0, Some(&item(json!(0))), 1, None, &none).unwrap_err()),
        say(job(&plan, TaskIx(1), 0, Some(&json!({"name": "a"})), 1, None, &none).unwrap_err()),
        say(job(
            &plan,
            TaskIx(2),
            0,
            None,
            1,
            None,
            &[("each".to_owned(), json!({"said": [1, null]}))].into(),
        )
        .unwrap_err()),
        say(condition(&plan, TaskIx(1), Some(&json!({"name": "a"})), &none).unwrap_err()),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn outputs_are_data_and_never_evaluated() {
    let plan = plan();
    let item = json!({"name": "{{ run.id }}", "size": 1});
    let job = job(&plan, TaskIx(1), 0, Some(&item), 1, None, &Outputs::new()).unwrap();
    assert_eq!(job.roles[0].argv[2], "{{ run.id }}");
}
