//! Users: their accounts and passwords.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{AuditEntry, Federated, User};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use crate::conditions::{Conditions, Order};
use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Created, Store, UserFilter, audit, device_codes, links, sessions, tokens};

/// The columns of [`read`], from a table with the alias `u`.
pub(crate) const COLUMNS: &str = "u.id, u.name, u.display_name, u.email, u.admin, u.disabled, u.issuer, u.subject, \
     u.created_at, u.seen_at, u.revision, u.mails";

/// How often a user's activity is recorded.
const SEEN_EVERY_US: i64 = 60_000_000;

impl Store {
    /// Stores a new account, at revision 1, with the hash of its password if it has one. Its name, or its
    /// subject at an OpenID Connect provider, may be taken already.
    pub async fn create_user(
        &self,
        user: &User,
        password_hash: Option<&str>,
        audit: &AuditEntry,
    ) -> Result<Created, StoreError> {
        self.transact(async |connection| {
            let created = insert(connection, user, password_hash).await?;
            if created == Created::Yes {
                audit::write(connection, audit).await?;
            }
            Ok(created)
        })
        .await
    }

    pub async fn user(&self, id: &str) -> Result<Option<User>, StoreError> {
        self.user_where("u.id = $1", &[id]).await
    }

    /// A user, by login name.
    pub async fn user_by_name(&self, name: &str) -> Result<Option<User>, StoreError> {
        self.user_where("u.name = $1", &[name]).await
    }

    /// A user, by subject at an OpenID Connect provider.
    pub async fn user_by_subject(&self, issuer: &str, subject: &str) -> Result<Option<User>, StoreError> {
        self.user_where("u.issuer = $1 AND u.subject = $2", &[issuer, subject]).await
    }

    async fn user_where(&self, condition: &str, texts: &[&str]) -> Result<Option<User>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM users u WHERE {condition}");
        self.one(AssertSqlSafe(sql), Values::texts("user", texts)?, read).await
    }

    /// The hash of a user's password; `None` for users without a password.
    pub async fn password_hash(&self, user_id: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT password_hash FROM users WHERE id = $1";
        let found =
            self.one(sql, Values::texts("user", &[user_id])?, |row| Columns::of("user", row).maybe_text());
        Ok(found.await?.flatten())
    }

    /// Sets a user's password, and ends all sessions. Returns false if the user does not exist.
    pub async fn set_password(
        &self,
        user_id: &str,
        password_hash: &str,
        audit: &AuditEntry,
    ) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let found = replace_password(connection, user_id, password_hash, audit.at).await?;
            if found {
                audit::write(connection, audit).await?;
            }
            Ok(found)
        })
        .await
    }

    /// Users, by name unless requested otherwise.
    pub async fn users(&self, filter: &UserFilter) -> Result<Vec<User>, StoreError> {
        let mut wanted = Conditions::new("user");
        let order = Order { columns: filter.order.columns(), descending: filter.descending };
        if let Some(last) = filter.order.last() {
            wanted.after(&order, &last)?;
        }
        let texts = ["u.name", "u.display_name", "COALESCE(u.email, '')"];
        wanted.contains(&texts, filter.text.as_deref())?;
        let (wanted, limit, values) = wanted.limited(filter.limit.unwrap_or(usize::MAX))?;
        let order = order.sql();
        let sql = format!("SELECT {COLUMNS} FROM users u WHERE {wanted} ORDER BY {order} LIMIT {limit}");
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// The number of accounts.
    pub async fn count_users(&self) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT COUNT(*) FROM users").fetch_one(&self.inner.pool).await?;
        Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or(0))
    }

    /// Changes a user's display name, address and mail setting, and whether the user is an administrator of
    /// the platform or disabled. Disabling a user ends sessions and tokens, also those that a command line has
    /// not fetched yet. The links of a user who is no longer an administrator end, too.
    ///
    /// # Errors
    /// [`StoreError::LastAdministrator`] if the platform would have no administrator.
    pub async fn update_user(
        &self,
        user: &User,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let administrators = self.hold_administrators(connection).await?;
            let target = Target { table: "users", key: [("id", &user.id)], expected };
            let change = target.take(self.backend(), connection).await?;
            let Change::Done(revision) = change else { return Ok(change) };
            if (user.disabled || !user.admin) && administrators == [user.id.as_str()] {
                return Err(StoreError::LastAdministrator);
            }
            let mut values = Values::texts("user", &[&user.id, &user.display_name])?;
            values.maybe_text(user.email.as_deref())?.flag(user.admin)?.flag(user.disabled)?.int(revision)?;
            values.flag(user.mails)?;
            let sql = "UPDATE users SET display_name = $2, email = $3, admin = $4, disabled = $5, revision = $6, \
                       mails = $7 WHERE id = $1";
            execute(connection, sql, values).await?;
            if user.disabled {
                sessions::revoke_all(connection, &user.id, audit.at).await?;
                tokens::revoke_all(connection, &user.id, audit.at).await?;
                device_codes::revoke_all(connection, &user.id).await?;
            }
            if user.disabled || !user.admin {
                links::revoke_all(connection, &user.name).await?;
            }
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Lets a user also sign in at an identity provider.
    ///
    /// # Errors
    /// [`StoreError::SubjectTaken`] if the subject belongs to another user, or the user already has a
    /// provider.
    pub async fn connect_user(
        &self,
        user_id: &str,
        federated: &Federated,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let target = Target { table: "users", key: [("id", user_id)], expected: None };
            let change = target.take(self.backend(), connection).await?;
            let Change::Done(revision) = change else { return Ok(change) };
            let mut values = Values::texts("user", &[user_id, &federated.issuer, &federated.subject])?;
            values.int(revision)?;
            let sql = "UPDATE users SET issuer = $2, subject = $3, revision = $4 WHERE id = $1 AND subject IS NULL \
                       AND NOT EXISTS (SELECT 1 FROM users other WHERE other.issuer = $2 AND other.subject = $3)";
            if execute(connection, sql, values).await? == 0 {
                return Err(StoreError::SubjectTaken);
            }
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Lets a user sign in only with the password.
    ///
    /// # Errors
    /// [`StoreError::NoPassword`] if the user has none.
    pub async fn disconnect_user(
        &self,
        user_id: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let target = Target { table: "users", key: [("id", user_id)], expected };
            let change = target.take(self.backend(), connection).await?;
            let Change::Done(revision) = change else { return Ok(change) };
            let mut values = Values::texts("user", &[user_id])?;
            values.int(revision)?;
            let sql = "UPDATE users SET issuer = NULL, subject = NULL, revision = $2 \
                       WHERE id = $1 AND password_hash IS NOT NULL";
            if execute(connection, sql, values).await? == 0 {
                return Err(StoreError::NoPassword);
            }
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// The ids of the administrators of the platform, locked until the transaction ends.
    pub(crate) async fn hold_administrators(
        &self,
        connection: &mut AnyConnection,
    ) -> Result<Vec<String>, StoreError> {
        let sql = self.backend().pick(
            "SELECT id FROM users WHERE admin = 1 AND disabled = 0",
            "SELECT id FROM users WHERE admin = 1 AND disabled = 0 ORDER BY id FOR UPDATE",
        );
        collect(connection, sqlx::query(sql), |row| Ok(Columns::of("user", row).text()?.to_owned())).await
    }

    /// Records a user's activity, at most once a minute.
    pub async fn seen(&self, user_id: &str, at: Timestamp) -> Result<(), StoreError> {
        let mut values = Values::texts("user", &[user_id])?;
        values.int(at.0)?.int(at.0.saturating_sub(SEEN_EVERY_US))?;
        let sql = "UPDATE users SET seen_at = $2 WHERE id = $1 AND (seen_at IS NULL OR seen_at < $3)";
        execute(self.writer().await?.get(), sql, values).await?;
        Ok(())
    }
}

/// Stores an account, unless its name or subject is taken.
pub(crate) async fn insert(
    connection: &mut AnyConnection,
    user: &User,
    password_hash: Option<&str>,
) -> Result<Created, StoreError> {
    let mut values = Values::texts("user", &[&user.id, &user.name, &user.display_name])?;
    values.maybe_text(user.email.as_deref())?.maybe_text(password_hash)?;
    values.flag(user.admin)?.flag(user.disabled)?;
    let federated = user.federated.as_ref();
    values.maybe_text(federated.map(|at| at.issuer.as_str()))?;
    values.maybe_text(federated.map(|at| at.subject.as_str()))?;
    values.int(user.created_at.0)?.maybe_time(user.seen_at)?.flag(user.mails)?;
    let sql = "INSERT INTO users (id, name, display_name, email, password_hash, admin, disabled, issuer, subject, \
               created_at, seen_at, mails, revision) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 1) \
               ON CONFLICT DO NOTHING";
    Ok(Created::of(execute(connection, sql, values).await?))
}

/// Writes a password's hash, and ends the sessions started with another password.
pub(crate) async fn replace_password(
    connection: &mut AnyConnection,
    user_id: &str,
    password_hash: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE users SET password_hash = $2 WHERE id = $1";
    let rows = execute(connection, sql, Values::texts("user", &[user_id, password_hash])?).await?;
    sessions::revoke_all(connection, user_id, now).await?;
    Ok(rows == 1)
}

/// A user, from [`COLUMNS`].
pub(crate) fn read(row: &AnyRow) -> Result<User, StoreError> {
    from(&mut Columns::of("user", row))
}

/// A user from a row's next columns, which are [`COLUMNS`].
pub(crate) fn from(columns: &mut Columns<'_>) -> Result<User, StoreError> {
    Ok(User {
        id: columns.text()?.into(),
        name: columns.text()?.into(),
        display_name: columns.text()?.into(),
        email: columns.maybe_text()?,
        admin: columns.flag()?,
        disabled: columns.flag()?,
        federated: match (columns.maybe_text()?, columns.maybe_text()?) {
            (Some(issuer), Some(subject)) => Some(Federated { issuer, subject }),
            _ => None,
        },
        created_at: columns.time()?,
        seen_at: columns.maybe_time()?,
        revision: columns.int()?,
        mails: columns.flag()?,
    })
}
