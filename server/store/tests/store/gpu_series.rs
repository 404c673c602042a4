//! GPUs over time: what is kept of samples, for how long, and by which server.

use std::collections::BTreeMap;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::clusters::{AccessKind, ClusterRecord, ClusterSettings};
use cubeloom_domain::gpu_series::{
    GpuAllocation, GpuRow, GpuTier, GpuTotals, GpuUse, MAX_TASKS, minute_of, moment_of,
};
use cubeloom_domain::kubernetes::KubernetesFacts;
use cubeloom_domain::monitoring::MonitoringSettings;
use cubeloom_store::{Change, Created, GpuPart, GpuRange, Store};

use crate::people::audit;
use crate::support::{Fixture, MINUTE, on_both};

on_both!(
    a_sample_is_read_as_it_was_and_stored_once,
    longer_rows_are_the_sums_of_shorter_ones,
    a_gap_stays_a_gap,
    rows_expire_by_their_length,
    a_row_is_bounded_however_many_tasks_there_were,
    one_server_samples_at_a_time,
    the_rows_of_a_removed_cluster_are_gone,
);

/// Midnight of some day.
const DAY: i64 = 20_000 * 24 * 60;

fn of(project: &str, task: &str) -> GpuAllocation {
    GpuAllocation {
        project: project.into(),
        user: "ada".into(),
        pipeline: "p".into(),
        task: task.into(),
        node_group: "h100".into(),
    }
}

fn amount(gpus: i64) -> GpuUse {
    GpuUse { total: 8000, allocated: gpus * 1000, measured: gpus * 1000, used: gpus * 500 }
}

/// A cluster with a node of 8 GPUs, so many of them allocated.
fn sample(minute: i64, gpus: i64) -> GpuRow {
    GpuRow {
        minute,
        totals: GpuTotals {
            minutes: 1,
            gpus: amount(gpus),
            power: 300 * gpus,
            powered: 8000,
            queue_minutes: 1,
            pending: 2,
            requested: 6,
            oldest_wait: minute - DAY,
        },
        allocations: BTreeMap::from([(of("shop", "train"), amount(gpus))]),
        models: BTreeMap::from([("H100".into(), amount(gpus))]),
        nodes: BTreeMap::from([("n1".into(), amount(gpus))]),
    }
}

async fn add(store: &Store, minutes: impl IntoIterator<Item = i64>) {
    for minute in minutes {
        store.add_gpu_sample("far", &sample(minute, 4)).await.unwrap();
    }
}

/// All parts of a range of the cluster, in rows of `step` minutes.
async fn rows(store: &Store, from: i64, until: i64, step: i64) -> Vec<GpuRow> {
    let range = GpuRange { cluster: "far", part: GpuPart::All, from, until, step };
    store.gpu_series(&range).await.unwrap()
}

async fn thin(store: &Store, minute: i64) {
    store.thin_gpu_series("far", moment_of(minute)).await.unwrap();
}

/// Start and number of samples of each row.
fn covered(rows: &[GpuRow]) -> Vec<(i64, i64)> {
    rows.iter().map(|row| (row.minute - DAY, row.totals.minutes)).collect()
}

async fn a_sample_is_read_as_it_was_and_stored_once(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(minute_of(moment_of(DAY).plus(Duration::from_secs(59))), DAY);
    add(store, [DAY]).await;
    store.add_gpu_sample("far", &sample(DAY, 1)).await.unwrap();
    store.add_gpu_sample("other", &sample(DAY, 1)).await.unwrap();
    assert_eq!(rows(store, DAY, DAY + 1, 1).await, [sample(DAY, 4)]);
    // Only what is requested is read.
    let part = |part| GpuRange { cluster: "far", part, from: DAY, until: DAY + 1, step: 1 };
    let models = store.gpu_series(&part(GpuPart::Models)).await.unwrap();
    assert_eq!((models[0].models.len(), models[0].nodes.len(), models[0].allocations.len()), (1, 0, 0));
    let totals = store.gpu_series(&part(GpuPart::Totals)).await.unwrap();
    assert_eq!((totals[0].models.len(), totals[0].totals), (0, sample(DAY, 4).totals));
}

async fn longer_rows_are_the_sums_of_shorter_ones(fixture: Fixture) {
    let store = &fixture.store;
    // Sampled from the fifth minute on, for three hours.
    add(store, DAY + 5..DAY + 180).await;
    let plain = rows(store, DAY, DAY + 180, 120).await;
    assert_eq!(covered(&plain), [(0, 115), (120, 60)]);
    thin(store, DAY + 179).await;
    // The same, whichever rows it is read from.
    assert_eq!(rows(store, DAY, DAY + 180, 120).await, plain);
    thin(store, DAY + 180).await;
    assert_eq!(rows(store, DAY, DAY + 180, 120).await, plain);
    let sum = &plain[0];
    assert_eq!(
        sum.totals.gpus,
        GpuUse { total: 920_000, allocated: 460_000, measured: 460_000, used: 230_000 }
    );
    assert_eq!((sum.totals.pending, sum.totals.oldest_wait), (230, 119), "a sum, and the longest");
    assert_eq!(sum.allocations[&of("shop", "train")].used, 230_000);
    assert_eq!((sum.models["H100"], sum.nodes["n1"]), (sum.totals.gpus, sum.totals.gpus));
    let quarters = rows(store, DAY, DAY + 180, 15).await;
    assert_eq!((quarters.len(), covered(&quarters)[0]), (12, (0, 10)));
    // A repeated call, as by another server, adds nothing.
    thin(store, DAY + 180).await;
    assert_eq!(rows(store, DAY, DAY + 180, 15).await, quarters);
}

async fn a_gap_stays_a_gap(fixture: Fixture) {
    let store = &fixture.store;
    add(store, (DAY..DAY + 20).chain(DAY + 300..DAY + 310)).await;
    thin(store, DAY + 310).await;
    assert_eq!(covered(&rows(store, DAY, DAY + 360, 15).await), [(0, 15), (15, 5), (300, 10)]);
    assert_eq!(covered(&rows(store, DAY, DAY + 360, 120).await), [(0, 20), (240, 10)]);
    assert_eq!(rows(store, DAY + 30, DAY + 300, 30).await, []);
}

async fn rows_expire_by_their_length(fixture: Fixture) {
    let store = &fixture.store;
    add(store, DAY..DAY + 120).await;
    thin(store, DAY + 120).await;
    let expire = async |minute: i64| {
        // Each call deletes a bounded number of rows.
        for _ in 0..3 {
            store.expire_gpu_series(moment_of(minute)).await.unwrap();
        }
    };
    let (minutes, quarters) = (GpuTier::Minute.retention(), GpuTier::Quarter.retention());
    expire(DAY + minutes + 60).await;
    assert_eq!(covered(&rows(store, DAY, DAY + 120, 5).await).first(), Some(&(60, 5)));
    assert_eq!(covered(&rows(store, DAY, DAY + 120, 15).await).len(), 8);
    expire(DAY + quarters + 120).await;
    assert_eq!(rows(store, DAY, DAY + 120, 5).await, []);
    assert_eq!(rows(store, DAY, DAY + 120, 15).await, []);
    assert_eq!(covered(&rows(store, DAY, DAY + 120, 120).await), [(0, 120)]);
    expire(DAY + GpuTier::TwoHours.retention() + 1).await;
    assert_eq!(rows(store, DAY, DAY + 120, 120).await, []);
}

async fn a_row_is_bounded_however_many_tasks_there_were(fixture: Fixture) {
    let store = &fixture.store;
    for minute in 0..15 {
        // No task lives longer than a minute.
        let tasks = (0..100).map(|task| (of("shop", &format!("task-{minute}-{task}")), amount(1)));
        let one = GpuRow { allocations: tasks.collect(), ..sample(DAY + minute, 4) };
        store.add_gpu_sample("far", &one).await.unwrap();
    }
    thin(store, DAY + 15).await;
    let quarter = rows(store, DAY, DAY + 15, 15).await.remove(0);
    assert_eq!(quarter.allocations.len(), MAX_TASKS + 1);
    let all: i64 = quarter.allocations.values().map(|amount| amount.allocated).sum();
    assert_eq!(all, 1_500_000, "nothing is lost");
}

async fn one_server_samples_at_a_time(fixture: Fixture) {
    let (store, other) = (&fixture.store, fixture.second().await);
    let at = |seconds: u64| moment_of(DAY).plus(Duration::from_secs(seconds));
    assert!(store.claim_gpu_sampling("a", at(0), MINUTE).await.unwrap());
    assert!(!other.claim_gpu_sampling("b", at(30), MINUTE).await.unwrap());
    assert!(store.claim_gpu_sampling("a", at(50), MINUTE).await.unwrap());
    assert!(!other.claim_gpu_sampling("b", at(100), MINUTE).await.unwrap());
    // The lease has expired, as after a crash of its server.
    assert!(other.claim_gpu_sampling("b", at(111), MINUTE).await.unwrap());
    assert!(!store.claim_gpu_sampling("a", at(112), MINUTE).await.unwrap());
    // Only its owner ends a lease.
    store.release_gpu_sampling("a").await.unwrap();
    assert!(!store.claim_gpu_sampling("a", at(113), MINUTE).await.unwrap());
    other.release_gpu_sampling("b").await.unwrap();
    assert!(store.claim_gpu_sampling("a", at(114), MINUTE).await.unwrap());
}

async fn the_rows_of_a_removed_cluster_are_gone(fixture: Fixture) {
    let store = &fixture.store;
    let far = ClusterRecord {
        name: "far".into(),
        description: String::new(),
        settings: ClusterSettings {
            access: AccessKind::Kubeconfig,
            context: None,
            facts: KubernetesFacts::default(),
            slurm: None,
            keep: 60,
            patience: 60,
            monitoring: MonitoringSettings::default(),
            given_up_at: None,
        },
        sealed: None,
        sealed_prometheus: None,
        created_at: Timestamp(7),
        revision: 1,
    };
    assert_eq!(store.create_cluster(&far, &audit("cluster.create")).await.unwrap(), Created::Yes);
    add(store, [DAY]).await;
    let deleted = store.delete_cluster("far", None, &audit("cluster.delete")).await.unwrap();
    assert!(matches!(deleted, Change::Done(_)), "{deleted:?}");
    assert_eq!(rows(store, DAY, DAY + 1, 1).await, []);
}
