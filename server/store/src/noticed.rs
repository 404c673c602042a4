//! What a person should look at of the runs that act for them: what hangs now, and what was sized anew.

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

/// Whom a run acts for.
const ACTS_FOR: &str = "COALESCE(r.acting_user, r.user_name) =";

/// Something that its person should look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Noticed<T> {
    /// The project of its run.
    pub project: String,
    /// The pipeline of its run.
    pub pipeline: String,
    /// Run.
    pub run: RunId,
    /// Task.
    pub task: String,
    /// What it is.
    pub what: T,
}

/// An instance of a task that hangs.
#[derive(Clone, Debug, PartialEq)]
pub struct Hanging {
    /// Which of the task's instances it is.
    pub instance: InstanceIx,
    /// What hangs.
    pub hang: Hang,
}

impl Store {
    /// What hangs now of the runs that act for somebody, of all projects or of these; the newest attempt first.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn hanging(
        &self,
        user: &str,
        projects: Option<&[String]>,
        limit: usize,
    ) -> Result<Vec<Noticed<Hanging>>, StoreError> {
        let mut wanted = of_person("attempt", user, projects)?;
        wanted.fixed("r.live = 1 AND a.live = 1 AND a.hang_json IS NOT NULL");
        // One that went on by itself has the moment at which it did.
        wanted.fixed("a.hang_json NOT LIKE '%\"over\":%'");
        let (wanted, limit, values) = wanted.limited(limit)?;
        let sql = format!(
            "SELECT r.project, r.pipeline, r.id, a.task_name, a.instance, a.hang_json FROM runs r \
             JOIN attempts a ON a.run_id = r.id WHERE {wanted} \
             ORDER BY a.created_at DESC, a.run_id, a.task, a.instance, a.n LIMIT {limit}"
        );
        self.all(AssertSqlSafe(sql), values, |row| noticed("attempt", row, hanging_from)).await
    }

    /// What was sized anew since `since`, first for an attempt of a run that acts for somebody, of all projects or of these; the
    /// newest change first.
    ///
    /// # Errors
    /// When the database refuses.
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

/// Of the runs that act for somebody, of all projects or of these.
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
