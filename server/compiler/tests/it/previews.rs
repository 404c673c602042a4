//! The submissions of a plan's tasks, created one job at a time.

use std::cell::Cell;

use cubeloom_compiler::lower;
use cubeloom_compiler::preview::{self, Tasks};
use cubeloom_domain::JsonMap;
use cubeloom_domain::executor::Facts;
use cubeloom_domain::plan::RunPlan;
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::support::{fixtures, try_plan};

fn plan() -> RunPlan {
    let text = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {name: one, template: echo, arguments: \
                {words: [hello]}}\n  - {name: each, template: echo, needs: [one], for_each: {list: [a, b, c]}, \
                arguments: {words: [\"{{ item }}\"]}}\n  - {name: none, template: echo, for_each: {list: []}, \
                arguments: {words: [\"{{ item }}\"]}}\n";
    try_plan(text, JsonMap::new(), &fixtures(), &Facts::default()).unwrap().plan
}

/// Counts how many instances exist at a time.
struct Counted<'a>(&'a Cell<usize>);

impl<'a> Counted<'a> {
    fn new(alive: &'a Cell<usize>) -> Self {
        alive.set(alive.get() + 1);
        Self(alive)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Serialize for Counted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.get().serialize(serializer)
    }
}

#[test]
fn each_job_is_written_before_the_next_is_made() {
    let (plan, alive) = (plan(), Cell::new(0));
    let tasks = Tasks::new(&plan, |_| Some(Counted::new(&alive)));
    let written = serde_json::to_value(&tasks).unwrap();
    let jobs: Vec<_> = written.as_array().unwrap().iter().map(|task| task["jobs"].clone()).collect();
    assert_eq!(jobs, [json!([1]), json!([1, 1, 1]), json!([])]);
    assert_eq!(alive.get(), 0);
}

#[test]
fn what_is_written_is_what_is_submitted() {
    let plan = plan();
    let mut expected = Vec::new();
    let tasks = Tasks::new(&plan, |job| Some((job.key.instance, lower::preview(job))));
    for task in tasks.iter() {
        let preview::Jobs::Known(jobs) = task.jobs else { panic!("{} is known", task.task) };
        let jobs: Vec<_> = jobs.iter().collect();
        assert!(jobs.iter().map(|(at, _)| *at).eq(0..u32::try_from(jobs.len()).unwrap()));
        let jobs: Vec<_> = jobs.into_iter().map(|(_, job)| job).collect();
        expected.push(json!({"task": task.task, "needs": task.needs, "jobs": jobs}));
    }
    let printed = serde_json::to_string_pretty(&preview::all(&plan)).unwrap();
    assert_eq!(printed, serde_json::to_string_pretty(&expected).unwrap());
}
