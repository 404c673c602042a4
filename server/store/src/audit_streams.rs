//! The receivers of the audit log, and the entries sent to each. One server at a time sends to a receiver, by
//! lease.
//!
//! Entries get their ids before they are committed, so one may appear behind others that are already sent.
//! Everything up to the stream's position is sent. Behind it, each sent entry is recorded individually. The
//! position lags by more than the duration of any transaction.

use std::time::Duration;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_domain::{RunId, Timestamp};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::audit::{ENTRY_COLUMNS, entry};
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};

/// How far the position lags behind the current time.
const DISTANCE: Duration = Duration::from_secs(600);

/// The state of sending to a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditStream {
    /// When the next attempt is due.
    pub due_at: Timestamp,
    /// Failed attempts since the last success.
    pub failures: u32,
    /// When the first of these failed.
    pub failed_since: Option<Timestamp>,
    /// The reason for the last failure.
    pub error: Option<String>,
}

/// An id below those of all entries from this moment on.
fn floor(at: Timestamp) -> String {
    RunId::new(at, 0).to_string()
}

impl Store {
    /// Starts to send entries from `now` on to the receiver `name`; an existing stream continues from its
    /// position.
    pub async fn begin_audit_stream(&self, name: &str, now: Timestamp) -> Result<(), StoreError> {
        if self.audit_stream(name).await?.is_some() {
            return Ok(());
        }
        self.transact(async |connection| {
            let sql = "INSERT INTO audit_streams (name, position) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            execute(connection, sql, Values::texts("audit stream", &[name, &floor(now)])?).await?;
            Ok(())
        })
        .await
    }

    pub async fn audit_stream(&self, name: &str) -> Result<Option<AuditStream>, StoreError> {
        let sql = "SELECT due_at, failures, failed_since, error FROM audit_streams WHERE name = $1";
        self.one(sql, Values::texts("audit stream", &[name])?, stream).await
    }

    /// The oldest entries not yet sent to the receiver.
    pub async fn unsent_audit(&self, name: &str, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        let mut values = Values::texts("audit stream", &[name])?;
        values.int(limit)?;
        let sql = format!(
            "SELECT {ENTRY_COLUMNS} FROM audit WHERE id > (SELECT position FROM audit_streams WHERE name = $1) \
             AND NOT EXISTS (SELECT 1 FROM audit_sent s WHERE s.stream = $1 AND s.entry = audit.id) \
             ORDER BY id LIMIT $2"
        );
        self.all(AssertSqlSafe(sql), values, entry).await
    }

    /// Leases a stream whose next attempt is due, unless another server has the lease; returns whether
    /// `owner` has it now.
    pub async fn claim_audit_stream(
        &self,
        name: &str,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("audit stream", &[name, owner])?;
            values.int(now.0)?.int(now.plus(ttl).0)?;
            let sql = "UPDATE audit_streams SET lease_owner = $2, lease_until = $4 WHERE name = $1 AND due_at <= $3 \
                       AND (lease_until IS NULL OR lease_until < $3 OR lease_owner = $2)";
            Ok(execute(connection, sql, values).await? > 0)
        })
        .await
    }

    /// Records these entries as sent, in the order of [`Store::unsent_audit`], and ends the lease. Returns
    /// whether `owner` still had it: otherwise another server sends them again.
    pub async fn audit_sent(
        &self,
        name: &str,
        owner: &str,
        sent: &[AuditEntry],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let settled = Timestamp(now.0 - i64::try_from(DISTANCE.as_micros()).unwrap_or(0));
        let position = match sent.last() {
            Some(last) => floor(settled).min(last.id.clone()),
            None => floor(settled),
        };
        self.transact(async |connection| {
            let sql = "UPDATE audit_streams SET position = CASE WHEN position < $3 THEN $3 ELSE position END, \
                       due_at = 0, failures = 0, failed_since = NULL, error = NULL, lease_owner = NULL, \
                       lease_until = NULL WHERE name = $1 AND lease_owner = $2";
            let values = Values::texts("audit stream", &[name, owner, &position])?;
            if execute(connection, sql, values).await? == 0 {
                return Ok(false);
            }
            for one in sent.iter().filter(|one| one.id > position) {
                let sql = "INSERT INTO audit_sent (stream, entry) VALUES ($1, $2) ON CONFLICT DO NOTHING";
                execute(connection, sql, Values::texts("audit stream", &[name, &one.id])?).await?;
            }
            let sql = "DELETE FROM audit_sent WHERE stream = $1 AND entry <= $2";
            execute(connection, sql, Values::texts("audit stream", &[name, &position])?).await?;
            Ok(true)
        })
        .await
    }

    /// Records a failure with its reason and the time of the next attempt; ends the lease.
    pub async fn audit_refused(
        &self,
        name: &str,
        owner: &str,
        error: &str,
        now: Timestamp,
        due_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("audit stream", &[name, owner, error])?;
            values.int(now.0)?.int(due_at.0)?;
            let sql = "UPDATE audit_streams SET due_at = $5, failures = failures + 1, error = $3, \
                       failed_since = COALESCE(failed_since, $4), lease_owner = NULL, lease_until = NULL \
                       WHERE name = $1 AND lease_owner = $2";
            execute(connection, sql, values).await?;
            Ok(())
        })
        .await
    }
}

fn stream(row: &AnyRow) -> Result<AuditStream, StoreError> {
    let mut columns = Columns::of("audit stream", row);
    Ok(AuditStream {
        due_at: columns.time()?,
        failures: columns.int()?,
        failed_since: columns.maybe_time()?,
        error: columns.maybe_text()?,
    })
}
