//! The account of a user that the provider authenticated.

use cubeloom_domain::identity::{Federated, User};
use cubeloom_store::{Change, StoreError};
use serde_json::json;

use super::Provider;
use crate::audit;
use crate::auth::accounts::{self, NewAccount};
use crate::auth::{Caller, Visitor};
use crate::error::{ApiError, ApiResult, Kind};
use crate::etag::changed;
use crate::state::Web;

/// How many user names are tried for a new account.
const TRIES: usize = 20;

/// A user according to the provider.
pub(super) struct Person {
    pub(super) issuer: String,
    pub(super) subject: String,
    /// User name at the provider.
    pub(super) name: Option<String>,
    pub(super) display_name: Option<String>,
    /// Only if the provider has verified it.
    pub(super) email: Option<String>,
    /// Whether the user is a platform administrator, if the provider decides that.
    pub(super) admin: Option<bool>,
}

/// The account with this subject, or a new one. An account with the same name or address but without the
/// subject may belong to another person, and is not used.
pub(super) async fn of(
    web: &Web,
    visitor: &Visitor,
    provider: &Provider,
    person: &Person,
) -> ApiResult<User> {
    refuse_domain(provider, person)?;
    if let Some(user) = web.store().user_by_subject(&person.issuer, &person.subject).await? {
        let detail = "you may no longer sign in here: ask an administrator";
        return if user.disabled {
            Err(ApiError::forbidden(detail))
        } else {
            as_said(web, visitor, user, person).await
        };
    }
    if !provider.settings.auto_create {
        return Err(ApiError::forbidden("you have no account here: ask an administrator for one"));
    }
    let base = plain(person);
    for n in 1..=TRIES {
        let name = if n == 1 { base.clone() } else { format!("{base}-{n}") };
        let act = visitor.act(web, None).named(&name);
        let wanted = NewAccount {
            name,
            display_name: person.display_name.clone().unwrap_or_default(),
            email: person.email.clone(),
            admin: person.admin.unwrap_or(false),
            federated: Some(federated(person)),
            ..NewAccount::default()
        };
        match accounts::create(&act, wanted).await {
            Ok(user) => return Ok(user),
            Err(error) if error.kind() == Kind::Conflict => {
                // Another request of the same user may have created it.
                let found = web.store().user_by_subject(&person.issuer, &person.subject).await?;
                if let Some(user) = found {
                    return Ok(user);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(ApiError::conflict(format!("too many users are named `{base}`: ask an administrator")))
}

fn federated(person: &Person) -> Federated {
    Federated { issuer: person.issuer.clone(), subject: person.subject.clone() }
}

/// Updates the administrator flag from the provider. Accounts with a local password keep the flag that
/// administrators set here: they do not depend on the provider.
async fn as_said(web: &Web, visitor: &Visitor, user: User, person: &Person) -> ApiResult<User> {
    let Some(admin) = person.admin.filter(|admin| *admin != user.admin) else { return Ok(user) };
    if web.store().password_hash(&user.id).await?.is_some() {
        return Ok(user);
    }
    let after = User { admin, ..user.clone() };
    let entry = visitor.act(web, Some(&user)).entry("user.update", &user.name);
    let entry = entry.before(accounts::about(&user)).after(accounts::about(&after));
    match web.store().update_user(&after, Some(user.revision), &entry).await {
        Ok(Change::Done(revision)) => {
            web.people().forget();
            Ok(User { revision, ..after })
        }
        // The account was changed concurrently. The next sign-in updates it.
        Ok(Change::Stale(_) | Change::Missing) => Ok(user),
        Err(StoreError::LastAdministrator) => {
            tracing::warn!(user = user.name, "the last administrator is no longer in the provider's group");
            Ok(user)
        }
        Err(error) => Err(error.into()),
    }
}

/// Connects the caller's account to an identity at the provider.
pub(super) async fn connect(
    web: &Web,
    provider: &Provider,
    caller: &Caller,
    person: Person,
) -> ApiResult<()> {
    refuse_domain(provider, &person)?;
    let user = &caller.user;
    let entry = audit::entry(web, caller, "user.connect", &user.name);
    let entry = entry.after(json!({"issuer": person.issuer, "subject": person.subject}));
    let change = web.store().connect_user(&user.id, &federated(&person), &entry).await?;
    changed(change, "account of", &user.name)?;
    web.people().forget();
    Ok(())
}

fn refuse_domain(provider: &Provider, person: &Person) -> ApiResult<()> {
    let allowed = &provider.settings.allowed_domains;
    let domain = person.email.as_deref().and_then(|email| email.rsplit_once('@')).map(|(_, domain)| domain);
    let fits = allowed.is_empty()
        || domain.is_some_and(|domain| allowed.iter().any(|one| one.eq_ignore_ascii_case(domain)));
    if fits {
        Ok(())
    } else {
        Err(ApiError::forbidden("the domain of your e-mail address may not sign in here"))
    }
}

/// User name derived from the provider's claims.
fn plain(person: &Person) -> String {
    let mailbox = person.email.as_deref().and_then(|email| email.split('@').next());
    let said = person.name.as_deref().or(mailbox).unwrap_or_default().to_lowercase();
    let kept = said.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
    let kept: String = kept.take(50).collect();
    let kept = kept.trim_start_matches(['.', '_', '-']);
    if kept.is_empty() { "person".into() } else { kept.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_plain() {
        let named = |name: Option<&str>, email: Option<&str>| {
            let (name, email) = (name.map(Into::into), email.map(Into::into));
            let (issuer, subject) = (String::new(), String::new());
            plain(&Person { issuer, subject, name, display_name: None, email, admin: None })
        };
        assert_eq!(named(Some("Erin.E"), None), "erin.e");
        assert_eq!(named(None, Some("erin+x@example.org")), "erinx");
        assert_eq!(named(Some("李雷"), None), "person");
        assert_eq!(named(Some("--x"), None), "x");
    }
}
