//! Accounts for attempts that ended before accounting existed: once, in small batches, in the background.

use cubeloom_domain::RunId;
use cubeloom_domain::record::AttemptRecord;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use super::{complete, count::count};
use crate::Store;
use crate::error::StoreError;
use crate::query::collect;
use crate::rows::{self, ATTEMPT_COLUMNS};
use crate::values::{Columns, Values};

impl Store {
    /// Accounts for up to `most` attempts of one run that ended before accounting existed, and returns their
    /// number: 0 if there are no more. Their cost uses the current prices of their days.
    pub async fn count_earlier(&self, most: usize) -> Result<usize, StoreError> {
        let sql = "SELECT run_id FROM attempts WHERE live = 0 AND counted = 0 ORDER BY run_id LIMIT 1";
        let read = |row: &AnyRow| Columns::of("attempt", row).parsed::<RunId>();
        let Some(id) = self.one(sql, Values::texts("attempt", &[])?, read).await? else { return Ok(0) };
        let run = self.run(&id).await?;
        // An unreadable plan must not prevent accounting.
        let plan = match self.plan(&id).await {
            Err(StoreError::Unreadable { .. }) => None,
            found => found?,
        };
        self.transact(async |connection| {
            let sql = format!(
                "UPDATE attempts SET counted = 1 WHERE run_id = $1 AND live = 0 AND counted = 0 \
                 AND (task, instance, n) IN (SELECT task, instance, n FROM attempts WHERE run_id = $1 \
                 AND live = 0 AND counted = 0 ORDER BY task, instance, n LIMIT $2) RETURNING {ATTEMPT_COLUMNS}"
            );
            let mut values = Values::texts("attempt", &[id.as_str()])?;
            values.int(i64::try_from(most).unwrap_or(i64::MAX))?;
            let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
            let mut found: Vec<AttemptRecord> = collect(connection, query, rows::attempt).await?;
            if let (Some(run), Some(plan)) = (&run, &plan) {
                found.iter_mut().for_each(|attempt| complete(attempt, run, plan));
            }
            let attempts: Vec<&AttemptRecord> = found.iter().collect();
            count(self.backend(), connection, &attempts).await?;
            Ok(found.len())
        })
        .await
    }
}
