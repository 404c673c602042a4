//! Users' commands for runs.

use std::collections::HashSet;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::record::{Wish, WishRecord};
use cubeloom_domain::{RunId, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::error::StoreError;
use crate::query::collect;
use crate::values::{Columns, Values};
use crate::{Store, audit, budgets, listen};

impl Store {
    /// Stores a command, and returns its id.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::BudgetSpent`].
    pub async fn add_wish(
        &self,
        run: &RunId,
        wish: &Wish,
        user: &str,
        now: Timestamp,
        audit: Option<&AuditEntry>,
    ) -> Result<i64, StoreError> {
        let stored = self.store_wish((run, wish), user, now, audit).await;
        self.noticed(stored)
    }

    async fn store_wish(
        &self,
        (run, wish): (&RunId, &Wish),
        user: &str,
        now: Timestamp,
        audit: Option<&AuditEntry>,
    ) -> Result<i64, StoreError> {
        let mut writer = self.writer().await?;
        let mut transaction = writer.begin(self.backend()).await?;
        let found = sqlx::query("SELECT project, live FROM runs WHERE id = $1")
            .bind(run.as_str().to_owned())
            .fetch_optional(&mut *transaction)
            .await?;
        let Some(found) = found else { return Err(StoreError::NoSuchRun(run.clone())) };
        let mut columns = Columns::of("run", &found);
        let (project, live) = (columns.text()?, columns.flag()?);
        // Resuming an ended run starts something new; an active run may continue.
        if !live && matches!(wish, Wish::Resume | Wish::Rerun { .. } | Wish::Mark { .. }) {
            budgets::refuse(&mut transaction, project, now).await?;
        }
        let id = next_id(&mut transaction).await?;
        let mut values = Values::new("wish", 6);
        values.int(id)?.text(run.as_str())?.json(wish)?.text(user)?.int(now.0)?.flag(false)?;
        sqlx::query_with(
            "INSERT INTO wishes (id, run_id, wish_json, user_name, created_at, handled) \
             VALUES ($1, $2, $3, $4, $5, $6)",
            values.arguments,
        )
        .execute(&mut *transaction)
        .await?;
        if let Some(audit) = audit {
            audit::write(&mut transaction, audit).await?;
        }
        listen::notify(self.backend(), &mut transaction).await?;
        transaction.commit().await?;
        writer.ended();
        drop(writer);
        self.wake();
        Ok(id)
    }

    /// The pending commands for these runs, in order of creation.
    pub async fn wishes(&self, runs: &[RunId]) -> Result<Vec<WishRecord>, StoreError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        // Pending commands are few; past commands and a server's runs may be many.
        let query = sqlx::query(
            "SELECT id, run_id, wish_json, user_name, created_at FROM wishes WHERE handled = 0 ORDER BY id",
        );
        let open = collect(&mut *self.inner.pool.acquire().await?, query, wish).await?;
        let runs: HashSet<&RunId> = runs.iter().collect();
        Ok(open.into_iter().filter(|wish| runs.contains(&wish.run)).collect())
    }

    /// The last cancel command for a run, whether it was carried out or not.
    pub async fn last_cancel(&self, run: &RunId) -> Result<Option<WishRecord>, StoreError> {
        let sql = "SELECT id, run_id, wish_json, user_name, created_at FROM wishes \
                   WHERE run_id = $1 AND wish_json LIKE '{\"wish\":\"cancel\"%' ORDER BY id DESC LIMIT 1";
        self.one(sql, Values::texts("wish", &[run.as_str()])?, wish).await
    }
}

/// The next command's id. The counter's row serializes writers, so ids follow commit order.
async fn next_id(connection: &mut AnyConnection) -> Result<i64, StoreError> {
    let row = sqlx::query("UPDATE counters SET value = value + 1 WHERE name = 'wishes' RETURNING value")
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(0)?)
}

fn wish(row: &AnyRow) -> Result<WishRecord, StoreError> {
    let mut columns = Columns::of("wish", row);
    Ok(WishRecord {
        id: columns.int()?,
        run: columns.parsed()?,
        wish: columns.json()?,
        user: columns.text()?.into(),
        created_at: Timestamp(columns.int()?),
    })
}
