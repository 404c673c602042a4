//! Creates user accounts and sets passwords.

use cubeloom_domain::identity::{Federated, User};
use cubeloom_domain::{Code, Problem};
use cubeloom_store::Created;
use serde_json::{Value, json};

use super::{password, secret};
use crate::audit::Act;
use crate::error::{ApiError, ApiResult};

/// Maximum length of a user name, in characters.
pub(super) const NAME: usize = 64;
/// Maximum length of a display name or an address, in characters.
const TEXT: usize = 200;

/// Account to create.
#[derive(Clone, Debug, Default)]
pub struct NewAccount {
    /// User name to sign in with.
    pub name: String,
    /// Display name. Defaults to the user name when empty.
    pub display_name: String,
    pub email: Option<String>,
    /// Whether the user is a platform administrator.
    pub admin: bool,
    /// Without a password, the user needs a link or single sign-on.
    pub password: Option<String>,
    /// Identity at the OpenID Connect provider, for single sign-on.
    pub federated: Option<Federated>,
}

/// Creates an account.
///
/// # Errors
/// When the input is invalid, the name is taken, or the database is unreachable.
pub async fn create(act: &Act<'_>, wanted: NewAccount) -> ApiResult<User> {
    let (user, hash) = prepare(act, wanted).await?;
    let entry = act.entry("user.create", &user.name).after(about(&user));
    match act.store.create_user(&user, hash.as_deref(), &entry).await? {
        Created::Yes => Ok(user),
        Created::Exists => Err(taken(&user.name)),
    }
}

/// Validates a new account and hashes its password.
pub(super) async fn prepare(act: &Act<'_>, wanted: NewAccount) -> ApiResult<(User, Option<String>)> {
    let mut problems = Vec::new();
    problems.extend(wrong_name(&wanted.name));
    problems.extend(wrong_texts(&wanted.display_name, wanted.email.as_deref()));
    if let Some(weakness) = wanted.password.as_deref().and_then(|new| password::weakness(new, &wanted.name)) {
        problems.push(Problem::error(Code::InvalidValue, "/password", weakness));
    }
    if !problems.is_empty() {
        return Err(ApiError::invalid(problems));
    }
    let hash = match wanted.password {
        Some(password) => Some(password::hash(password).await?),
        None => None,
    };
    let mut user = User {
        id: secret::new_id(act.now),
        display_name: wanted.display_name,
        name: wanted.name,
        email: wanted.email,
        admin: wanted.admin,
        disabled: false,
        federated: wanted.federated,
        created_at: act.now,
        seen_at: None,
        revision: 1,
        mails: true,
    };
    tidy(&mut user);
    Ok((user, hash))
}

/// Validates a user name.
fn wrong_name(name: &str) -> Option<Problem> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = name.starts_with(plain)
        && name.len() <= NAME
        && name.chars().all(|c| plain(c) || matches!(c, '.' | '_' | '-' | '@' | '+'));
    let message = format!(
        "the name is `{name}`: it must have 1 to {NAME} of a-z, 0-9 and . _ - @ +, and begin with a letter or a digit"
    );
    (!fits).then(|| Problem::error(Code::InvalidValue, "/name", message))
}

/// Validates the display name and the address.
pub(crate) fn wrong_texts(display_name: &str, email: Option<&str>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let bad = |text: &str| text.chars().count() > TEXT || text.chars().any(char::is_control);
    if bad(display_name) {
        let message = format!("the display name must have {TEXT} characters at most, on one line");
        problems.push(Problem::error(Code::InvalidValue, "/display_name", message));
    }
    let email = email.map(str::trim).unwrap_or_default();
    if !email.is_empty() && (bad(email) || email.contains(' ') || !email.contains('@')) {
        let message = "the e-mail address must look like name@example.org";
        problems.push(Problem::error(Code::InvalidValue, "/email", message));
    }
    problems
}

/// Trims the fields, and sets an empty display name to the user name.
pub(crate) fn tidy(user: &mut User) {
    user.display_name = user.display_name.trim().to_owned();
    if user.display_name.is_empty() {
        user.display_name.clone_from(&user.name);
    }
    user.email = user.email.take().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
}

/// Sets a user's password and ends their sessions.
///
/// # Errors
/// The password is too weak.
pub async fn set_password(act: &Act<'_>, user: &User, new: String) -> ApiResult<()> {
    let hash = strong(&user.name, new).await?;
    act.store.set_password(&user.id, &hash, &act.entry("user.password", &user.name)).await?;
    Ok(())
}

/// Hash of a new password. Refuses weak ones.
pub(super) async fn strong(name: &str, new: String) -> ApiResult<String> {
    if let Some(weakness) = password::weakness(&new, name) {
        return Err(ApiError::field("/password", weakness));
    }
    password::hash(new).await
}

pub(super) fn taken(name: &str) -> ApiError {
    ApiError::conflict(format!("the name `{name}` is taken: choose another one"))
}

/// Account as the audit log records it.
pub(crate) fn about(user: &User) -> Value {
    json!({
        "display_name": user.display_name,
        "email": user.email,
        "admin": user.admin,
        "disabled": user.disabled,
        "mails": user.mails,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for good in ["ada", "ada.l", "a", "7of9", "ada@example.org"] {
            assert!(wrong_name(good).is_none(), "{good}");
        }
        for bad in ["", "Ada", "-ada", "a b", "ädä", "a/b", &"a".repeat(65)] {
            assert!(wrong_name(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn every_wrong_text_is_named() {
        assert!(wrong_texts("Ada", Some("ada@example.org")).is_empty());
        assert!(wrong_texts("", None).is_empty());
        let problems = wrong_texts("a\nb", Some("nowhere"));
        assert_eq!(
            problems.iter().map(|each| each.path.as_str()).collect::<Vec<_>>(),
            ["/display_name", "/email"]
        );
    }
}
