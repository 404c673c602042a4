//! A database that an earlier program version wrote.

use std::fmt::Write;

use cubeloom_domain::state::RunState;
use cubeloom_store::{Options, PipelineFilter, RunFilter, Store};
use sha2::{Digest, Sha256};
use sqlx::any::install_default_drivers;
use sqlx::{AnyConnection, Connection};
use tempfile::TempDir;

use cubeloom_testkit::postgres::Database;

use crate::records::run_id;

const FIRST: &str = include_str!("../../../../migrations/0001_start.sql");

/// Writes the rows of the first program version: an ended run, and a pipeline.
async fn first_database(url: &str) {
    install_default_drivers();
    let mut database = AnyConnection::connect(url).await.unwrap();
    sqlx::raw_sql(FIRST).execute(&mut database).await.unwrap();
    let versions = "CREATE TABLE schema_version (version BIGINT PRIMARY KEY, checksum TEXT NOT NULL)";
    sqlx::raw_sql(versions).execute(&mut database).await.unwrap();
    let mut checksum = String::new();
    for byte in Sha256::digest(FIRST.as_bytes()) {
        write!(checksum, "{byte:02x}").unwrap();
    }
    sqlx::query("INSERT INTO schema_version VALUES (1, $1)")
        .bind(checksum)
        .execute(&mut database)
        .await
        .unwrap();
    sqlx::query(
        "INSERT INTO runs (id, project, pipeline, user_name, state, live, created_at, tasks) \
         VALUES ($1, 'default', 'ctr', 'ada', 'failed', 0, 5, 2)",
    )
    .bind(run_id(1).to_string())
    .execute(&mut database)
    .await
    .unwrap();
    let pipeline = "INSERT INTO pipelines VALUES ('default', 'ctr', 1); \
                    INSERT INTO pipeline_versions VALUES ('default', 'ctr', 1, 'text', 'digest', 'ada', 5)";
    sqlx::raw_sql(pipeline).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

async fn is_brought_up_to_date(url: &str) {
    first_database(url).await;
    let store = Store::open(&Options::new(url)).await.unwrap();
    let runs = store.runs(&RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!((runs[0].state, runs[0].version, runs[0].parameters.len()), (RunState::Failed, None, 0));
    let text = Some("CT".into());
    let pipelines = store.pipelines(&PipelineFilter { text, ..Default::default() }).await.unwrap();
    assert_eq!((pipelines[0].name.as_str(), pipelines[0].version), ("ctr", 1));
    assert_eq!(store.newest("default", "ctr").await.unwrap().unwrap().document, "text");
    assert_eq!(store.project("default").await.unwrap().unwrap().label, "Default");
}

#[tokio::test]
async fn sqlite() {
    let folder = TempDir::new().unwrap();
    is_brought_up_to_date(&format!("sqlite:{}/old.sqlite?mode=rwc", folder.path().display())).await;
}

#[tokio::test]
async fn postgres() {
    let database = Database::create();
    is_brought_up_to_date(&database.url()).await;
}
