use std::collections::BTreeMap;

use cubeloom_compiler::{PlanInputs, parse_pipeline, plan};
use cubeloom_domain::accounting::Account;
use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::{Facts, Progress, Report};
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::plan::RunContext;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord, RunRecord};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::{AttemptState, InstanceState, RunState, WaitReason};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, Bytes, JsonMap, RunId, TaskIx, Timestamp};
use cubeloom_testkit::builders::{pipeline, templates};

use super::live::block;
use super::*;
use crate::show::Styles;

const SECOND: i64 = 1_000_000;

fn block_of(view: &View, now: Timestamp, size: (usize, usize), styles: Styles) -> Vec<String> {
    block(&Board::of(view, now), now, size, styles)
}

/// A view of a run with these tasks, each depending on the one before.
fn view(tasks: &[&str]) -> View {
    let document = tasks.iter().enumerate().fold(pipeline("shown"), |document, (at, name)| {
        document.task(name, |task| match at {
            0 => task,
            at => task.needs(tasks[at - 1]),
        })
    });
    let id = RunId::new(Timestamp(SECOND), 1);
    let context = RunContext {
        id: id.clone(),
        project: "default".into(),
        user: "ada".into(),
        date: Timestamp(SECOND),
        timezone: None,
        root: None,
        code: None,
    };
    let inputs =
        PlanInputs { context, parameters: JsonMap::new(), templates: &templates(), facts: &Facts::default() };
    let plan = plan(&parse_pipeline(&document.text()).unwrap(), &inputs).unwrap().plan;
    let run = RunRecord {
        id,
        project: "default".into(),
        pipeline: "shown".into(),
        user: "ada".into(),
        state: RunState::Running,
        created_at: Timestamp(SECOND),
        started_at: Some(Timestamp(SECOND)),
        ended_at: None,
        tasks: u32::try_from(tasks.len()).unwrap(),
        message: None,
        version: None,
        parameters: JsonMap::new(),
        acting: None,
        parent: None,
        cause: Default::default(),
    };
    View::new(run, plan)
}

fn instance(view: &mut View, task: u32, state: InstanceState) {
    view.apply(RunEvent::Instance(Box::new(InstanceRecord {
        run: view.run.id.clone(),
        task: TaskIx(task),
        instance: 0,
        state,
        attempt: 1,
        tries: 1,
        ready_at: Timestamp(SECOND),
        ended_at: None,
        report: Report::default(),
        note: None,
        cool_until: None,
    })));
}

fn attempt(view: &mut View, task: u32, state: AttemptState) -> AttemptKey {
    let name = view.planned(TaskIx(task)).name.clone();
    let key = AttemptKey { run: view.run.id.clone(), task: name, instance: 0, n: 1 };
    view.apply(RunEvent::Attempt(Box::new(AttemptRecord {
        key: key.clone(),
        task: TaskIx(task),
        state,
        created_at: Timestamp(SECOND),
        amount: Amount::default(),
        cards: BTreeMap::new(),
        pool: Pool::of("local"),
        workers: 2,
        earlier: Vec::new(),
        bindings: Bindings::None,
        limits: Vec::new(),
        sizing: None,
        pace: None,
        hang: None,
        preflight: None,
        usage: UsageSummary { cpu_us: 1_500_000, peak_memory: Bytes(64 << 20), ..UsageSummary::default() },
        account: Account::default(),
    })));
    key
}

fn started(at: i64) -> AttemptState {
    AttemptState::Running { started_at: Timestamp(at) }
}

#[test]
fn the_block_says_what_goes_on() {
    let mut view = view(&["pull", "train", "judge", "tell"]);
    instance(&mut view, 0, InstanceState::Succeeded { reused: None });
    instance(&mut view, 1, InstanceState::ACTIVE);
    let key = attempt(&mut view, 1, started(2 * SECOND));
    let reason = WaitReason::Capacity { message: "needs 4 CPU, and 1 is free".into(), why: None };
    instance(&mut view, 2, InstanceState::Waiting { since: Timestamp(SECOND), reason: Some(reason) });
    view.apply(RunEvent::Progress(key, Progress { step: 3.0, total: Some(4.0) }));
    let lines = block_of(&view, Timestamp(5 * SECOND), (80, 24), Styles::plain());
    let expected = [
        "shown  running  1 of 4 tasks  4.0s",
        "✓ pull   succeeded          ",
        "⣯ train  running       3.0s  ━━━━━━━━━━━━────  75%  2 workers",
        "◌ judge  waiting             needs 4 CPU, and 1 is free",
        "· tell   pending             after judge",
    ];
    let trimmed: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    assert_eq!(trimmed[0], expected[0]);
    assert_eq!(trimmed[1], expected[1].trim_end());
    // The symbol of a running task is animated.
    assert_eq!(trimmed[2].trim_start_matches(|c: char| !c.is_ascii_whitespace()), &expected[2]["⣯".len()..]);
    assert_eq!(trimmed[3..], expected[3..]);
}

#[test]
fn no_line_is_wider_than_the_screen_and_no_block_is_higher() {
    let names: Vec<String> = (0..200).map(|n| format!("a-task-with-quite-a-long-name-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut view = view(&names);
    for task in 90..100 {
        instance(&mut view, task, InstanceState::ACTIVE);
        attempt(&mut view, task, started(SECOND));
        let key = attempt(&mut view, task, started(SECOND));
        view.apply(RunEvent::Preparing(key, "Python environment with many packages".repeat(5)));
    }
    for size in [(40, 10), (80, 24), (200, 60)] {
        let lines = block_of(&view, Timestamp(2 * SECOND), size, Styles::plain());
        assert!(lines.len() < size.1, "{} lines", lines.len());
        assert!(lines.iter().all(|line| line.chars().count() <= size.0), "{lines:#?}");
        let at_work = lines.iter().filter(|line| line.contains("  running ")).count();
        assert!(at_work >= 4, "what is at work is shown: {lines:#?}");
    }
}

#[test]
fn the_report_tells_the_first_cause() {
    let mut view = view(&["pull", "train"]);
    let failure = Failure {
        last_lines: vec!["no such table".into()],
        ..Failure::new(FailureKind::Exit, "worker-0 ended with exit code 3")
    };
    instance(&mut view, 0, InstanceState::Failed { failure });
    let outcome = cubeloom_domain::outcome::Outcome::Cancelled;
    let ended = AttemptState::Ended {
        started_at: Some(Timestamp(2 * SECOND)),
        ended_at: Timestamp(4 * SECOND),
        outcome,
    };
    attempt(&mut view, 0, ended);
    view.run.state = RunState::Failed;
    view.run.ended_at = Some(Timestamp(5 * SECOND));
    let told = super::Report::of(&view, std::path::Path::new("/nowhere"), Timestamp(9 * SECOND))
        .text(Timestamp(9 * SECOND), Styles::plain());
    let id = view.run.id.to_string();
    let expected = format!(
        "TASK   STATE      WAIT  TIME  PEAK MEMORY   CPU\n\
         pull   ✗ failed   1.0s  2.0s       64 MiB  1.5s  2 workers\n\
         train  - not run     -     -            -     -\n\n\
         ✗ pull failed (error): worker-0 ended with exit code 3\n\
         \x20 │ no such table\n\
         \x20 logs: cubeloom logs {} pull\n\n\
         ✗ shown failed in 4.0s  run {id}",
        &id[18..]
    );
    assert_eq!(told, expected);
}
