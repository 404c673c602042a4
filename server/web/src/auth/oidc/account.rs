//! The account of somebody whom the provider has let in.

use cubeloom_domain::identity::{Federated, User};

use super::Provider;
use crate::auth::Visitor;
use crate::auth::accounts::{self, NewAccount};
use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;

/// How many names are tried for somebody new.
const TRIES: usize = 20;

/// Somebody, as the provider knows them.
pub(super) struct Person {
    pub(super) issuer: String,
    pub(super) subject: String,
    /// What they are called there, in one word.
    pub(super) name: Option<String>,
    pub(super) display_name: Option<String>,
    /// Only when the provider has made sure of it.
    pub(super) email: Option<String>,
}

/// Their account: the one that knows their subject, or a new one. An account of the same name or address that does not
/// know it belongs to somebody else, for all that is known.
pub(super) async fn of(
    web: &Web,
    visitor: &Visitor,
    provider: &Provider,
    person: &Person,
) -> ApiResult<User> {
    refuse_domain(provider, person)?;
    if let Some(user) = web.store().user_by_subject(&person.issuer, &person.subject).await? {
        let detail = "you may not sign in here any more: ask an administrator";
        return if user.disabled { Err(ApiError::forbidden(detail)) } else { Ok(user) };
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
            federated: Some(Federated { issuer: person.issuer.clone(), subject: person.subject.clone() }),
            ..NewAccount::default()
        };
        match accounts::create(&act, wanted).await {
            Ok(user) => return Ok(user),
            Err(error) if error.kind() == Kind::Conflict => {
                // Perhaps by another request of the same person.
                let found = web.store().user_by_subject(&person.issuer, &person.subject).await?;
                if let Some(user) = found {
                    return Ok(user);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(ApiError::conflict(format!("too many people are called `{base}` here: ask an administrator")))
}

fn refuse_domain(provider: &Provider, person: &Person) -> ApiResult<()> {
    let allowed = &provider.settings.allowed_domains;
    let domain = person.email.as_deref().and_then(|email| email.rsplit_once('@')).map(|(_, domain)| domain);
    let fits = allowed.is_empty()
        || domain.is_some_and(|domain| allowed.iter().any(|one| one.eq_ignore_ascii_case(domain)));
    if fits { Ok(()) } else { Err(ApiError::forbidden("your address is of no domain that may sign in here")) }
}

/// A name to sign in with, from what the provider says.
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
            plain(&Person { issuer: String::new(), subject: String::new(), name, display_name: None, email })
        };
        assert_eq!(named(Some("Erin.E"), None), "erin.e");
        assert_eq!(named(None, Some("erin+x@example.org")), "erinx");
        assert_eq!(named(Some("李雷"), None), "person");
        assert_eq!(named(Some("--x"), None), "x");
    }
}
