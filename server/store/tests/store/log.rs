//! The audit log, and stored responses.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_store::{AuditFilter, Idempotent};
use serde_json::json;

use crate::people::audit;
use crate::support::{Fixture, on_both};

on_both!(
    an_entry_is_kept_whole,
    the_log_is_filtered_and_paged,
    a_request_is_carried_out_once,
    of_equal_requests_at_once_one_is_new,
    a_failed_or_old_request_is_forgotten,
);

async fn an_entry_is_kept_whole(fixture: Fixture) {
    let store = &fixture.store;
    let full = AuditEntry {
        user_id: Some("u".into()),
        before: Some(json!({ "label": "数据" })),
        after: Some(json!(null)),
        ..audit("project.update")
    };
    let bare = AuditEntry { project: None, before: None, after: None, ..audit("user.update") };
    for entry in [&full, &bare] {
        store.audit(entry).await.unwrap();
    }
    let log = store.audit_log(&AuditFilter { limit: 2, ..AuditFilter::default() }).await.unwrap();
    assert_eq!(log, [bare, full]);
}

async fn the_log_is_filtered_and_paged(fixture: Fixture) {
    let store = &fixture.store;
    let mut all = Vec::new();
    for n in 0..60 {
        let entry = AuditEntry {
            at: Timestamp(1_000 + n),
            user_name: if n % 3 == 0 { "ada" } else { "bob" }.into(),
            project: (n % 2 == 0).then(|| "ads".into()),
            action: if n % 5 == 0 { "run.create" } else { "runs_x.create" }.into(),
            subject: format!("thing-{}", n % 10),
            ..audit("x")
        };
        store.audit(&entry).await.unwrap();
        all.insert(0, entry);
    }
    let listed = async |filter: AuditFilter| store.audit_log(&filter).await.unwrap();
    let expected =
        |keep: &dyn Fn(&&AuditEntry) -> bool| all.iter().filter(keep).cloned().collect::<Vec<AuditEntry>>();
    let base = AuditFilter { since: Some(Timestamp(1_000)), ..AuditFilter::default() };
    let project = AuditFilter { project: Some("ads".into()), ..base.clone() };
    assert_eq!(listed(project).await, expected(&|one| one.project.is_some()));
    let user = AuditFilter { user: Some("ada".into()), ..base.clone() };
    assert_eq!(listed(user).await, expected(&|one| one.user_name == "ada"));
    let action = AuditFilter { action: Some("run.".into()), ..base.clone() };
    assert_eq!(listed(action).await, expected(&|one| one.action == "run.create"));
    let text = AuditFilter { text: Some("ING-7".into()), ..base.clone() };
    assert_eq!(listed(text).await, expected(&|one| one.subject == "thing-7"));
    let not_a_pattern = AuditFilter { action: Some("run_".into()), ..base.clone() };
    assert_eq!(listed(not_a_pattern).await, []);
    let subject = AuditFilter { subject: Some("thing-3".into()), ..base.clone() };
    assert_eq!(listed(subject).await, expected(&|one| one.subject == "thing-3"));
    let time = AuditFilter { until: Some(Timestamp(1_010)), ..base.clone() };
    assert_eq!(listed(time).await, all[50..]);

    let mut paged = Vec::new();
    let mut before = None;
    loop {
        let page = listed(AuditFilter { before, limit: 7, ..base.clone() }).await;
        let Some(last) = page.last() else { break };
        before = Some(last.id.clone());
        paged.extend(page);
    }
    assert_eq!(paged, all);
}

async fn a_request_is_carried_out_once(fixture: Fixture) {
    let store = &fixture.store;
    let begin = async |user: &str, key: &str, hash: &str| {
        store.begin_idempotent(user, key, hash, Timestamp(1)).await.unwrap()
    };
    assert_eq!(begin("ada", "k", "h").await, Idempotent::New);
    assert_eq!(begin("ada", "k", "h").await, Idempotent::Running);
    assert_eq!(begin("ada", "k", "other").await, Idempotent::Other);
    assert_eq!(begin("bob", "k", "other").await, Idempotent::New);
    store.finish_idempotent("ada", "k", 201, "{}", "body").await.unwrap();
    let done = Idempotent::Done { status: 201, headers_json: "{}".into(), body: "body".into() };
    assert_eq!(begin("ada", "k", "h").await, done);
    assert_eq!(begin("ada", "k", "other").await, Idempotent::Other);
    assert_eq!(begin("bob", "k", "other").await, Idempotent::Running);
}

async fn of_equal_requests_at_once_one_is_new(fixture: Fixture) {
    let mut all = Vec::new();
    for n in 0..4 {
        let store = if n % 2 == 0 { fixture.store.clone() } else { fixture.second().await };
        all.push(tokio::spawn(async move {
            store.begin_idempotent("ada", "k", "h", Timestamp(1)).await.unwrap()
        }));
    }
    let mut new = 0;
    for one in all {
        let answer = one.await.unwrap();
        assert!(matches!(answer, Idempotent::New | Idempotent::Running), "{answer:?}");
        new += usize::from(answer == Idempotent::New);
    }
    assert_eq!(new, 1);
}

async fn a_failed_or_old_request_is_forgotten(fixture: Fixture) {
    let store = &fixture.store;
    let begin = async |key: &str, at| store.begin_idempotent("ada", key, "h", Timestamp(at)).await.unwrap();
    begin("failed", 1).await;
    store.forget_idempotent("ada", "failed").await.unwrap();
    assert_eq!(begin("failed", 5).await, Idempotent::New);
    begin("old", 4).await;
    assert_eq!(store.delete_old_idempotency(Timestamp(5)).await.unwrap(), 1);
    assert_eq!(begin("old", 6).await, Idempotent::New);
    assert_eq!(begin("failed", 6).await, Idempotent::Running);
}
