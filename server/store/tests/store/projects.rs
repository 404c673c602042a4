//! Projects and their members.

use cubeloom_domain::belongings::{Hook, Owner, SealedSecret};
use cubeloom_domain::identity::{Keeping, Project, Role};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{JsonMap, Timestamp};
use cubeloom_store::{AuditFilter, Change, Created, Expected, Store, StoreError};

use crate::people::{audit, id, project, user, version};
use crate::records::{plan, run};
use crate::support::{Fixture, on_both};

on_both!(
    a_project_is_created_once,
    a_change_needs_the_present_revision,
    of_two_who_change_a_project_one_is_told,
    a_project_in_use_stays,
    everything_goes_with_a_project,
    nothing_is_stored_in_a_project_that_is_not_there,
    people_are_members_with_a_role,
    members_are_listed_and_removed,
    a_project_keeps_an_owner,
    of_two_owners_who_leave_one_stays,
);

/// The actions in the audit log, oldest first, without the fixture's.
async fn actions(store: &Store) -> Vec<String> {
    let log = store.audit_log(&AuditFilter::default()).await.unwrap();
    log.into_iter().rev().skip(1).map(|entry| entry.action).collect()
}

async fn a_project_is_created_once(fixture: Fixture) {
    let store = &fixture.store;
    let ads = project("ads");
    assert_eq!(store.create_project(&ads, &audit("one")).await.unwrap(), Created::Yes);
    let other = Project { label: "other".into(), ..ads.clone() };
    assert_eq!(store.create_project(&other, &audit("two")).await.unwrap(), Created::Exists);
    assert_eq!(store.project("ads").await.unwrap(), Some(ads));
    assert_eq!(store.project("nothing").await.unwrap(), None);
    let names: Vec<String> =
        store.projects(None).await.unwrap().into_iter().map(|project| project.name).collect();
    assert_eq!(names, ["ads", "default", "shop"]);
    assert_eq!(actions(store).await, ["one"]);
}

async fn a_change_needs_the_present_revision(fixture: Fixture) {
    let store = &fixture.store;
    let keeping = Keeping { objects: None, logs: Some("bucket".into()) };
    let changed =
        Project { label: "New".into(), description: "d".into(), keeping: keeping.clone(), ..project("shop") };
    let update = async |expected| store.update_project(&changed, expected, &audit("update")).await.unwrap();
    assert_eq!(update(Some(1)).await, Change::Done(2));
    assert_eq!(update(Some(1)).await, Change::Stale(2));
    assert_eq!(update(None).await, Change::Done(3));
    let stored = store.project("shop").await.unwrap().unwrap();
    assert_eq!((stored.label.as_str(), stored.created_at, stored.revision), ("New", Timestamp(7), 3));
    assert_eq!(stored.keeping, keeping);
    let missing = store.update_project(&project("none"), None, &audit("update")).await.unwrap();
    assert_eq!(missing, Change::Missing);
    assert_eq!(store.delete_project("shop", Some(1), &audit("delete")).await.unwrap(), Change::Stale(3));
    assert_eq!(store.delete_project("none", None, &audit("delete")).await.unwrap(), Change::Missing);
    assert_eq!(actions(store).await, ["update", "update"]);
}

async fn of_two_who_change_a_project_one_is_told(fixture: Fixture) {
    let mut both = Vec::new();
    for label in ["one", "two"] {
        let store = fixture.second().await;
        both.push(tokio::spawn(async move {
            let changed = Project { label: label.into(), ..project("shop") };
            (label, store.update_project(&changed, Some(1), &audit("update")).await.unwrap())
        }));
    }
    let mut winner = None;
    let mut stale = 0;
    for one in both {
        match one.await.unwrap() {
            (label, Change::Done(2)) => winner = Some(label),
            (_, Change::Stale(2)) => stale += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(stale, 1);
    let stored = fixture.store.project("shop").await.unwrap().unwrap();
    assert_eq!((Some(stored.label.as_str()), stored.revision), (winner, 2));
}

async fn a_project_in_use_stays(fixture: Fixture) {
    let store = &fixture.store;
    store.create_run(&run(1), &plan(&run(1), 1), None).await.unwrap();
    store.put_pipeline(&version("ctr"), Expected::New, &audit("p")).await.unwrap();
    let refused = store.delete_project("shop", None, &audit("delete")).await.unwrap_err();
    assert!(matches!(refused, StoreError::ProjectInUse { runs: 1, pipelines: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("shop"), "{refused}");
    assert!(store.project("shop").await.unwrap().is_some());
    assert_eq!(actions(store).await, ["p"]);
}

async fn everything_goes_with_a_project(fixture: Fixture) {
    let store = &fixture.store;
    let mut ended = run(1);
    ended.state = RunState::Failed;
    store.create_run(&ended, &plan(&ended, 1), None).await.unwrap();
    store.put_pipeline(&version("ctr"), Expected::New, &audit("p")).await.unwrap();
    store.delete_pipeline("shop", "ctr", None, &audit("p")).await.unwrap();
    store.create_user(&user("ada"), None, &audit("u")).await.unwrap();
    store.put_member("shop", "id-of-ada", Role::Owner, None, &audit("m")).await.unwrap();
    let owner = Owner::Project("shop".into());
    store.create_secret(&secret(&owner), &audit("s")).await.unwrap();
    let hook = Hook {
        id: id(),
        project: "shop".into(),
        pipeline: "ctr".into(),
        name: "n".into(),
        parameters: JsonMap::new(),
        created_by: "ada".into(),
        created_at: Timestamp(1),
        used_at: None,
        revision: 1,
    };
    store.create_hook(&hook, &audit("h")).await.unwrap();

    assert_eq!(store.delete_project("shop", Some(1), &audit("delete")).await.unwrap(), Change::Done(2));
    assert_eq!(store.project("shop").await.unwrap(), None);
    assert!(store.roles("id-of-ada").await.unwrap().is_empty());
    assert!(store.secrets(&owner).await.unwrap().is_empty());
    assert_eq!(store.hook(&hook.id).await.unwrap(), None);
    // History stays.
    assert_eq!(store.run(&ended.id).await.unwrap(), Some(ended));
    assert!(store.pipeline("shop", "ctr", 1).await.unwrap().is_some());
}

fn secret(owner: &Owner) -> SealedSecret {
    SealedSecret {
        owner: owner.clone(),
        name: "key".into(),
        description: String::new(),
        sealed: "x".into(),
        created_at: Timestamp(1),
        updated_at: Timestamp(1),
        updated_by: "ada".into(),
        revision: 1,
    }
}

async fn nothing_is_stored_in_a_project_that_is_not_there(fixture: Fixture) {
    let store = &fixture.store;
    let mut lost = run(1);
    lost.project = "none".into();
    let refused = store.create_run(&lost, &plan(&lost, 1), Some(&audit("run"))).await.unwrap_err();
    assert!(matches!(&refused, StoreError::NoSuchProject(name) if name == "none"), "{refused}");
    let refused =
        store.create_secret(&secret(&Owner::Project("none".into())), &audit("s")).await.unwrap_err();
    assert!(matches!(&refused, StoreError::NoSuchProject(_)), "{refused}");
    assert_eq!(store.run(&lost.id).await.unwrap(), None);
    assert!(actions(store).await.is_empty());
}

async fn people_are_members_with_a_role(fixture: Fixture) {
    let store = &fixture.store;
    for name in ["zoe", "ada"] {
        store.create_user(&user(name), None, &audit("u")).await.unwrap();
    }
    let put = async |who, role, expected| {
        store.put_member("shop", who, role, expected, &audit("member.put")).await.unwrap()
    };
    assert_eq!(put("id-of-zoe", Role::Owner, None).await, Change::Done(1));
    assert_eq!(put("id-of-ada", Role::Viewer, None).await, Change::Done(1));
    assert_eq!(put("id-of-ada", Role::Editor, Some(1)).await, Change::Done(2));
    assert_eq!(put("id-of-ada", Role::Viewer, Some(1)).await, Change::Stale(2));
    assert_eq!(put("nobody", Role::Viewer, None).await, Change::Missing);
    let nowhere = store.put_member("none", "id-of-ada", Role::Viewer, None, &audit("m")).await.unwrap();
    assert_eq!(nowhere, Change::Missing);
    assert_eq!(store.role("shop", "id-of-ada").await.unwrap(), Some(Role::Editor));
    assert_eq!(store.role("default", "id-of-ada").await.unwrap(), None);
    assert_eq!(store.roles("id-of-ada").await.unwrap(), [("shop".to_owned(), Role::Editor)]);
    assert_eq!(actions(store).await, ["u", "u", "member.put", "member.put", "member.put"]);
}

async fn members_are_listed_and_removed(fixture: Fixture) {
    let store = &fixture.store;
    for (name, role) in [("zoe", Role::Owner), ("ada", Role::Editor)] {
        store.create_user(&user(name), None, &audit("u")).await.unwrap();
        store.put_member("shop", &format!("id-of-{name}"), role, None, &audit("m")).await.unwrap();
    }
    let members = store.members("shop").await.unwrap();
    let seen: Vec<_> = members.iter().map(|one| (one.user.name.as_str(), one.role, one.revision)).collect();
    assert_eq!(seen, [("ada", Role::Editor, 1), ("zoe", Role::Owner, 1)]);
    assert_eq!(members[0].created_at, Timestamp(100));
    let projects = store.projects(Some("id-of-ada")).await.unwrap();
    assert_eq!(projects.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["shop"]);

    let remove = async |expected| {
        store.remove_member("shop", "id-of-ada", expected, &audit("member.remove")).await.unwrap()
    };
    assert_eq!(remove(Some(2)).await, Change::Stale(1));
    assert_eq!(remove(Some(1)).await, Change::Done(2));
    assert_eq!(remove(None).await, Change::Missing);
    assert_eq!(actions(store).await, ["u", "m", "u", "m", "member.remove"]);
}

async fn a_project_keeps_an_owner(fixture: Fixture) {
    let store = &fixture.store;
    store.create_user(&user("ada"), None, &audit("u")).await.unwrap();
    store.put_member("shop", "id-of-ada", Role::Owner, None, &audit("m")).await.unwrap();
    let left = store.remove_member("shop", "id-of-ada", None, &audit("left")).await.unwrap_err();
    assert!(matches!(&left, StoreError::LastOwner(project) if project == "shop"), "{left}");
    let less = store.put_member("shop", "id-of-ada", Role::Editor, None, &audit("less")).await.unwrap_err();
    assert!(matches!(less, StoreError::LastOwner(_)), "{less}");
    assert_eq!(store.role("shop", "id-of-ada").await.unwrap(), Some(Role::Owner));
    assert_eq!(actions(store).await, ["u", "m"]);
}

async fn of_two_owners_who_leave_one_stays(fixture: Fixture) {
    let store = &fixture.store;
    for name in ["ada", "zoe"] {
        store.create_user(&user(name), None, &audit("u")).await.unwrap();
        let owner = format!("id-of-{name}");
        store.put_member("shop", &owner, Role::Owner, None, &audit("m")).await.unwrap();
    }
    let mut both = Vec::new();
    for owner in ["id-of-ada", "id-of-zoe"] {
        let store = fixture.second().await;
        both.push(tokio::spawn(async move {
            store.remove_member("shop", owner, None, &audit("left")).await.is_ok()
        }));
    }
    let mut left = 0;
    for one in both {
        left += usize::from(one.await.unwrap());
    }
    assert_eq!((left, store.members("shop").await.unwrap().len()), (1, 1));
}
