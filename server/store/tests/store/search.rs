//! The search across projects.

use cubeloom_domain::RunId;
use cubeloom_domain::record::{Changes, RunRecord};
use cubeloom_store::{Expected, NameMatch, NameSearch, NewVersion, Store};

use crate::models::made;
use crate::people::{audit, project, version};
use crate::records::{plan, run, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    the_best_match_comes_first,
    only_the_given_projects_are_searched,
    runs_are_found_by_id_and_by_pipeline,
    the_newest_come_without_a_text,
);

const NOWHERE: NameSearch<'static> = NameSearch { projects: None, text: "", project: "", limit: 8 };

async fn pipelines(store: &Store, project: &str, names: &[&str]) {
    for name in names {
        let new = NewVersion { project: project.into(), ..version(name) };
        store.put_pipeline(&new, Expected::New, &audit("pipeline.put")).await.unwrap();
    }
}

/// Run `n`, of a pipeline in a project.
async fn started(store: &Store, n: u64, project: &str, pipeline: &str) {
    let record = RunRecord { project: project.into(), pipeline: pipeline.into(), ..run(n) };
    store.create_run(&record, &plan(&record, 1), None).await.unwrap();
}

fn paths(found: &[NameMatch]) -> Vec<String> {
    found.iter().map(|one| format!("{}/{}", one.project, one.name)).collect()
}

async fn found(store: &Store, search: NameSearch<'_>) -> Vec<String> {
    paths(&store.matching_pipelines(&search).await.unwrap())
}

async fn runs(store: &Store, search: NameSearch<'_>) -> Vec<u64> {
    let pipelines = store.matching_pipelines(&search).await.unwrap();
    let found = store.matching_runs(&search, &pipelines).await.unwrap();
    let number = |id: RunId| (0..1000).find(|n| run_id(*n) == id).unwrap();
    found.into_iter().map(|run| number(run.id)).collect()
}

async fn the_best_match_comes_first(fixture: Fixture) {
    let store = &fixture.store;
    store.create_project(&project("ads"), &audit("p")).await.unwrap();
    pipelines(store, "shop", &["train", "train-big", "retrain", "t-rain", "other", "tr_in"]).await;
    pipelines(store, "ads", &["train"]).await;
    let search = NameSearch { text: "train", ..NOWHERE };
    let expected = ["ads/train", "shop/train", "shop/train-big", "shop/retrain", "shop/t-rain"];
    assert_eq!(found(store, search).await, expected);
    let here = NameSearch { project: "shop", limit: 2, ..search };
    assert_eq!(found(store, here).await, ["shop/train", "ads/train"]);
    assert_eq!(found(store, NameSearch { text: "tr _", ..NOWHERE }).await, ["shop/tr_in"]);
    assert_eq!(found(store, NameSearch { text: "r_i", ..NOWHERE }).await, ["shop/tr_in"]);
    for none in ["%", "niart", "\\"] {
        assert!(found(store, NameSearch { text: none, ..NOWHERE }).await.is_empty(), "{none}");
    }
    store.delete_pipeline("shop", "train", None, &audit("pipeline.delete")).await.unwrap();
    assert_eq!(found(store, here).await, ["ads/train", "shop/train-big"]);

    leased_run(store, 1, 1, "a").await;
    let models = ["digits", "old-digits"].map(|name| made(name, 1)).into();
    store.commit(&lease("a"), &Changes { models, ..Changes::default() }).await.unwrap();
    let models = store.matching_models(&NameSearch { text: "digits", ..NOWHERE }).await.unwrap();
    assert_eq!(paths(&models), ["shop/digits", "shop/old-digits"]);
}

async fn only_the_given_projects_are_searched(fixture: Fixture) {
    let store = &fixture.store;
    store.create_project(&project("ads"), &audit("p")).await.unwrap();
    for project in ["ads", "shop"] {
        pipelines(store, project, &["train"]).await;
    }
    started(store, 1, "shop", "train").await;
    started(store, 2, "ads", "train").await;
    let both = ["ads".to_owned(), "shop".to_owned()];
    for (projects, pipelines, ids) in [
        (&both[..], &["ads/train", "shop/train"][..], &[2_u64, 1][..]),
        (&both[..1], &["ads/train"], &[2]),
        (&[], &[], &[]),
    ] {
        for text in ["train", ""] {
            let search = NameSearch { projects: Some(projects), text, ..NOWHERE };
            assert_eq!(found(store, search).await, pipelines, "{text}");
            assert_eq!(runs(store, search).await, ids, "{text}");
        }
        let id = run_id(1).to_string();
        let by_id = NameSearch { projects: Some(projects), text: &id, ..NOWHERE };
        assert_eq!(runs(store, by_id).await, if ids.contains(&1) { vec![1] } else { Vec::new() });
    }
}

async fn runs_are_found_by_id_and_by_pipeline(fixture: Fixture) {
    let store = &fixture.store;
    pipelines(store, "shop", &["train", "other"]).await;
    started(store, 0, "shop", "train").await;
    for n in 1..=300 {
        started(store, n, "shop", "other").await;
    }
    started(store, 301, "shop", "not-stored").await;
    let by = async |text: &str| runs(store, NameSearch { text, ..NOWHERE }).await;
    assert_eq!(by("train").await, [0], "however many came later");
    assert_eq!(by("stored").await, [301]);
    assert_eq!(by("oth").await, (293..=300).rev().collect::<Vec<_>>());
    let (old, new) = (run_id(0).to_string(), run_id(300).to_string());
    assert_eq!(by(&old).await, [0]);
    assert_eq!(by(&new[18..]).await, [300]);
    // Ids of the same hour begin alike.
    assert_eq!(by(&old[..6]).await, (294..=301).rev().collect::<Vec<_>>());
    assert!(by("no such run").await.is_empty());
}

async fn the_newest_come_without_a_text(fixture: Fixture) {
    let store = &fixture.store;
    store.create_project(&project("ads"), &audit("p")).await.unwrap();
    pipelines(store, "shop", &["a", "b", "c"]).await;
    pipelines(store, "ads", &["z"]).await;
    for (n, pipeline) in [(1, "c"), (2, "b"), (3, "c")] {
        started(store, n, "shop", pipeline).await;
    }
    started(store, 4, "ads", "z").await;
    let here = NameSearch { project: "shop", ..NOWHERE };
    assert_eq!(found(store, here).await, ["shop/c", "shop/b", "shop/a", "ads/z"]);
    assert_eq!(runs(store, NameSearch { limit: 3, ..here }).await, [4, 3, 2]);
}
