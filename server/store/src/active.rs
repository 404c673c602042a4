//! The number of active runs of a pipeline, across all servers.

use cubeloom_domain::RunId;
use cubeloom_domain::history::KEPT;
use cubeloom_domain::record::{Changes, RunRecord};
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::rows::{self, RUN_COLUMNS, RUNS};
use crate::upsert::last_of_each;
use crate::values::{Columns, Values};
use crate::{Store, listen};

/// An active run of another server, of a pipeline with queued runs on this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunElsewhere {
    pub id: RunId,
    pub project: String,
    pub pipeline: String,
    pub is_queued: bool,
}

/// The runs of the same pipeline before a queued run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ahead {
    /// Number of active runs.
    pub active: u64,
    /// Number of older queued runs.
    pub queued: u64,
    /// At most the requested number of them: active runs first, oldest first.
    pub runs: Vec<RunRecord>,
}

impl Store {
    /// The runs before a queued run of a pipeline, or before a run that would be queued, with the records of
    /// at most `most`. Ended runs are not read.
    pub async fn runs_ahead(
        &self,
        project: &str,
        pipeline: &str,
        run: &RunId,
        most: usize,
    ) -> Result<Ahead, StoreError> {
        let of_run = || Values::texts("run", &[project, pipeline, run.as_str()]);
        let sql = format!(
            "SELECT COUNT(*), COALESCE(SUM(CASE WHEN state = 'queued' THEN 1 ELSE 0 END), 0) FROM runs WHERE {AHEAD}"
        );
        let counts = self.one(AssertSqlSafe(sql), of_run()?, |row| {
            let mut columns = Columns::of("run", row);
            Ok((columns.int::<u64>()?, columns.int::<u64>()?))
        });
        let (all, queued) = counts.await?.unwrap_or_default();
        let mut values = of_run()?;
        values.int(i64::try_from(most).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {RUN_COLUMNS} FROM runs WHERE {AHEAD} \
             ORDER BY CASE WHEN state = 'queued' THEN 1 ELSE 0 END, id LIMIT $4"
        );
        let runs = self.all(AssertSqlSafe(sql), values, rows::run).await?;
        Ok(Ahead { active: all.saturating_sub(queued), queued, runs })
    }

    /// The durations of the last successful runs of a pipeline, in microseconds.
    pub async fn run_lengths(&self, project: &str, pipeline: &str) -> Result<Vec<u64>, StoreError> {
        let sql = format!(
            "SELECT ended_at - started_at FROM runs WHERE project = $1 AND pipeline = $2 AND state = 'succeeded' \
             AND started_at IS NOT NULL ORDER BY id DESC LIMIT {KEPT}"
        );
        let values = Values::texts("run", &[project, pipeline])?;
        self.all(AssertSqlSafe(sql), values, |row| Columns::of("run", row).int()).await
    }

    /// The live runs led by other servers or by none, of pipelines for which `owner` has queued runs.
    pub async fn runs_elsewhere(&self, owner: &str) -> Result<Vec<RunElsewhere>, StoreError> {
        let sql = "SELECT r.id, r.project, r.pipeline, r.state FROM runs r WHERE r.live = 1 \
                   AND (r.lease_owner IS NULL OR r.lease_owner <> $1) AND EXISTS (SELECT 1 FROM runs q \
                   WHERE q.lease_owner = $1 AND q.state = 'queued' AND q.live = 1 \
                   AND q.project = r.project AND q.pipeline = r.pipeline)";
        self.all(sql, Values::texts("run", &[owner])?, |row| {
            let mut columns = Columns::of("run", row);
            Ok(RunElsewhere {
                id: columns.parsed()?,
                project: columns.text()?.into(),
                pipeline: columns.text()?.into(),
                is_queued: columns.text()? == "queued",
            })
        })
        .await
    }
}

/// Writes the runs of the changes. A starting run is written only if its pipeline allows one more active run.
pub(crate) async fn write_runs(
    backend: Backend,
    connection: &mut AnyConnection,
    lease: &Lease,
    changes: &Changes,
) -> Result<(), StoreError> {
    let mut begun: Vec<(&RunRecord, u32)> = Vec::new();
    let mut others: Vec<&RunRecord> = Vec::new();
    for run in last_of_each(&changes.runs) {
        match changes.begun.get(&run.id) {
            Some(limit) => begun.push((run, *limit)),
            None => others.push(run),
        }
    }
    RUNS.write_each(backend, connection, &others).await?;
    // The same order on every server avoids deadlocks.
    begun.sort_unstable_by_key(|(run, _)| (&run.project, &run.pipeline, &run.id));
    for (run, limit) in begun {
        hold(backend, connection, run).await?;
        if ahead(connection, run).await? >= i64::from(limit) {
            return Err(StoreError::TooManyActive(run.id.clone()));
        }
        RUNS.write_each(backend, connection, &[run]).await?;
    }
    for run in others.iter().filter(|run| run.state.is_final()) {
        wake_queued(backend, connection, lease, run).await?;
    }
    Ok(())
}

/// Serializes servers that start runs of a pipeline: the second sees the writes of the first. The pipeline of
/// a run need not be stored, so there may be no row to lock. SQLite has a single writer anyway.
async fn hold(backend: Backend, connection: &mut AnyConnection, run: &RunRecord) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        let name = format!("{}/{}", run.project, run.pipeline);
        let sql = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
        sqlx::query(sql).bind(name).execute(connection).await?;
    }
    Ok(())
}

/// Parameters: a project, a pipeline and a queued run of it. Selects the runs before that one.
const AHEAD: &str =
    "live = 1 AND project = $1 AND pipeline = $2 AND id <> $3 AND (state <> 'queued' OR id < $3)";

/// The number of runs before a queued one: active runs, and older queued runs of its pipeline.
async fn ahead(connection: &mut AnyConnection, run: &RunRecord) -> Result<i64, StoreError> {
    let values = Values::texts("run", &[&run.project, &run.pipeline, run.id.as_str()])?;
    let sql = format!("SELECT COUNT(*) FROM runs WHERE {AHEAD}");
    let row = sqlx::query_with(AssertSqlSafe(sql), values.arguments).fetch_one(connection).await?;
    Columns::of("run", &row).int()
}

/// After the end of a run, wakes other servers with queued runs of its pipeline, so that they need not wait
/// for their next poll.
async fn wake_queued(
    backend: Backend,
    connection: &mut AnyConnection,
    lease: &Lease,
    run: &RunRecord,
) -> Result<(), StoreError> {
    if backend == Backend::Sqlite {
        return Ok(());
    }
    let values = Values::texts("run", &[&run.project, &run.pipeline, &lease.owner])?;
    let sql = "SELECT 1 FROM runs WHERE live = 1 AND project = $1 AND pipeline = $2 AND state = 'queued' \
               AND lease_owner <> $3 LIMIT 1";
    match sqlx::query_with(sql, values.arguments).fetch_optional(&mut *connection).await? {
        Some(_) => listen::notify(backend, connection).await,
        None => Ok(()),
    }
}
