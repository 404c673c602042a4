//! Secrets of projects and of users, in encrypted form.

use cubeloom_domain::RunId;
use cubeloom_domain::belongings::{Owner, SealedSecret};
use cubeloom_domain::identity::AuditEntry;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::execute;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Created, Store, audit, projects};

impl Store {
    /// Stores a new secret, at revision 1.
    ///
    /// # Errors
    /// [`StoreError::NoSuchProject`] if its project does not exist.
    pub async fn create_secret(
        &self,
        secret: &SealedSecret,
        audit: &AuditEntry,
    ) -> Result<Created, StoreError> {
        self.transact(async |connection| {
            if let Owner::Project(project) = &secret.owner
                && !projects::hold(self.backend(), connection, project).await?
            {
                return Err(StoreError::NoSuchProject(project.clone()));
            }
            let created = insert(connection, secret).await?;
            if created == Created::Yes {
                audit::write(connection, audit).await?;
            }
            Ok(created)
        })
        .await
    }

    pub async fn secret(&self, owner: &Owner, name: &str) -> Result<Option<SealedSecret>, StoreError> {
        let (kind, whose) = key(owner);
        let sql = "SELECT name, description, sealed, created_at, updated_at, updated_by, revision FROM secrets \
                   WHERE owner_kind = $1 AND owner = $2 AND name = $3";
        self.one(sql, Values::texts("secret", &[kind, whose, name])?, |row| read(row, owner)).await
    }

    /// Records in the audit log that a run used a secret: `entry` has the user of the run and the secret's
    /// name. Once per run, user and secret; returns whether this was the first time.
    pub async fn note_secret_use(&self, run: &RunId, entry: &AuditEntry) -> Result<bool, StoreError> {
        let key = [run.as_str(), &entry.user_name, &entry.subject];
        let known = "SELECT 1 FROM secret_uses WHERE run_id = $1 AND user_name = $2 AND secret = $3";
        let found = self.one(known, Values::texts("use of a secret", &key)?, |_| Ok(())).await?;
        if found.is_some() {
            return Ok(false);
        }
        self.transact(async |connection| {
            let sql = "INSERT INTO secret_uses (run_id, user_name, secret) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
            let new = execute(connection, sql, Values::texts("use of a secret", &key)?).await? > 0;
            if new {
                audit::write(connection, entry).await?;
            }
            Ok(new)
        })
        .await
    }

    /// The secrets of a project or a user, by name.
    pub async fn secrets(&self, owner: &Owner) -> Result<Vec<SealedSecret>, StoreError> {
        let (kind, whose) = key(owner);
        let sql = "SELECT name, description, sealed, created_at, updated_at, updated_by, revision FROM secrets \
                   WHERE owner_kind = $1 AND owner = $2 ORDER BY name";
        self.all(sql, Values::texts("secret", &[kind, whose])?, |row| read(row, owner)).await
    }

    /// Changes a secret's value and description.
    pub async fn update_secret(
        &self,
        secret: &SealedSecret,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let target = target(&secret.owner, &secret.name, expected);
            let change = target.take(self.backend(), connection).await?;
            let Change::Done(revision) = change else { return Ok(change) };
            let (kind, whose) = key(&secret.owner);
            let mut values = Values::texts("secret", &[kind, whose, &secret.name])?;
            values.text(&secret.description)?.text(&secret.sealed)?;
            values.int(secret.updated_at.0)?.text(&secret.updated_by)?.int(revision)?;
            let sql = "UPDATE secrets SET description = $4, sealed = $5, updated_at = $6, updated_by = $7, \
                       revision = $8 WHERE owner_kind = $1 AND owner = $2 AND name = $3";
            execute(connection, sql, values).await?;
            audit::write(connection, audit).await?;
            Ok(change)
        })
        .await
    }

    pub async fn delete_secret(
        &self,
        owner: &Owner,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.delete_named(target(owner, name, expected), audit).await
    }
}

async fn insert(connection: &mut AnyConnection, secret: &SealedSecret) -> Result<Created, StoreError> {
    let (kind, whose) = key(&secret.owner);
    let texts = [kind, whose, &secret.name, &secret.description, &secret.sealed, &secret.updated_by];
    let mut values = Values::texts("secret", &texts)?;
    values.int(secret.created_at.0)?.int(secret.updated_at.0)?;
    let sql = "INSERT INTO secrets (owner_kind, owner, name, description, sealed, updated_by, created_at, \
               updated_at, revision) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1) \
               ON CONFLICT (owner_kind, owner, name) DO NOTHING";
    Ok(Created::of(execute(connection, sql, values).await?))
}

/// An owner's kind, and name or id, as stored.
pub(crate) fn key(owner: &Owner) -> (&'static str, &str) {
    match owner {
        Owner::Project(name) => ("project", name),
        Owner::User(id) => ("user", id),
        Owner::Cluster(name) => ("cluster", name),
    }
}

fn target<'t>(owner: &'t Owner, name: &'t str, expected: Option<u64>) -> Target<'t, 3> {
    let (kind, whose) = key(owner);
    let key = [("owner_kind", kind), ("owner", whose), ("name", name)];
    Target { table: "secrets", key, expected }
}

fn read(row: &AnyRow, owner: &Owner) -> Result<SealedSecret, StoreError> {
    let mut columns = Columns::of("secret", row);
    Ok(SealedSecret {
        owner: owner.clone(),
        name: columns.text()?.into(),
        description: columns.text()?.into(),
        sealed: columns.text()?.into(),
        created_at: columns.time()?,
        updated_at: columns.time()?,
        updated_by: columns.text()?.into(),
        revision: columns.int()?,
    })
}
