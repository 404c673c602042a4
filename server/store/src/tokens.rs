//! API tokens for programs. A revoked token stays, so that its name in the audit log remains meaningful.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{ApiToken, AuditEntry};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};
use crate::{PageOf, Store, audit};

const COLUMNS: &str = "id, user_id, name, hash, scope, project, created_at, expires_at, used_at, revoked_at";

/// How often the use of a token is recorded.
const USED_EVERY_US: i64 = 60_000_000;

impl Store {
    /// # Errors
    /// [`StoreError::OwnerGone`] if the user does not exist.
    pub async fn create_token(&self, token: &ApiToken, audit: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| {
            insert(connection, token).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// A token, revoked ones included.
    pub async fn token(&self, id: &str) -> Result<Option<ApiToken>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM api_tokens WHERE id = $1");
        self.one(AssertSqlSafe(sql), Values::texts("token", &[id])?, read).await
    }

    /// The tokens of a user that are not revoked, newest first.
    pub async fn tokens(&self, user_id: &str) -> Result<Vec<ApiToken>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM api_tokens WHERE user_id = $1 AND revoked_at IS NULL ORDER BY id DESC"
        );
        self.all(AssertSqlSafe(sql), Values::texts("token", &[user_id])?, read).await
    }

    /// The tokens of all users that are not revoked, newest first; pages are by id.
    pub async fn all_tokens(&self, page: &PageOf<String>) -> Result<Vec<ApiToken>, StoreError> {
        let mut wanted = Conditions::new("token");
        wanted.fixed("revoked_at IS NULL");
        wanted.text("id <", page.after.as_deref())?;
        let (wanted, limit, values) = wanted.limited(page.limit)?;
        let sql = format!("SELECT {COLUMNS} FROM api_tokens WHERE {wanted} ORDER BY id DESC LIMIT {limit}");
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// Records the use of a token, at most once a minute.
    pub async fn token_used(&self, id: &str, at: Timestamp) -> Result<(), StoreError> {
        let mut values = Values::texts("token", &[id])?;
        values.int(at.0)?.int(at.0.saturating_sub(USED_EVERY_US))?;
        let sql = "UPDATE api_tokens SET used_at = $2 WHERE id = $1 AND (used_at IS NULL OR used_at < $3)";
        execute(self.writer().await?.get(), sql, values).await?;
        Ok(())
    }

    /// Revokes a token. Returns false if it does not exist, or is already revoked.
    pub async fn revoke_token(&self, id: &str, audit: &AuditEntry) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts("token", &[id])?;
            values.int(audit.at.0)?;
            let sql = "UPDATE api_tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
            let done = execute(connection, sql, values).await? == 1;
            if done {
                audit::write(connection, audit).await?;
            }
            Ok(done)
        })
        .await
    }
}

pub(crate) async fn insert(connection: &mut AnyConnection, token: &ApiToken) -> Result<(), StoreError> {
    let texts = [&token.id, &token.user_id, &token.name, &token.hash].map(String::as_str);
    let mut values = Values::texts("token", &texts)?;
    values.text(token.scope.as_str())?.maybe_text(token.project.as_deref())?;
    values.int(token.created_at.0)?.maybe_time(token.expires_at)?;
    let sql = "INSERT INTO api_tokens (id, user_id, name, hash, scope, project, created_at, expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    execute(connection, sql, values).await?;
    Ok(())
}

pub(crate) async fn revoke_all(
    connection: &mut AnyConnection,
    user_id: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut values = Values::texts("token", &[user_id])?;
    values.int(now.0)?;
    let sql = "UPDATE api_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL";
    execute(connection, sql, values).await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<ApiToken, StoreError> {
    let mut columns = Columns::of("token", row);
    Ok(ApiToken {
        id: columns.text()?.into(),
        user_id: columns.text()?.into(),
        name: columns.text()?.into(),
        hash: columns.text()?.into(),
        scope: columns.word()?,
        project: columns.maybe_text()?,
        created_at: columns.time()?,
        expires_at: columns.maybe_time()?,
        used_at: columns.maybe_time()?,
        revoked_at: columns.maybe_time()?,
    })
}
