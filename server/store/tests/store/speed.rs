//! How long commits take; run by hand, in release:
//! `cargo test -p cubeloom-store --release --test store -- --ignored --nocapture --test-threads 1 speed`

#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::time::{Duration, Instant};

use cubeloom_domain::record::AttemptRecord;

use crate::records::{attempt, changes, ended, run_id};
use crate::support::{Fixture, lease, leased_run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn sqlite() {
    measure("SQLite", Fixture::sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn postgres() {
    measure("PostgreSQL", Fixture::postgres().await).await;
}

async fn measure(name: &str, fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 2, "a").await;
    let id = run_id(1);
    let mut before: Vec<AttemptRecord> = Vec::new();
    let mut large = Vec::new();
    for pass in 0..30 {
        let now: Vec<_> = (0..1000).map(|n| attempt(&id, 1, pass * 1000 + n, 1)).collect();
        let mut both = changes(now.clone());
        both.attempts.extend(before.iter().map(ended));
        let started = Instant::now();
        store.commit(&lease("a"), &both).await.unwrap();
        large.push(started.elapsed());
        before = now;
    }
    let mut small = Vec::new();
    for n in 0..1000 {
        let one = changes(vec![attempt(&id, 0, n, 1)]);
        let started = Instant::now();
        store.commit(&lease("a"), &one).await.unwrap();
        small.push(started.elapsed());
    }
    println!("{name}: 1,000 attempts begun + 1,000 ended + 1,000 instances: {}", summary(&mut large));
    println!("{name}: 1 attempt + 1 instance: {}", summary(&mut small));
}

fn summary(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    format!("median {:?}, p90 {:?}, p99 {:?}", at(50), at(90), at(99))
}
