//! Resource adjustments: recorded, with an alert, in the transaction that writes the first attempt with the
//! new resources.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use cubeloom_domain::alert::Channel;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::sizing::{AttemptSizing, Size, SizeChange, SizedRole};
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{RunId, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::Store;
use crate::alerts;
use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::usage::Origin;
use crate::values::{Columns, Values};

/// Maximum number of stored changes per task.
const KEPT_CHANGES: u32 = 200;
/// The minimum interval between recorded changes of a role whose resources depend on the input size.
const APART: Duration = Duration::from_secs(60 * 60);

impl Store {
    /// The last resource adjustments of a task's workers, newest first.
    pub async fn size_changes(
        &self,
        project: &str,
        pipeline: &str,
        task: &str,
        limit: u32,
    ) -> Result<Vec<SizeChange>, StoreError> {
        let mut values = Values::texts("change of a size", &[project, pipeline, task])?;
        values.int(limit)?;
        let sql = "SELECT attempt, changed_at, sized_json FROM size_changes \
                   WHERE project = $1 AND pipeline = $2 AND task_name = $3 \
                   ORDER BY changed_at DESC, attempt, role LIMIT CAST($4 AS BIGINT)";
        self.all(sql, values, read).await
    }

    /// Deletes the oldest changes of tasks that exceed the maximum.
    pub async fn delete_old_size_changes(&self) -> Result<u64, StoreError> {
        self.transact(async |connection| {
            let mut values = Values::new("change of a size", 1);
            values.int(KEPT_CHANGES - 1)?;
            let sql = "DELETE FROM size_changes WHERE changed_at < (SELECT newer.changed_at FROM size_changes newer \
                       WHERE newer.project = size_changes.project AND newer.pipeline = size_changes.pipeline \
                       AND newer.task_name = size_changes.task_name \
                       ORDER BY newer.changed_at DESC LIMIT 1 OFFSET CAST($1 AS BIGINT))";
            execute(connection, sql, values).await
        })
        .await
    }
}

fn read(row: &AnyRow) -> Result<SizeChange, StoreError> {
    change_from(&mut Columns::of("change of a size", row))
}

/// From the columns attempt, time and content, in this order.
pub(crate) fn change_from(columns: &mut Columns<'_>) -> Result<SizeChange, StoreError> {
    Ok(SizeChange { attempt: columns.parsed()?, at: columns.time()?, sized: columns.json()? })
}

/// Whether an attempt is being submitted with other resources than the previous attempt's, or its workers'
/// resources grew while they ran.
pub(crate) fn is_new(attempt: &AttemptRecord) -> bool {
    let is_changed = |sizing: &AttemptSizing| {
        let begins = attempt.state == AttemptState::Submitting && sizing.changes().next().is_some();
        begins || sizing.changed_at().is_some()
    };
    attempt.sizing.as_deref().is_some_and(is_changed)
}

/// Records and reports new adjustments: each decision once, however many attempts it affects. With `mails`
/// the users of the runs get mail, too.
pub(crate) async fn note(
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
    origins: &HashMap<RunId, Origin>,
    mails: bool,
) -> Result<(), StoreError> {
    let mut known: HashMap<Key<'_>, Known> = HashMap::new();
    let mut channels: HashMap<&str, Vec<Channel>> = HashMap::new();
    for attempt in attempts {
        let Some(origin) = origins.get(&attempt.key.run) else { continue };
        let Some(sizing) = attempt.sizing.as_deref() else { continue };
        let mut is_new = false;
        for sized in sizing.changes() {
            let key = [&origin.project, &origin.pipeline, &attempt.key.task, &sized.role].map(String::as_str);
            let known = match known.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unread) => unread.insert(Known::read(connection, &key).await?),
            };
            let while_it_ran = sized.changed_at();
            let at = while_it_ran.unwrap_or(attempt.created_at);
            // An adjustment during an attempt is no decision for others, and is recorded each time.
            if while_it_ran.is_none() && known.has(sized, at, sizing.input.is_some()) {
                continue;
            }
            known.add(sized, at);
            is_new |= insert(connection, &key, attempt, (sized, at)).await?;
        }
        if !is_new {
            continue;
        }
        if !channels.contains_key(origin.project.as_str()) {
            channels.insert(&origin.project, alerts::listening(connection, Some(&origin.project)).await?);
        }
        alerts::resized(connection, &channels[origin.project.as_str()], attempt, origin, mails).await?;
    }
    Ok(())
}

/// Writes a change; `false` if it exists.
async fn insert(
    connection: &mut AnyConnection,
    [project, pipeline, task, role]: &Key<'_>,
    attempt: &AttemptRecord,
    (sized, at): (&SizedRole, Timestamp),
) -> Result<bool, StoreError> {
    let mut values = Values::texts("change of a size", &[project, pipeline, task])?;
    values.int(at.0)?.text(&attempt.key.to_string())?.text(role)?.json(sized)?;
    let sql = "INSERT INTO size_changes (project, pipeline, task_name, changed_at, attempt, role, sized_json) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING";
    Ok(execute(connection, sql, values).await? > 0)
}

type Key<'a> = [&'a str; 4];

/// The last recorded changes of a role: all changes of one moment, because many attempts may be written
/// together.
#[derive(Default)]
struct Known {
    at: Option<Timestamp>,
    /// The requested resources, and the allocated ones.
    sizes: Vec<(Size, Size)>,
}

impl Known {
    async fn read(connection: &mut AnyConnection, key: &Key<'_>) -> Result<Self, StoreError> {
        let values = Values::texts("change of a size", key)?;
        let sql = "SELECT attempt, changed_at, sized_json FROM size_changes \
                   WHERE project = $1 AND pipeline = $2 AND task_name = $3 AND role = $4 AND changed_at = \
                   (SELECT MAX(changed_at) FROM size_changes \
                   WHERE project = $1 AND pipeline = $2 AND task_name = $3 AND role = $4)";
        let mut known = Self::default();
        for change in collect(connection, sqlx::query_with(sql, values.arguments), read).await? {
            known.add(&change.sized, change.at);
        }
        Ok(known)
    }

    /// Whether a change adds nothing new. Resources that depend on the input size differ each time, so one of
    /// those is recorded per interval.
    fn has(&self, sized: &SizedRole, at: Timestamp, has_input: bool) -> bool {
        let is_soon = |last: Timestamp| at < last.plus(APART);
        self.sizes.contains(&(sized.asked, sized.gets)) || has_input && self.at.is_some_and(is_soon)
    }

    fn add(&mut self, sized: &SizedRole, at: Timestamp) {
        self.at = self.at.max(Some(at));
        self.sizes.push((sized.asked, sized.gets));
    }
}
