//! One-time links: for the first administrator, for invitations, for lost passwords. Each is used at most
//! once, even by two users concurrently.

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{AuditEntry, Link, LinkPurpose, Role, User};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};

use crate::error::StoreError;
use crate::query::{collect, execute};
use crate::values::{Columns, Values};
use crate::{Created, Store, audit, users};

const COLUMNS: &str =
    "id, hash, kind, user_id, project, role, admin, note, created_by, created_at, expires_at, used_at";

impl Store {
    /// Stores a new link. A user's link is stored only while the user is an administrator of the platform.
    /// The role may be revoked at this very moment, together with the user's other links.
    ///
    /// # Errors
    /// [`StoreError::NoAdministrator`] if the user is not.
    pub async fn create_link(&self, link: &Link, audit: &AuditEntry) -> Result<(), StoreError> {
        self.transact(async |connection| {
            if let Some(maker) = &audit.user_id
                && !self.hold_administrators(connection).await?.contains(maker)
            {
                return Err(StoreError::NoAdministrator);
            }
            insert(connection, link).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// The link whose secret has this hash, including used and expired ones.
    pub async fn link_by_hash(&self, hash: &str) -> Result<Option<Link>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM links WHERE hash = $1");
        self.one(AssertSqlSafe(sql), Values::texts("link", &[hash])?, read).await
    }

    /// All links, or those usable at a moment, newest first.
    pub async fn links(&self, open_at: Option<Timestamp>) -> Result<Vec<Link>, StoreError> {
        let mut values = Values::new("link", 1);
        let open = match open_at {
            Some(now) => {
                values.int(now.0)?;
                "WHERE used_at IS NULL AND expires_at > $1"
            }
            None => "",
        };
        let sql = format!("SELECT {COLUMNS} FROM links {open} ORDER BY id DESC");
        self.all(AssertSqlSafe(sql), values, read).await
    }

    /// Revokes an unused link. Returns false if there is none.
    pub async fn revoke_link(&self, id: &str, audit: &AuditEntry) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let sql = "DELETE FROM links WHERE id = $1 AND used_at IS NULL";
            let done = execute(connection, sql, Values::texts("link", &[id])?).await? == 1;
            if done {
                audit::write(connection, audit).await?;
            }
            Ok(done)
        })
        .await
    }

    /// Creates an account with a link, uses up the link, and adds the user to the link's project, if any. The
    /// link, not the account, decides whether the user is an administrator of the platform. A taken name does
    /// not use up the link.
    ///
    /// # Errors
    /// [`StoreError::LinkUsed`] if the link was used, has expired, does not create accounts, or is the first
    /// administrator's while an administrator exists.
    pub async fn create_user_by_link(
        &self,
        user: &User,
        password_hash: &str,
        link_id: &str,
        audit: &AuditEntry,
    ) -> Result<Created, StoreError> {
        self.transact(async |connection| {
            let link = self.hold_link(connection, link_id, audit.at).await?;
            let (admin, place) = match link.purpose {
                LinkPurpose::First if self.hold_administrators(connection).await?.is_empty() => (true, None),
                LinkPurpose::Invite { place, admin } => (admin, place),
                LinkPurpose::First | LinkPurpose::Reset { .. } => return Err(StoreError::LinkUsed),
            };
            let user = User { admin, ..user.clone() };
            if users::insert(connection, &user, Some(password_hash)).await? == Created::Exists {
                return Ok(Created::Exists);
            }
            if let Some((project, role)) = place {
                join(connection, &project, &user.id, role, audit.at).await?;
            }
            mark_used(connection, link_id, audit.at).await?;
            audit::write(connection, audit).await?;
            Ok(Created::Yes)
        })
        .await
    }

    /// Sets a password with a link. Uses up this link and the user's other reset links, and ends their
    /// sessions.
    ///
    /// # Errors
    /// [`StoreError::LinkUsed`] if the link was used, has expired, or is for another user.
    pub async fn use_reset_link(
        &self,
        link_id: &str,
        user_id: &str,
        password_hash: &str,
        audit: &AuditEntry,
    ) -> Result<(), StoreError> {
        self.transact(async |connection| {
            match self.hold_link(connection, link_id, audit.at).await?.purpose {
                LinkPurpose::Reset { user_id: whose } if whose == user_id => {}
                _ => return Err(StoreError::LinkUsed),
            }
            users::replace_password(connection, user_id, password_hash, audit.at).await?;
            mark_used(connection, link_id, audit.at).await?;
            audit::write(connection, audit).await
        })
        .await
    }

    /// A usable link. Locks it and the links that end with it until the transaction ends.
    async fn hold_link(
        &self,
        connection: &mut AnyConnection,
        id: &str,
        now: Timestamp,
    ) -> Result<Link, StoreError> {
        // Locked in one order, to avoid deadlocks.
        let sql = format!(
            "SELECT {COLUMNS} FROM links WHERE id = $1 OR {SAME_KIND} ORDER BY id{}",
            self.backend().pick("", " FOR UPDATE")
        );
        let query = sqlx::query_with(AssertSqlSafe(sql), Values::texts("link", &[id])?.arguments);
        let held = collect(connection, query, read).await?;
        let link = held.into_iter().find(|link| link.id == id);
        link.filter(|link| link.used_at.is_none() && link.expires_at > now).ok_or(StoreError::LinkUsed)
    }
}

/// The open links that end when link `$1` is used: those for the first administrator, and those for the same
/// user's password.
const SAME_KIND: &str = "(used_at IS NULL AND kind <> 'invite' AND EXISTS (SELECT 1 FROM links one \
     WHERE one.id = $1 AND one.kind = links.kind AND COALESCE(one.user_id, '') = COALESCE(links.user_id, '')))";

async fn mark_used(connection: &mut AnyConnection, id: &str, now: Timestamp) -> Result<(), StoreError> {
    let mut values = Values::texts("link", &[id])?;
    values.int(now.0)?;
    let sql = format!("UPDATE links SET used_at = $2 WHERE id = $1 OR {SAME_KIND}");
    execute(connection, AssertSqlSafe(sql), values).await?;
    Ok(())
}

/// Ends the open links that a user has created.
pub(crate) async fn revoke_all(connection: &mut AnyConnection, maker: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM links WHERE created_by = $1 AND used_at IS NULL AND kind <> 'first'";
    execute(connection, sql, Values::texts("link", &[maker])?).await?;
    Ok(())
}

/// Adds the user to the project of an invitation.
async fn join(
    connection: &mut AnyConnection,
    project: &str,
    user_id: &str,
    role: Role,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut values = Values::texts("member", &[project, user_id, role.as_str()])?;
    values.int(now.0)?;
    let sql = "INSERT INTO members (project, user_id, role, created_at, revision) VALUES ($1, $2, $3, $4, 1)";
    execute(connection, sql, values).await?;
    Ok(())
}

async fn insert(connection: &mut AnyConnection, link: &Link) -> Result<(), StoreError> {
    let (kind, user, place, admin) = match &link.purpose {
        LinkPurpose::First => ("first", None, None, true),
        LinkPurpose::Invite { place, admin } => ("invite", None, place.as_ref(), *admin),
        LinkPurpose::Reset { user_id } => ("reset", Some(user_id.as_str()), None, false),
    };
    let mut values = Values::texts("link", &[&link.id, &link.hash, kind])?;
    values.maybe_text(user)?;
    values.maybe_text(place.map(|(project, _)| project.as_str()))?;
    values.maybe_text(place.map(|(_, role)| role.as_str()))?;
    values.flag(admin)?.text(&link.note)?.text(&link.created_by)?;
    values.int(link.created_at.0)?.int(link.expires_at.0)?;
    let sql = "INSERT INTO links (id, hash, kind, user_id, project, role, admin, note, created_by, created_at, \
               expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    execute(connection, sql, values).await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<Link, StoreError> {
    let mut columns = Columns::of("link", row);
    Ok(Link {
        id: columns.text()?.into(),
        hash: columns.text()?.into(),
        purpose: purpose(&mut columns)?,
        note: columns.text()?.into(),
        created_by: columns.text()?.into(),
        created_at: columns.time()?,
        expires_at: columns.time()?,
        used_at: columns.maybe_time()?,
    })
}

/// Reads a link's purpose from its columns, kind to flag.
fn purpose(columns: &mut Columns<'_>) -> Result<LinkPurpose, StoreError> {
    let kind = columns.text()?;
    let (user_id, project) = (columns.maybe_text()?, columns.maybe_text()?);
    let (role, admin) = (columns.maybe_word()?, columns.flag()?);
    match (kind, user_id) {
        ("first", _) => Ok(LinkPurpose::First),
        ("invite", _) => Ok(LinkPurpose::Invite { place: project.zip(role), admin }),
        ("reset", Some(user_id)) => Ok(LinkPurpose::Reset { user_id }),
        _ => Err(StoreError::Unreadable { what: "link", reason: format!("its kind is `{kind}`") }),
    }
}
