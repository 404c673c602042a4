//! Accounts, sessions and tokens.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{ApiToken, Federated, Scope, Session, User};
use cubeloom_store::{AuditFilter, Change, Created, PageOf, Store, StoreError, UserFilter};

use crate::people::{audit, id, user};
use crate::support::{Fixture, on_both};

on_both!(
    a_name_and_a_subject_are_taken_once,
    people_are_found,
    of_two_accounts_of_one_name_one_is_made,
    people_are_searched,
    an_account_is_changed_by_revision,
    the_platform_keeps_an_administrator,
    of_two_administrators_who_resign_one_stays,
    a_new_password_ends_the_sessions,
    a_cookie_is_replaced_once,
    sessions_end,
    old_sessions_are_forgotten,
    tokens_are_listed,
    tokens_are_used_and_ended,
    somebody_who_is_disabled_is_signed_out,
);

async fn create(store: &Store, user: &User) -> Created {
    store.create_user(user, Some("hash"), &audit("user.create")).await.unwrap()
}

async fn logged(store: &Store, action: &str) -> usize {
    let filter = AuditFilter { action: Some(action.into()), ..AuditFilter::default() };
    store.audit_log(&filter).await.unwrap().len()
}

/// A user of an identity provider.
fn federated(name: &str) -> User {
    let federated = Some(Federated { issuer: "https://id.example.org".into(), subject: "7".into() });
    User { federated, seen_at: Some(Timestamp(9)), ..user(name) }
}

async fn a_name_and_a_subject_are_taken_once(fixture: Fixture) {
    let store = &fixture.store;
    let ada = federated("ada");
    assert_eq!(create(store, &ada).await, Created::Yes);
    assert_eq!(create(store, &User { id: "other".into(), ..user("ada") }).await, Created::Exists);
    assert_eq!(create(store, &federated("bob")).await, Created::Exists);
    assert_eq!(create(store, &user("bob")).await, Created::Yes);
    assert_eq!(create(store, &user("carol")).await, Created::Yes);
    assert_eq!(store.count_users().await.unwrap(), 3);
    assert_eq!(logged(store, "user.create").await, 3);
}

async fn people_are_found(fixture: Fixture) {
    let (store, ada) = (&fixture.store, federated("ada"));
    create(store, &ada).await;
    assert_eq!(store.user("id-of-ada").await.unwrap().as_ref(), Some(&ada));
    assert_eq!(store.user_by_name("ada").await.unwrap().as_ref(), Some(&ada));
    let found = store.user_by_subject("https://id.example.org", "7").await.unwrap();
    assert_eq!(found.as_ref(), Some(&ada));
    assert_eq!(store.user_by_subject("https://id.example.org", "8").await.unwrap(), None);
    assert_eq!(store.user_by_name("a\0").await.unwrap(), None);
    assert_eq!(store.password_hash("id-of-ada").await.unwrap().as_deref(), Some("hash"));
    assert_eq!(store.password_hash("nobody").await.unwrap(), None);
}

async fn of_two_accounts_of_one_name_one_is_made(fixture: Fixture) {
    let mut many = Vec::new();
    for n in 0..4 {
        let store = if n % 2 == 0 { fixture.store.clone() } else { fixture.second().await };
        many.push(tokio::spawn(async move {
            create(&store, &User { id: format!("id-{n}"), ..user("ada") }).await
        }));
    }
    let mut made = 0;
    for one in many {
        made += usize::from(one.await.unwrap() == Created::Yes);
    }
    assert_eq!((made, logged(&fixture.store, "user.create").await), (1, 1));
}

async fn people_are_searched(fixture: Fixture) {
    let store = &fixture.store;
    for n in 0..25 {
        create(store, &user(&format!("user-{n:02}"))).await;
    }
    create(store, &User { email: None, display_name: "Zoë 100%".into(), ..user("zoe") }).await;
    let search = async |text: &str| {
        let filter = UserFilter { text: Some(text.into()), ..UserFilter::default() };
        let found = store.users(&filter).await.unwrap();
        found.into_iter().map(|user| user.name).collect::<Vec<_>>()
    };
    assert_eq!(search("USER-07").await, ["user-07"]);
    assert_eq!(search("user-03@example").await, ["user-03"]);
    assert_eq!(search("100%").await, ["zoe"]);
    assert_eq!(search("100_").await, [""; 0]);
    assert_eq!(search("%").await, ["zoe"]);
}

async fn an_account_is_changed_by_revision(fixture: Fixture) {
    let store = &fixture.store;
    create(store, &user("ada")).await;
    let changed = User {
        display_name: "Ada L.".into(),
        email: None,
        admin: true,
        name: "eve".into(),
        mails: false,
        ..user("ada")
    };
    let update = async |expected| store.update_user(&changed, expected, &audit("user.update")).await.unwrap();
    assert_eq!(update(Some(1)).await, Change::Done(2));
    assert_eq!(update(Some(1)).await, Change::Stale(2));
    let missing = store.update_user(&user("bob"), None, &audit("user.update")).await.unwrap();
    assert_eq!(missing, Change::Missing);
    let stored = store.user("id-of-ada").await.unwrap().unwrap();
    assert_eq!(stored, User { name: "ada".into(), revision: 2, ..changed.clone() });
    assert_eq!(logged(store, "user.update").await, 1);

    store.seen("id-of-ada", Timestamp(1_000)).await.unwrap();
    store.seen("id-of-ada", Timestamp(2_000)).await.unwrap();
    assert_eq!(store.user("id-of-ada").await.unwrap().unwrap().seen_at, Some(Timestamp(1_000)));
    store.seen("id-of-ada", Timestamp(61_000_000)).await.unwrap();
    assert_eq!(store.user("id-of-ada").await.unwrap().unwrap().seen_at, Some(Timestamp(61_000_000)));
}

async fn the_platform_keeps_an_administrator(fixture: Fixture) {
    let store = &fixture.store;
    let ada = User { admin: true, ..user("ada") };
    create(store, &ada).await;
    create(store, &User { admin: true, disabled: true, ..user("old") }).await;
    for less in [User { admin: false, ..ada.clone() }, User { disabled: true, ..ada.clone() }] {
        let refused = store.update_user(&less, None, &audit("user.update")).await.unwrap_err();
        assert!(matches!(refused, StoreError::LastAdministrator), "{refused}");
    }
    assert_eq!(store.user("id-of-ada").await.unwrap(), Some(ada.clone()));
    assert_eq!(logged(store, "user.update").await, 0);
    let renamed = User { display_name: "A".into(), ..ada };
    assert_eq!(store.update_user(&renamed, None, &audit("user.update")).await.unwrap(), Change::Done(2));
}

async fn of_two_administrators_who_resign_one_stays(fixture: Fixture) {
    let mut both = Vec::new();
    for name in ["ada", "bob"] {
        create(&fixture.store, &User { admin: true, ..user(name) }).await;
    }
    for name in ["ada", "bob"] {
        let store = fixture.second().await;
        both.push(tokio::spawn(
            async move { store.update_user(&user(name), None, &audit("u")).await.is_ok() },
        ));
    }
    let mut resigned = 0;
    for one in both {
        resigned += usize::from(one.await.unwrap());
    }
    let people = fixture.store.users(&UserFilter::default()).await.unwrap();
    assert_eq!((resigned, people.iter().filter(|user| user.admin).count()), (1, 1));
}

fn session(user: &str) -> Session {
    Session {
        id: id(),
        user_id: format!("id-of-{user}"),
        key: "key-1".into(),
        previous: None,
        created_at: Timestamp(1),
        renewed_at: Timestamp(1),
        expires_at: Timestamp(1_000),
        revoked_at: None,
        address: "127.0.0.1".into(),
        agent: "Firefox".into(),
    }
}

async fn sign_in(store: &Store, user: &str) -> Session {
    let session = session(user);
    store.create_session(&session, &audit("session.create")).await.unwrap();
    session
}

async fn a_new_password_ends_the_sessions(fixture: Fixture) {
    let store = &fixture.store;
    create(store, &user("ada")).await;
    create(store, &user("bob")).await;
    let (mine, other) = (sign_in(store, "ada").await, sign_in(store, "bob").await);
    assert!(store.set_password("id-of-ada", "new", &audit("password.set")).await.unwrap());
    assert!(!store.set_password("nobody", "new", &audit("password.set")).await.unwrap());
    assert_eq!(store.password_hash("id-of-ada").await.unwrap().as_deref(), Some("new"));
    assert_eq!(store.session(&mine.id).await.unwrap().unwrap().revoked_at, Some(Timestamp(100)));
    assert_eq!(store.session(&other.id).await.unwrap(), Some(other));
    assert_eq!(logged(store, "password.set").await, 1);
}

async fn a_cookie_is_replaced_once(fixture: Fixture) {
    create(&fixture.store, &user("ada")).await;
    let session = sign_in(&fixture.store, "ada").await;
    let mut both = Vec::new();
    for key in ["key-2", "key-3"] {
        let (store, id) = (fixture.second().await, session.id.clone());
        both.push(tokio::spawn(async move {
            let until = Timestamp(500);
            (key, store.rotate_session(&id, "key-1", key, until, Timestamp(400)).await.unwrap())
        }));
    }
    let mut keys = Vec::new();
    for one in both {
        let (key, done) = one.await.unwrap();
        keys.extend(done.then_some(key));
    }
    assert_eq!(keys.len(), 1);
    let stored = fixture.store.session(&session.id).await.unwrap().unwrap();
    let previous = Some(("key-1".to_owned(), Timestamp(500)));
    assert_eq!(stored, Session { key: keys[0].into(), previous, renewed_at: Timestamp(400), ..session });
}

async fn sessions_end(fixture: Fixture) {
    let store = &fixture.store;
    create(store, &user("ada")).await;
    let (one, two) = (sign_in(store, "ada").await, sign_in(store, "ada").await);
    let ids = async |now| {
        let live = store.sessions("id-of-ada", Timestamp(now)).await.unwrap();
        live.into_iter().map(|session| session.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(999).await, [two.id.clone(), one.id.clone()]);
    assert_eq!(ids(1_000).await, [""; 0]);
    assert!(store.revoke_session(&one.id, &audit("session.revoke")).await.unwrap());
    assert!(!store.revoke_session(&one.id, &audit("session.revoke")).await.unwrap());
    assert!(!store.rotate_session(&one.id, "key-1", "k", Timestamp(5), Timestamp(4)).await.unwrap());
    assert_eq!(ids(999).await, std::slice::from_ref(&two.id));
    assert_eq!(logged(store, "session.revoke").await, 1);
    let nobody = store.create_session(&session("nobody"), &audit("session.create")).await.unwrap_err();
    assert!(matches!(nobody, StoreError::OwnerGone(_)), "{nobody}");
    assert_eq!(logged(store, "session.create").await, 2);
}

async fn old_sessions_are_forgotten(fixture: Fixture) {
    let store = &fixture.store;
    create(store, &user("ada")).await;
    let (one, _two) = (sign_in(store, "ada").await, sign_in(store, "ada").await);
    store.revoke_session(&one.id, &audit("session.revoke")).await.unwrap();
    assert_eq!(store.delete_old_sessions(Timestamp(100)).await.unwrap(), 0);
    assert_eq!(store.delete_old_sessions(Timestamp(101)).await.unwrap(), 1);
    assert_eq!(store.session(&one.id).await.unwrap(), None);
    assert_eq!(store.delete_old_sessions(Timestamp(1_001)).await.unwrap(), 1);
}

fn token(user: &str) -> ApiToken {
    ApiToken {
        id: id(),
        user_id: format!("id-of-{user}"),
        name: "ci".into(),
        hash: "00ff".into(),
        scope: Scope::Run,
        project: Some("shop".into()),
        created_at: Timestamp(1),
        expires_at: Some(Timestamp(9)),
        used_at: None,
        revoked_at: None,
    }
}

async fn tokens(store: &Store) -> [ApiToken; 3] {
    for name in ["ada", "bob"] {
        create(store, &user(name)).await;
    }
    let tokens = [token("ada"), token("bob"), token("ada")];
    for token in &tokens {
        store.create_token(token, &audit("token.create")).await.unwrap();
    }
    tokens
}

async fn tokens_are_listed(fixture: Fixture) {
    let store = &fixture.store;
    let tokens = tokens(store).await;
    assert_eq!(store.token(&tokens[0].id).await.unwrap().as_ref(), Some(&tokens[0]));
    assert_eq!(store.tokens("id-of-ada").await.unwrap(), [tokens[2].clone(), tokens[0].clone()]);
    let first = store.all_tokens(&PageOf { after: None, limit: 2 }).await.unwrap();
    assert_eq!(first, [tokens[2].clone(), tokens[1].clone()]);
    let rest = store.all_tokens(&PageOf { after: Some(first[1].id.clone()), limit: 2 }).await.unwrap();
    assert_eq!(rest, tokens[..1]);
}

async fn tokens_are_used_and_ended(fixture: Fixture) {
    let store = &fixture.store;
    let tokens = tokens(store).await;
    let id = &tokens[0].id;
    store.token_used(id, Timestamp(5)).await.unwrap();
    store.token_used(id, Timestamp(6)).await.unwrap();
    assert!(store.revoke_token(id, &audit("token.revoke")).await.unwrap());
    assert!(!store.revoke_token(id, &audit("token.revoke")).await.unwrap());
    let ended = store.token(id).await.unwrap().unwrap();
    assert_eq!((ended.used_at, ended.revoked_at), (Some(Timestamp(5)), Some(Timestamp(100))));
    assert_eq!(store.tokens("id-of-ada").await.unwrap(), tokens[2..]);
    assert_eq!(logged(store, "token.revoke").await, 1);
}

async fn somebody_who_is_disabled_is_signed_out(fixture: Fixture) {
    let store = &fixture.store;
    tokens(store).await;
    sign_in(store, "ada").await;
    let disabled = User { disabled: true, ..user("ada") };
    store.update_user(&disabled, None, &audit("user.update")).await.unwrap();
    assert!(store.tokens("id-of-ada").await.unwrap().is_empty());
    assert!(store.sessions("id-of-ada", Timestamp(2)).await.unwrap().is_empty());
    assert_eq!(store.tokens("id-of-bob").await.unwrap().len(), 1);
}
