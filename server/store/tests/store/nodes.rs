//! Cordoned nodes, and the failures that cause it.

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::AlertKind;
use cubeloom_domain::nodes::{AsideReason, NodeAside, NodeFailure, NodeName};
use cubeloom_domain::outcome::{Failure, FailureKind, Outcome};
use cubeloom_domain::preflight::{Blamed, Bounds, Measured, Preflight, Tested};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_store::{AuditFilter, Created, Store};

use crate::alerts::{channel, stored, told};
use crate::people::{audit, project};
use crate::records::{attempt, changes, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    an_attempt_that_lost_its_node_is_noted_once,
    a_node_is_set_aside_once_and_told,
    a_node_that_is_taken_back_begins_anew,
    what_tests_of_workers_measured_is_kept_once_by_pool,
);

fn node(name: &str) -> NodeName {
    NodeName { cluster: "prod".into(), node: name.into() }
}

/// The n-th attempt, which failed on a node.
fn failed(n: u32, on: &str, kind: FailureKind) -> AttemptRecord {
    let failure = Failure { node: Some(on.into()), ..Failure::new(kind, "worker-0 is lost with its node") };
    let attempt = attempt(&run_id(1), 0, 0, n);
    let state = attempt.state.clone().end(Timestamp(i64::from(n)), Outcome::Failed(failure)).unwrap();
    AttemptRecord { state, pool: Pool::of("prod"), ..attempt }
}

async fn commit(store: &Store, attempts: Vec<AttemptRecord>) {
    store.commit(&lease("a"), &changes(attempts)).await.unwrap();
}

async fn failures(store: &Store, since: i64) -> Vec<NodeFailure> {
    store.node_failures(Timestamp(since)).await.unwrap()
}

fn by_hand(name: &str) -> NodeAside {
    let why = AsideReason::Person { user: "ada".into(), note: "its fan".into() };
    NodeAside { of: node(name), since: Timestamp(5), why }
}

async fn an_attempt_that_lost_its_node_is_noted_once(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let lost = failed(1, "gpu-3", FailureKind::Lost);
    commit(store, vec![lost.clone(), failed(2, "gpu-3", FailureKind::Exit)]).await;
    commit(store, vec![lost]).await;
    let found = failures(store, 0).await;
    let expected = NodeFailure {
        of: node("gpu-3"),
        attempt: failed(1, "gpu-3", FailureKind::Lost).key,
        began: Timestamp(6),
        at: Timestamp(1),
        message: "worker-0 is lost with its node".into(),
        sure: false,
    };
    assert_eq!(found, [expected], "a program's own failure is not the node's");
    assert!(failures(store, 2).await.is_empty());
    // Failures older than any rule looks back are deleted with the next one.
    let later = 40 * 24 * 3600 * 1_000_000_i64;
    let mut last = failed(3, "gpu-4", FailureKind::Lost);
    let failure = Failure { node: Some("gpu-4".into()), ..Failure::new(FailureKind::Lost, "gone") };
    last.state = attempt(&run_id(1), 0, 0, 3).state.end(Timestamp(later), Outcome::Failed(failure)).unwrap();
    commit(store, vec![last]).await;
    let left: Vec<String> = failures(store, 0).await.into_iter().map(|one| one.of.node).collect();
    assert_eq!(left, ["gpu-4"]);
}

async fn a_node_is_set_aside_once_and_told(fixture: Fixture) {
    let store = &fixture.store;
    store.create_project(&project("shop"), &audit("project.create")).await.unwrap();
    let wants = stored(store, channel("one", &[AlertKind::NodeSetAside])).await;
    let other = stored(store, channel("other", &[AlertKind::RunFailed])).await;
    let first = by_hand("gpu-3");
    assert_eq!(store.set_node_aside(&first, Some(&audit("node.set_aside"))).await.unwrap(), Created::Yes);
    let again = NodeAside { since: Timestamp(9), ..first.clone() };
    assert_ne!(store.set_node_aside(&again, Some(&audit("node.set_aside"))).await.unwrap(), Created::Yes);
    let elsewhere =
        NodeAside { of: NodeName { cluster: "far".into(), node: "gpu-3".into() }, ..first.clone() };
    store.set_node_aside(&elsewhere, None).await.unwrap();
    assert_eq!(store.nodes_aside().await.unwrap(), [elsewhere, first]);
    let messages = told(store, &wants).await;
    assert_eq!(messages.len(), 1, "of a cluster that the project may not use, nothing is told");
    let sentence = messages[0].alert.sentence.as_deref();
    assert_eq!(sentence, Some("gpu-3 of the cluster prod: by ada: its fan"));
    assert!(told(store, &other).await.is_empty());
    let filter = AuditFilter { action: Some("node.".into()), ..AuditFilter::default() };
    assert_eq!(store.audit_log(&filter).await.unwrap().len(), 1);
}

async fn a_node_that_is_taken_back_begins_anew(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    commit(store, vec![failed(1, "gpu-3", FailureKind::Lost), failed(2, "gpu-4", FailureKind::Lost)]).await;
    store.set_node_aside(&by_hand("gpu-3"), None).await.unwrap();
    let take = async |name| store.take_node_back(&node(name), &audit("node.take_back")).await.unwrap();
    assert!(take("gpu-3").await);
    assert!(!take("gpu-3").await, "it is back already");
    assert!(store.nodes_aside().await.unwrap().is_empty());
    let left: Vec<String> = failures(store, 0).await.into_iter().map(|one| one.of.node).collect();
    assert_eq!(left, ["gpu-4"], "its failures count no more");
}

async fn what_tests_of_workers_measured_is_kept_once_by_pool(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let worker = |n: u32| Measured { worker: format!("w-{n}"), network: Some(800.0), ..Measured::default() };
    let blamed = Blamed { worker: "w-0".into(), why: "its disk is full".into(), sure: true };
    let tested = |blamed| Tested { workers: (0..5).map(worker).collect(), blamed };
    let preflight =
        |blamed| Some(Box::new(Preflight { tested: Some(tested(blamed)), ..Preflight::default() }));
    let bad =
        AttemptRecord { preflight: preflight(Some(blamed)), ..failed(1, "gpu-3", FailureKind::Preflight) };
    let pool = Pool { node_group: Some("h100".into()), ..Pool::of("prod") };
    let good = AttemptRecord {
        preflight: preflight(None),
        pool: pool.clone(),
        ..failed(2, "gpu-4", FailureKind::Exit)
    };
    for n in 3..7 {
        let another = AttemptRecord {
            preflight: preflight(None),
            pool: pool.clone(),
            ..failed(n, "gpu-4", FailureKind::Exit)
        };
        commit(store, vec![bad.clone(), good.clone(), another]).await;
    }
    let norms = store.preflight_norms().await.unwrap();
    assert_eq!(
        norms.iter().map(|(pool, _)| pool.clone()).collect::<Vec<_>>(),
        [Pool::of("prod"), pool.clone()]
    );
    let usual = Bounds::default().network;
    let bounds = |at: usize| norms[at].1.bounds().network;
    assert_eq!(
        (bounds(0), bounds(1)),
        (usual, usual),
        "one attempt and five are not enough, however often they are written"
    );
    commit(
        store,
        vec![AttemptRecord { preflight: preflight(None), pool, ..failed(7, "gpu-4", FailureKind::Exit) }],
    )
    .await;
    assert_eq!(store.preflight_norms().await.unwrap()[1].1.bounds().network, 400.0);
    assert!(failures(store, 0).await[0].sure, "its test has shown it");
    assert_eq!(failures(store, 0).await.len(), 1, "of the others the programs failed");
}
