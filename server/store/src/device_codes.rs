//! Device codes: a command line requests a token, a user decides in a browser (RFC 8628). Each gets at most one
//! token, even if it is fetched twice concurrently.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{ApiToken, AuditEntry, DeviceCode, DeviceDecision, Scope};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::values::{Columns, Values};
use crate::{Store, audit, tokens};

const COLUMNS: &str =
    "id, hash, user_code, client, address, created_at, expires_at, decision, user_id, scope, project";

impl Store {
    /// Stores a new code, unless there are `most` that have not expired, or its user code is taken. Returns
    /// whether it was stored.
    pub async fn create_device_code(&self, code: &DeviceCode, most: u64) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            if count(connection, code.created_at).await? >= most {
                return Ok(false);
            }
            let texts = [&code.id, &code.hash, &code.user_code, &code.client, &code.address];
            let mut values = Values::texts("device code", &texts.map(String::as_str))?;
            values.int(code.created_at.0)?.int(code.expires_at.0)?;
            let sql = "INSERT INTO device_codes (id, hash, user_code, client, address, created_at, expires_at) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (user_code) DO NOTHING";
            Ok(execute(connection, sql, values).await? == 1)
        })
        .await
    }

    /// The code whose secret has this hash, including an expired one.
    pub async fn device_code_by_hash(&self, hash: &str) -> Result<Option<DeviceCode>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM device_codes WHERE hash = $1");
        self.one(AssertSqlSafe(sql), Values::texts("device code", &[hash])?, read).await
    }

    /// The code that a user confirms, including an expired one.
    pub async fn device_code_by_user_code(&self, user_code: &str) -> Result<Option<DeviceCode>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM device_codes WHERE user_code = $1");
        self.one(AssertSqlSafe(sql), Values::texts("device code", &[user_code])?, read).await
    }

    /// Records a user's decision. Returns false if the code was decided already, has expired or does not exist.
    pub async fn decide_device_code(
        &self,
        id: &str,
        decision: &DeviceDecision,
        audit: &AuditEntry,
    ) -> Result<bool, StoreError> {
        let (word, user, scope, project) = match decision {
            DeviceDecision::Approved { user_id, scope, project } => {
                ("approved", Some(user_id.as_str()), Some(scope.as_str()), project.as_deref())
            }
            DeviceDecision::Denied => ("denied", None, None, None),
        };
        self.transact(async |connection| {
            let mut values = Values::texts("device code", &[id, word])?;
            values.maybe_text(user)?.maybe_text(scope)?.maybe_text(project)?.int(audit.at.0)?;
            let sql = "UPDATE device_codes SET decision = $2, user_id = $3, scope = $4, project = $5 \
                       WHERE id = $1 AND decision IS NULL AND expires_at > $6";
            let done = execute(connection, sql, values).await? == 1;
            if done {
                audit::write(connection, audit).await?;
            }
            Ok(done)
        })
        .await
    }

    /// Creates the token of an approved code, and deletes the code. Returns false if the code was used, has
    /// expired or is not approved, or if its user is disabled.
    pub async fn create_token_by_device_code(
        &self,
        token: &ApiToken,
        code_id: &str,
        audit: &AuditEntry,
    ) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            // Locked before the code, in the order of a change of the user, to avoid deadlocks.
            if !self.hold_enabled(connection, &token.user_id).await? {
                return Ok(false);
            }
            let mut values = Values::texts("device code", &[code_id, &token.user_id])?;
            values.int(audit.at.0)?;
            let sql = "DELETE FROM device_codes WHERE id = $1 AND user_id = $2 AND decision = 'approved' \
                       AND expires_at > $3";
            let done = execute(connection, sql, values).await? == 1;
            if done {
                tokens::insert(connection, token).await?;
                audit::write(connection, audit).await?;
            }
            Ok(done)
        })
        .await
    }

    /// Deletes the codes that expired before this moment; returns their number.
    pub async fn delete_old_device_codes(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut values = Values::new("device code", 1);
        values.int(before.0)?;
        let sql = "DELETE FROM device_codes WHERE expires_at < $1";
        execute(self.writer().await?.get(), sql, values).await
    }

    /// Whether a user exists and is not disabled, which stays so until the transaction ends.
    async fn hold_enabled(&self, connection: &mut AnyConnection, user_id: &str) -> Result<bool, StoreError> {
        let sql = self.backend().pick(
            "SELECT id FROM users WHERE id = $1 AND disabled = 0",
            "SELECT id FROM users WHERE id = $1 AND disabled = 0 FOR SHARE",
        );
        let query = sqlx::query_with(sql, Values::texts("user", &[user_id])?.arguments);
        let found = collect(connection, query, |row| Ok(Columns::of("user", row).text()?.to_owned())).await?;
        Ok(!found.is_empty())
    }
}

/// Deletes the codes that a user has approved.
pub(crate) async fn revoke_all(connection: &mut AnyConnection, user_id: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM device_codes WHERE user_id = $1";
    execute(connection, sql, Values::texts("device code", &[user_id])?).await?;
    Ok(())
}

/// The number of codes that have not expired.
async fn count(connection: &mut AnyConnection, now: Timestamp) -> Result<u64, StoreError> {
    let mut values = Values::new("device code", 1);
    values.int(now.0)?;
    let sql = "SELECT COUNT(*) FROM device_codes WHERE expires_at > $1";
    let row = sqlx::query_with(sql, values.arguments).fetch_one(&mut *connection).await?;
    Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or(0))
}

fn read(row: &AnyRow) -> Result<DeviceCode, StoreError> {
    let mut columns = Columns::of("device code", row);
    Ok(DeviceCode {
        id: columns.text()?.into(),
        hash: columns.text()?.into(),
        user_code: columns.text()?.into(),
        client: columns.text()?.into(),
        address: columns.text()?.into(),
        created_at: columns.time()?,
        expires_at: columns.time()?,
        decision: decision(&mut columns)?,
    })
}

/// Reads a decision from its columns, the last ones.
fn decision(columns: &mut Columns<'_>) -> Result<Option<DeviceDecision>, StoreError> {
    let (word, user_id) = (columns.maybe_text()?, columns.maybe_text()?);
    let (scope, project) = (columns.maybe_word::<Scope>()?, columns.maybe_text()?);
    match (word.as_deref(), user_id, scope) {
        (None, ..) => Ok(None),
        (Some("denied"), ..) => Ok(Some(DeviceDecision::Denied)),
        (Some("approved"), Some(user_id), Some(scope)) => {
            Ok(Some(DeviceDecision::Approved { user_id, scope, project }))
        }
        (Some(word), ..) => {
            Err(StoreError::Unreadable { what: "device code", reason: format!("its decision is `{word}`") })
        }
    }
}
