//! Resources in use: attempts of live runs that have not ended.

use cubeloom_domain::record::AttemptRecord;
use sqlx::AssertSqlSafe;

use crate::Store;
use crate::error::StoreError;
use crate::query;
use crate::rows::{self, ATTEMPT_COLUMNS};
use crate::values::{Columns, Values};

/// An attempt with allocated resources, and its owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    pub project: String,
    pub pipeline: String,
    pub user: String,
    pub attempt: AttemptRecord,
}

impl Store {
    /// The attempts that have not ended, newest first. Ended attempts are not read, however many there are.
    pub async fn holding(&self) -> Result<Vec<Holding>, StoreError> {
        let which = "r.live = 1 ORDER BY a.created_at DESC, a.run_id, a.task, a.instance, a.n";
        self.holdings(which, Values::texts("attempt", &[])?).await
    }

    /// The live attempts of runs that other servers lead. Runs led by this server are not read.
    pub async fn held_elsewhere(&self, owner: &str) -> Result<Vec<Holding>, StoreError> {
        let which = "r.lease_owner IS NOT NULL AND r.lease_owner <> $1";
        self.holdings(which, Values::texts("attempt", &[owner])?).await
    }

    async fn holdings(&self, which: &str, values: Values) -> Result<Vec<Holding>, StoreError> {
        let sql = format!(
            "SELECT {}, r.project, r.pipeline, r.user_name FROM runs r \
             JOIN attempts a ON a.run_id = r.id AND a.live = 1 WHERE {which}",
            query::of_table("a", ATTEMPT_COLUMNS)
        );
        self.all(AssertSqlSafe(sql), values, |row| {
            let mut columns = Columns::of("attempt", row);
            let attempt = rows::attempt_from(&mut columns)?;
            Ok(Holding {
                attempt,
                project: columns.text()?.into(),
                pipeline: columns.text()?.into(),
                user: columns.text()?.into(),
            })
        })
        .await
    }
}
