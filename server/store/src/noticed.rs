//! Runs that need a user's attention: hanging attempts, and adjusted resources.

use cubeloom_domain::hang::Hang;
use cubeloom_domain::sizing::SizeChange;
use cubeloom_domain::{InstanceIx, RunId, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::sizing::change_from;
use crate::values::Columns;

/// The user that a run runs as.
const ACTS_FOR: &str = "COALESCE(r.acting_user, r.user_name) =";

/// An item that needs its user's attention.
#[derive(Clone, Debug, PartialEq)]
pub struct Noticed<T> {
    pub project: String,
    pub pipeline: String,
    pub run: RunId,
    pub task: String,
    pub what: T,
}

/// A hanging instance of a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Hanging {
    /// The index of the instance.
    pub instance: InstanceIx,
    pub hang: Hang,
}

impl Store {
    /// The hanging attempts of runs that run as a user, in all projects or in these; newest attempt first.
    pub async fn hanging(
        &self,
        user: &str,
        projects: Option<&[String]>,
        limit: usize,
    ) -> Result<Vec<Noticed<Hanging>>, StoreError> {
        let mut wanted = of_person("attempt", user, projects)?;
        wanted.fixed("r.live = 1 AND a.live = 1 AND a.hang_json IS NOT NULL");
        // A hang that resolved has an end time.
        wanted.fixed("a.hang_json NOT LIKE '%\"over\":%'");
        let (wanted, limit, values) = wanted.limited(limit)?;
        let sql = format!(
            "SELECT r.project, r.pipeline, r.id, a.task_name, a.instance, a.hang_json FROM runs r \
             JOIN attempts a ON a.run_id = r.id WHERE {wanted} \
             ORDER BY a.created_at DESC, a.run_id, a.task, a.instance, a.n LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, |row| noticed("attempt", row, hanging_from)).await
    }

    /// The resource adjustments since `since` whose first attempt belongs to a run that runs as a user, in
    /// all projects or in these; newest first.
    pub async fn sized_anew(
        &self,
        user: &str,
        projects: Option<&[String]>,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<Noticed<SizeChange>>, StoreError> {
        let mut wanted = of_person("change of a size", user, projects)?;
        wanted.int("s.changed_at >=", Some(since.0))?;
        let (wanted, limit, values) = wanted.limited(limit)?;
        // An attempt's key begins with the id of its run.
        let sql = format!(
            "SELECT r.project, r.pipeline, r.id, s.task_name, s.attempt, s.changed_at, s.sized_json FROM size_changes s \
             JOIN runs r ON r.id = SUBSTR(s.attempt, 1, 26) WHERE {wanted} \
             ORDER BY s.changed_at DESC, s.attempt, s.role LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, |row| noticed("change of a size", row, change_from)).await
    }
}

/// Selects runs that run as a user, in all projects or in these.
fn of_person(what: &'static str, user: &str, projects: Option<&[String]>) -> Result<Conditions, StoreError> {
    let mut wanted = Conditions::new(what);
    wanted.text(ACTS_FOR, Some(user))?;
    wanted.one_of("r.project", projects)?;
    Ok(wanted)
}

fn noticed<T>(
    what: &'static str,
    row: &AnyRow,
    read: impl FnOnce(&mut Columns<'_>) -> Result<T, StoreError>,
) -> Result<Noticed<T>, StoreError> {
    let mut columns = Columns::of(what, row);
    Ok(Noticed {
        project: columns.text()?.into(),
        pipeline: columns.text()?.into(),
        run: columns.parsed()?,
        task: columns.text()?.into(),
        what: read(&mut columns)?,
    })
}

fn hanging_from(columns: &mut Columns<'_>) -> Result<Hanging, StoreError> {
    Ok(Hanging { instance: columns.int()?, hang: columns.json()? })
}
