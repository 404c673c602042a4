//! Members of projects, and their roles.

use std::collections::BTreeSet;

use cubeloom_domain::identity::{AuditEntry, Member, Role};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Store, audit, users};

impl Store {
    /// The members of a project, by name.
    pub async fn members(&self, project: &str) -> Result<Vec<Member>, StoreError> {
        let sql = format!(
            "SELECT m.project, m.role, m.created_at, m.revision, {} FROM members m \
             JOIN users u ON u.id = m.user_id WHERE m.project = $1 ORDER BY u.name",
            users::COLUMNS
        );
        self.all(AssertSqlSafe(sql), Values::texts("member", &[project])?, member).await
    }

    /// The names of the users who can see a project and sign in: its members, and administrators.
    pub async fn people_of(&self, project: &str) -> Result<BTreeSet<String>, StoreError> {
        let sql = "SELECT u.name FROM users u WHERE u.disabled = 0 AND (u.admin = 1 OR EXISTS \
                   (SELECT 1 FROM members m WHERE m.user_id = u.id AND m.project = $1))";
        let names = self.all(sql, Values::texts("member", &[project])?, |row| {
            Columns::of("user", row).text().map(str::to_owned)
        });
        Ok(names.await?.into_iter().collect())
    }

    /// A user's role in a project; `None` for users who are not members.
    pub async fn role(&self, project: &str, user_id: &str) -> Result<Option<Role>, StoreError> {
        let sql = "SELECT role FROM members WHERE project = $1 AND user_id = $2";
        let values = Values::texts("member", &[project, user_id])?;
        self.one(sql, values, |row| Columns::of("member", row).word()).await
    }

    /// The projects of a user, by name, with the user's roles.
    pub async fn roles(&self, user_id: &str) -> Result<Vec<(String, Role)>, StoreError> {
        let sql = "SELECT project, role FROM members WHERE user_id = $1 ORDER BY project";
        self.all(sql, Values::texts("member", &[user_id])?, |row| {
            let mut columns = Columns::of("member", row);
            Ok((columns.text()?.to_owned(), columns.word()?))
        })
        .await
    }

    /// Adds a user to a project, or changes the role. `Missing` if the project or user does not exist, or if
    /// a revision is expected of a user who is not a member.
    ///
    /// # Errors
    /// [`StoreError::LastOwner`] if the project would have no owner.
    pub async fn put_member(
        &self,
        project: &str,
        user_id: &str,
        role: Role,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            if !self.hold_both(connection, project, user_id).await? {
                return Ok(Change::Missing);
            }
            let mut change = target(project, user_id, expected).take(self.backend(), connection).await?;
            if change == Change::Missing && expected.is_none() {
                change = Change::Done(1);
            }
            let Change::Done(revision) = change else { return Ok(change) };
            if role != Role::Owner {
                self.refuse_last_owner(connection, project, user_id).await?;
            }
            let mut values = Values::texts("member", &[project, user_id, role.as_str()])?;
            values.int(audit.at.0)?.int(revision)?;
            let sql = "INSERT INTO members (project, user_id, role, created_at, revision) \
                       VALUES ($1, $2, $3, $4, $5) ON CONFLICT (project, user_id) \
                       DO UPDATE SET role = excluded.role, revision = excluded.revision";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Removes a user from a project.
    ///
    /// # Errors
    /// [`StoreError::LastOwner`] if the project would have no owner.
    pub async fn remove_member(
        &self,
        project: &str,
        user_id: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            if !self.hold_both(connection, project, user_id).await? {
                return Ok(Change::Missing);
            }
            let change = target(project, user_id, expected).take(self.backend(), connection).await?;
            if !matches!(change, Change::Done(_)) {
                return Ok(change);
            }
            self.refuse_last_owner(connection, project, user_id).await?;
            let sql = "DELETE FROM members WHERE project = $1 AND user_id = $2";
            execute(connection, sql, Values::texts("member", &[project, user_id])?).await?;
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    /// Whether the project and the user exist. Serializes changes of the project's members from here on.
    async fn hold_both(
        &self,
        connection: &mut AnyConnection,
        project: &str,
        user_id: &str,
    ) -> Result<bool, StoreError> {
        let projects = self.backend().pick(
            "SELECT name FROM projects WHERE name = $1",
            "SELECT name FROM projects WHERE name = $1 FOR NO KEY UPDATE",
        );
        let users = self
            .backend()
            .pick("SELECT id FROM users WHERE id = $1", "SELECT id FROM users WHERE id = $1 FOR KEY SHARE");
        for (sql, key) in [(projects, project), (users, user_id)] {
            let values = Values::texts("member", &[key])?;
            let row = sqlx::query_with(sql, values.arguments).fetch_optional(&mut *connection).await?;
            if row.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn refuse_last_owner(
        &self,
        connection: &mut AnyConnection,
        project: &str,
        user_id: &str,
    ) -> Result<(), StoreError> {
        let values = Values::texts("member", &[project])?;
        let query = sqlx::query_with(
            "SELECT user_id FROM members WHERE project = $1 AND role = 'owner'",
            values.arguments,
        );
        let owners =
            collect(connection, query, |row| Ok(Columns::of("member", row).text()?.to_owned())).await?;
        if owners == [user_id] { Err(StoreError::LastOwner(project.into())) } else { Ok(()) }
    }
}

fn target<'t>(project: &'t str, user_id: &'t str, expected: Option<u64>) -> Target<'t, 2> {
    Target { table: "members", key: [("project", project), ("user_id", user_id)], expected }
}

fn member(row: &AnyRow) -> Result<Member, StoreError> {
    let mut columns = Columns::of("member", row);
    Ok(Member {
        project: columns.text()?.into(),
        role: columns.word()?,
        created_at: columns.time()?,
        revision: columns.int()?,
        user: users::from(&mut columns)?,
    })
}
