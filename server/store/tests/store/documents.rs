//! Rows stored by version or by key: templates, pipelines, cached results.

use cubeloom_domain::record::{CacheEntry, Changes};
use cubeloom_domain::template::{InstalledTemplate, TaskTemplate};
use cubeloom_domain::{RunId, Timestamp};
use cubeloom_store::{Expected, NewVersion, PipelineFilter, PutPipeline, StoreError, Stored};
use serde_json::json;

use crate::people::{audit, version};
use crate::records::run_id;
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(
    a_template_version_never_changes,
    pipelines_are_kept_by_version,
    cached_results_belong_to_a_project,
    many_keys_can_be_asked_for,
);

fn template(name: &str, version: &str, digest: &str) -> InstalledTemplate {
    let template: TaskTemplate = serde_json::from_value(json!({
        "apiVersion": "cubeloom/v1",
        "kind": "TaskTemplate",
        "name": name,
        "version": version,
        "group": "basics",
        "label": { "en": "Command", "zh": "命令" },
        "help": { "en": "Runs a command.", "zh": "运行命令。" },
        "framework": "single",
        "parameters": { "z": 1, "a": 2 },
        "roles": [{ "name": "worker", "replicas": 1 }],
        "command": ["{{ args.command }}"],
    }))
    .unwrap();
    InstalledTemplate { template, digest: digest.into(), folder: "/templates".into() }
}

async fn a_template_version_never_changes(fixture: Fixture) {
    let store = &fixture.store;
    let now = Timestamp(1);
    let first = template("command", "1.0.0", "aa");
    assert_eq!(store.put_template(&first, now).await.unwrap(), Stored::New);
    assert_eq!(store.put_template(&first, now).await.unwrap(), Stored::Same);
    assert_eq!(store.put_template(&template("command", "1.1.0", "bb"), now).await.unwrap(), Stored::New);
    let refused = store.put_template(&template("command", "1.0.0", "cc"), now).await.unwrap_err();
    assert!(matches!(&refused, StoreError::TemplateChanged { .. }), "{refused}");
    assert!(refused.to_string().contains("command 1.0.0"));

    let moved = InstalledTemplate { folder: "/elsewhere".into(), ..first };
    assert_eq!(store.put_template(&moved, now).await.unwrap(), Stored::Same);
    let set = store.templates().await.unwrap();
    assert_eq!(set["command"]["1.0.0"], moved);
    assert_eq!(set["command"]["1.1.0"], template("command", "1.1.0", "bb"));
    assert_eq!(set.len(), 1);
}

async fn pipelines_are_kept_by_version(fixture: Fixture) {
    let store = &fixture.store;
    let put = async |document: &str, digest: &str| {
        let new = NewVersion { document: document.into(), digest: digest.into(), ..version("ctr") };
        store.put_pipeline(&new, Expected::Any, &audit("pipeline.update")).await.unwrap()
    };
    assert_eq!(put("one", "1").await, PutPipeline::Stored(1));
    assert_eq!(put("one", "1").await, PutPipeline::Same(1));
    assert_eq!(put("two", "2").await, PutPipeline::Stored(2));
    assert_eq!(put("one", "1").await, PutPipeline::Stored(3));

    let list = store.pipelines(&PipelineFilter::default()).await.unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!((list[0].name.as_str(), list[0].version), ("ctr", 3));
    let two = store.pipeline("shop", "ctr", 2).await.unwrap().unwrap();
    assert_eq!((two.document.as_str(), two.digest.as_str(), two.user.as_str()), ("two", "2", "ada"));
    assert_eq!(store.pipeline("shop", "ctr", 4).await.unwrap(), None);
}

pub fn entry(project: &str, key: &str, task: &str, at: i64) -> CacheEntry {
    CacheEntry {
        key: key.into(),
        parts: json!({ "template": "command@1.0.0", "args": at }),
        project: project.into(),
        pipeline: "ctr".into(),
        task: task.into(),
        run: run_id(1),
        created_at: Timestamp(at),
        report: Default::default(),
    }
}

async fn cached_results_belong_to_a_project(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let cache = vec![
        entry("shop", "k1", "pull", 1),
        entry("shop", "k2", "pull", 2),
        entry("shop", "k3", "train", 3),
        entry("other", "k1", "pull", 4),
    ];
    store.commit(&lease("a"), &Changes { cache: cache.clone(), ..Changes::default() }).await.unwrap();
    let found = store.cached("shop", &["k1".into(), "k9".into()]).await.unwrap();
    assert_eq!(found, cache[..1]);
    let last = store.last_cache_entry("shop", "ctr", "pull").await.unwrap();
    assert_eq!(last.as_ref(), Some(&cache[1]));
    assert_eq!(store.last_cache_entry("shop", "rank", "pull").await.unwrap(), None);

    let newer = entry("shop", "k1", "pull", 9);
    store.commit(&lease("a"), &Changes { cache: vec![newer.clone()], ..Changes::default() }).await.unwrap();
    assert_eq!(store.cached("shop", &["k1".into()]).await.unwrap(), std::slice::from_ref(&newer));
    assert_eq!(store.last_cache_entry("shop", "ctr", "pull").await.unwrap(), Some(newer));
}

async fn many_keys_can_be_asked_for(fixture: Fixture) {
    let store = &fixture.store;
    leased_run(store, 1, 1, "a").await;
    let keys: Vec<String> = (0..1500).map(|n| format!("key-{n}")).collect();
    let cache = keys.iter().map(|key| entry("shop", key, "pull", 1)).collect();
    store.commit(&lease("a"), &Changes { cache, ..Changes::default() }).await.unwrap();
    for count in [0, 1, 2, 9, 64, 513, 1500] {
        assert_eq!(store.cached("shop", &keys[..count]).await.unwrap().len(), count);
    }
    let unknown: &[RunId] = &[run_id(77)];
    store.release("a", unknown).await.unwrap();
}
