//! Large documents: planning time stays proportional to the number of tasks. `cubeloom bench` measures it.

use std::fmt::Write;

use cubeloom_compiler::{Outputs, PlanInputs, job, parse_pipeline, plan};
use cubeloom_domain::{JsonMap, TaskIx};
use cubeloom_testkit::cpu::least_of;

use crate::support::{context, fixtures, machine};

const FEW: u32 = 1_000;
const MANY: u32 = 10_000;

/// Ten times the tasks cost about ten times the CPU time: quadratic cost would be a hundred times.
fn assert_proportional(what: &str, work: impl Fn(u32)) {
    let few = least_of(3, || work(FEW));
    let many = least_of(1, || work(MANY));
    assert!(many < few * 18, "{what}: {FEW} tasks took {few:?}, {MANY} took {many:?}");
}

fn chain(tasks: u32) -> String {
    let mut text = String::from("apiVersion: cubeloom/v1\nkind: Pipeline\nname: large\ntasks:\n");
    for at in 0..tasks {
        let needs = if at > 0 { format!("needs: [t{}], ", at - 1) } else { String::new() };
        writeln!(text, "  - {{name: t{at}, template: echo, {needs}arguments: {{words: [\"{at}\", \"{{{{ run.id }}}}\"]}}}}").unwrap();
    }
    text
}

#[test]
fn a_plan_and_its_jobs_cost_in_proportion_to_the_tasks() {
    let (templates, facts) = (fixtures(), machine());
    let inputs =
        PlanInputs { context: context(), parameters: JsonMap::new(), templates: &templates, facts: &facts };
    assert_proportional("plan and jobs", |tasks| {
        let document = parse_pipeline(&chain(tasks)).unwrap();
        let plan = plan(&document, &inputs).unwrap().plan;
        let outputs = Outputs::new();
        for at in 0..tasks {
            job(&plan, TaskIx(at), 0, None, 1, None, &outputs).unwrap();
        }
    });
}

/// Outputs of a far ancestor, and missing names: both would have quadratic cost if done simply.
fn with_far_reads(tasks: u32) -> String {
    let task = |at: u32| {
        let (need, read) = (at.saturating_sub(1), "{{ tasks.t0.outputs.x }}{{ params.nothing }}");
        let unknown = format!("u{at}");
        serde_json::json!({
            "name": format!("t{at}"), "template": "echo", "needs": if at == 0 { vec![] } else { vec![format!("t{need}"), unknown] },
            "arguments": {"words": [if at == 0 { "x" } else { read }]},
        })
    };
    let tasks: Vec<_> = (0..tasks).map(task).collect();
    serde_json::json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "tasks": tasks})
        .to_string()
}

#[test]
fn far_reads_and_unknown_names_stay_cheap() {
    assert_proportional("far reads", |tasks| {
        let problems = parse_pipeline(&with_far_reads(tasks)).unwrap_err();
        let expected = 2 * (tasks as usize - 1);
        assert_eq!(problems.len(), expected, "a need and a parameter that do not exist, each time");
    });
}
