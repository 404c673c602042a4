//! Rows with a unique name: create, change and delete, with optimistic locking by revision and an audit entry
//! each.

use cubeloom_domain::identity::AuditEntry;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::error::StoreError;
use crate::query::execute;
use crate::revision::Target;
use crate::values::Values;
use crate::{Change, Created, Store, audit};

impl Store {
    /// Runs an `INSERT ... ON CONFLICT DO NOTHING`.
    pub(crate) async fn create_named(
        &self,
        sql: &'static str,
        values: Values,
        audit: &AuditEntry,
    ) -> Result<Created, StoreError> {
        self.transact(async |connection| {
            let created = Created::of(execute(connection, sql, values).await?);
            if created == Created::Yes {
                audit::write(connection, audit).await?;
            }
            Ok(created)
        })
        .await
    }

    /// Runs an `UPDATE` of one row; appends the new revision as its last value.
    pub(crate) async fn change_named<const KEYS: usize>(
        &self,
        target: Target<'_, KEYS>,
        sql: &'static str,
        mut values: Values,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target.take(self.backend(), connection).await?;
            if let Change::Done(revision) = change {
                values.int(revision)?;
                execute(connection, sql, values).await?;
                audit::write(connection, audit).await?;
            }
            Ok(change)
        })
        .await
    }

    pub(crate) async fn delete_named<const KEYS: usize>(
        &self,
        target: Target<'_, KEYS>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.delete_named_with(target, audit, async |_| Ok(())).await
    }

    /// Deletes one row; `also` deletes its dependents.
    pub(crate) async fn delete_named_with<const KEYS: usize>(
        &self,
        target: Target<'_, KEYS>,
        audit: &AuditEntry,
        also: impl AsyncFnOnce(&mut AnyConnection) -> Result<(), StoreError>,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let change = target.take(self.backend(), connection).await?;
            if matches!(change, Change::Done(_)) {
                also(connection).await?;
                let (conditions, values) = target.conditions()?;
                let sql = AssertSqlSafe(format!("DELETE FROM {} WHERE {conditions}", target.table));
                execute(connection, sql, values).await?;
                audit::write(connection, audit).await?;
            }
            Ok(change)
        })
        .await
    }
}
