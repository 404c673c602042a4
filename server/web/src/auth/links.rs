//! One-time links: for the first administrator, invitations and password resets. They are bearer credentials.

use std::time::Duration;

use cubeloom_domain::identity::{Link, LinkPurpose, Role, User};
use cubeloom_store::{Created, Store, StoreError};
use serde_json::{Value, json};

use super::accounts::{self, NewAccount};
use super::secret;
use crate::audit::{Act, Actor};
use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;

const DAY: Duration = Duration::from_secs(86_400);
/// Maximum length of a note, in characters.
const NOTE: usize = 200;

/// Creates an invitation, optionally with a role in a project. The text is the link's secret.
///
/// # Errors
/// The project does not exist.
pub async fn invite(
    act: &Act<'_>,
    place: Option<(String, Role)>,
    admin: bool,
    note: &str,
) -> ApiResult<(Link, String)> {
    if let Some((project, _)) = &place
        && act.store.project(project).await?.is_none()
    {
        return Err(ApiError::field("/project", format!("there is no project `{project}`")));
    }
    if note.chars().count() > NOTE || note.chars().any(char::is_control) {
        let message = format!("the note must have {NOTE} characters at most, on one line");
        return Err(ApiError::field("/note", message));
    }
    make(act, LinkPurpose::Invite { place, admin }, note, 7 * DAY).await
}

/// Creates a link to set a new password.
///
/// # Errors
/// The user is disabled.
pub async fn reset(act: &Act<'_>, user: &User) -> ApiResult<(Link, String)> {
    if user.disabled {
        let detail = format!("{} may not sign in: enable the account first", user.name);
        return Err(ApiError::conflict(detail));
    }
    make(act, LinkPurpose::Reset { user_id: user.id.clone() }, &user.name, DAY).await
}

/// URL with which the first administrator creates an account, while there are no users. Each call creates a
/// new link and revokes earlier ones.
pub async fn first_link(web: &Web) -> ApiResult<Option<String>> {
    if web.store().count_users().await? > 0 {
        return Ok(None);
    }
    let act = Act::by(web, Actor::server());
    for old in web.store().links(Some(act.now)).await? {
        if old.purpose == LinkPurpose::First {
            web.store().revoke_link(&old.id, &act.entry("link.revoke", &old.id)).await?;
        }
    }
    let (link, secret) = make(&act, LinkPurpose::First, "", DAY).await?;
    Ok(Some(url(&web.settings().url, &link, &secret)))
}

/// URL with the link's secret.
#[must_use]
pub fn url(server: &str, link: &Link, secret: &str) -> String {
    let page = if link.purpose == LinkPurpose::First { "welcome" } else { "link" };
    format!("{server}/{page}?token={secret}")
}

async fn make(act: &Act<'_>, purpose: LinkPurpose, note: &str, life: Duration) -> ApiResult<(Link, String)> {
    let text = secret::new();
    let link = Link {
        id: secret::new_id(act.now),
        hash: secret::hash(&text),
        purpose,
        note: note.trim().to_owned(),
        created_by: act.actor.user_name.clone(),
        created_at: act.now,
        expires_at: act.now.plus(life),
        used_at: None,
    };
    act.store.create_link(&link, &act.entry("link.create", &link.id).after(about(&link))).await?;
    Ok((link, text))
}

/// Link as the audit log records it.
pub(crate) fn about(link: &Link) -> Value {
    let (project, role, admin) = match &link.purpose {
        LinkPurpose::First => (None, None, true),
        LinkPurpose::Invite { place: Some((project, role)), admin } => (Some(project), Some(role), *admin),
        LinkPurpose::Invite { place: None, admin } => (None, None, *admin),
        LinkPurpose::Reset { .. } => (None, None, false),
    };
    json!({ "kind": kind(link), "note": link.note, "project": project, "role": role, "admin": admin })
}

/// Kind of the link, as a code.
pub(crate) fn kind(link: &Link) -> &'static str {
    match link.purpose {
        LinkPurpose::First => "first",
        LinkPurpose::Invite { .. } => "invite",
        LinkPurpose::Reset { .. } => "reset",
    }
}

/// The link with this secret, if it is valid.
///
/// # Errors
/// The link is unknown, used or expired.
pub(crate) async fn open(act: &Act<'_>, text: &str) -> ApiResult<Link> {
    let link = act.store.link_by_hash(&secret::hash(text)).await?;
    let link = link.filter(|link| link.used_at.is_none() && act.now < link.expires_at).ok_or_else(used)?;
    if link.purpose == LinkPurpose::First && act.store.count_users().await? > 0 {
        return Err(used());
    }
    Ok(link)
}

/// The user whose password the link sets.
pub(crate) async fn person(store: &Store, link: &Link) -> ApiResult<Option<User>> {
    let LinkPurpose::Reset { user_id } = &link.purpose else { return Ok(None) };
    Ok(store.user(user_id).await?.filter(|user| !user.disabled))
}

/// Uses a link, once: creates its account, or sets the password. `wanted` has the password. Its other fields
/// count only for a new account.
pub(crate) async fn use_up(act: &Act<'_>, link: &Link, wanted: NewAccount) -> ApiResult<User> {
    if let LinkPurpose::Reset { .. } = link.purpose {
        let user = person(act.store, link).await?.ok_or_else(used)?;
        let hash = accounts::strong(&user.name, wanted.password.unwrap_or_default()).await?;
        let mut act = act.clone();
        (act.actor.user_id, act.actor.user_name) = (Some(user.id.clone()), user.name.clone());
        let entry = act.entry("user.password", &user.name);
        act.store.use_reset_link(&link.id, &user.id, &hash, &entry).await.map_err(refused)?;
        return Ok(user);
    }
    let admin = match &link.purpose {
        LinkPurpose::Invite { admin, .. } => *admin,
        _ => true,
    };
    let password = Some(wanted.password.unwrap_or_default());
    let (user, hash) = accounts::prepare(act, NewAccount { admin, password, ..wanted }).await?;
    let mut act = act.clone();
    (act.actor.user_id, act.actor.user_name) = (Some(user.id.clone()), user.name.clone());
    let entry = act.entry("user.create", &user.name).after(accounts::about(&user));
    let hash = hash.unwrap_or_default();
    match act.store.create_user_by_link(&user, &hash, &link.id, &entry).await.map_err(refused)? {
        Created::Yes => Ok(user),
        Created::Exists => Err(accounts::taken(&user.name)),
    }
}

/// The project that the link grants a role in.
pub(crate) fn place(link: &Link) -> Option<&str> {
    match &link.purpose {
        LinkPurpose::Invite { place: Some((project, _)), .. } => Some(project),
        _ => None,
    }
}

fn refused(error: StoreError) -> ApiError {
    match error {
        StoreError::LinkUsed => used(),
        other => other.into(),
    }
}

fn used() -> ApiError {
    ApiError::new(
        Kind::Gone,
        "this link was used, has expired or does not exist: ask an administrator for a new one (or run `cubeloom user link NAME` on the server)",
    )
}
