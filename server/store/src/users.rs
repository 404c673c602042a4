//! People: their accounts and passwords.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{AuditEntry, Federated, User};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use crate::conditions::{Conditions, Order};
use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Created, Store, UserFilter, audit, links, sessions, tokens};

/// The columns of [`read`], of a table that is called `u`.
pub(crate) const COLUMNS: &str = "u.id, u.name, u.display_name, u.email, u.admin, u.disabled, u.issuer, u.subject, \
     u.created_at, u.seen_at, u.revision, u.mails";

/// How often it is noted that somebody is there.
const SEEN_EVERY_US: i64 = 60_000_000;

impl Store {
    /// Stores a new account, at revision 1, with the hash of its password where it has one. Its name, or its
    /// subject at an OpenID Connect provider, may be taken already.
    ///
    /// # Errors
    /// When the database refuses.
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

    /// A person, by id.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn user(&self, id: &str) -> Result<Option<User>, StoreError> {
        self.user_where("u.id = $1", &[id]).await
    }

    /// A person, by the name that they sign in with.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn user_by_name(&self, name: &str) -> Result<Option<User>, StoreError> {
        self.user_where("u.name = $1", &[name]).await
    }

    /// A person, by who they are at an OpenID Connect provider.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn user_by_subject(&self, issuer: &str, subject: &str) -> Result<Option<User>, StoreError> {
        self.user_where("u.issuer = $1 AND u.subject = $2", &[issuer, subject]).await
    }

    async fn user_where(&self, condition: &str, texts: &[&str]) -> Result<Option<User>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM users u WHERE {condition}");
        self.one(AssertSqlSafe(sql), Values::texts("user", texts)?, read).await
    }

    /// The hash of a person's password; none for people who sign in elsewhere only.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn password_hash(&self, user_id: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT password_hash FROM users WHERE id = $1";
        let found =
            self.one(sql, Values::texts("user", &[user_id])?, |row| Columns::of("user", row).maybe_text());
        Ok(found.await?.flatten())
    }

    /// Sets a person's password, and ends all their sessions. False when there is no such person.
    ///
    /// # Errors
    /// When the database refuses.
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

    /// People, by name unless asked for otherwise.
    ///
    /// # Errors
    /// When the database refuses.
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

    /// How many accounts there are.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn count_users(&self) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT COUNT(*) FROM users").fetch_one(&self.inner.pool).await?;
        Ok(u64::try_from(row.try_get::<i64, _>(0)?).unwrap_or(0))
    }

    /// Changes a person's display name, address, whether they are mailed there, and whether they administer the platform or
    /// are disabled.
    /// Disabling them ends their sessions and tokens; the links of somebody who does not administer the platform any
    /// more end, too.
    ///
    /// # Errors
    /// [`StoreError::LastAdministrator`] when nobody would administer the platform any more; otherwise when the
    /// database refuses.
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
            }
            if user.disabled || !user.admin {
                links::revoke_all(connection, &user.name).await?;
            }
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Lets a person sign in by who they are at a provider, too.
    ///
    /// # Errors
    /// [`StoreError::SubjectTaken`] when that is somebody else here, or they have a provider already; otherwise when
    /// the database refuses.
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

    /// Lets a person sign in by their password only.
    ///
    /// # Errors
    /// [`StoreError::NoPassword`] when they have none; otherwise when the database refuses.
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

    /// The ids of those who administer the platform, who stay so until the transaction ends.
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

    /// Notes that a person is there, once a minute at most.
    ///
    /// # Errors
    /// When the database refuses.
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

/// Writes a password's hash, and ends the sessions that began with another.
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

/// A person, from [`COLUMNS`].
pub(crate) fn read(row: &AnyRow) -> Result<User, StoreError> {
    from(&mut Columns::of("user", row))
}

/// A person, from the next columns of a row, which are [`COLUMNS`].
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
