//! Accounts for each attempt once: in the transaction that first writes its end.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use cubeloom_domain::accounting::{Figures, Line, Stay};
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::{RunId, TaskIx};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use super::rows::{ADDED, DayRow};
use crate::backend::Backend;
use crate::error::StoreError;
use crate::query::{collect, lists, places};
use crate::rows::{ATTEMPTS, ENDED};
use crate::upsert::last_of_each;
use crate::values::{Columns, Values};
use crate::{lengths, preflight, prices, sizing};

/// Writes attempts, and accounts for those whose end was not written before: a commit whose acknowledgement
/// was lost is repeated, and counts once. With `mails` users get mail about resource adjustments.
pub(crate) async fn write_attempts(
    backend: Backend,
    connection: &mut AnyConnection,
    attempts: &[AttemptRecord],
    mails: bool,
) -> Result<(), StoreError> {
    let all = last_of_each(attempts);
    let (live, ended): (Vec<_>, Vec<_>) = all.into_iter().partition(|attempt| attempt.state.is_live());
    ATTEMPTS.write_each(backend, connection, &live).await?;
    let sized: Vec<_> = live.into_iter().filter(|attempt| sizing::is_new(attempt)).collect();
    if !sized.is_empty() {
        let origins = origins(connection, &sized).await?;
        sizing::note(connection, &sized, &origins, mails).await?;
    }
    let written = ENDED.write_each(backend, connection, &ended).await?;
    let written = written.iter().map(first_time).collect::<Result<Vec<_>, _>>()?;
    let first: HashSet<_> = written.into_iter().flatten().collect();
    let key = |attempt: &AttemptRecord| {
        (attempt.key.run.as_str().to_owned(), attempt.task, attempt.key.instance, attempt.key.n)
    };
    let first: Vec<_> = ended.into_iter().filter(|attempt| first.contains(&key(attempt))).collect();
    let first = of_jobs(&first);
    if first.is_empty() {
        return Ok(());
    }
    let origins = origins(connection, &first).await?;
    lengths::add(backend, connection, &first, &origins).await?;
    sizing::add(backend, connection, &first, &origins).await?;
    preflight::learn(backend, connection, &first).await?;
    count_at(backend, connection, &first, &origins).await
}

type Key = (String, TaskIx, u32, u32);

/// The key of an attempt whose end was written for the first time.
fn first_time(row: &AnyRow) -> Result<Option<Key>, StoreError> {
    let mut columns = Columns::of("attempt", row);
    let key = (columns.text()?.to_owned(), TaskIx(columns.int()?), columns.int()?, columns.int()?);
    Ok((columns.int::<i64>()? == 1).then_some(key))
}

/// Adds ended attempts to the days on which they ran.
pub(crate) async fn count(
    backend: Backend,
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
) -> Result<(), StoreError> {
    let attempts = of_jobs(attempts);
    if attempts.is_empty() {
        return Ok(());
    }
    let origins = origins(connection, &attempts).await?;
    count_at(backend, connection, &attempts, &origins).await
}

/// The attempts that are jobs: an attempt that is a run is accounted for by the attempts of that run.
fn of_jobs<'a>(attempts: &[&'a AttemptRecord]) -> Vec<&'a AttemptRecord> {
    let holds = |attempt: &&&AttemptRecord| !matches!(attempt.bindings, Bindings::Run { .. });
    attempts.iter().filter(holds).copied().collect()
}

async fn count_at(
    backend: Backend,
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
    origins: &HashMap<RunId, Origin>,
) -> Result<(), StoreError> {
    let clusters: BTreeSet<&str> = attempts.iter().map(|attempt| attempt.pool.cluster.as_str()).collect();
    prices::hold(backend, connection).await?;
    let prices = prices::of_clusters(connection, &clusters).await?;
    // Sorted, so that two servers that add to the same days never deadlock.
    let mut days: BTreeMap<Line, Figures> = BTreeMap::new();
    for attempt in attempts {
        let Some(origin) = origins.get(&attempt.key.run) else { continue };
        let stay = Stay::ended(attempt);
        let price = |day| prices.of(&attempt.pool, day);
        for (day, figures) in stay.by_day(stay.days(), price) {
            let sum = days.entry(origin.line(attempt, day)).or_default();
            *sum = sum.plus(figures.bounded());
        }
    }
    let rows: Vec<DayRow> = days.into_iter().map(|(line, figures)| DayRow { line, figures }).collect();
    ADDED.write(backend, connection, &rows).await?;
    Ok(())
}

/// The owner of a run, for accounting.
pub(crate) struct Origin {
    pub project: String,
    pub pipeline: String,
}

impl Origin {
    /// The accounting line of an attempt of the run.
    pub(super) fn line(&self, attempt: &AttemptRecord, day: cubeloom_domain::accounting::Day) -> Line {
        Line {
            day,
            project: self.project.clone(),
            user: attempt.account.user.clone(),
            pipeline: self.pipeline.clone(),
            template: attempt.account.template.clone(),
            cluster: attempt.pool.cluster.clone(),
            node_group: attempt.pool.node_group.clone().unwrap_or_default(),
        }
    }
}

/// The origins of the attempts' runs.
async fn origins(
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
) -> Result<HashMap<RunId, Origin>, StoreError> {
    let runs: BTreeSet<&str> = attempts.iter().map(|attempt| attempt.key.run.as_str()).collect();
    let runs: Vec<&str> = runs.into_iter().collect();
    let mut found = HashMap::new();
    for list in lists(&runs) {
        let sql = format!("SELECT id, project, pipeline FROM runs WHERE id IN ({})", places(1, list.len()));
        let values = Values::texts("run", &list)?;
        let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
        let read = |row: &AnyRow| {
            let mut columns = Columns::of("run", row);
            let id: RunId = columns.parsed()?;
            Ok((id, Origin { project: columns.text()?.into(), pipeline: columns.text()?.into() }))
        };
        found.extend(collect(connection, query, read).await?);
    }
    Ok(found)
}
