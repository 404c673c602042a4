//! Creates, commits, loads and reads runs.

use std::collections::BTreeSet;
use std::sync::Mutex;

use cubeloom_domain::hang::Known;
use cubeloom_domain::record::{AttemptRecord, Changes, ExpansionRecord, RunRecord};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::RunState;
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{Bytes, Cpu, TaskIx, Timestamp, failpoint};
use cubeloom_store::{RunFilter, Store};
use serde_json::json;

use crate::documents::entry;
use crate::faults::outside;
use crate::records::{attempt, changes, ended, instance, plan, run, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    what_was_committed_is_loaded,
    of_equal_keys_the_last_counts,
    an_expansion_can_be_forgotten,
    a_commit_that_fails_halfway_leaves_nothing,
    what_no_column_holds_is_stored_and_keeps_nothing_else_back,
    a_run_is_created_once,
    runs_are_listed_newest_first,
    a_run_is_found_by_its_beginning_or_end,
    only_active_runs_are_counted,
    texts_may_hold_anything,
    the_store_says_whether_it_can_write,
    several_writers_get_along,
    a_crash_can_be_tried_around_each_commit,
);

async fn what_was_committed_is_loaded(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1201, "a").await;
    let id = run_id(1);
    let attempts: Vec<_> = (0..700).map(|n| attempt(&id, n, 0, 1)).collect();
    store.commit(&lease("a"), &changes(attempts.clone())).await.unwrap();
    let done: Vec<_> = attempts[..500].iter().map(ended).collect();
    store.commit(&lease("a"), &changes(done.clone())).await.unwrap();

    let loaded = store.load(&id).await.unwrap().unwrap();
    assert_eq!(loaded.record, run(1));
    assert_eq!(loaded.plan, plan(&run(1), 1201));
    assert_eq!(loaded.instances.len(), 700);
    assert_eq!(loaded.attempts, attempts[500..]);
    let known = Known { gaps: 5, longest: 5, restarts: 1, preflights: 0 };
    assert_eq!(loaded.known, (0..500).map(|n| (TaskIx(n), 0, known)).collect::<Vec<_>>());
    let all = store.attempts(&id).await.unwrap();
    assert_eq!(all[..500], done);
    assert_eq!(all[500..], attempts[500..]);
    assert_eq!(store.load(&run_id(2)).await.unwrap(), None);
}

async fn of_equal_keys_the_last_counts(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let begun = attempt(&run_id(1), 0, 0, 1);
    store.commit(&lease("a"), &changes(vec![begun.clone(), ended(&begun)])).await.unwrap();
    assert_eq!(store.attempts(&run_id(1)).await.unwrap(), [ended(&begun)]);
    store.commit(&lease("nobody"), &Changes::default()).await.unwrap();
}

async fn an_expansion_can_be_forgotten(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let of = |task, items| ExpansionRecord { run: run_id(1), task: TaskIx(task), items };
    let first = vec![of(0, vec![json!("a"), json!({ "n": 1.5 })]), of(1, vec![])];
    store.commit(&lease("a"), &Changes { expansions: first.clone(), ..Changes::default() }).await.unwrap();
    assert_eq!(store.expansions(&run_id(1)).await.unwrap(), first);

    let again = Changes {
        unexpanded: vec![(run_id(1), TaskIx(0)), (run_id(1), TaskIx(1))],
        expansions: vec![of(1, vec![json!(2)])],
        ..Changes::default()
    };
    store.commit(&lease("a"), &again).await.unwrap();
    assert_eq!(store.expansions(&run_id(1)).await.unwrap(), [of(1, vec![json!(2)])]);
}

async fn a_commit_that_fails_halfway_leaves_nothing(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let good: Vec<_> = (0..300).map(|n| attempt(&run_id(1), 0, n, 1)).collect();
    // Cached results are written after the attempts.
    outside(&fixture.url, "ALTER TABLE cache RENAME TO away").await;
    let bad = Changes { cache: vec![entry("shop", "k", "pull", 1)], ..changes(good.clone()) };
    store.commit(&lease("a"), &bad).await.unwrap_err();
    outside(&fixture.url, "ALTER TABLE away RENAME TO cache").await;
    let loaded = store.load(&run_id(1)).await.unwrap().unwrap();
    assert!(loaded.instances.is_empty() && loaded.attempts.is_empty());

    store.commit(&lease("a"), &changes(good.clone())).await.unwrap();
    assert_eq!(store.attempts(&run_id(1)).await.unwrap(), good);
}

async fn what_no_column_holds_is_stored_and_keeps_nothing_else_back(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let amount = Amount { cpu: Cpu(1), memory: Bytes(u64::MAX), gpus: 0 };
    let wrong = |n| {
        let one = ended(&AttemptRecord { amount, ..attempt(&run_id(1), 0, n, 1) });
        AttemptRecord { usage: UsageSummary { cpu_us: u64::MAX, ..one.usage }, ..one }
    };
    // Usage of all of them is added up.
    for from in [0, 40, 80] {
        let all: Vec<_> = (from..from + 40).map(wrong).chain([attempt(&run_id(1), 1, from, 1)]).collect();
        store.commit(&lease("a"), &changes(all)).await.unwrap();
    }
    let stored = store.attempts(&run_id(1)).await.unwrap();
    assert_eq!(stored.len(), 123);
    let most = (1 << 53) - 1;
    assert_eq!((stored[0].amount.memory, stored[0].usage.cpu_us), (Bytes(most), most));
}

async fn a_run_is_created_once(fixture: Fixture) {
    let store = &fixture.store;
    let wakes = store.wakes();
    store.create_run(&run(1), &plan(&run(1), 3), None).await.unwrap();
    assert!(wakes.has_changed().unwrap());
    let other = RunRecord { user: "mallory".into(), ..run(1) };
    store.create_run(&other, &plan(&run(1), 1), None).await.unwrap_err();
    assert_eq!(store.run(&run_id(1)).await.unwrap(), Some(run(1)));
    assert_eq!(store.plan(&run_id(1)).await.unwrap(), Some(plan(&run(1), 3)));
    assert_eq!(store.run(&run_id(2)).await.unwrap(), None);
    assert_eq!(store.plan(&run_id(2)).await.unwrap(), None);
}

/// Stores a run unchanged, without a server that leads it.
async fn put(store: &Store, record: &RunRecord) {
    store.create_run(record, &plan(record, 1), None).await.unwrap();
}

async fn runs_are_listed_newest_first(fixture: Fixture) {
    let store = &fixture.store;
    for n in [2, 5, 1, 4, 3] {
        let state = if n % 2 == 0 { RunState::Failed } else { RunState::Running };
        let pipeline = if n < 4 { "ctr" } else { "rank" };
        put(store, &RunRecord { state, pipeline: pipeline.into(), ..run(n) }).await;
    }
    let listed = async |filter: RunFilter| {
        let runs = store.runs(&filter).await.unwrap();
        (1..=5).rev().filter(|n| runs.iter().any(|run| run.id == run_id(*n))).collect::<Vec<u64>>()
    };
    let ids: Vec<_> =
        store.runs(&RunFilter::default()).await.unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(ids, [5, 4, 3, 2, 1].map(run_id));
    let ctr =
        RunFilter { projects: Some(vec!["shop".into()]), pipeline: Some("ctr".into()), ..Default::default() };
    assert_eq!(listed(ctr.clone()).await, [3, 2, 1]);
    assert_eq!(listed(RunFilter { states: vec![RunState::Failed], ..ctr.clone() }).await, [2]);
    assert_eq!(listed(RunFilter { before: Some(run_id(3)), limit: Some(1), ..ctr }).await, [2]);
    assert!(
        listed(RunFilter { projects: Some(vec!["other".into()]), ..Default::default() }).await.is_empty()
    );
    let both = vec![RunState::Failed, RunState::Running];
    assert_eq!(listed(RunFilter { states: both, limit: Some(2), ..Default::default() }).await, [5, 4]);
}

async fn a_run_is_found_by_its_beginning_or_end(fixture: Fixture) {
    let store = &fixture.store;
    for n in 1..=3 {
        put(store, &run(n)).await;
    }
    let id = run_id(2);
    let (start, end) = (&id.as_str()[..8], &id.as_str()[20..]);
    assert_eq!(store.find_run(id.as_str()).await.unwrap(), std::slice::from_ref(&id));
    assert_eq!(store.find_run(&end.to_uppercase()).await.unwrap(), [run_id(2)]);
    assert_eq!(store.find_run(start).await.unwrap(), [3, 2, 1].map(run_id));
    for nothing in ["", "%", "zzz", "01_"] {
        assert!(store.find_run(nothing).await.unwrap().is_empty(), "{nothing}");
    }
}

async fn only_active_runs_are_counted(fixture: Fixture) {
    let store = &fixture.store;
    for (n, state) in (0..).zip(RunState::ALL) {
        put(store, &RunRecord { state, ..run(n) }).await;
    }
    put(store, &RunRecord { state: RunState::Running, pipeline: "rank".into(), ..run(9) }).await;
    assert_eq!(store.active_runs(("shop", "ctr")).await.unwrap(), 2);
    assert_eq!(store.active_runs(("shop", "rank")).await.unwrap(), 1);
    assert_eq!(store.active_runs(("other", "ctr")).await.unwrap(), 0);
}

async fn texts_may_hold_anything(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let message = Some("it's \"so\" -- ; DROP TABLE runs; 点击率 \u{1F600} \\ $1 ?".to_owned());
    let record = RunRecord { message, ..run(1) };
    let mut odd = instance(&run_id(1), 0, 0);
    odd.report.outputs.insert("a\0b".into(), json!("\0'\u{ffff}"));
    odd.note = Some("cut\0here".into());
    let changes = Changes { runs: vec![record.clone()], instances: vec![odd.clone()], ..Changes::default() };
    store.commit(&lease("a"), &changes).await.unwrap();
    let loaded = store.load(&run_id(1)).await.unwrap().unwrap();
    assert_eq!(loaded.record, record);
    assert_eq!(loaded.instances[0].report, odd.report);
    assert_eq!(loaded.instances[0].note.as_deref(), Some("cut\u{fffd}here"));
}

async fn the_store_says_whether_it_can_write(fixture: Fixture) {
    fixture.store.check().await.unwrap();
    fixture.store.close().await;
    fixture.second().await.check().await.unwrap();
}

static REACHED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

async fn a_crash_can_be_tried_around_each_commit(fixture: Fixture) {
    failpoint::install(|point| {
        REACHED.lock().unwrap().insert(point);
    });
    leased_run(&fixture.store, 1, 1, "a").await;
    fixture.store.commit(&lease("a"), &changes(vec![attempt(&run_id(1), 0, 0, 1)])).await.unwrap();
    let reached = REACHED.lock().unwrap();
    for point in
        ["store.create_run.before", "store.create_run.after", "store.commit.before", "store.commit.after"]
    {
        assert!(reached.contains(point), "{point}");
    }
}

async fn several_writers_get_along(fixture: Fixture) {
    leased_run(&fixture.store, 0, 1, "a").await;
    let mut writers = Vec::new();
    for writer in 0..4 {
        let store = if writer % 2 == 0 { fixture.store.clone() } else { fixture.second().await };
        writers.push(tokio::spawn(async move {
            for n in 0..20 {
                let record = RunRecord { created_at: Timestamp(n), ..run(1 + writer * 100 + n as u64) };
                put(&store, &record).await;
                let one =
                    attempt(&run_id(0), 0, u32::try_from(writer).unwrap(), u32::try_from(n).unwrap() + 1);
                store.commit(&lease("a"), &changes(vec![one])).await.unwrap();
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(fixture.store.runs(&RunFilter::default()).await.unwrap().len(), 81);
    assert_eq!(fixture.store.attempts(&run_id(0)).await.unwrap().len(), 80);
}
