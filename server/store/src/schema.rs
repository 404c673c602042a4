//! The schema: numbered migrations, each run once, under a lock.

use sha2::{Digest, Sha256};
use sqlx::{AnyConnection, Connection, Row};

use crate::backend::Backend;
use crate::error::StoreError;

/// All migrations, in order; a released migration never changes.
const MIGRATIONS: &[(i64, &str)] = &[
    (1, include_str!("../../../migrations/0001_start.sql")),
    (2, include_str!("../../../migrations/0002_people.sql")),
    (3, include_str!("../../../migrations/0003_runs.sql")),
    (4, include_str!("../../../migrations/0004_clusters.sql")),
    (5, include_str!("../../../migrations/0005_keeping.sql")),
    (6, include_str!("../../../migrations/0006_models.sql")),
    (7, include_str!("../../../migrations/0007_parents.sql")),
    (8, include_str!("../../../migrations/0008_queues.sql")),
    (9, include_str!("../../../migrations/0009_schedules.sql")),
    (10, include_str!("../../../migrations/0010_usage.sql")),
    (11, include_str!("../../../migrations/0011_alerts.sql")),
    (12, include_str!("../../../migrations/0012_limits.sql")),
    (13, include_str!("../../../migrations/0013_lengths.sql")),
    (14, include_str!("../../../migrations/0014_events.sql")),
    (15, include_str!("../../../migrations/0015_resized.sql")),
    (16, include_str!("../../../migrations/0016_sizing.sql")),
    (17, include_str!("../../../migrations/0017_nodes.sql")),
    (18, include_str!("../../../migrations/0018_cool_down.sql")),
    (19, include_str!("../../../migrations/0019_prometheus.sql")),
    (20, include_str!("../../../migrations/0020_pace.sql")),
    (21, include_str!("../../../migrations/0021_hangs.sql")),
    (22, include_str!("../../../migrations/0022_queued.sql")),
    (23, include_str!("../../../migrations/0023_cards_used.sql")),
    (24, include_str!("../../../migrations/0024_preflight.sql")),
    (25, include_str!("../../../migrations/0025_size_changes_by_time.sql")),
    (26, include_str!("../../../migrations/0026_mails.sql")),
    (27, include_str!("../../../migrations/0027_audit.sql")),
    (28, include_str!("../../../migrations/0028_sizing_chosen.sql")),
    (29, include_str!("../../../migrations/0029_priority_classes.sql")),
    (30, include_str!("../../../migrations/0030_device_codes.sql")),
    (31, include_str!("../../../migrations/0031_gpu_series.sql")),
];

/// Serializes programs that start concurrently; the end of the transaction releases the lock.
const LOCK: &str = "SELECT pg_advisory_xact_lock(4891470237)";

/// Runs the pending migrations.
pub(crate) async fn migrate(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    let mut transaction = connection.begin_with(backend.begin()).await?;
    if backend == Backend::Postgres {
        sqlx::raw_sql(LOCK).execute(&mut *transaction).await?;
    }
    sqlx::raw_sql(
        "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY, checksum TEXT NOT NULL)",
    )
    .execute(&mut *transaction)
    .await?;
    let done = done(&mut transaction).await?;
    refuse_unknown(&done)?;
    for (version, text) in &MIGRATIONS[done.len()..] {
        sqlx::raw_sql(*text).execute(&mut *transaction).await?;
        sqlx::query("INSERT INTO schema_version (version, checksum) VALUES ($1, $2)")
            .bind(*version)
            .bind(checksum(text))
            .execute(&mut *transaction)
            .await?;
    }
    Ok(transaction.commit().await?)
}

/// The applied migrations, with the checksums of their texts.
async fn done(connection: &mut AnyConnection) -> Result<Vec<(i64, String)>, StoreError> {
    let rows = sqlx::query("SELECT version, checksum FROM schema_version ORDER BY version")
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
}

fn refuse_unknown(done: &[(i64, String)]) -> Result<(), StoreError> {
    let known = MIGRATIONS.last().map_or(0, |(version, _)| *version);
    if let Some((found, _)) = done.last().filter(|(found, _)| *found > known) {
        return Err(StoreError::NewerSchema { found: *found, known });
    }
    for ((version, text), (_, sum)) in MIGRATIONS.iter().zip(done) {
        if checksum(text) != *sum {
            return Err(StoreError::ForeignSchema { version: *version });
        }
    }
    Ok(())
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
