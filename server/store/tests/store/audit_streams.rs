//! Sent entries of the audit log: no needless duplicates, no gaps.

use std::time::Duration;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::{RunId, Timestamp};

use crate::people::audit;
use crate::support::{Fixture, on_both};

on_both!(
    what_was_sent_is_not_sent_again,
    an_entry_that_is_committed_behind_a_later_one_is_sent_too,
    one_server_sends_at_a_time,
    a_refusal_is_kept_and_forgotten_with_the_next_success,
    the_use_of_a_secret_is_noted_once_for_each_run_and_person,
);

const NOW: Timestamp = Timestamp(1_800_000_000_000_000);
const LEASE: Duration = Duration::from_secs(60);

fn later(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

/// Stores entries at these moments.
async fn wrote(fixture: &Fixture, moments: &[Timestamp]) -> Vec<AuditEntry> {
    let mut entries = Vec::new();
    for (n, at) in moments.iter().enumerate() {
        let entry = AuditEntry { id: RunId::new(*at, n as u128 + 1).to_string(), ..audit("run.start") };
        fixture.store.audit(&entry).await.unwrap();
        entries.push(entry);
    }
    entries
}

/// Reads the unsent entries and records them as sent at this moment.
async fn sent(fixture: &Fixture, now: Timestamp) -> Vec<AuditEntry> {
    let store = &fixture.store;
    assert!(store.claim_audit_stream("hook", "a", now, LEASE).await.unwrap());
    let unsent = store.unsent_audit("hook", 100).await.unwrap();
    assert!(store.audit_sent("hook", "a", &unsent, now).await.unwrap());
    unsent
}

async fn what_was_sent_is_not_sent_again(fixture: Fixture) {
    let store = &fixture.store;
    wrote(&fixture, &[later(0)]).await;
    store.begin_audit_stream("hook", later(1)).await.unwrap();
    assert_eq!(store.unsent_audit("hook", 10).await.unwrap(), [], "what was before is not sent");
    let first = wrote(&fixture, &[later(2), later(3), later(4)]).await;
    assert_eq!(store.unsent_audit("hook", 2).await.unwrap(), first[..2]);
    assert_eq!(sent(&fixture, later(5)).await, first);
    // A restart begins the stream again.
    store.begin_audit_stream("hook", later(6)).await.unwrap();
    assert_eq!(sent(&fixture, later(6)).await, []);
    // Long after, the position has advanced and no entry is recorded individually.
    let second = wrote(&fixture, &[later(5_000), later(10_000)]).await;
    assert_eq!(sent(&fixture, later(10_000)).await, second);
    let third = wrote(&fixture, &[later(20_000)]).await;
    assert_eq!(sent(&fixture, later(30_000)).await, third);
    assert_eq!(sent(&fixture, later(30_000)).await, []);
}

async fn an_entry_that_is_committed_behind_a_later_one_is_sent_too(fixture: Fixture) {
    fixture.store.begin_audit_stream("hook", NOW).await.unwrap();
    wrote(&fixture, &[later(100)]).await;
    assert_eq!(sent(&fixture, later(101)).await.len(), 1);
    let late = wrote(&fixture, &[later(50)]).await;
    assert_eq!(sent(&fixture, later(102)).await, late);
    assert_eq!(sent(&fixture, later(103)).await, []);
}

async fn one_server_sends_at_a_time(fixture: Fixture) {
    let (store, other) = (&fixture.store, fixture.second().await);
    store.begin_audit_stream("hook", NOW).await.unwrap();
    let entries = wrote(&fixture, &[later(1)]).await;
    assert!(store.claim_audit_stream("hook", "a", later(2), LEASE).await.unwrap());
    assert!(!other.claim_audit_stream("hook", "b", later(3), LEASE).await.unwrap());
    assert!(store.claim_audit_stream("hook", "a", later(3), LEASE).await.unwrap());
    // The lease has expired, as after a crash of its server.
    assert!(other.claim_audit_stream("hook", "b", later(64), LEASE).await.unwrap());
    assert!(!store.audit_sent("hook", "a", &entries, later(65)).await.unwrap(), "it is the other's now");
    assert!(other.audit_sent("hook", "b", &entries, later(65)).await.unwrap());
    assert!(store.unsent_audit("hook", 10).await.unwrap().is_empty());
}

async fn a_refusal_is_kept_and_forgotten_with_the_next_success(fixture: Fixture) {
    let store = &fixture.store;
    store.begin_audit_stream("hook", NOW).await.unwrap();
    wrote(&fixture, &[later(1)]).await;
    for n in [2, 10] {
        assert!(store.claim_audit_stream("hook", "a", later(n), LEASE).await.unwrap());
        store.audit_refused("hook", "a", "it said 503", later(n), later(n + 5)).await.unwrap();
        assert!(
            !store.claim_audit_stream("hook", "a", later(n + 4), LEASE).await.unwrap(),
            "it is not due yet"
        );
    }
    let stream = store.audit_stream("hook").await.unwrap().unwrap();
    let error = stream.error.as_deref();
    assert_eq!((stream.failures, error, stream.failed_since), (2, Some("it said 503"), Some(later(2))));
    assert_eq!(sent(&fixture, later(20)).await.len(), 1);
    let stream = store.audit_stream("hook").await.unwrap().unwrap();
    assert_eq!((stream.failures, stream.error, stream.failed_since), (0, None, None));
    assert_eq!(store.audit_stream("other").await.unwrap(), None);
}

async fn the_use_of_a_secret_is_noted_once_for_each_run_and_person(fixture: Fixture) {
    let store = &fixture.store;
    let run = |n| RunId::new(NOW, n);
    let of = |user: &str, secret: &str| AuditEntry {
        user_name: user.into(),
        subject: secret.into(),
        ..audit("secret.use")
    };
    for (run, entry, new) in [
        (run(1), of("ada", "key"), true),
        (run(1), of("ada", "key"), false),
        (run(1), of("bob", "key"), true),
        (run(1), of("ada", "other"), true),
        (run(2), of("ada", "key"), true),
        (run(2), of("ada", "key"), false),
    ] {
        assert_eq!(store.note_secret_use(&run, &entry).await.unwrap(), new, "{run} {entry:?}");
    }
    let filter = cubeloom_store::AuditFilter { action: Some("secret.".into()), ..Default::default() };
    assert_eq!(store.audit_log(&filter).await.unwrap().len(), 4);
}
