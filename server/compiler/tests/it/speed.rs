//! Large documents: planning stays proportional to the number of tasks. The bound is wide: the tests' build is slow
//! and shares its machine; `cubeloom bench` measures the release build.

use std::fmt::Write;
use std::time::Instant;

use cubeloom_compiler::{Outputs, job};
use cubeloom_domain::{JsonMap, TaskIx};

use crate::support::{fixtures, machine, try_plan};

#[test]
fn twenty_thousand_tasks_are_planned() {
    let mut text = String::from("apiVersion: cubeloom/v1\nkind: Pipeline\nname: large\ntasks:\n");
    for at in 0..20_000u32 {
        let needs = if at > 0 { format!("needs: [t{}], ", at - 1) } else { String::new() };
        writeln!(text, "  - {{name: t{at}, template: echo, {needs}arguments: {{words: [\"{at}\", \"{{{{ run.id }}}}\"]}}}}").unwrap();
    }
    let started = Instant::now();
    let plan = try_plan(&text, JsonMap::new(), &fixtures(), &machine()).unwrap().plan;
    let planned = started.elapsed();
    let outputs = Outputs::new();
    let started = Instant::now();
    for at in 0..20_000 {
        job(&plan, TaskIx(at), 0, None, 1, None, &outputs).unwrap();
    }
    println!("20,000 tasks: planned in {planned:?}, jobs in {:?}", started.elapsed());
    assert!(planned.as_secs() < 30 && started.elapsed().as_secs() < 30);
}
