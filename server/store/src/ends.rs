//! The ends of runs that fire schedules of other pipelines: a date is noted in the transaction that writes the end, or in
//! that which stores the schedule where the run had ended before. So none is lost between the two.

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

/// The most ends of runs that are made up for when a schedule is stored: the last ones.
const MOST: i64 = 1_000;

/// How a pipeline is held whose runs somebody waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Together with others that write ends of its runs.
    Shared,
    /// Alone: neither is an end written nor another schedule stored meanwhile.
    Alone,
}

/// Makes whoever writes the end of a run and whoever stores a schedule that waits for it take turns: the second of them
/// sees what the first has written. SQLite has one writer anyway.
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
    // The weakest lock that these two exclude each other with: a new version of the pipeline waits for neither.
    let sql = match how {
        Hold::Shared => "SELECT 1 FROM pipelines WHERE project = $1 AND name = $2 FOR KEY SHARE",
        Hold::Alone => "SELECT 1 FROM pipelines WHERE project = $1 AND name = $2 FOR UPDATE",
    };
    sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    Ok(())
}

/// Notes the dates that the runs fire which are being written: those of them that have ended. A run that is a task of
/// another one fires none.
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

/// The pipelines that wait for such an end, and in whose name they run.
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

/// Notes the dates of runs that had ended before a schedule was stored that waits for their ends, and are of interest to
/// it. Those that are noted already stay as they are.
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

/// A run that has ended.
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

    /// The date that it fires.
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
