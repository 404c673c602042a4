//! Unusable databases: a clear message, and no data loss.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_store::{Options, Store, StoreError};
use sqlx::{AnyConnection, Connection};

use crate::records::{attempt, changes, plan, run, run_id};
use crate::support::{Fixture, lease, leased_run, on_both};

on_both!(a_newer_schema_is_refused, a_foreign_schema_is_refused, servers_may_start_together);

async fn refusal(url: &str) -> StoreError {
    let options = Options { busy_timeout: Duration::from_millis(50), ..Options::new(url) };
    match Store::open(&options).await {
        Ok(_) => panic!("{url} was opened"),
        Err(refused) => refused,
    }
}

/// Runs a statement from outside, like another program.
pub async fn outside(url: &str, sql: &'static str) -> AnyConnection {
    let mut connection = AnyConnection::connect(url).await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection
}

async fn a_newer_schema_is_refused(fixture: Fixture) {
    outside(&fixture.url, "INSERT INTO schema_version VALUES (999, 'x')").await;
    let refused = refusal(&fixture.url).await;
    assert!(matches!(refused, StoreError::NewerSchema { found: 999, .. }), "{refused}");
    assert!(refused.to_string().contains("999") && refused.to_string().contains("up to 31"), "{refused}");
}

async fn a_foreign_schema_is_refused(fixture: Fixture) {
    outside(&fixture.url, "UPDATE schema_version SET checksum = 'x'").await;
    let refused = refusal(&fixture.url).await;
    assert!(matches!(refused, StoreError::ForeignSchema { version: 1 }), "{refused}");
}

async fn servers_may_start_together(fixture: Fixture) {
    // As with an empty database: the lock serializes the servers' migrations.
    let drop = "DROP TABLE schema_version; DROP TABLE model_versions; DROP TABLE models; DROP TABLE run_code; DROP TABLE plans; DROP TABLE wishes; DROP TABLE runs; \
        DROP TABLE expansions; DROP TABLE instances; DROP TABLE attempts; DROP TABLE cache; \
        DROP TABLE templates; DROP TABLE pipelines; DROP TABLE pipeline_versions; DROP TABLE counters; \
        DROP TABLE members; DROP TABLE sessions; DROP TABLE api_tokens; DROP TABLE device_codes; DROP TABLE links; DROP TABLE secrets; \
        DROP TABLE quota_marks; DROP TABLE queues; DROP TABLE schedules; DROP TABLE firings; DROP TABLE backfills; DROP TABLE alert_deliveries; \
        DROP TABLE alert_channels; DROP TABLE budgets; DROP TABLE prices; DROP TABLE usage_days; DROP TABLE lengths; DROP TABLE sizes; DROP TABLE size_changes; DROP TABLE size_reverts; DROP TABLE limits; DROP TABLE priority_classes; DROP TABLE volumes; DROP TABLE registries; DROP TABLE hooks; DROP TABLE audit; DROP TABLE idempotency; \
        DROP TABLE users; DROP TABLE projects; DROP TABLE clusters; DROP TABLE nodes_aside; DROP TABLE node_failures; DROP TABLE preflight_norms; DROP TABLE secret_uses; DROP TABLE gpu_series; DROP TABLE gpu_sampler; DROP TABLE audit_streams; DROP TABLE audit_sent";
    outside(&fixture.url, drop).await;
    let servers: Vec<_> = (0..4)
        .map(|_| {
            let url = fixture.url.clone();
            tokio::spawn(async move { Store::open(&Options::new(url)).await.map(|_| ()) })
        })
        .collect();
    for server in servers {
        server.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn an_address_of_another_kind_is_refused() {
    let refused = refusal("mysql://ada:secret@localhost/db").await;
    assert!(matches!(refused, StoreError::BadUrl { .. }), "{refused}");
    assert!(!refused.to_string().contains("secret"), "{refused}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_the_password() {
    let refused = refusal("postgres://ada:secret@127.0.0.1:1/db").await;
    assert!(matches!(refused, StoreError::CannotOpen { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("ada@127.0.0.1:1/db") && !said.contains("secret"), "{said}");
}

#[tokio::test]
async fn a_file_that_cannot_be_made_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let missing = format!("sqlite:{}/none/x.sqlite", folder.path().display());
    assert!(refusal(&missing).await.to_string().contains("none` does not exist"));
    let is_folder = format!("sqlite:{}", folder.path().display());
    assert!(refusal(&is_folder).await.to_string().contains("this is a folder"));
    assert!(refusal("sqlite:/proc/x.sqlite").await.to_string().contains("must be writable"));
}

#[tokio::test]
async fn a_path_may_hold_odd_characters() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a b#c%20d 数据.sqlite";
    let url = format!("sqlite:{}/{name}", folder.path().display());
    Store::open(&Options::new(url)).await.unwrap().check().await.unwrap();
    assert!(folder.path().join(name).exists());
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.sqlite");
    std::fs::write(&file, "not a database, ".repeat(500)).unwrap();
    let refused = refusal(&format!("sqlite:{}", file.display())).await;
    assert!(matches!(refused, StoreError::Damaged(_)), "{refused}");
}

#[tokio::test]
async fn a_read_only_database_is_refused() {
    let fixture = Fixture::sqlite().await;
    let refused = refusal(&format!("{}?mode=ro", fixture.url)).await;
    assert!(matches!(refused, StoreError::ReadOnly(_)), "{refused}");
}

#[tokio::test]
async fn a_locked_database_says_so_and_works_again_later() {
    let fixture = Fixture::sqlite().await;
    let options = Options { busy_timeout: Duration::from_millis(50), ..Options::new(&fixture.url) };
    let store = Store::open(&options).await.unwrap();
    leased_run(&store, 1, 1, "a").await;
    let mut holder = outside(&fixture.url, "BEGIN IMMEDIATE").await;

    let one = changes(vec![attempt(&run_id(1), 0, 0, 1)]);
    for refused in [
        store.commit(&lease("a"), &one).await.unwrap_err(),
        store.create_run(&run(2), &plan(&run(2), 1), None).await.unwrap_err(),
        store.acquire("a", Timestamp(0), Duration::from_secs(1), 1).await.unwrap_err(),
        store.check().await.unwrap_err(),
        refusal(&fixture.url).await,
    ] {
        assert!(matches!(refused, StoreError::Locked(_)), "{refused}");
    }
    assert!(store.attempts(&run_id(1)).await.unwrap().is_empty());

    sqlx::raw_sql("ROLLBACK").execute(&mut holder).await.unwrap();
    store.commit(&lease("a"), &one).await.unwrap();
    assert_eq!(store.attempts(&run_id(1)).await.unwrap(), one.attempts);
}
