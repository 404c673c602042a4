//! Device codes: a command line requests a token, a user decides.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{ApiToken, DeviceCode, DeviceDecision, Scope, User};
use cubeloom_store::{AuditFilter, Store};

use crate::people::{audit, id, user};
use crate::support::{Fixture, on_both};

on_both!(
    an_approved_code_gets_one_token,
    of_servers_that_fetch_a_token_at_once_one_gets_it,
    a_code_is_decided_once,
    an_expired_code_is_of_no_use,
    there_are_only_so_many_codes,
    the_codes_of_a_disabled_user_end,
    the_codes_of_a_deleted_project_end,
);

/// A code that expires at moment 1,000.
fn code() -> DeviceCode {
    let id = id();
    DeviceCode {
        hash: format!("hash-of-{id}"),
        user_code: format!("code-of-{id}"),
        id,
        client: "cubeloom on laptop".into(),
        address: "192.0.2.7".into(),
        created_at: Timestamp(1),
        expires_at: Timestamp(1_000),
        decision: None,
    }
}

fn approval(project: Option<&str>) -> DeviceDecision {
    DeviceDecision::Approved {
        user_id: "id-of-ada".into(),
        scope: Scope::Run,
        project: project.map(Into::into),
    }
}

async fn stored(store: &Store, code: DeviceCode) -> DeviceCode {
    assert!(store.create_device_code(&code, 9).await.unwrap());
    code
}

async fn decide(store: &Store, code: &DeviceCode, decision: &DeviceDecision) -> bool {
    store.decide_device_code(&code.id, decision, &audit("device.decide")).await.unwrap()
}

async fn approved(store: &Store, project: Option<&str>) -> DeviceCode {
    let code = stored(store, code()).await;
    assert!(decide(store, &code, &approval(project)).await);
    code
}

async fn fetch(store: &Store, code: &DeviceCode) -> bool {
    let token = ApiToken {
        id: id(),
        user_id: "id-of-ada".into(),
        name: code.client.clone(),
        hash: "00ff".into(),
        scope: Scope::Run,
        project: None,
        created_at: Timestamp(100),
        expires_at: Some(Timestamp(9_000)),
        used_at: None,
        revoked_at: None,
    };
    store.create_token_by_device_code(&token, &code.id, &audit("token.create")).await.unwrap()
}

async fn tokens(store: &Store) -> usize {
    store.tokens("id-of-ada").await.unwrap().len()
}

async fn logged(store: &Store, action: &str) -> usize {
    let filter = AuditFilter { action: Some(action.into()), ..AuditFilter::default() };
    store.audit_log(&filter).await.unwrap().len()
}

async fn an_approved_code_gets_one_token(fixture: Fixture) {
    let store = &fixture.store;
    store.create_user(&user("ada"), None, &audit("u")).await.unwrap();
    let code = stored(store, code()).await;
    assert_eq!(store.device_code_by_hash(&code.hash).await.unwrap().as_ref(), Some(&code));
    assert_eq!(store.device_code_by_user_code(&code.user_code).await.unwrap().as_ref(), Some(&code));
    assert!(!fetch(store, &code).await, "it is not decided yet");
    assert!(decide(store, &code, &approval(Some("shop"))).await);
    let found = store.device_code_by_hash(&code.hash).await.unwrap().unwrap();
    assert_eq!(found, DeviceCode { decision: Some(approval(Some("shop"))), ..code.clone() });
    assert!(fetch(store, &code).await);
    assert!(!fetch(store, &code).await, "a second time");
    assert_eq!(store.device_code_by_hash(&code.hash).await.unwrap(), None);
    assert_eq!((tokens(store).await, logged(store, "token.create").await), (1, 1));
}

async fn of_servers_that_fetch_a_token_at_once_one_gets_it(fixture: Fixture) {
    fixture.store.create_user(&user("ada"), None, &audit("u")).await.unwrap();
    let code = approved(&fixture.store, None).await;
    let mut all = Vec::new();
    for _ in 0..3 {
        let (store, code) = (fixture.second().await, code.clone());
        all.push(tokio::spawn(async move { fetch(&store, &code).await }));
    }
    let mut fetched = 0;
    for one in all {
        fetched += usize::from(one.await.unwrap());
    }
    assert_eq!((fetched, tokens(&fixture.store).await), (1, 1));
}

async fn a_code_is_decided_once(fixture: Fixture) {
    let store = &fixture.store;
    store.create_user(&user("ada"), None, &audit("u")).await.unwrap();
    let code = stored(store, code()).await;
    assert!(decide(store, &code, &DeviceDecision::Denied).await);
    assert!(!decide(store, &code, &approval(None)).await);
    assert!(!fetch(store, &code).await);
    let found = store.device_code_by_hash(&code.hash).await.unwrap().unwrap();
    assert_eq!(found.decision, Some(DeviceDecision::Denied));
    assert_eq!((tokens(store).await, logged(store, "device.decide").await), (0, 1));
}

async fn an_expired_code_is_of_no_use(fixture: Fixture) {
    let store = &fixture.store;
    store.create_user(&user("ada"), None, &audit("u")).await.unwrap();
    // Decisions and tokens of these tests are of moment 100.
    let old = stored(store, DeviceCode { expires_at: Timestamp(100), ..code() }).await;
    assert!(!decide(store, &old, &approval(None)).await);
    assert!(!fetch(store, &old).await);
    let open = approved(store, None).await;
    assert_eq!(store.delete_old_device_codes(Timestamp(101)).await.unwrap(), 1);
    assert_eq!(store.device_code_by_hash(&old.hash).await.unwrap(), None);
    assert!(fetch(store, &open).await);
}

async fn there_are_only_so_many_codes(fixture: Fixture) {
    let store = &fixture.store;
    let (one, two, three) = (code(), code(), code());
    let taken = DeviceCode { user_code: one.user_code.clone(), ..code() };
    assert!(store.create_device_code(&one, 2).await.unwrap());
    assert!(!store.create_device_code(&taken, 2).await.unwrap(), "its user code is taken");
    assert!(store.create_device_code(&two, 2).await.unwrap());
    assert!(!store.create_device_code(&three, 2).await.unwrap());
    // At moment 1,000, the first two have expired.
    let later = DeviceCode { created_at: Timestamp(1_000), expires_at: Timestamp(2_000), ..three };
    assert!(store.create_device_code(&later, 2).await.unwrap());
}

async fn the_codes_of_a_disabled_user_end(fixture: Fixture) {
    let store = &fixture.store;
    let ada = user("ada");
    store.create_user(&ada, None, &audit("u")).await.unwrap();
    let (before, late) = (approved(store, None).await, stored(store, code()).await);
    let disabled = User { disabled: true, ..ada.clone() };
    store.update_user(&disabled, None, &audit("user.update")).await.unwrap();
    assert_eq!(store.device_code_by_hash(&before.hash).await.unwrap(), None);
    // Approved in this very moment.
    assert!(decide(store, &late, &approval(None)).await);
    assert!(!fetch(store, &late).await);
    store.update_user(&ada, None, &audit("user.update")).await.unwrap();
    assert!(!fetch(store, &before).await);
    assert_eq!(tokens(store).await, 0);
}

async fn the_codes_of_a_deleted_project_end(fixture: Fixture) {
    let store = &fixture.store;
    store.create_user(&user("ada"), None, &audit("u")).await.unwrap();
    let (bound, free) = (approved(store, Some("shop")).await, approved(store, None).await);
    store.delete_project("shop", None, &audit("project.delete")).await.unwrap();
    assert!(!fetch(store, &bound).await);
    assert!(fetch(store, &free).await);
}
