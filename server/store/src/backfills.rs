//! Back-fills: runs for past dates.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::schedule::{Backfill, BackfillCounts, Firing, FiringState, PipelineName, Trigger};
use cubeloom_domain::state::RunState;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{Store, audit, firings, schedules};

const COLUMNS: &str = "id, project, pipeline, first_date, last_date, parallelism, total, created_by, created_at, \
     cancelled_by, cancelled_at";

impl Store {
    /// Stores a back-fill and adds its dates: those without a run, and with `again` also those whose run has
    /// ended. Returns the number of added dates.
    pub async fn create_backfill(
        &self,
        backfill: &Backfill,
        dates: &[Timestamp],
        again: bool,
        audit: &AuditEntry,
    ) -> Result<u32, StoreError> {
        self.transact(async |connection| {
            let mut total = 0;
            for date in dates {
                if firings::want(connection, &firing(backfill, *date), again).await? {
                    total += 1;
                }
            }
            let mut values =
                Values::texts("back-fill", &[&backfill.id, &backfill.of.project, &backfill.of.pipeline])?;
            values.int(backfill.first.0)?.int(backfill.last.0)?.int(backfill.parallelism)?.int(total)?;
            values.text(&backfill.created_by)?.int(backfill.created_at.0)?;
            let sql = "INSERT INTO backfills (id, project, pipeline, first_date, last_date, parallelism, total, \
                       created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(total)
        })
        .await
    }

    pub async fn backfill(&self, id: &str) -> Result<Option<Backfill>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM backfills WHERE id = $1");
        self.one(AssertSqlSafe(sql), Values::texts("back-fill", &[id])?, read).await
    }

    /// The back-fills of a pipeline, newest first, before `before`.
    pub async fn backfills(
        &self,
        of: &PipelineName,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Backfill>, StoreError> {
        // Sorts after every id.
        let mut values = Values::texts("back-fill", &[&of.project, &of.pipeline, before.unwrap_or("~")])?;
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        let sql = format!(
            "SELECT {COLUMNS} FROM backfills WHERE project = $1 AND pipeline = $2 AND id < $3 \
             ORDER BY id DESC LIMIT $4"
        );
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// The progress of a back-fill.
    pub async fn backfill_counts(&self, id: &str) -> Result<BackfillCounts, StoreError> {
        let sql = "SELECT f.state, r.state, COUNT(*) FROM firings f LEFT JOIN runs r ON r.id = f.run_id \
                   WHERE f.backfill = $1 GROUP BY f.state, r.state";
        let rows = self.all(sql, Values::texts("back-fill", &[id])?, |row| {
            let mut columns = Columns::of("back-fill", row);
            Ok((columns.word::<FiringState>()?, columns.maybe_word::<RunState>()?, columns.int::<u32>()?))
        });
        let mut counts = BackfillCounts::default();
        for (state, run, count) in rows.await? {
            *place(&mut counts, state, run) += count;
        }
        Ok(counts)
    }

    /// Cancels a back-fill: its pending runs do not start. Returns whether it was active.
    pub async fn cancel_backfill(
        &self,
        id: &str,
        by: &str,
        now: Timestamp,
        audit: &AuditEntry,
    ) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("back-fill", &[id, by])?;
            values.int(now.0)?;
            let sql = "UPDATE backfills SET cancelled_by = $2, cancelled_at = $3 WHERE id = $1 \
                       AND cancelled_at IS NULL";
            if execute(connection, sql, values).await? == 0 {
                return Ok(false);
            }
            let mut values = Values::texts("firing", &[id])?;
            values.int(now.0)?;
            let sql = "UPDATE firings SET state = 'cancelled', why = 'backfill_cancelled', changed_at = $2 \
                       WHERE backfill = $1 AND state = 'due'";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(true)
        })
        .await
    }
}

/// The counter for a date; a deleted run counts as ended.
fn place(counts: &mut BackfillCounts, state: FiringState, run: Option<RunState>) -> &mut u32 {
    match (state, run) {
        (FiringState::Due, _) => &mut counts.due,
        (FiringState::Cancelled, _) => &mut counts.cancelled,
        (FiringState::Started, Some(RunState::Succeeded) | None) => &mut counts.succeeded,
        (FiringState::Started, Some(run)) if !run.is_final() => &mut counts.running,
        _ => &mut counts.failed,
    }
}

fn firing(backfill: &Backfill, date: Timestamp) -> Firing {
    Firing {
        of: backfill.of.clone(),
        date,
        trigger: Trigger::Backfill,
        user: backfill.created_by.clone(),
        state: FiringState::Due,
        run: None,
        why: None,
        detail: None,
        backfill: Some(backfill.id.clone()),
        event: None,
        changed_at: backfill.created_at,
    }
}

fn read(row: &AnyRow) -> Result<Backfill, StoreError> {
    let mut columns = Columns::of("back-fill", row);
    Ok(Backfill {
        id: columns.text()?.into(),
        of: schedules::name(&mut columns)?,
        first: columns.time()?,
        last: columns.time()?,
        parallelism: columns.int()?,
        total: columns.int()?,
        created_by: columns.text()?.into(),
        created_at: columns.time()?,
        cancelled: columns.maybe_text()?.zip(columns.maybe_time()?),
    })
}
