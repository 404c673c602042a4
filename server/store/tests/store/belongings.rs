//! Secrets, volumes, registries and hooks.

use cubeloom_domain::Timestamp;
use cubeloom_domain::belongings::{Hook, Owner, Registry, SealedSecret, Volume, VolumePlace};
use cubeloom_store::{AuditFilter, Change, Created, Store, StoreError};
use serde_json::json;

use crate::people::{audit, id, user};
use crate::support::{Fixture, on_both};

on_both!(
    secrets_belong_to_a_project_or_a_person,
    a_secret_is_changed_and_deleted_by_revision,
    of_two_who_create_a_secret_one_is_told,
    volumes_are_kept,
    a_volume_needs_its_project,
    registries_are_kept,
    hooks_are_kept,
);

/// The number of changes in the log, without the fixture's.
async fn logged(store: &Store) -> usize {
    store.audit_log(&AuditFilter::default()).await.unwrap().len() - 1
}

fn secret(owner: &Owner, name: &str) -> SealedSecret {
    SealedSecret {
        owner: owner.clone(),
        name: name.into(),
        description: "for the bucket".into(),
        sealed: "v1.abc".into(),
        created_at: Timestamp(3),
        updated_at: Timestamp(3),
        updated_by: "ada".into(),
        revision: 1,
    }
}

async fn secrets_belong_to_a_project_or_a_person(fixture: Fixture) {
    let store = &fixture.store;
    store.create_user(&user("shop"), None, &audit("u")).await.unwrap();
    let (project, person) = (Owner::Project("shop".into()), Owner::User("shop".into()));
    let create = async |secret: &SealedSecret| store.create_secret(secret, &audit("secret")).await.unwrap();
    assert_eq!(create(&secret(&project, "key")).await, Created::Yes);
    assert_eq!(create(&secret(&project, "key")).await, Created::Exists);
    assert_eq!(create(&secret(&person, "key")).await, Created::Yes);
    assert_eq!(create(&secret(&project, "a")).await, Created::Yes);
    assert_eq!(store.secrets(&project).await.unwrap(), [secret(&project, "a"), secret(&project, "key")]);
    assert_eq!(store.secrets(&person).await.unwrap(), [secret(&person, "key")]);
    assert_eq!(store.secret(&person, "a").await.unwrap(), None);
    assert_eq!(logged(store).await, 4);
}

async fn a_secret_is_changed_and_deleted_by_revision(fixture: Fixture) {
    let store = &fixture.store;
    let project = Owner::Project("shop".into());
    let person = Owner::User("shop".into());
    for owner in [&project, &person] {
        store.create_secret(&secret(owner, "key"), &audit("secret")).await.unwrap();
    }
    let changed = SealedSecret {
        sealed: "v1.def".into(),
        description: "d".into(),
        updated_at: Timestamp(9),
        updated_by: "bob".into(),
        ..secret(&project, "key")
    };
    let update = async |expected| store.update_secret(&changed, expected, &audit("secret")).await.unwrap();
    assert_eq!(update(Some(1)).await, Change::Done(2));
    assert_eq!(update(Some(1)).await, Change::Stale(2));
    assert_eq!(store.secret(&project, "key").await.unwrap(), Some(SealedSecret { revision: 2, ..changed }));
    let delete =
        async |expected| store.delete_secret(&project, "key", expected, &audit("secret")).await.unwrap();
    assert_eq!(delete(Some(1)).await, Change::Stale(2));
    assert_eq!(delete(Some(2)).await, Change::Done(3));
    assert_eq!(delete(None).await, Change::Missing);
    assert!(store.secrets(&project).await.unwrap().is_empty());
    assert_eq!(store.secret(&person, "key").await.unwrap(), Some(secret(&person, "key")));
    assert_eq!(logged(store).await, 4);
}

async fn of_two_who_create_a_secret_one_is_told(fixture: Fixture) {
    let mut both = Vec::new();
    for who in ["ada", "bob"] {
        let store = fixture.second().await;
        both.push(tokio::spawn(async move {
            let owner = Owner::Project("shop".into());
            let secret = SealedSecret { updated_by: who.into(), ..secret(&owner, "key") };
            store.create_secret(&secret, &audit("secret")).await.unwrap()
        }));
    }
    let mut made = 0;
    for one in both {
        made += usize::from(one.await.unwrap() == Created::Yes);
    }
    assert_eq!((made, logged(&fixture.store).await), (1, 1));
}

fn volume() -> Volume {
    let place = VolumePlace::ObjectStore {
        scheme: "s3".into(),
        bucket: "b".into(),
        prefix: "p/".into(),
        endpoint: None,
        region: Some("eu".into()),
        credentials: Some(("id".into(), "key".into())),
    };
    Volume {
        project: "shop".into(),
        name: "data".into(),
        description: "raw".into(),
        place,
        created_at: Timestamp(3),
        revision: 1,
    }
}

async fn a_volume_needs_its_project(fixture: Fixture) {
    let nowhere = Volume { project: "none".into(), ..volume() };
    let refused = fixture.store.create_volume(&nowhere, &audit("v")).await.unwrap_err();
    assert!(matches!(refused, StoreError::OwnerGone(_)), "{refused}");
    assert_eq!(logged(&fixture.store).await, 0);
}

async fn volumes_are_kept(fixture: Fixture) {
    let (store, data) = (&fixture.store, volume());
    assert_eq!(store.create_volume(&data, &audit("v")).await.unwrap(), Created::Yes);
    assert_eq!(store.create_volume(&data, &audit("v")).await.unwrap(), Created::Exists);
    assert_eq!(store.volume("shop", "data").await.unwrap().as_ref(), Some(&data));

    let moved = Volume {
        place: VolumePlace::Claim { cluster: "k".into(), claim: "c".into(), folder: None },
        description: String::new(),
        ..data.clone()
    };
    assert_eq!(store.update_volume(&moved, Some(2), &audit("v")).await.unwrap(), Change::Stale(1));
    assert_eq!(store.update_volume(&moved, Some(1), &audit("v")).await.unwrap(), Change::Done(2));
    let other = Volume { name: "a".into(), ..data };
    store.create_volume(&other, &audit("v")).await.unwrap();
    assert_eq!(store.volumes("shop").await.unwrap(), [other, Volume { revision: 2, ..moved }]);
    assert!(store.volumes("default").await.unwrap().is_empty());
    let delete = async || store.delete_volume("shop", "data", Some(2), &audit("v")).await.unwrap();
    assert_eq!((delete().await, delete().await), (Change::Done(3), Change::Missing));
    assert_eq!(store.volume("shop", "data").await.unwrap(), None);
    assert_eq!(logged(store).await, 4);
}

async fn registries_are_kept(fixture: Fixture) {
    let store = &fixture.store;
    let hub = Registry {
        project: "shop".into(),
        name: "hub".into(),
        host: "registry.example.org:5000".into(),
        user: "robot".into(),
        secret: None,
        created_at: Timestamp(3),
        revision: 1,
    };
    assert_eq!(store.create_registry(&hub, &audit("r")).await.unwrap(), Created::Yes);
    assert_eq!(store.create_registry(&hub, &audit("r")).await.unwrap(), Created::Exists);
    let changed = Registry { secret: Some("password".into()), host: "h".into(), ..hub };
    assert_eq!(store.update_registry(&changed, Some(1), &audit("r")).await.unwrap(), Change::Done(2));
    assert_eq!(store.update_registry(&changed, Some(1), &audit("r")).await.unwrap(), Change::Stale(2));
    let stored = Registry { revision: 2, ..changed };
    assert_eq!(store.registry("shop", "hub").await.unwrap().as_ref(), Some(&stored));
    assert_eq!(store.registries("shop").await.unwrap(), [stored]);
    let delete = async |expected| store.delete_registry("shop", "hub", expected, &audit("r")).await.unwrap();
    assert_eq!(delete(Some(1)).await, Change::Stale(2));
    assert_eq!((delete(None).await, delete(None).await), (Change::Done(3), Change::Missing));
    assert!(store.registries("shop").await.unwrap().is_empty());
    assert_eq!(logged(store).await, 3);
}

async fn hooks_are_kept(fixture: Fixture) {
    let store = &fixture.store;
    let hook = |pipeline: &str| Hook {
        id: id(),
        project: "shop".into(),
        pipeline: pipeline.into(),
        name: "nightly".into(),
        parameters: json!({ "date": "today", "n": 1 }).as_object().unwrap().clone(),
        created_by: "ada".into(),
        created_at: Timestamp(3),
        used_at: None,
        revision: 1,
    };
    let (ctr, rank) = (hook("ctr"), hook("rank"));
    for hook in [&ctr, &rank] {
        store.create_hook(hook, &audit("h")).await.unwrap();
    }
    assert_eq!(store.hooks("shop", None).await.unwrap(), [ctr.clone(), rank.clone()]);
    assert_eq!(store.hooks("shop", Some("rank")).await.unwrap(), [rank]);
    store.hook_used(&ctr.id, Timestamp(8)).await.unwrap();
    let renamed = Hook { name: "hourly".into(), parameters: Default::default(), ..ctr.clone() };
    assert_eq!(store.update_hook(&renamed, Some(1), &audit("h")).await.unwrap(), Change::Done(2));
    assert_eq!(store.update_hook(&renamed, Some(1), &audit("h")).await.unwrap(), Change::Stale(2));
    let stored = Hook { revision: 2, used_at: Some(Timestamp(8)), ..renamed };
    assert_eq!(store.hook(&ctr.id).await.unwrap(), Some(stored));
    assert_eq!(store.delete_hook(&ctr.id, Some(1), &audit("h")).await.unwrap(), Change::Stale(2));
    assert_eq!(store.delete_hook(&ctr.id, Some(2), &audit("h")).await.unwrap(), Change::Done(3));
    assert_eq!(store.delete_hook(&ctr.id, None, &audit("h")).await.unwrap(), Change::Missing);
    assert_eq!(store.hook(&ctr.id).await.unwrap(), None);
    assert_eq!(logged(store).await, 4);
}
