//! The state of pipelines' schedules.

use cubeloom_domain::Timestamp;
use cubeloom_domain::failpoint;
use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::schedule::{Awaited, Firing, PipelineName, ScheduleState};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::backend::Backend;
use crate::conditions::Conditions;
use crate::ends::Hold;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{Store, audit, ends, firings};

const COLUMNS: &str = "project, pipeline, version, schedule_json, set_by, set_at, handled_at, next_at, paused_by, \
     paused_at, revision, after_project, after_pipeline, after_state, after_until, look_json";

/// Maximum number of schedules in one list.
const LISTED: usize = 1_000;

impl Store {
    /// Pipelines whose newest version was not yet checked for a schedule, and deleted ones that still have
    /// one.
    pub async fn unseen_schedules(&self, limit: usize) -> Result<Vec<PipelineName>, StoreError> {
        let sql = "SELECT p.project, p.name FROM pipelines p LEFT JOIN schedules s \
                   ON s.project = p.project AND s.pipeline = p.name \
                   WHERE (p.deleted = 0 AND (s.version IS NULL OR s.version <> p.version)) \
                   OR (p.deleted <> 0 AND s.version IS NOT NULL) ORDER BY p.project, p.name LIMIT $1";
        let mut values = Values::new("schedule", 1);
        values.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        self.all(sql, values, |row| name(&mut Columns::of("schedule", row))).await
    }

    /// The schedule state of a pipeline, after its newest version or an older one was checked.
    pub async fn schedule(&self, of: &PipelineName) -> Result<Option<ScheduleState>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM schedules WHERE project = $1 AND pipeline = $2");
        self.one(AssertSqlSafe(sql), key(of)?, read).await
    }

    /// The schedules of projects, or of all of them, by project and name; without pipelines that have none.
    pub async fn schedules(&self, projects: Option<&[String]>) -> Result<Vec<ScheduleState>, StoreError> {
        let mut wanted = Conditions::new("schedule");
        wanted.fixed("schedule_json IS NOT NULL");
        wanted.one_of("project", projects)?;
        let (wanted, limit, values) = wanted.limited(LISTED)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM schedules WHERE {wanted} ORDER BY project, pipeline LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// The schedules with a due moment.
    pub async fn schedules_due(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<ScheduleState>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM schedules WHERE next_at IS NOT NULL AND next_at <= $1 ORDER BY next_at LIMIT $2"
        );
        let mut values = Values::new("schedule", 2);
        values.int(now.0)?.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// The earliest next moment of all schedules.
    pub async fn next_firing(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(next_at) FROM schedules WHERE next_at IS NOT NULL";
        let read = |row: &AnyRow| Columns::of("schedule", row).maybe_time();
        Ok(self.one(sql, Values::new("schedule", 0), read).await?.flatten())
    }

    /// Stores a schedule's state, unless it changed since the revision that was read; 0 means that it must
    /// not exist. Returns whether it was stored.
    pub async fn put_schedule(
        &self,
        state: &ScheduleState,
        read: u64,
        audit: Option<&AuditEntry>,
    ) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let done = put(self.backend(), connection, state, read).await?;
            if let Some(audit) = audit.filter(|_| done) {
                audit::write(connection, audit).await?;
            }
            Ok(done)
        })
        .await
    }

    /// Stores the due dates, and the moment up to which everything is handled: both, or nothing if the
    /// schedule changed since. An existing date stays unchanged.
    pub async fn record_firings(
        &self,
        state: &ScheduleState,
        read: u64,
        due: &[Firing],
    ) -> Result<bool, StoreError> {
        failpoint::hit("schedules.record.before");
        let recorded = self
            .transact(async |connection| {
                if !put(self.backend(), connection, state, read).await? {
                    return Ok(false);
                }
                for firing in due {
                    firings::insert(connection, firing).await?;
                }
                Ok(true)
            })
            .await?;
        failpoint::hit("schedules.record.after");
        Ok(recorded)
    }

    /// Deletes the schedule of a deleted pipeline; its due dates are no longer due.
    pub async fn forget_schedule(&self, of: &PipelineName, now: Timestamp) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let sql = "DELETE FROM schedules WHERE project = $1 AND pipeline = $2 AND EXISTS (SELECT 1 \
                       FROM pipelines p WHERE p.project = $1 AND p.name = $2 AND p.deleted <> 0)";
            if execute(connection, sql, key(of)?).await? > 0 {
                let mut values = key(of)?;
                values.int(now.0)?;
                let sql = "UPDATE firings SET state = 'cancelled', why = 'pipeline_deleted', changed_at = $3 \
                           WHERE project = $1 AND pipeline = $2 AND state = 'due'";
                execute(connection, sql, values).await?;
            }
            Ok(())
        })
        .await
    }
}

async fn put(
    backend: Backend,
    connection: &mut AnyConnection,
    state: &ScheduleState,
    read: u64,
) -> Result<bool, StoreError> {
    if let Some(after) = &state.after {
        ends::hold(backend, connection, &after.of, Hold::Alone).await?;
    }

    let mut values = key(&state.of)?;
    values.int(state.version)?.maybe_json(state.schedule.as_ref())?;
    values.text(&state.set_by)?.int(state.set_at.0)?.int(state.handled_at.0)?.maybe_time(state.next_at)?;
    values.maybe_text(state.paused.as_ref().map(|(who, _)| who.as_str()))?;
    values.maybe_time(state.paused.as_ref().map(|(_, at)| *at))?.int(read + 1)?;
    let after = state.after.as_ref();
    values.maybe_text(after.map(|after| after.of.project.as_str()))?;
    values.maybe_text(after.map(|after| after.of.pipeline.as_str()))?;
    values.maybe_text(after.map(|after| after.state.as_str()))?;
    values.maybe_time(after.and_then(|after| after.until))?.maybe_json(state.look.as_ref())?;
    let sql = if read == 0 {
        "INSERT INTO schedules (project, pipeline, version, schedule_json, set_by, set_at, handled_at, next_at, \
         paused_by, paused_at, revision, after_project, after_pipeline, after_state, after_until, look_json) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) \
         ON CONFLICT DO NOTHING"
    } else {
        values.int(read)?;
        "UPDATE schedules SET version = $3, schedule_json = $4, set_by = $5, set_at = $6, handled_at = $7, \
         next_at = $8, paused_by = $9, paused_at = $10, revision = $11, after_project = $12, after_pipeline = $13, \
         after_state = $14, after_until = $15, look_json = $16 \
         WHERE project = $1 AND pipeline = $2 AND revision = $17"
    };
    let done = execute(connection, sql, values).await? > 0;
    if done {
        ends::make_up(connection, state).await?;
    }
    Ok(done)
}

fn key(of: &PipelineName) -> Result<Values, StoreError> {
    Values::texts("schedule", &[&of.project, &of.pipeline])
}

/// A pipeline's name from its two columns.
pub(crate) fn name(columns: &mut Columns<'_>) -> Result<PipelineName, StoreError> {
    Ok(PipelineName { project: columns.text()?.into(), pipeline: columns.text()?.into() })
}

fn read(row: &AnyRow) -> Result<ScheduleState, StoreError> {
    let mut columns = Columns::of("schedule", row);
    Ok(ScheduleState {
        of: name(&mut columns)?,
        version: columns.int()?,
        schedule: columns.maybe_json()?,
        set_by: columns.text()?.into(),
        set_at: columns.time()?,
        handled_at: columns.time()?,
        next_at: columns.maybe_time()?,
        paused: columns.maybe_text()?.zip(columns.maybe_time()?),
        revision: columns.int()?,
        after: after(&mut columns)?,
        look: columns.maybe_json()?,
    })
}

fn after(columns: &mut Columns<'_>) -> Result<Option<Awaited>, StoreError> {
    let (project, pipeline) = (columns.maybe_text()?, columns.maybe_text()?);
    let (state, until) = (columns.maybe_word()?, columns.maybe_time()?);
    let of = project.zip(pipeline).map(|(project, pipeline)| PipelineName { project, pipeline });
    Ok(of.map(|of| Awaited { of, state: state.unwrap_or_default(), until }))
}
