//! The model registry.

use std::collections::BTreeMap;

use cubeloom_domain::model::{ModelVersion, NewModelVersion, Origin, ReportedModel};
use cubeloom_domain::record::Changes;
use cubeloom_domain::{AttemptKey, Timestamp};
use cubeloom_store::{Change, PageOf, Store, VersionChange};

use crate::people::audit;
use crate::records::run_id;
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    versions_are_counted_and_a_success_written_twice_is_one,
    aliases_stand_for_versions,
    models_are_listed_by_name,
    models_go_with_their_project,
);

/// The model version that attempt `n` of the run registered.
pub fn made(name: &str, n: u32) -> NewModelVersion {
    NewModelVersion {
        project: "shop".into(),
        reported: ReportedModel {
            name: name.into(),
            // The maximum length of a path, and incompressible.
            path: format!("models/{name}/{n}/{}", unlike(1000)),
            metrics: BTreeMap::from([("accuracy".into(), 0.5)]),
            description: "has a \0 in it".into(),
            ..ReportedModel::default()
        },
        origin: Origin {
            attempt: AttemptKey { run: run_id(1), task: "fit".into(), instance: 0, n },
            pipeline: "train".into(),
            pipeline_version: Some(7),
            code: Some("sha256:c0de".into()),
            user: "ada".into(),
        },
        created_at: Timestamp(i64::from(n)),
    }
}

/// Letters without repetitions, which do not compress.
fn unlike(length: usize) -> String {
    let mut state = 7_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"abcdefghijklmnopqrstuvwxyzABCDEF"[(state >> 27) as usize])
    };
    (0..length).map(|_| letter()).collect()
}

async fn register(store: &Store, models: Vec<NewModelVersion>) {
    store.commit(&lease("a"), &Changes { models, ..Changes::default() }).await.unwrap();
}

async fn versions(store: &Store, model: &str) -> Vec<ModelVersion> {
    store.model_versions("shop", model, &PageOf { after: None, limit: 100 }).await.unwrap()
}

async fn versions_are_counted_and_a_success_written_twice_is_one(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    register(store, vec![made("digits", 1), made("letters", 1), made("digits", 2)]).await;
    register(store, vec![made("digits", 2)]).await;
    let found = versions(store, "digits").await;
    let numbers: Vec<(u32, u32)> = found.iter().map(|one| (one.version, one.made.origin.attempt.n)).collect();
    assert_eq!(numbers, [(2, 2), (1, 1)]);
    let mut wanted = made("digits", 1);
    wanted.reported.description = "has a \u{0} in it".into();
    assert_eq!(found[1].made, wanted);
    assert_eq!(store.model_version("shop", "digits", 2).await.unwrap().as_ref(), found.first());
    let of_run = store.models_of_run(&run_id(1)).await.unwrap();
    assert_eq!(of_run.len(), 3);
    // A number is never reused.
    let deleted = store.delete_model_version(("shop", "digits"), 2, &audit("m")).await.unwrap();
    assert!(matches!(deleted, VersionChange::Done(_)));
    register(store, vec![made("digits", 3)]).await;
    assert_eq!(versions(store, "digits").await[0].version, 3);
    let model = store.model("shop", "digits").await.unwrap().unwrap();
    assert_eq!((model.created_at, model.updated_at), (Timestamp(1), Timestamp(3)));
}

async fn aliases_stand_for_versions(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let digits = ("shop", "digits");
    let alias = async |version| store.set_alias(digits, "production", version, &audit("m")).await.unwrap();
    assert_eq!(alias(Some(1)).await, VersionChange::NoModel);
    let mut second = made("digits", 2);
    second.reported.alias = Some("candidate".into());
    register(store, vec![made("digits", 1), second]).await;
    assert!(matches!(alias(Some(1)).await, VersionChange::Done(_)));
    assert_eq!(alias(Some(9)).await, VersionChange::NoVersion);
    let usable = store.usable_models("shop").await.unwrap().remove("digits").unwrap();
    assert_eq!(usable.aliases, [("candidate".to_owned(), 2), ("production".to_owned(), 1)].into());
    assert!(usable.paths[&2].starts_with("models/digits/2/"), "{usable:?}");
    let delete = async |version| store.delete_model_version(digits, version, &audit("m")).await.unwrap();
    assert_eq!(delete(1).await, VersionChange::HasAlias);
    assert!(matches!(alias(None).await, VersionChange::Done(_)));
    assert_eq!(alias(None).await, VersionChange::NoVersion);
    assert!(matches!(delete(1).await, VersionChange::Done(_)));
    assert_eq!(delete(1).await, VersionChange::NoVersion);
}

async fn models_are_listed_by_name(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    register(store, ["c", "a", "b"].map(|name| made(name, 1)).into()).await;
    let mut model = store.model("shop", "b").await.unwrap().unwrap();
    model.description = "About Flowers".into();
    let stale = store.describe_model(&model, Some(model.revision + 1), &audit("m")).await.unwrap();
    assert_eq!(stale, Change::Stale(model.revision));
    let done = store.describe_model(&model, Some(model.revision), &audit("m")).await.unwrap();
    assert_eq!(done, Change::Done(model.revision + 1));
    let list = async |contains, after: Option<&str>, limit| {
        let page = PageOf { after: after.map(Into::into), limit };
        let found = store.models("shop", contains, &page).await.unwrap();
        found.into_iter().map(|one| one.model.name).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None, 2).await, ["a", "b"]);
    assert_eq!(list(None, Some("b"), 2).await, ["c"]);
    assert_eq!(list(Some("FLOWER"), None, 9).await, ["b"]);
    store.delete_model_version(("shop", "c"), 1, &audit("m")).await.unwrap();
    let empty = store.model_summary("shop", "c").await.unwrap().unwrap();
    assert_eq!((empty.versions, empty.newest), (0, None));
}

async fn models_go_with_their_project(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let mut of_another = made("digits", 1);
    store.create_project(&crate::people::project("other"), &audit("p")).await.unwrap();
    of_another.project = "other".into();
    register(store, vec![of_another, made("digits", 2)]).await;
    store.delete_project("other", None, &audit("p")).await.unwrap();
    // A run that was requested to resume meanwhile: its registrations cause no error.
    let mut late = made("digits", 3);
    late.project = "other".into();
    register(store, vec![late]).await;
    assert_eq!(store.model("other", "digits").await.unwrap(), None);
    assert_eq!(versions(store, "digits").await.len(), 1);
    store.delete_model("shop", "digits", None, &audit("m")).await.unwrap();
    assert_eq!(versions(store, "digits").await, []);
}
