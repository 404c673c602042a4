//! Lists of runs, and the parts of a run that a page shows.

use cubeloom_domain::outcome::{Failure, FailureKind};
use cubeloom_domain::record::{CacheEntry, Changes, InstanceRecord, RunRecord, Wish};
use cubeloom_domain::state::{InstanceState, ReusedFrom, RunState, SkipReason, WaitReason};
use cubeloom_domain::{JsonMap, RunId, TaskIx, Timestamp};
use cubeloom_store::{AuditFilter, Deleted, RunFilter, RunMark, Store};
use serde_json::json;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};

use crate::people::audit;
use crate::records::{attempt, changes, ended, instance, plan, run, run_id};
use crate::support::{Fixture, MINUTE, lease, leased_run, on_both};

on_both!(
    ten_thousand_runs_are_paged,
    runs_are_filtered,
    a_mark_is_another_when_the_run_has_changed,
    a_run_keeps_its_version_and_parameters,
    a_run_that_ended_is_deleted,
    a_run_that_goes_on_is_not_deleted,
    what_is_asked_for_stands_in_the_log,
    instances_are_paged_and_counted,
    what_failed_first_is_found,
    the_history_of_a_task,
    what_waits_longest_comes_first,
);

const STATES: [RunState; 4] = [RunState::Succeeded, RunState::Failed, RunState::Running, RunState::Queued];

/// Run `n` of many: five pipelines, two projects, three users, four states.
fn one_of_many(n: u64) -> RunRecord {
    RunRecord {
        project: if n.is_multiple_of(3) { "ads" } else { "shop" }.into(),
        pipeline: format!("pipe-{}", n % 5),
        user: ["ada", "bob", "eve"][n as usize % 3].into(),
        state: STATES[n as usize % 4],
        ..run(n)
    }
}

/// Writes many runs from outside, a thousand per statement.
async fn many_runs(fixture: &Fixture, count: u64) {
    let mut database = AnyConnection::connect(&fixture.url).await.unwrap();
    for first in (0..count).step_by(1000) {
        let rows: Vec<String> = (first..count.min(first + 1000))
            .map(one_of_many)
            .map(|run| {
                let (state, live) = (run.state.as_str(), u8::from(!run.state.is_final()));
                let (id, project, pipeline, user) = (run.id, run.project, run.pipeline, run.user);
                let at = run.created_at.0;
                format!("('{id}', '{project}', '{pipeline}', '{user}', '{state}', {live}, {at}, 2, '{{}}')")
            })
            .collect();
        let sql = format!(
            "INSERT INTO runs (id, project, pipeline, user_name, state, live, created_at, tasks, parameters_json) \
             VALUES {}",
            rows.join(",")
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut database).await.unwrap();
    }
}

/// Every page of a list, one after the other.
async fn pages(store: &Store, filter: &RunFilter, limit: usize) -> Vec<RunId> {
    let mut seen: Vec<RunId> = Vec::new();
    loop {
        let last = seen.last().cloned();
        let (before, after) = if filter.oldest_first { (None, last) } else { (last, None) };
        let page = RunFilter { before, after, limit: Some(limit), ..filter.clone() };
        let page = store.runs(&page).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            return seen;
        }
        seen.extend(page.into_iter().map(|run| run.id));
    }
}

async fn ten_thousand_runs_are_paged(fixture: Fixture) {
    let store = &fixture.store;
    many_runs(&fixture, 10_007).await;
    let filters = [
        RunFilter::default(),
        RunFilter { projects: Some(vec!["ads".into(), "shop".into()]), ..Default::default() },
        RunFilter {
            pipeline: Some("pipe-2".into()),
            projects: Some(vec!["shop".into()]),
            ..Default::default()
        },
        RunFilter { states: vec![RunState::Running, RunState::Queued], ..Default::default() },
        RunFilter { text: Some("PIPE-3".into()), user: Some("eve".into()), ..Default::default() },
    ];
    for (filter, limit) in filters.into_iter().zip([200, 199, 200, 1000, 97]) {
        let expected: Vec<RunId> =
            (0..10_007).rev().map(one_of_many).filter(|run| wanted(&filter, run)).map(|run| run.id).collect();
        assert!(expected.len() > 500);
        assert_eq!(pages(store, &filter, limit).await, expected);
        let oldest_first = RunFilter { oldest_first: true, ..filter.clone() };
        let reversed: Vec<RunId> = expected.iter().rev().cloned().collect();
        assert_eq!(pages(store, &oldest_first, limit).await, reversed);
        let count = store.count_runs(&filter).await.unwrap();
        assert_eq!(count, expected.len().min(10_000) as u64);
    }
}

/// A reference implementation of a filter, without a database.
fn wanted(filter: &RunFilter, run: &RunRecord) -> bool {
    filter.projects.as_ref().is_none_or(|names| names.contains(&run.project))
        && filter.pipeline.as_ref().is_none_or(|name| *name == run.pipeline)
        && (filter.states.is_empty() || filter.states.contains(&run.state))
        && filter.user.as_ref().is_none_or(|name| *name == run.user)
        && filter.text.as_ref().is_none_or(|text| run.pipeline.contains(&text.to_lowercase()))
}

async fn runs_are_filtered(fixture: Fixture) {
    let store = &fixture.store;
    many_runs(&fixture, 40).await;
    let found = async |filter: RunFilter| {
        let runs = store.runs(&filter).await.unwrap();
        let count = store.count_runs(&filter).await.unwrap();
        assert_eq!(count, runs.len() as u64);
        let marks = store.run_marks(&filter).await.unwrap();
        assert!(marks.len() == runs.len() && marks.iter().zip(&runs).all(|(mark, run)| mark.is_of(run)));
        runs.into_iter().map(|run| run.id).collect::<Vec<_>>()
    };
    let at = |n: u64| Some(run(n).created_at);
    let time = RunFilter { since: at(10), until: at(13), ..Default::default() };
    assert_eq!(found(time).await, [12, 11, 10].map(run_id));
    let between = RunFilter { after: Some(run_id(4)), before: Some(run_id(7)), ..Default::default() };
    assert_eq!(found(between).await, [6, 5].map(run_id));
    let id = run_id(17).to_string();
    let by_id = RunFilter { text: Some(id[15..].to_uppercase()), ..Default::default() };
    assert_eq!(found(by_id).await, [run_id(17)]);
    let user = RunFilter { user: Some("ada".into()), limit: Some(2), ..Default::default() };
    assert_eq!(found(user).await, [39, 36].map(run_id));
    assert!(found(RunFilter { projects: Some(Vec::new()), ..Default::default() }).await.is_empty());
    assert!(found(RunFilter { text: Some("%".into()), ..Default::default() }).await.is_empty());
    let twice =
        RunFilter { projects: Some(["ads", "shop", "ads"].map(Into::into).to_vec()), ..Default::default() };
    assert_eq!(found(twice).await.len(), 40);
    let many: Vec<String> = (0..600).map(|n| format!("p{n}")).chain(["ads".into()]).collect();
    let ads = found(RunFilter { projects: Some(many), ..Default::default() }).await;
    assert_eq!(ads.len(), 14);
}

async fn a_mark_is_another_when_the_run_has_changed(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let running = RunRecord { state: RunState::Running, ..run(1) };
    let said = |message: &str| RunRecord { message: Some(message.into()), ..running.clone() };
    let steps = [
        running.clone(),
        RunRecord { started_at: Some(Timestamp(7)), ..running.clone() },
        said("one"),
        said("two"),
        // A message may contain a mark's separators, too.
        said("\u{1e}a run\u{1f}running\u{1f}\u{1f}"),
        RunRecord { acting: Some("eve".into()), ..running.clone() },
        RunRecord { state: RunState::Failed, ended_at: Some(Timestamp(9)), ..running.clone() },
    ];
    let mut seen: Vec<RunMark> = Vec::new();
    for step in steps {
        let changes = Changes { runs: vec![step.clone()], ..Changes::default() };
        store.commit(&lease("a"), &changes).await.unwrap();
        let mut marks = store.run_marks(&RunFilter::default()).await.unwrap();
        assert_eq!(marks, store.run_marks(&RunFilter::default()).await.unwrap());
        let mark = marks.pop().unwrap();
        assert!(marks.is_empty() && mark.is_of(&step) && !seen.contains(&mark), "{mark:?}");
        seen.push(mark);
    }
}

async fn a_run_keeps_its_version_and_parameters(fixture: Fixture) {
    let store = &fixture.store;
    let parameters: JsonMap =
        json!({ "date": "2026-01-01", "n": 1.5, "deep": [{}] }).as_object().unwrap().clone();
    let record = RunRecord { version: Some(3), parameters, ..run(1) };
    store.create_run(&record, &plan(&record, 1), None).await.unwrap();
    assert_eq!(store.run(&record.id).await.unwrap().as_ref(), Some(&record));
    store.acquire("a", Timestamp(0), MINUTE, 9).await.unwrap();
    let running = RunRecord { state: RunState::Running, ..record };
    let changes = Changes { runs: vec![running.clone()], ..Changes::default() };
    store.commit(&lease("a"), &changes).await.unwrap();
    assert_eq!(store.run(&running.id).await.unwrap(), Some(running));
}

async fn delete(store: &Store, n: u64) -> Deleted {
    store.delete_run(&run_id(n), &audit("run.delete")).await.unwrap()
}

async fn logged(store: &Store, action: &str) -> usize {
    let filter = AuditFilter { action: Some(action.into()), ..AuditFilter::default() };
    store.audit_log(&filter).await.unwrap().len()
}

/// Writes an ended, unleased run with a row in every table.
async fn ended_run(store: &Store, n: u64) {
    leased_run(store, n, 2, "a").await;
    let id = run_id(n);
    let wish = store.add_wish(&id, &Wish::Cancel, "ada", Timestamp(1), None).await.unwrap();
    let cache = CacheEntry {
        key: format!("key-{n}"),
        parts: json!({}),
        project: "shop".into(),
        pipeline: "ctr".into(),
        task: "task-0".into(),
        run: id.clone(),
        created_at: Timestamp(1),
        report: Default::default(),
    };
    let over = Changes {
        runs: vec![RunRecord { state: RunState::Succeeded, ..run(n) }],
        wishes: vec![wish],
        cache: vec![cache],
        ..changes(vec![ended(&attempt(&id, 0, 0, 1))])
    };
    store.commit(&lease("a"), &over).await.unwrap();
    store.release("a", &[id]).await.unwrap();
}

async fn a_run_that_ended_is_deleted(fixture: Fixture) {
    let store = &fixture.store;
    for n in [1, 2] {
        ended_run(store, n).await;
    }
    assert_eq!(delete(store, 1).await, Deleted::Done);
    assert_eq!(delete(store, 1).await, Deleted::Missing);
    let (gone, kept) = (run_id(1), run_id(2));
    assert_eq!(store.run(&gone).await.unwrap(), None);
    assert_eq!(store.plan(&gone).await.unwrap(), None);
    assert!(
        store.instances(&gone).await.unwrap().is_empty() && store.attempts(&gone).await.unwrap().is_empty()
    );
    let cached = store.cached("shop", &["key-1".into(), "key-2".into()]).await.unwrap();
    assert_eq!(cached.iter().map(|entry| &entry.run).collect::<Vec<_>>(), [&kept]);
    assert!(store.load(&kept).await.unwrap().is_some());
    assert_eq!(store.attempts(&kept).await.unwrap().len(), 1);
    assert_eq!(logged(store, "run.delete").await, 1);
}

async fn a_run_that_goes_on_is_not_deleted(fixture: Fixture) {
    let store = &fixture.store;
    store.create_run(&run(1), &plan(&run(1), 1), None).await.unwrap();
    assert_eq!(delete(store, 1).await, Deleted::Live);
    ended_run(store, 2).await;
    let wish = store.add_wish(&run_id(2), &Wish::Resume, "ada", Timestamp(1), None).await.unwrap();
    assert_eq!(delete(store, 2).await, Deleted::Live);
    // An engine that handles the command leads the run.
    store.acquire("a", Timestamp(90), MINUTE, 9).await.unwrap();
    store.commit(&lease("a"), &Changes { wishes: vec![wish], ..Changes::default() }).await.unwrap();
    assert_eq!(delete(store, 2).await, Deleted::Live);
    assert_eq!(logged(store, "run.delete").await, 0);
    store.release_all("a").await.unwrap();
    assert_eq!(delete(store, 2).await, Deleted::Done);
}

async fn what_is_asked_for_stands_in_the_log(fixture: Fixture) {
    let store = &fixture.store;
    store.create_run(&run(1), &plan(&run(1), 1), Some(&audit("run.create"))).await.unwrap();
    store.create_run(&run(1), &plan(&run(1), 1), Some(&audit("run.create"))).await.unwrap_err();
    let cancel = audit("run.cancel");
    store.add_wish(&run_id(1), &Wish::Cancel, "ada", Timestamp(1), Some(&cancel)).await.unwrap();
    let nowhere = audit("run.cancel");
    store.add_wish(&run_id(2), &Wish::Cancel, "ada", Timestamp(1), Some(&nowhere)).await.unwrap_err();
    assert_eq!(logged(store, "run.").await, 2);
}

/// Instances in all states, several in some of them.
fn states() -> Vec<InstanceState> {
    let since = |n| InstanceState::Waiting { since: Timestamp(n), reason: None };
    let reason = Some(WaitReason::Capacity { message: "4 of 5 cores".into(), why: None });
    let failure = |message: &str| Failure::new(FailureKind::Exit, message);
    let reused = ReusedFrom { run: run_id(1), task: "x".into(), ended_at: Timestamp(3) };
    vec![
        InstanceState::Pending,
        since(1),
        since(22),
        InstanceState::Waiting { since: Timestamp(3), reason },
        InstanceState::Backoff { until: Timestamp(77) },
        InstanceState::ACTIVE,
        InstanceState::Succeeded { reused: None },
        InstanceState::Succeeded { reused: Some(reused) },
        InstanceState::Failed { failure: failure("one") },
        InstanceState::Failed { failure: failure("two") },
        InstanceState::UpstreamFailed,
        InstanceState::Skipped { reason: SkipReason::Condition },
        InstanceState::Skipped { reason: SkipReason::Trigger },
        InstanceState::Cancelled,
    ]
}

async fn instances_are_paged_and_counted(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 600, "a").await;
    let id = run_id(1);
    let state_of = |n: usize, task: u32| states()[(n + task as usize) % 14].clone();
    let all: Vec<InstanceRecord> = (0..100)
        .flat_map(|n: u32| {
            [0, 7].map(|task| InstanceRecord { state: state_of(n as usize, task), ..instance(&id, task, n) })
        })
        .collect();
    let attempts = vec![attempt(&id, 7, 3, 1), attempt(&id, 7, 3, 2), attempt(&id, 7, 4, 1)];
    let written = Changes { instances: all.clone(), attempts: attempts.clone(), ..Changes::default() };
    store.commit(&lease("a"), &written).await.unwrap();

    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let page = store.instances_of(&id, TaskIx(7), after, 30).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.instance);
        seen.extend(page);
    }
    let of_seven: Vec<_> = all.iter().filter(|one| one.task == TaskIx(7)).cloned().collect();
    assert_eq!(seen, of_seven);
    assert_eq!(store.attempts_of(&id, TaskIx(7), 3).await.unwrap(), attempts[..2]);
    assert!(store.attempts_of(&id, TaskIx(7), 5).await.unwrap().is_empty());

    let counts = store.task_counts(&id).await.unwrap();
    assert_eq!(counts.len(), 2 * 10);
    for count in &counts {
        let expected = all.iter().filter(|one| one.task == count.task && one.state.as_str() == count.state);
        assert_eq!(count.count, expected.count() as u64, "{count:?}");
    }
    assert_eq!(counts.iter().map(|count| count.count).sum::<u64>(), 200);

    for task in [0, 499, 500, 599] {
        let planned = store.planned_task(&id, TaskIx(task)).await.unwrap().unwrap();
        assert_eq!(planned.name, format!("task-{task}"));
    }
    assert_eq!(store.planned_task(&id, TaskIx(600)).await.unwrap(), None);
    assert_eq!(store.planned_task(&run_id(2), TaskIx(0)).await.unwrap(), None);
}

async fn what_failed_first_is_found(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 3, "a").await;
    assert_eq!(store.first_failed(&run_id(1)).await.unwrap(), None);
    let ended = |task: u32, n: u32, at: i64, state: InstanceState| InstanceRecord {
        state,
        ended_at: Some(Timestamp(at)),
        ..instance(&run_id(1), task, n)
    };
    let failed = || InstanceState::Failed { failure: Failure::new(FailureKind::Timeout, "too long") };
    let instances = vec![
        ended(0, 0, 3, InstanceState::Cancelled),
        ended(1, 0, 9, failed()),
        ended(1, 1, 7, failed()),
        ended(2, 0, 7, failed()),
    ];
    let first = instances[2].clone();
    store.commit(&lease("a"), &Changes { instances, ..Changes::default() }).await.unwrap();
    assert_eq!(store.first_failed(&run_id(1)).await.unwrap(), Some(first));
}

async fn the_history_of_a_task(fixture: Fixture) {
    let store = &fixture.store;
    let mut newest_first = Vec::new();
    for n in 1..=6 {
        leased_run(store, n, 2, "a").await;
        let done = ended(&attempt(&run_id(n), 1, 0, 1));
        let live = attempt(&run_id(n), 1, 0, 2);
        let other = ended(&attempt(&run_id(n), 0, 0, 1));
        store.commit(&lease("a"), &changes(vec![done.clone(), live, other])).await.unwrap();
        newest_first.insert(0, done);
    }
    let history =
        async |pipeline: &str, task: &str, limit| store.history("shop", pipeline, task, limit).await.unwrap();
    assert_eq!(history("ctr", "task-1", 4).await, newest_first[..4]);
    assert_eq!(history("ctr", "task-1", 50).await, newest_first);
    assert!(history("rank", "task-1", 4).await.is_empty());
    assert!(history("ctr", "task-9", 4).await.is_empty());
}

async fn what_waits_longest_comes_first(fixture: Fixture) {
    let store = &fixture.store;
    let ads = RunRecord { pipeline: "ads".into(), ..run(2) };
    leased_run(store, 1, 2, "a").await;
    store.create_run(&ads, &plan(&ads, 2), None).await.unwrap();
    store.acquire("a", Timestamp(0), MINUTE, 9).await.unwrap();
    let mut instances: Vec<InstanceRecord> = (0_u32..)
        .zip(states())
        .map(|(n, state)| InstanceRecord {
            ended_at: state.is_final().then_some(Timestamp(9)),
            ready_at: Timestamp(100 - i64::from(n)),
            state,
            ..instance(&run_id(1), 1, n)
        })
        .collect();
    let oldest = InstanceRecord { ready_at: Timestamp(1), ..instance(&run_id(2), 0, 0) };
    instances.push(oldest.clone());
    store.commit(&lease("a"), &Changes { instances: instances.clone(), ..Changes::default() }).await.unwrap();

    let waiting = store.waiting(None, 10).await.unwrap();
    assert_eq!((waiting[0].pipeline.as_str(), waiting[0].task.as_str()), ("ads", "task-0"));
    assert_eq!((waiting[1].pipeline.as_str(), waiting[1].task.as_str()), ("ctr", "task-1"));
    let seen: Vec<_> = waiting.into_iter().map(|one| one.instance).collect();
    let expected = [
        oldest.clone(),
        instances[4].clone(),
        instances[3].clone(),
        instances[2].clone(),
        instances[1].clone(),
    ];
    assert_eq!(seen, expected);
    assert_eq!(store.waiting(Some(&["shop".into()]), 2).await.unwrap().len(), 2);
    assert!(store.waiting(Some(&["other".into()]), 10).await.unwrap().is_empty());
    assert!(store.waiting(Some(&[]), 10).await.unwrap().is_empty());

    let (tasks, all) = store.waiting_tasks(None, 1).await.unwrap();
    assert_eq!((all, tasks.len(), tasks[0].count), (2, 1, 1));
    assert_eq!((&tasks[0].first.instance, tasks[0].first.task.as_str()), (&oldest, "task-0"));
    let (tasks, all) = store.waiting_tasks(Some(&["shop".into()]), 10).await.unwrap();
    assert_eq!((all, tasks[1].count, &tasks[1].first.instance), (2, 4, &instances[4]));
    assert_eq!(store.waiting_tasks(Some(&["other".into()]), 10).await.unwrap(), (Vec::new(), 0));

    let over = RunRecord { state: RunState::Failed, ..run(1) };
    store.commit(&lease("a"), &Changes { runs: vec![over], ..Changes::default() }).await.unwrap();
    assert_eq!(store.waiting(None, 10).await.unwrap().len(), 1);
}
