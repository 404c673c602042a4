//! The dates of schedules: one row per date, which ensures that each starts at most one run.

use cubeloom_domain::alert::Alert;
use cubeloom_domain::schedule::{Event, Firing, FiringState, PipelineName};
use cubeloom_domain::{RunId, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::Store;
use crate::alerts::raise;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::execute;
use crate::schedules;
use crate::values::{Columns, Values};

const COLUMNS: &str = "project, pipeline, logical_date, started_by, user_name, state, run_id, why, detail, backfill, \
     event_at, event, changed_at";

/// Selects dates.
#[derive(Clone, Debug, Default)]
pub struct FiringFilter {
    /// In these projects; `None` for all.
    pub projects: Option<Vec<String>>,
    pub pipeline: Option<String>,
    pub backfill: Option<String>,
    /// From this date on, inclusive.
    pub first: Option<Timestamp>,
    /// Up to this date, inclusive.
    pub last: Option<Timestamp>,
    /// Before this date.
    pub before: Option<Timestamp>,
    pub oldest_first: bool,
    /// At most this many.
    pub limit: usize,
}

impl Store {
    /// The pipelines with dates whose runs are due, and their back-fills with such dates.
    pub async fn pipelines_due(&self) -> Result<Vec<(PipelineName, Option<String>)>, StoreError> {
        let sql = "SELECT DISTINCT project, pipeline, backfill FROM firings WHERE state = 'due'";
        self.all(sql, Values::new("firing", 0), |row| {
            let mut columns = Columns::of("firing", row);
            Ok((schedules::name(&mut columns)?, columns.maybe_text()?))
        })
        .await
    }

    /// The due dates of a pipeline, or of one of its back-fills, oldest first.
    pub async fn firings_due(
        &self,
        of: &PipelineName,
        backfill: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Firing>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM firings WHERE project = $1 AND pipeline = $2 AND state = 'due' \
             AND COALESCE(backfill, '') = $3 ORDER BY logical_date LIMIT $4"
        );
        let mut values = key(of)?;
        values.text(backfill.unwrap_or(""))?.int(i64::try_from(limit).unwrap_or(i64::MAX))?;
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// Dates with their outcomes, newest first unless requested otherwise.
    pub async fn firings(&self, filter: &FiringFilter) -> Result<Vec<Firing>, StoreError> {
        let mut wanted = Conditions::new("firing");
        wanted.one_of("project", filter.projects.as_deref())?;
        wanted.text("pipeline =", filter.pipeline.as_deref())?;
        wanted.text("backfill =", filter.backfill.as_deref())?;
        wanted.int("logical_date >=", filter.first.map(|at| at.0))?;
        wanted.int("logical_date <=", filter.last.map(|at| at.0))?;
        wanted.int("logical_date <", filter.before.map(|at| at.0))?;
        let (wanted, limit, values) = wanted.limited(filter.limit)?;
        let order = if filter.oldest_first { "" } else { " DESC" };
        let sql = format!(
            "SELECT {COLUMNS} FROM firings WHERE {wanted} ORDER BY logical_date{order}, project, pipeline LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, read).await
    }

    pub async fn firing(&self, of: &PipelineName, date: Timestamp) -> Result<Option<Firing>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM firings WHERE project = $1 AND pipeline = $2 AND logical_date = $3"
        );
        self.one(AssertSqlSafe(sql), dated(of, date)?, read).await
    }

    /// The last date before another one that needed a run; skipped dates do not count.
    pub async fn firing_before(
        &self,
        of: &PipelineName,
        date: Timestamp,
    ) -> Result<Option<Firing>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM firings WHERE project = $1 AND pipeline = $2 AND logical_date < $3 \
             AND state NOT IN ('missed', 'skipped', 'cancelled') ORDER BY logical_date DESC LIMIT 1"
        );
        self.one(AssertSqlSafe(sql), dated(of, date)?, read).await
    }

    /// The number of live runs of a pipeline.
    pub async fn live_runs(&self, of: &PipelineName) -> Result<u64, StoreError> {
        let sql = "SELECT COUNT(*) FROM runs WHERE project = $1 AND pipeline = $2 AND live = 1";
        let found = self.one(sql, key(of)?, |row| Columns::of("run", row).int()).await?;
        Ok(found.unwrap_or(0))
    }

    /// Records a due date, unless it exists. With `again`, a settled one becomes due again. Returns whether
    /// it is due now.
    pub async fn want_date(&self, firing: &Firing, again: bool) -> Result<bool, StoreError> {
        self.transact(async |connection| want(connection, firing, again).await).await
    }

    /// Settles a due date without a run, or records why it waits. Returns whether anything changed.
    pub async fn settle_firing(
        &self,
        firing: &Firing,
        state: FiringState,
        (why, detail): (&str, Option<&str>),
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        if state == FiringState::Due && firing.why.as_deref() == Some(why) {
            return Ok(false);
        }
        settle(self.writer().await?.get(), firing, state, (why, detail), now).await
    }

    /// Settles a due date that can have no run, and raises an alert. Returns whether anything changed.
    pub async fn fail_firing(
        &self,
        firing: &Firing,
        state: FiringState,
        why: (&str, Option<&str>),
        alert: &Alert,
    ) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let is_new = settle(connection, firing, state, why, alert.at).await?;
            if is_new {
                raise(connection, alert).await?;
            }
            Ok(is_new)
        })
        .await
    }
}

async fn settle(
    connection: &mut AnyConnection,
    firing: &Firing,
    state: FiringState,
    (why, detail): (&str, Option<&str>),
    now: Timestamp,
) -> Result<bool, StoreError> {
    let mut values = dated(&firing.of, firing.date)?;
    values.text(state.as_str())?.text(why)?.maybe_text(detail)?.int(now.0)?;
    let sql = "UPDATE firings SET state = $4, why = $5, detail = $6, changed_at = $7 \
               WHERE project = $1 AND pipeline = $2 AND logical_date = $3 AND state = 'due'";
    Ok(execute(connection, sql, values).await? > 0)
}

/// Records a date; an existing one stays unchanged. Returns whether it was new.
pub(crate) async fn insert(connection: &mut AnyConnection, firing: &Firing) -> Result<bool, StoreError> {
    let sql = "INSERT INTO firings (project, pipeline, logical_date, started_by, user_name, state, run_id, why, \
               detail, backfill, event_at, event, changed_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
               ON CONFLICT DO NOTHING";
    Ok(execute(connection, sql, values(firing)?).await? > 0)
}

/// Records a date as due: a new one, one without a run, or with `again` one whose run has ended.
pub(crate) async fn want(
    connection: &mut AnyConnection,
    firing: &Firing,
    again: bool,
) -> Result<bool, StoreError> {
    if insert(connection, firing).await? {
        return Ok(true);
    }
    let over = if again {
        "(run_id IS NULL OR NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = firings.run_id AND r.live = 1))"
    } else {
        "state <> 'started'"
    };
    let sql = format!(
        "UPDATE firings SET started_by = $4, user_name = $5, state = $6, run_id = $7, why = $8, detail = $9, \
         backfill = $10, event_at = $11, event = $12, changed_at = $13 WHERE project = $1 AND pipeline = $2 AND logical_date = $3 \
         AND state <> 'due' AND {over}"
    );
    Ok(execute(connection, AssertSqlSafe(sql), values(firing)?).await? > 0)
}

/// Records the run of a due date. Returns false if the date already has one.
pub(crate) async fn start(
    connection: &mut AnyConnection,
    of: &PipelineName,
    date: Timestamp,
    run: &RunId,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let mut values = dated(of, date)?;
    values.text(run.as_str())?.int(now.0)?;
    let sql = "UPDATE firings SET state = 'started', run_id = $4, why = NULL, detail = NULL, changed_at = $5 \
               WHERE project = $1 AND pipeline = $2 AND logical_date = $3 AND state = 'due'";
    Ok(execute(connection, sql, values).await? > 0)
}

fn values(firing: &Firing) -> Result<Values, StoreError> {
    let mut values = dated(&firing.of, firing.date)?;
    values.text(firing.trigger.as_str())?.text(&firing.user)?.text(firing.state.as_str())?;
    values.maybe_text(firing.run.as_ref().map(RunId::as_str))?.maybe_text(firing.why.as_deref())?;
    values.maybe_text(firing.detail.as_deref())?.maybe_text(firing.backfill.as_deref())?;
    values.maybe_time(firing.event.as_ref().map(|event| event.at))?;
    values.maybe_text(firing.event.as_ref().map(|event| event.what.as_str()))?.int(firing.changed_at.0)?;
    Ok(values)
}

fn key(of: &PipelineName) -> Result<Values, StoreError> {
    Values::texts("firing", &[&of.project, &of.pipeline])
}

fn dated(of: &PipelineName, date: Timestamp) -> Result<Values, StoreError> {
    let mut values = key(of)?;
    values.int(date.0)?;
    Ok(values)
}

fn read(row: &AnyRow) -> Result<Firing, StoreError> {
    let mut columns = Columns::of("firing", row);
    Ok(Firing {
        of: schedules::name(&mut columns)?,
        date: columns.time()?,
        trigger: columns.word()?,
        user: columns.text()?.into(),
        state: columns.word()?,
        run: columns.maybe_parsed()?,
        why: columns.maybe_text()?,
        detail: columns.maybe_text()?,
        backfill: columns.maybe_text()?,
        event: columns.maybe_time()?.zip(columns.maybe_text()?).map(|(at, what)| Event { at, what }),
        changed_at: columns.time()?,
    })
}
