//! Alerts about hanging attempts.

use cubeloom_domain::alert::Alert;
use cubeloom_domain::hang::Hang;
use cubeloom_domain::record::AttemptRecord;
use sqlx::{AnyConnection, AssertSqlSafe};

use super::channels::listening;
use super::person::mail;
use super::raise::tell;
use crate::error::StoreError;
use crate::rows::{self, RUN_COLUMNS};
use crate::values::{Columns, Values};

/// Raises alerts for written attempts that are newly marked as hanging. A hanging attempt is written often,
/// so only its stored hang is read. With `mails` the user of the run gets mail, too.
pub(crate) async fn hanging(
    connection: &mut AnyConnection,
    attempts: &[AttemptRecord],
    mails: bool,
) -> Result<(), StoreError> {
    for attempt in attempts {
        let Some(hang) = attempt.hang.as_deref().filter(|hang| hang.is_present()) else { continue };
        if is_stored(connection, attempt, hang).await? {
            continue;
        }
        let values = Values::texts("run", &[attempt.key.run.as_str()])?;
        let sql = AssertSqlSafe(format!("SELECT {RUN_COLUMNS} FROM runs WHERE id = $1"));
        let row = sqlx::query_with(sql, values.arguments).fetch_optional(&mut *connection).await?;
        let Some(run) = row.as_ref().map(rows::run).transpose()? else { continue };
        let channels = listening(connection, Some(&run.project)).await?;
        let alert = Alert::of_hang(attempt, hang, &run);
        tell(connection, &channels, &alert).await?;
        if mails {
            mail(connection, &channels, &alert).await?;
        }
    }
    Ok(())
}

/// Whether the attempt is already marked with this hang: a resolved one may be followed by another.
async fn is_stored(
    connection: &mut AnyConnection,
    attempt: &AttemptRecord,
    hang: &Hang,
) -> Result<bool, StoreError> {
    let mut values = Values::texts("attempt", &[attempt.key.run.as_str()])?;
    values.int(attempt.task.0)?.int(attempt.key.instance)?.int(attempt.key.n)?;
    let sql = "SELECT hang_json FROM attempts WHERE run_id = $1 AND task = $2 AND instance = $3 AND n = $4";
    let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    let Some(row) = row else { return Ok(false) };
    let stored: Option<Hang> = Columns::of("attempt", &row).maybe_json()?;
    Ok(stored.is_some_and(|stored| stored.since == hang.since))
}
