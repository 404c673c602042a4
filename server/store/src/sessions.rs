//! Sessions of users.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{AuditEntry, Session};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{Store, audit};

impl Store {
    /// # Errors
    /// [`StoreError::OwnerGone`] if the user does not exist.
    pub async fn create_session(&self, session: &Session, audit: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("session", &[&session.id, &session.user_id, &session.key])?;
            values.int(session.created_at.0)?.int(session.renewed_at.0)?.int(session.expires_at.0)?;
            values.text(&session.address)?.text(&session.agent)?;
            let sql = "INSERT INTO sessions (id, user_id, session_key, created_at, renewed_at, expires_at, \
                       address, agent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// A session, ended ones included.
    pub async fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        let sql = "SELECT id, user_id, session_key, previous_key, previous_until, created_at, renewed_at, \
                   expires_at, revoked_at, address, agent FROM sessions WHERE id = $1";
        self.one(sql, Values::texts("session", &[id])?, read).await
    }

    /// Replaces a session's cookie, if it is still the one with `from_key`: of several concurrent requests
    /// with it only one succeeds. The old cookie stays valid until `previous_until`, for the others.
    pub async fn rotate_session(
        &self,
        id: &str,
        from_key: &str,
        to_key: &str,
        previous_until: Timestamp,
        renewed_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut values = Values::texts("session", &[id, from_key, to_key])?;
        values.int(previous_until.0)?.int(renewed_at.0)?;
        let sql = "UPDATE sessions SET session_key = $3, previous_key = $2, previous_until = $4, renewed_at = $5 \
                   WHERE id = $1 AND session_key = $2 AND revoked_at IS NULL";
        Ok(execute(self.writer().await?.get(), sql, values).await? == 1)
    }

    /// Ends a session. Returns false if it does not exist, or has ended already.
    pub async fn revoke_session(&self, id: &str, audit: &AuditEntry) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("session", &[id])?;
            values.int(audit.at.0)?;
            let sql = "UPDATE sessions SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
            let done = execute(connection, sql, values).await? == 1;
            if done {
                audit::write(connection, audit).await?;
            }
            Ok(done)
        })
        .await
    }

    /// The valid sessions of a user, newest first.
    pub async fn sessions(&self, user_id: &str, now: Timestamp) -> Result<Vec<Session>, StoreError> {
        let mut values = Values::texts("session", &[user_id])?;
        values.int(now.0)?;
        let sql = "SELECT id, user_id, session_key, previous_key, previous_until, created_at, renewed_at, \
                   expires_at, revoked_at, address, agent FROM sessions \
                   WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > $2 ORDER BY id DESC";
        self.all(sql, values, read).await
    }

    /// Deletes sessions that expired or ended before this moment; returns their number.
    pub async fn delete_old_sessions(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut values = Values::new("session", 1);
        values.int(before.0)?;
        let sql = "DELETE FROM sessions WHERE expires_at < $1 OR revoked_at < $1";
        execute(self.writer().await?.get(), sql, values).await
    }
}

pub(crate) async fn revoke_all(
    connection: &mut AnyConnection,
    user_id: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut values = Values::texts("session", &[user_id])?;
    values.int(now.0)?;
    let sql = "UPDATE sessions SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL";
    execute(connection, sql, values).await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<Session, StoreError> {
    let mut columns = Columns::of("session", row);
    Ok(Session {
        id: columns.text()?.into(),
        user_id: columns.text()?.into(),
        key: columns.text()?.into(),
        previous: match (columns.maybe_text()?, columns.maybe_time()?) {
            (Some(key), Some(until)) => Some((key, until)),
            _ => None,
        },
        created_at: columns.time()?,
        renewed_at: columns.time()?,
        expires_at: columns.time()?,
        revoked_at: columns.maybe_time()?,
        address: columns.text()?.into(),
        agent: columns.text()?.into(),
    })
}
