//! Pipelines: versions, deletion, lists.

use cubeloom_domain::state::RunState;
use cubeloom_domain::{JsonMap, Timestamp};
use cubeloom_store::{AuditFilter, Change, Expected, NewVersion, PipelineFilter, PutPipeline, Store};
use serde_json::json;

use crate::people::{audit, project, version};
use crate::records::{plan, run};
use crate::support::{Fixture, on_both};

on_both!(
    a_version_is_stored_when_it_is_what_was_expected,
    what_says_the_same_is_not_stored_again,
    of_two_who_change_a_pipeline_one_is_told,
    a_deleted_pipeline_goes_on_with_the_next_version,
    versions_are_listed_newest_first,
    pipelines_are_searched,
    pipelines_are_filtered,
    the_last_runs_of_each_pipeline,
);

async fn put(store: &Store, new: &NewVersion, expected: Expected) -> PutPipeline {
    store.put_pipeline(new, expected, &audit("pipeline.put")).await.unwrap()
}

fn text(document: &str) -> NewVersion {
    NewVersion { document: document.into(), digest: document.into(), ..version("ctr") }
}

async fn logged(store: &Store) -> usize {
    let filter = AuditFilter { action: Some("pipeline.".into()), limit: 1_000, ..AuditFilter::default() };
    store.audit_log(&filter).await.unwrap().len()
}

async fn a_version_is_stored_when_it_is_what_was_expected(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(put(store, &text("one"), Expected::Version(1)).await, PutPipeline::Missing);
    assert_eq!(put(store, &text("one"), Expected::New).await, PutPipeline::Stored(1));
    assert_eq!(put(store, &text("two"), Expected::New).await, PutPipeline::Exists);
    assert_eq!(put(store, &text("two"), Expected::Version(1)).await, PutPipeline::Stored(2));
    assert_eq!(put(store, &text("six"), Expected::Version(1)).await, PutPipeline::Stale(2));
    let nowhere = NewVersion { project: "none".into(), ..text("one") };
    assert_eq!(put(store, &nowhere, Expected::Any).await, PutPipeline::Missing);
    assert_eq!(logged(store).await, 2);
}

async fn what_says_the_same_is_not_stored_again(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(put(store, &text("two"), Expected::Any).await, PutPipeline::Stored(1));
    assert_eq!(put(store, &text("two"), Expected::Version(1)).await, PutPipeline::Same(1));
    let code = NewVersion { code: Some("c".into()), message: "with code".into(), ..text("two") };
    assert_eq!(put(store, &code, Expected::Any).await, PutPipeline::Stored(2));
    assert_eq!(put(store, &code, Expected::Any).await, PutPipeline::Same(2));

    let newest = store.newest("shop", "ctr").await.unwrap().unwrap();
    assert_eq!((newest.version, newest.code.as_deref()), (2, Some("c")));
    assert_eq!((newest.message.as_str(), newest.created_at), ("with code", Timestamp(7)));
    assert_eq!(store.newest("shop", "none").await.unwrap(), None);
    assert_eq!(logged(store).await, 2);
}

async fn of_two_who_change_a_pipeline_one_is_told(fixture: Fixture) {
    for (first, expected) in [(Expected::New, 1), (Expected::Version(1), 2)] {
        let mut both = Vec::new();
        for name in ["ada", "bob"] {
            let store = fixture.second().await;
            let new = text(&format!("{name} {expected}"));
            both.push(tokio::spawn(async move { put(&store, &new, first).await }));
        }
        let mut stored = 0;
        for one in both {
            match one.await.unwrap() {
                PutPipeline::Stored(version) if version == expected => stored += 1,
                PutPipeline::Exists if expected == 1 => {}
                PutPipeline::Stale(2) if expected == 2 => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(stored, 1);
    }
    assert_eq!(logged(&fixture.store).await, 2);
}

async fn a_deleted_pipeline_goes_on_with_the_next_version(fixture: Fixture) {
    let store = &fixture.store;
    put(store, &text("one"), Expected::New).await;
    put(store, &text("two"), Expected::Any).await;
    let delete = async |expected| {
        store.delete_pipeline("shop", "ctr", expected, &audit("pipeline.delete")).await.unwrap()
    };
    assert_eq!(delete(Some(1)).await, Change::Stale(2));
    assert_eq!(delete(Some(2)).await, Change::Done(2));
    assert_eq!(delete(None).await, Change::Missing);
    assert_eq!(store.newest("shop", "ctr").await.unwrap(), None);
    assert!(store.pipelines(&PipelineFilter::default()).await.unwrap().is_empty());
    assert_eq!(store.pipeline("shop", "ctr", 2).await.unwrap().unwrap().document, "two");
    assert_eq!(put(store, &text("two"), Expected::Version(2)).await, PutPipeline::Missing);
    assert_eq!(put(store, &text("two"), Expected::New).await, PutPipeline::Stored(3));
    assert_eq!(store.newest("shop", "ctr").await.unwrap().unwrap().version, 3);
    assert_eq!(logged(store).await, 4);
}

async fn versions_are_listed_newest_first(fixture: Fixture) {
    let store = &fixture.store;
    for n in 1..=25 {
        put(store, &text(&format!("document {n}")), Expected::Any).await;
    }
    put(store, &version("other"), Expected::Any).await;
    let listed = async |before, limit| {
        let page = store.versions("shop", "ctr", before, limit).await.unwrap();
        page.into_iter().map(|one| one.version).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 3).await, [25, 24, 23]);
    assert_eq!(listed(Some(23), 100).await, (1..23).rev().collect::<Vec<_>>());
    assert_eq!(listed(Some(1), 100).await, [0; 0]);
}

fn labels(labels: serde_json::Value) -> JsonMap {
    labels.as_object().unwrap().clone()
}

/// Three pipelines in two projects.
async fn some(store: &Store) -> [NewVersion; 3] {
    store.create_project(&project("ads"), &audit("p")).await.unwrap();
    let all = [
        NewVersion {
            description: "Ranks ÉCLAIRS by 点击率 100%".into(),
            labels: labels(json!({ "team": "Food", "stage": "prod" })),
            ..version("rank")
        },
        NewVersion { labels: labels(json!({ "team": "food" })), ..version("clean") },
        NewVersion {
            project: "ads".into(),
            labels: labels(json!({ "x": "a\"team\":\"Food" })),
            ..version("rank")
        },
    ];
    for new in &all {
        put(store, new, Expected::New).await;
    }
    all
}

async fn found(store: &Store, filter: PipelineFilter) -> Vec<String> {
    let found = store.pipelines(&filter).await.unwrap();
    found.into_iter().map(|one| format!("{}/{}", one.project, one.name)).collect()
}

async fn pipelines_are_searched(fixture: Fixture) {
    let store = &fixture.store;
    some(store).await;
    for (text, expected) in [
        ("RAN", &["ads/rank", "shop/rank"][..]),
        ("éclairs", &["shop/rank"]),
        ("Éclairs BY 点击", &["shop/rank"]),
        ("0%", &["shop/rank"]),
        ("stage: pro", &["shop/rank"]),
        ("_", &[]),
    ] {
        let filter = PipelineFilter { text: Some(text.into()), ..Default::default() };
        assert_eq!(found(store, filter).await, expected, "{text}");
    }
}

async fn pipelines_are_filtered(fixture: Fixture) {
    let store = &fixture.store;
    let all = some(store).await;
    for (value, expected) in [("Food", &["shop/rank"][..]), ("food", &["shop/clean"]), ("", &[])] {
        let filter = PipelineFilter { label: Some(("team".into(), value.into())), ..Default::default() };
        assert_eq!(found(store, filter).await, expected, "{value}");
    }
    for (projects, expected) in [
        (&["ads"][..], &["ads/rank"][..]),
        (&["ads", "shop"], &["shop/clean", "ads/rank", "shop/rank"]),
        (&[], &[]),
    ] {
        let projects = Some(projects.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(found(store, PipelineFilter { projects, ..Default::default() }).await, expected);
    }
    let list = store.pipelines(&PipelineFilter { limit: Some(1), ..Default::default() }).await.unwrap();
    assert_eq!((list[0].labels.clone(), list[0].user.as_str()), (all[1].labels.clone(), "ada"));
}

async fn the_last_runs_of_each_pipeline(fixture: Fixture) {
    let store = &fixture.store;
    let mut names = Vec::new();
    for n in 0..70_u64 {
        names.push(format!("p-{n}"));
        for at in 0..n % 5 {
            let mut record = run(n * 10 + at);
            record.pipeline = names[n as usize].clone();
            record.state = RunState::Succeeded;
            store.create_run(&record, &plan(&record, 1), None).await.unwrap();
        }
    }
    let last = store.last_runs("shop", &names, 3).await.unwrap();
    assert_eq!(last.len(), 56);
    for (n, name) in (0..70).zip(&names) {
        let ids: Vec<_> = last.get(name).into_iter().flatten().map(|run| run.id.clone()).collect();
        let count: u64 = n % 5;
        let expected: Vec<_> =
            (0..count).rev().take(3).map(|at| crate::records::run_id(n * 10 + at)).collect();
        assert_eq!(ids, expected, "{name}");
    }
    assert!(store.last_runs("other", &names, 3).await.unwrap().is_empty());
    assert!(store.last_runs("shop", &[], 3).await.unwrap().is_empty());
}
