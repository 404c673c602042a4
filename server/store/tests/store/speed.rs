//! Benchmarks of commits; run by hand, in release mode:
//! `cargo test -p cubeloom-store --release --test store -- --ignored --nocapture --test-threads 1 speed`

#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::time::{Duration, Instant};

use cubeloom_domain::record::{AttemptRecord, Changes, RunRecord};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::Store;

use crate::records::{attempt, changes, ended, run, run_id};
use crate::support::{Fixture, MINUTE, lease, leased_run};

/// Attempts that have ended before the second measurement.
const HISTORY: u32 = 3_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn sqlite() {
    compare("SQLite", Fixture::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn postgres() {
    compare("PostgreSQL", Fixture::postgres().await).await;
}

async fn compare(name: &str, fixture: Fixture) {
    let store = &fixture.store;
    for round in 1..4 {
        measure(&format!("{name}, empty"), store, round).await;
    }
    for n in 0..u64::from(HISTORY / 100_000) {
        leased_run(store, 1000 + n, 2, "a").await;
        let id = run_id(1000 + n);
        for part in 0..50 {
            let done = (0..2000).map(|at| ended(&attempt(&id, 0, part * 2000 + at, 1))).collect();
            store.commit(&lease("a"), &changes(done)).await.unwrap();
        }
        let over = RunRecord { state: RunState::Succeeded, ..run(1000 + n) };
        store.commit(&lease("a"), &Changes { runs: vec![over], ..Changes::default() }).await.unwrap();
        store.release("a", &[id]).await.unwrap();
    }
    for round in 4..7 {
        measure(&format!("{name}, after {HISTORY} attempts"), store, round).await;
    }
}

async fn measure(name: &str, store: &Store, n: u64) {
    leased_run(store, n, 2, "a").await;
    let id = run_id(n);
    println!("{name}: 1,000 begun + 1,000 ended + 1,000 instances: {}", large(store, &id).await);
    println!("{name}: 1 attempt + 1 instance: {}", small(store, &id).await);
    println!("{name}: a look without news: {}", look(store, &id).await);
}

/// Commits of 1,000 new attempts, the ends of 1,000 others, and 1,000 instances.
async fn large(store: &Store, id: &RunId) -> String {
    let mut before: Vec<AttemptRecord> = Vec::new();
    let mut times = Vec::new();
    for pass in 0..30 {
        let now: Vec<_> = (0..1000).map(|n| attempt(id, 1, pass * 1000 + n, 1)).collect();
        let mut both = changes(now.clone());
        both.attempts.extend(before.iter().map(ended));
        let started = Instant::now();
        store.commit(&lease("a"), &both).await.unwrap();
        times.push(started.elapsed());
        before = now;
    }
    summary(&mut times)
}

/// Commits of one attempt and its instance.
async fn small(store: &Store, id: &RunId) -> String {
    let mut times = Vec::new();
    for n in 0..1000 {
        let one = changes(vec![attempt(id, 0, n, 1)]);
        let started = Instant::now();
        store.commit(&lease("a"), &one).await.unwrap();
        times.push(started.elapsed());
    }
    summary(&mut times)
}

/// The queries of an engine when nothing has happened.
async fn look(store: &Store, id: &RunId) -> String {
    let mut times = Vec::new();
    for _ in 0..200 {
        let started = Instant::now();
        store.acquire("a", Timestamp(1), MINUTE, 64).await.unwrap();
        store.wishes(std::slice::from_ref(id)).await.unwrap();
        store.active_runs(("shop", "ctr")).await.unwrap();
        times.push(started.elapsed());
    }
    summary(&mut times)
}

fn summary(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    format!("median {:?}, p90 {:?}, p99 {:?}", at(50), at(90), at(99))
}
