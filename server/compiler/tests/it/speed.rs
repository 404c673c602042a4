//! Large documents: planning stays proportional to the number of tasks. The bound is wide: the tests' build is slow
//! and shares its machine; `cubeloom bench` measures the release build.

use std::fmt::Write;
use std::time::Instant;

use cubeloom_compiler::{Outputs, PlanInputs, job, parse_pipeline, plan};
use cubeloom_domain::{JsonMap, TaskIx};

use crate::support::{context, fixtures, machine};

#[test]
fn twenty_thousand_tasks_are_planned() {
    let mut text = String::from("apiVersion: cubeloom/v1\nkind: Pipeline\nname: large\ntasks:\n");
    for at in 0..20_000u32 {
        let needs = if at > 0 { format!("needs: [t{}], ", at - 1) } else { String::new() };
        writeln!(text, "  - {{name: t{at}, template: echo, {needs}arguments: {{words: [\"{at}\", \"{{{{ run.id }}}}\"]}}}}").unwrap();
    }
    let (templates, facts) = (fixtures(), machine());
    let inputs =
        PlanInputs { context: context(), parameters: JsonMap::new(), templates: &templates, facts: &facts };
    let started = Instant::now();
    let document = parse_pipeline(&text).unwrap();
    let parsed = started.elapsed();
    let started = Instant::now();
    let plan = plan(&document, &inputs).unwrap().plan;
    let planned = started.elapsed();
    let outputs = Outputs::new();
    let started = Instant::now();
    for at in 0..20_000 {
        job(&plan, TaskIx(at), 0, None, 1, None, &outputs).unwrap();
    }
    println!("20,000 tasks: parsed in {parsed:?}, planned in {planned:?}, jobs in {:?}", started.elapsed());
    assert!((parsed + planned).as_secs() < 30 && started.elapsed().as_secs() < 30);
}

/// Outputs of a far ancestor, and names that do not exist: both would cost the square of the tasks if done simply.
#[test]
fn far_reads_and_unknown_names_stay_cheap() {
    let task = |at: u32| {
        let (need, read) = (at.saturating_sub(1), "{{ tasks.t0.outputs.x }}{{ params.nothing }}");
        let unknown = format!("u{at}");
        serde_json::json!({
            "name": format!("t{at}"), "template": "echo", "needs": if at == 0 { vec![] } else { vec![format!("t{need}"), unknown] },
            "arguments": {"words": [if at == 0 { "x" } else { read }]},
        })
    };
    let tasks: Vec<_> = (0..20_000).map(task).collect();
    let document =
        serde_json::json!({"apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p", "tasks": tasks});
    let started = Instant::now();
    let problems = parse_pipeline(&document.to_string()).unwrap_err();
    assert_eq!(problems.len(), 2 * 19_999, "a need and a parameter that do not exist, each time");
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
