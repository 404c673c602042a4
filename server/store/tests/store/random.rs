//! A load returns everything that was committed: random changes, against a model, on both databases.

use std::collections::BTreeMap;

use cubeloom_domain::executor::{Metric, Report, StopCause};
use cubeloom_domain::lowered::{Bindings, LocalBindings, LocalPaths, WorkerBinding};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome, WorkerName};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, Changes, ExpansionRecord, InstanceRecord, RunRecord};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::{AttemptState, InstanceState, ReusedFrom, RunState, SkipReason, WaitReason};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{Bytes, Cpu, JsonMap, RunId, TaskIx, Timestamp};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::records::{attempt, instance, run, run_id};
use crate::support::{Fixture, lease, leased_run};

/// A text as users and programs write it; PostgreSQL's texts contain no NUL.
fn text() -> impl Strategy<Value = String> {
    "[^\0]{0,12}"
}

fn time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp)
}

fn size() -> impl Strategy<Value = u64> {
    0..=u64::try_from(i64::MAX).unwrap()
}

fn json() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| json!(f64::from(n) / 8.0)),
        any::<String>().prop_map(Value::from),
        vec(any::<String>(), 0..3).prop_map(|keys| json!({ "keys": keys })),
    ]
}

fn report() -> impl Strategy<Value = Report> {
    let outputs = vec((any::<String>(), json()), 0..3).prop_map(JsonMap::from_iter);
    let metric = (text(), any::<i32>()).prop_map(|(name, n)| Metric {
        name,
        value: f64::from(n) / 4.0,
        step: (n % 2 == 0).then_some(1.0),
    });
    (outputs, vec(metric, 0..2)).prop_map(|(outputs, metrics)| Report {
        outputs,
        metrics,
        ..Report::default()
    })
}

fn failure() -> impl Strategy<Value = Failure> {
    let kind = prop_oneof![Just(FailureKind::Exit), Just(FailureKind::OutOfMemory), Just(FailureKind::Lost)];
    (kind, any::<String>(), option::of(any::<i32>()), vec(any::<String>(), 0..3)).prop_map(
        |(kind, message, exit_code, last_lines)| Failure {
            worker: exit_code.map(|_| WorkerName { role: "worker".into(), index: 3 }),
            exit_code,
            last_lines,
            ..Failure::new(kind, message)
        },
    )
}

fn instance_state() -> impl Strategy<Value = InstanceState> {
    let reused = (time(), text()).prop_map(|(ended_at, task)| ReusedFrom { run: run_id(9), task, ended_at });
    let reason = any::<String>().prop_map(|message| WaitReason::Capacity { message, why: None });
    prop_oneof![
        Just(InstanceState::Pending),
        (time(), option::of(reason)).prop_map(|(since, reason)| InstanceState::Waiting { since, reason }),
        time().prop_map(|until| InstanceState::Backoff { until }),
        Just(InstanceState::ACTIVE),
        option::of(reused).prop_map(|reused| InstanceState::Succeeded { reused }),
        failure().prop_map(|failure| InstanceState::Failed { failure }),
        Just(InstanceState::UpstreamFailed),
        Just(InstanceState::Skipped { reason: SkipReason::Condition }),
        Just(InstanceState::Cancelled),
    ]
}

fn attempt_state() -> impl Strategy<Value = AttemptState> {
    let outcome =
        prop_oneof![Just(Outcome::Succeeded), failure().prop_map(Outcome::Failed), Just(Outcome::Cancelled)];
    prop_oneof![
        Just(AttemptState::Submitting),
        time().prop_map(|started_at| AttemptState::Running { started_at }),
        option::of(time())
            .prop_map(|started_at| AttemptState::Stopping { started_at, cause: StopCause::Cancelled }),
        (option::of(time()), time(), outcome).prop_map(|(started_at, ended_at, outcome)| {
            AttemptState::Ended { started_at, ended_at, outcome }
        }),
    ]
}

fn bindings() -> impl Strategy<Value = Bindings> {
    let local = (text(), any::<u16>()).prop_map(|(folder, port)| {
        Bindings::Local(LocalBindings {
            workers: vec![WorkerBinding {
                address: "127.1.2.3".into(),
                port,
                ports: vec![port],
                gpus: vec![folder.clone()],
            }],
            paths: LocalPaths {
                workspace: folder,
                run_dir: String::new(),
                attempt_dir: String::new(),
                checkpoint_dir: String::new(),
                code: String::new(),
                template_dir: String::new(),
                bin: String::new(),
                volumes: BTreeMap::new(),
            },
        })
    });
    prop_oneof![Just(Bindings::None), local]
}

fn a_run() -> impl Strategy<Value = RunRecord> {
    let state = prop_oneof![Just(RunState::Running), Just(RunState::Cancelling), Just(RunState::Failed)];
    (state, option::of(time()), option::of(time()), option::of(text()), any::<u32>()).prop_map(
        |(state, started_at, ended_at, message, tasks)| RunRecord {
            state,
            started_at,
            ended_at,
            message,
            tasks,
            ..run(0)
        },
    )
}

fn an_instance() -> impl Strategy<Value = InstanceRecord> {
    let key = (0..3_u32, 0..4_u32);
    let times = (option::of(time()), option::of(time()));
    (key, instance_state(), any::<(u32, u32)>(), times, report(), option::of(text())).prop_map(
        |((task, n), state, (attempt, tries), (ended_at, cool_until), report, note)| InstanceRecord {
            state,
            attempt,
            tries,
            ended_at,
            report,
            note,
            cool_until,
            ..instance(&run_id(0), task, n)
        },
    )
}

fn an_attempt() -> impl Strategy<Value = AttemptRecord> {
    let key = (0..3_u32, 0..3_u32, 1..3_u32);
    let amount = (size(), size(), any::<u32>());
    let cards = btree_map("[A-Z0-9-]{1,9}", any::<u32>(), 0..3);
    let held = (amount, cards, option::of(Just("a100".to_owned())));
    (key, attempt_state(), held, bindings(), size(), option::of(size())).prop_map(
        |((task, at, n), state, ((cpu, memory, gpus), cards, node_group), bindings, used, kernel)| {
            AttemptRecord {
                state,
                cards,
                pool: Pool { cluster: "prod".into(), node_group },
                amount: Amount { cpu: Cpu(cpu), memory: Bytes(memory), gpus },
                bindings,
                usage: UsageSummary {
                    cpu_us: used,
                    peak_memory: Bytes(used / 2),
                    kernel_peak_memory: kernel.map(Bytes),
                    ..UsageSummary::default()
                },
                ..attempt(&run_id(0), task, at, n)
            }
        },
    )
}

fn an_expansion() -> impl Strategy<Value = ExpansionRecord> {
    (0..3_u32, vec(json(), 0..4)).prop_map(|(task, items)| ExpansionRecord {
        run: run_id(0),
        task: TaskIx(task),
        items,
    })
}

fn changes() -> impl Strategy<Value = Changes> {
    (
        option::of(a_run()),
        vec(an_expansion(), 0..3),
        vec(0..3_u32, 0..2),
        vec(an_instance(), 0..8),
        vec(an_attempt(), 0..8),
    )
        .prop_map(|(run, expansions, unexpanded, instances, attempts)| Changes {
            runs: run.into_iter().collect(),
            expansions,
            unexpanded: unexpanded.into_iter().map(|task| (run_id(0), TaskIx(task))).collect(),
            instances,
            attempts,
            ..Changes::default()
        })
}

/// The expected rows of a run.
struct Model {
    run: RunRecord,
    expansions: BTreeMap<TaskIx, ExpansionRecord>,
    instances: BTreeMap<(TaskIx, u32), InstanceRecord>,
    attempts: BTreeMap<(TaskIx, u32, u32), AttemptRecord>,
}

impl Model {
    fn apply(&mut self, changes: &Changes) {
        for (_, task) in &changes.unexpanded {
            self.expansions.remove(task);
        }
        self.run = changes.runs.last().unwrap_or(&self.run).clone();
        let expansions = changes.expansions.iter().map(|row| (row.task, row.clone()));
        self.expansions.extend(expansions);
        let instances = changes.instances.iter().map(|row| ((row.task, row.instance), row.clone()));
        self.instances.extend(instances);
        let attempts =
            changes.attempts.iter().map(|row| ((row.task, row.key.instance, row.key.n), row.clone()));
        self.attempts.extend(attempts);
    }
}

/// The same changes for another run.
fn about(changes: &Changes, id: &RunId) -> Changes {
    let mut changes = changes.clone();
    changes.runs.iter_mut().for_each(|row| row.id = id.clone());
    changes.expansions.iter_mut().for_each(|row| row.run = id.clone());
    changes.unexpanded.iter_mut().for_each(|(run, _)| *run = id.clone());
    changes.instances.iter_mut().for_each(|row| row.run = id.clone());
    changes.attempts.iter_mut().for_each(|row| row.key.run = id.clone());
    changes
}

/// Commits the changes in order to run `n`, and compares the loaded run.
async fn holds(fixture: &Fixture, n: u64, commits: &[Changes]) {
    let store = &fixture.store;
    leased_run(store, n, 1, "a").await;
    let id = run_id(n);
    let mut model = Model {
        run: run(n),
        expansions: BTreeMap::new(),
        instances: BTreeMap::new(),
        attempts: BTreeMap::new(),
    };
    for changes in commits {
        let changes = about(changes, &id);
        model.apply(&changes);
        store.commit(&lease("a"), &changes).await.unwrap();
    }
    let loaded = store.load(&id).await.unwrap().unwrap();
    assert_eq!(loaded.record, model.run);
    assert_eq!(loaded.expansions, model.expansions.into_values().collect::<Vec<_>>());
    assert_eq!(loaded.instances, model.instances.into_values().collect::<Vec<_>>());
    let attempts: Vec<_> = model.attempts.into_values().collect();
    assert_eq!(store.attempts(&id).await.unwrap(), attempts);
    let live: Vec<_> = attempts.into_iter().filter(|attempt| attempt.state.is_live()).collect();
    assert_eq!(loaded.attempts, live);
}

#[test]
fn what_was_committed_is_what_is_loaded() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fixtures = runtime.block_on(async { [Fixture::sqlite().await, Fixture::postgres().await] });
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let runs = std::cell::Cell::new(1_000);
    runner
        .run(&vec(changes(), 1..6), |commits| {
            runs.set(runs.get() + 1);
            for fixture in &fixtures {
                runtime.block_on(holds(fixture, runs.get(), &commits));
            }
            Ok(())
        })
        .unwrap();
    drop(fixtures);
}
