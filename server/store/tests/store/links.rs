//! One-time links.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{Link, LinkPurpose, Role, User};
use cubeloom_store::{AuditFilter, Created, Store, StoreError};

use crate::people::{audit, id, user};
use crate::support::{Fixture, on_both};

on_both!(
    an_invitation_makes_one_account,
    of_two_who_use_a_link_one_gets_in,
    there_is_one_first_administrator,
    an_expired_link_does_nothing,
    a_reset_link_sets_one_password,
    links_are_listed_and_taken_back,
);

fn link(purpose: LinkPurpose) -> Link {
    let id = id();
    Link {
        hash: format!("hash-of-{id}"),
        id,
        purpose,
        note: "for Ada".into(),
        created_by: "root".into(),
        created_at: Timestamp(1),
        expires_at: Timestamp(1_000),
        used_at: None,
    }
}

async fn stored(store: &Store, purpose: LinkPurpose) -> Link {
    let link = link(purpose);
    store.create_link(&link, &audit("link.create")).await.unwrap();
    link
}

fn invitation(admin: bool) -> LinkPurpose {
    LinkPurpose::Invite { place: Some(("shop".into(), Role::Editor)), admin }
}

async fn join(store: &Store, user: &User, link: &Link) -> Result<Created, StoreError> {
    store.create_user_by_link(user, "hash", &link.id, &audit("user.join")).await
}

async fn joined(store: &Store) -> usize {
    let filter = AuditFilter { action: Some("user.join".into()), ..AuditFilter::default() };
    store.audit_log(&filter).await.unwrap().len()
}

async fn an_invitation_makes_one_account(fixture: Fixture) {
    let store = &fixture.store;
    store.create_user(&user("taken"), None, &audit("u")).await.unwrap();
    let link = stored(store, invitation(false)).await;
    let taken = User { id: "other".into(), ..user("taken") };
    assert_eq!(join(store, &taken, &link).await.unwrap(), Created::Exists);
    // The user gets only what the link grants.
    let ada = User { admin: true, ..user("ada") };
    assert_eq!(join(store, &ada, &link).await.unwrap(), Created::Yes);
    assert!(!store.user("id-of-ada").await.unwrap().unwrap().admin);
    assert_eq!(store.role("shop", "id-of-ada").await.unwrap(), Some(Role::Editor));
    assert_eq!(store.password_hash("id-of-ada").await.unwrap().as_deref(), Some("hash"));
    let used = store.link_by_hash(&link.hash).await.unwrap().unwrap();
    assert_eq!(used, Link { used_at: Some(Timestamp(100)), ..link.clone() });

    let refused = join(store, &user("bob"), &link).await.unwrap_err();
    assert!(matches!(refused, StoreError::LinkUsed), "{refused}");
    assert_eq!(store.user("id-of-bob").await.unwrap(), None);
    assert_eq!(joined(store).await, 1);
}

async fn of_two_who_use_a_link_one_gets_in(fixture: Fixture) {
    let link = stored(&fixture.store, invitation(true)).await;
    let mut all = Vec::new();
    for name in ["ada", "bob", "eve"] {
        let (store, link) = (fixture.second().await, link.clone());
        all.push(tokio::spawn(async move { join(&store, &user(name), &link).await.is_ok() }));
    }
    let mut inside = 0;
    for one in all {
        inside += usize::from(one.await.unwrap());
    }
    assert_eq!((inside, fixture.store.count_users().await.unwrap()), (1, 1));
}

async fn there_is_one_first_administrator(fixture: Fixture) {
    let links = [(); 2].map(|()| link(LinkPurpose::First));
    for link in &links {
        fixture.store.create_link(link, &audit("link.create")).await.unwrap();
    }
    let mut both = Vec::new();
    for (name, link) in ["ada", "eve"].into_iter().zip(links) {
        let store = fixture.second().await;
        both.push(tokio::spawn(async move { join(&store, &user(name), &link).await.is_ok() }));
    }
    let mut first = 0;
    for one in both {
        first += usize::from(one.await.unwrap());
    }
    assert_eq!(first, 1);
    assert_eq!(fixture.store.count_users().await.unwrap(), 1);
    assert!(fixture.store.links(Some(Timestamp(100))).await.unwrap().is_empty());
    let late = stored(&fixture.store, LinkPurpose::First).await;
    let refused = join(&fixture.store, &user("late"), &late).await.unwrap_err();
    assert!(matches!(refused, StoreError::LinkUsed), "{refused}");
}

async fn an_expired_link_does_nothing(fixture: Fixture) {
    let store = &fixture.store;
    let link = Link { expires_at: Timestamp(100), ..link(invitation(false)) };
    store.create_link(&link, &audit("link.create")).await.unwrap();
    let refused = join(store, &user("ada"), &link).await.unwrap_err();
    assert!(matches!(refused, StoreError::LinkUsed), "{refused}");
    let unknown = Link { id: "none".into(), ..link };
    assert!(matches!(join(store, &user("ada"), &unknown).await.unwrap_err(), StoreError::LinkUsed));
    assert_eq!(store.count_users().await.unwrap(), 0);
    assert_eq!(joined(store).await, 0);
}

async fn a_reset_link_sets_one_password(fixture: Fixture) {
    let store = &fixture.store;
    for name in ["ada", "bob"] {
        store.create_user(&user(name), Some("old"), &audit("u")).await.unwrap();
    }
    let reset = |name: &str| LinkPurpose::Reset { user_id: format!("id-of-{name}") };
    let (one, two) = (stored(store, reset("ada")).await, stored(store, reset("ada")).await);
    let other = stored(store, reset("bob")).await;
    let set = async |link: &Link, user: &str| {
        store.use_reset_link(&link.id, user, "new", &audit("password.reset")).await
    };
    assert!(matches!(set(&one, "id-of-bob").await.unwrap_err(), StoreError::LinkUsed));
    assert!(matches!(join(store, &user("eve"), &one).await.unwrap_err(), StoreError::LinkUsed));
    set(&one, "id-of-ada").await.unwrap();
    for used in [&one, &two] {
        assert!(matches!(set(used, "id-of-ada").await.unwrap_err(), StoreError::LinkUsed));
    }
    assert_eq!(store.password_hash("id-of-ada").await.unwrap().as_deref(), Some("new"));
    assert_eq!(store.password_hash("id-of-bob").await.unwrap().as_deref(), Some("old"));
    assert_eq!(store.links(Some(Timestamp(100))).await.unwrap(), [other]);
}

async fn links_are_listed_and_taken_back(fixture: Fixture) {
    let store = &fixture.store;
    let admin = LinkPurpose::Invite { place: None, admin: true };
    let links = [stored(store, admin).await, stored(store, LinkPurpose::First).await];
    assert_eq!(store.links(None).await.unwrap(), [links[1].clone(), links[0].clone()]);
    assert_eq!(store.links(Some(Timestamp(1_000))).await.unwrap(), []);
    assert!(store.revoke_link(&links[0].id, &audit("link.revoke")).await.unwrap());
    assert!(!store.revoke_link(&links[0].id, &audit("link.revoke")).await.unwrap());
    assert_eq!(store.link_by_hash(&links[0].hash).await.unwrap(), None);
    assert_eq!(store.links(Some(Timestamp(5))).await.unwrap(), links[1..]);
}
