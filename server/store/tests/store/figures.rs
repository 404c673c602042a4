//! Statistics of a task, and pages of a run's instances and attempts.

use cubeloom_domain::executor::Report;
use cubeloom_domain::record::{AttemptRecord, Changes, ExpansionRecord, InstanceRecord};
use cubeloom_domain::state::{AttemptState, InstanceState, SkipReason};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{Bytes, RunId, TaskIx, Timestamp};
use cubeloom_store::{AttemptStart, FIRST_TASKS, InstanceGroup, LastAttempt, LastInstance, TaskFigures};
use serde_json::json;

use crate::records::{attempt, ended, instance, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    a_task_is_told_in_figures,
    the_last_instance_of_each_task_is_found,
    the_tasks_of_several_runs_are_grouped,
    reports_and_attempts_come_in_pages,
    single_things_are_found,
);

async fn a_task_is_told_in_figures(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 3, "a").await;
    let id = run_id(1);
    let done = |n: u32| InstanceRecord {
        state: InstanceState::Succeeded { reused: None },
        ready_at: Timestamp(100 + i64::from(n)),
        ended_at: Some(Timestamp(200 + i64::from(n))),
        ..instance(&id, 1, n)
    };
    let used = |n: u32| AttemptRecord {
        created_at: Timestamp(150 + i64::from(n)),
        usage: UsageSummary {
            cpu_us: 1 << 40,
            peak_memory: Bytes(u64::from(n) << 33),
            ..UsageSummary::default()
        },
        ..ended(&attempt(&id, 1, n, 1))
    };
    let instances: Vec<InstanceRecord> = (0..3).map(done).collect();
    let attempts: Vec<AttemptRecord> = (0..3).map(used).collect();
    let written = Changes { instances, attempts, ..Changes::default() };
    store.commit(&lease("a"), &written).await.unwrap();
    let figures = store.task_figures(&id, TaskIx(1)).await.unwrap();
    assert_eq!(
        figures,
        TaskFigures {
            ready_at: Some(Timestamp(100)),
            ended_at: Some(Timestamp(202)),
            attempts: 3,
            began_at: Some(Timestamp(150)),
            usage: UsageSummary { cpu_us: 3 << 40, peak_memory: Bytes(2 << 33), ..UsageSummary::default() },
        }
    );
    let open = Changes { instances: vec![instance(&id, 1, 3)], ..Changes::default() };
    store.commit(&lease("a"), &open).await.unwrap();
    assert_eq!(store.task_figures(&id, TaskIx(1)).await.unwrap().ended_at, None, "one has not ended");
    assert_eq!(store.task_figures(&id, TaskIx(2)).await.unwrap(), TaskFigures::default());
}

async fn the_last_instance_of_each_task_is_found(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 5, "a").await;
    let id = run_id(1);
    let done = |task: u32, n: u32, ended_at: i64| InstanceRecord {
        state: InstanceState::Succeeded { reused: None },
        attempt: 4,
        ended_at: Some(Timestamp(ended_at)),
        ..instance(&id, task, n)
    };
    let active = InstanceRecord { state: InstanceState::ACTIVE, ..instance(&id, 2, 1) };
    let rerun = InstanceRecord { state: InstanceState::Pending, ..instance(&id, 3, 0) };
    let instances = vec![
        done(0, 0, 20),
        done(0, 1, 30),
        done(0, 2, 10),
        done(2, 0, 90),
        active,
        instance(&id, 2, 2),
        instance(&id, 2, 3),
        rerun,
    ];
    // The first attempt is from before a rerun.
    let earlier = AttemptRecord { created_at: Timestamp(4), ..ended(&attempt(&id, 0, 1, 1)) };
    let tries = (2..=4).map(|n| ended(&attempt(&id, 0, 1, n)));
    let attempts = [earlier].into_iter().chain(tries).collect();
    let written = Changes { instances, attempts, ..Changes::default() };
    store.commit(&lease("a"), &written).await.unwrap();
    let last = |n: u32| {
        let AttemptRecord { created_at, state, .. } = ended(&attempt(&id, 0, 1, n));
        LastInstance {
            task: TaskIx(0),
            instance: 1,
            ready_at: Timestamp(5),
            ended_at: Some(Timestamp(30)),
            attempt: Some(LastAttempt { n, created_at, state }),
        }
    };
    let waits =
        LastInstance { task: TaskIx(2), instance: 2, ready_at: Timestamp(5), ended_at: None, attempt: None };
    assert_eq!(store.last_instances(&id).await.unwrap(), [last(2), last(4), waits]);
    assert!(store.last_instances(&run_id(2)).await.unwrap().is_empty());
}

async fn the_tasks_of_several_runs_are_grouped(fixture: Fixture) {
    let store = &fixture.store;
    for n in 1..=2 {
        leased_run(store, n, 600, "a").await;
    }
    let ids = [1, 2, 3].map(run_id);
    let done = |run: usize, task: u32, n: u32, state: InstanceState| InstanceRecord {
        state,
        attempt: n + 1,
        ready_at: Timestamp(100 - i64::from(n)),
        ended_at: Some(Timestamp(200 + i64::from(n))),
        ..instance(&ids[run], task, n)
    };
    let succeeded = InstanceState::Succeeded { reused: None };
    let instances = vec![
        done(0, 0, 0, succeeded.clone()),
        done(0, 0, 1, succeeded.clone()),
        done(0, 0, 2, InstanceState::Skipped { reason: SkipReason::Condition }),
        InstanceRecord { state: InstanceState::ACTIVE, attempt: 1, ..instance(&ids[0], 499, 0) },
        instance(&ids[0], 500, 0),
        done(1, 1, 0, succeeded),
    ];
    let running = |task: u32| AttemptRecord {
        state: AttemptState::Running { started_at: Timestamp(120) },
        created_at: Timestamp(110),
        ..attempt(&ids[0], task, 0, 1)
    };
    let attempts = vec![running(0), running(500), attempt(&ids[0], 0, 1, 1)];
    store.commit(&lease("a"), &Changes { instances, attempts, ..Changes::default() }).await.unwrap();

    let runs: Vec<&RunId> = ids.iter().collect();
    let mut groups = store.instance_groups(&runs).await.unwrap();
    groups.sort_by(|a, b| (&a.run, a.task, a.state).cmp(&(&b.run, b.task, b.state)));
    let group = |run: usize, task: u32, state, (count, attempts): (u64, u64), ready_at: i64, ended_at| {
        let (run, task) = (ids[run].clone(), TaskIx(task));
        InstanceGroup { run, task, state, count, attempts, ready_at: Timestamp(ready_at), ended_at }
    };
    assert_eq!(
        groups,
        [
            group(0, 0, "skipped", (1, 3), 98, Some(Timestamp(202))),
            group(0, 0, "succeeded", (2, 3), 99, Some(Timestamp(201))),
            group(0, 499, "running", (1, 1), 5, None),
            group(1, 1, "succeeded", (1, 1), 100, Some(Timestamp(200))),
        ]
    );
    let (created_at, started_at) = (Timestamp(110), Timestamp(120));
    let start = AttemptStart { run: ids[0].clone(), task: TaskIx(0), created_at, started_at };
    assert_eq!(store.attempt_starts(&runs).await.unwrap(), [start]);
    let mut plans = store.first_tasks(&runs).await.unwrap();
    plans.sort_by(|(a, _), (b, _)| a.cmp(b));
    assert_eq!(plans.iter().map(|(run, _)| run).collect::<Vec<_>>(), runs[..2]);
    for (_, tasks) in &plans {
        assert_eq!((tasks.len(), tasks[499].name.as_str()), (FIRST_TASKS, "task-499"));
    }
    assert!(store.instance_groups(&[]).await.unwrap().is_empty());
}

async fn reports_and_attempts_come_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 9, "a").await;
    let id = run_id(1);
    let report = |n: u32| Report {
        outputs: json!({"n": n}).as_object().cloned().filter(|_| n.is_multiple_of(2)).unwrap_or_default(),
        ..Report::default()
    };
    let of = |task: u32| (0..10).map(move |n| (task, n));
    let instances: Vec<InstanceRecord> = of(2)
        .chain(of(5))
        .map(|(task, n)| InstanceRecord { report: report(n), ..instance(&id, task, n) })
        .collect();
    let attempts: Vec<AttemptRecord> =
        of(2).chain(of(5)).map(|(task, n)| attempt(&id, task, n, 1 + n % 2)).collect();
    let written = Changes { instances: instances.clone(), attempts: attempts.clone(), ..Changes::default() };
    store.commit(&lease("a"), &written).await.unwrap();

    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.reported(&id, None, after, 3).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.task.0, last.instance));
        seen.extend(page);
    }
    let reported: Vec<InstanceRecord> =
        instances.into_iter().filter(|one| !one.report.outputs.is_empty()).collect();
    assert_eq!(seen, reported);
    let of_five = store.reported(&id, Some(TaskIx(5)), None, 50).await.unwrap();
    assert_eq!(of_five, reported[5..]);

    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.attempts_page(&id, after, 7).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.task.0, last.key.instance, last.key.n));
        seen.extend(page);
    }
    assert_eq!(seen, attempts);
    assert_eq!(store.attempts_of_task(&id, TaskIx(5), 50).await.unwrap(), attempts[10..]);
    assert_eq!(store.live_attempts(&id, 4).await.unwrap(), attempts[..4]);
    let over = Changes { attempts: attempts.iter().map(ended).collect(), ..Changes::default() };
    store.commit(&lease("a"), &over).await.unwrap();
    assert!(store.live_attempts(&id, 4).await.unwrap().is_empty());
    // Only the last attempt of a retried instance.
    let tried = [1, 2, 3].map(|n| attempt(&id, 5, 3, n));
    let third = InstanceRecord { attempt: 3, ..instance(&id, 5, 3) };
    let more = Changes { instances: vec![third], attempts: tried.to_vec(), ..Changes::default() };
    store.commit(&lease("a"), &more).await.unwrap();
    assert_eq!(store.last_attempts(&id, TaskIx(5), 50).await.unwrap(), tried[2..]);
}

async fn single_things_are_found(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 3, "a").await;
    let id = run_id(1);
    let items = vec![json!(1), json!({"b": [2]})];
    let expansion = ExpansionRecord { run: id.clone(), task: TaskIx(1), items: items.clone() };
    let waiting = instance(&id, 1, 0);
    let active = InstanceRecord { state: InstanceState::ACTIVE, ..instance(&id, 1, 1) };
    let instances = vec![waiting.clone(), active.clone()];
    let written = Changes { instances, expansions: vec![expansion], ..Changes::default() };
    store.commit(&lease("a"), &written).await.unwrap();
    assert_eq!(store.items_of(&id, TaskIx(1)).await.unwrap(), Some(items));
    assert_eq!(store.items_of(&id, TaskIx(0)).await.unwrap(), None);
    assert_eq!(store.instance(&id, TaskIx(1), 1).await.unwrap(), Some(active.clone()));
    assert_eq!(store.instance(&id, TaskIx(1), 2).await.unwrap(), None);
    assert_eq!(store.first_in_state(&id, TaskIx(1), "active").await.unwrap(), Some(active));
    assert_eq!(store.first_in_state(&id, TaskIx(1), "waiting").await.unwrap(), Some(waiting));
    assert_eq!(store.first_in_state(&id, TaskIx(1), "failed").await.unwrap(), None);
}
