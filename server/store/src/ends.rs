//! Ends of runs that trigger schedules of other pipelines. The transaction that writes the end records the
//! date, or the one that stores the schedule if the run ended before. So no end is lost in between.

use cubeloom_domain::record::RunRecord;
use cubeloom_domain::schedule::{Event, Firing, FiringState, PipelineName, ScheduleState, Trigger};
use cubeloom_domain::state::RunState;
use cubeloom_domain::{RunId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::backend::Backend;
use crate::error::StoreError;
use crate::firings;
use crate::query::collect;
use crate::schedules::name;
use crate::values::{Columns, Values};

/// Maximum number of past ends that are caught up when a schedule is stored: the most recent ones.
const MOST: i64 = 1_000;

/// The lock on a pipeline whose ends of runs trigger schedules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Shared between transactions that write ends of its runs.
    Shared,
    /// Exclusive: no end is written and no other schedule stored meanwhile.
    Alone,
}

/// Serializes transactions that write the end of a run with those that store a schedule waiting for it: the
/// second sees the writes of the first. SQLite has a single writer anyway.
pub(crate) async fn hold(
    backend: Backend,
    connection: &mut AnyConnection,
    of: &PipelineName,
    how: Hold,
) -> Result<(), StoreError> {
    if backend == Backend::Sqlite {
        return Ok(());
    }
    let values = Values::texts("pipeline", &[&of.project, &of.pipeline])?;
    // The weakest lock with which these two exclude each other: it does not block a new version of the
    // pipeline.
    let sql = match how {
        Hold::Shared => "SELECT 1 FROM pipelines WHERE project = $1 AND name = $2 FOR KEY SHARE",
        Hold::Alone => "SELECT 1 FROM pipelines WHERE project = $1 AND name = $2 FOR UPDATE",
    };
    sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    Ok(())
}

/// Records the dates triggered by the written runs that have ended. A run started by a task triggers none.
pub(crate) async fn fire(
    backend: Backend,
    connection: &mut AnyConnection,
    runs: &[RunRecord],
) -> Result<(), StoreError> {
    for run in runs.iter().filter(|run| run.state.is_final() && run.parent.is_none()) {
        let of = PipelineName { project: run.project.clone(), pipeline: run.pipeline.clone() };
        hold(backend, connection, &of, Hold::Shared).await?;
        let ended = End {
            run: run.id.clone(),
            date: run.cause.date.unwrap_or(run.created_at),
            at: run.ended_at.unwrap_or(run.created_at),
        };
        for (waiting, user) in waiting(connection, &of, run.state, ended.at).await? {
            firings::insert(connection, &ended.firing(waiting, user)).await?;
        }
    }
    Ok(())
}

/// The pipelines triggered by such an end, and the users that their runs run as.
async fn waiting(
    connection: &mut AnyConnection,
    of: &PipelineName,
    state: RunState,
    at: Timestamp,
) -> Result<Vec<(PipelineName, String)>, StoreError> {
    let mut values = Values::texts("schedule", &[&of.project, &of.pipeline, state.as_str()])?;
    values.int(at.0)?;
    let sql = "SELECT project, pipeline, set_by FROM schedules WHERE after_project = $1 AND after_pipeline = $2 \
               AND after_state IN ($3, 'ended') AND handled_at < $4 AND (after_until IS NULL OR after_until >= $4)";
    collect(connection, sqlx::query_with(sql, values.arguments), |row| {
        let mut columns = Columns::of("schedule", row);
        Ok((name(&mut columns)?, columns.text()?.to_owned()))
    })
    .await
}

/// Records the dates of runs that ended before a schedule that waits for them was stored, as far as they
/// matter to it. Existing dates stay unchanged.
pub(crate) async fn make_up(connection: &mut AnyConnection, state: &ScheduleState) -> Result<(), StoreError> {
    let Some(after) = &state.after else { return Ok(()) };
    let mut values = Values::texts("run", &[&after.of.project, &after.of.pipeline, after.state.as_str()])?;
    values.int(state.handled_at.0)?.int(after.until.unwrap_or(Timestamp(i64::MAX)).0)?.int(MOST)?;
    let sql = "SELECT id, COALESCE(logical_date, created_at), ended_at FROM runs WHERE project = $1 AND pipeline = $2 \
               AND parent IS NULL AND state IN ('succeeded', 'failed', 'cancelled') AND (state = $3 OR $3 = 'ended') \
               AND ended_at > $4 AND ended_at <= $5 ORDER BY id DESC LIMIT $6";
    let ends = collect(&mut *connection, sqlx::query_with(sql, values.arguments), End::read).await?;
    for end in ends {
        firings::insert(connection, &end.firing(state.of.clone(), state.set_by.clone())).await?;
    }
    Ok(())
}

struct End {
    run: RunId,
    /// Its logical date.
    date: Timestamp,
    at: Timestamp,
}

impl End {
    fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let mut columns = Columns::of("run", row);
        Ok(Self { run: columns.parsed()?, date: columns.time()?, at: columns.time()? })
    }

    /// The date that it triggers.
    fn firing(&self, of: PipelineName, user: String) -> Firing {
        Firing {
            of,
            date: self.date,
            trigger: Trigger::Pipeline,
            user,
            state: FiringState::Due,
            run: None,
            why: None,
            detail: None,
            backfill: None,
            event: Some(Event { at: self.at, what: self.run.to_string() }),
            changed_at: self.at,
        }
    }
}
