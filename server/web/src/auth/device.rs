//! Signs in a command line through a browser: the Device Authorization Grant (RFC 8628). The command line gets a
//! secret device code, and a short user code that a signed-in user confirms. Then it fetches a token, once.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::{ApiToken, DeviceCode, DeviceDecision, Scope, User};
use moka::sync::Cache;
use serde_json::{Value, json};

use super::tokens::{self, NewToken};
use super::{Caller, Via, Visitor, network, secret, sign_in};
use crate::audit::{Act, Actor};
use crate::error::{ApiError, ApiResult, Kind};
use crate::state::Web;

/// Lifetime of a code.
pub(crate) const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Interval at which a command line requests its token.
pub(crate) const INTERVAL: Duration = Duration::from_secs(5);
/// Lifetime of a token, in days.
pub(crate) const TOKEN_DAYS: u32 = 90;
/// Minimum interval: neither timers nor networks are exact.
const SHORTEST: Duration = Duration::from_secs(4);
const DAY: Duration = Duration::from_secs(86_400);
/// Maximum number of codes that have not expired. Anyone can create them.
const MAX_CODES: u64 = 500;
/// `Retry-After` when there are as many, in seconds.
const AGAIN: u64 = 60;
/// Maximum length of a description, in characters. It becomes the token's name.
const CLIENT: usize = 100;

/// Letters of user codes: no vowels, so that they spell no words, and none that looks like another (RFC 8628,
/// section 6.1).
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// Letters in each half of a user code.
const HALF: usize = 4;

/// A user's answer to a command line.
pub(crate) enum DeviceAnswer {
    Allow {
        scope: Scope,
        /// Project to which the token is restricted, if set.
        project: Option<String>,
    },
    Deny,
}

/// Registers a command line, by its own description. The text is its device code, which cannot be read again.
pub(crate) async fn begin(web: &Web, visitor: &Visitor, client: &str) -> ApiResult<(DeviceCode, String)> {
    let client = client.trim();
    if client.is_empty() || client.chars().count() > CLIENT || client.chars().any(is_invisible) {
        let message = format!(
            "describe the command line in 1 to {CLIENT} characters, on one line, such as `cubeloom on laptop`"
        );
        return Err(ApiError::field("/client", message));
    }
    let (text, now) = (secret::new(), web.now());
    let code = DeviceCode {
        id: secret::new_id(now),
        hash: secret::hash(&text),
        user_code: user_code(u64::from_le_bytes(secret::random())),
        client: client.to_owned(),
        address: visitor.address.clone(),
        created_at: now,
        expires_at: now.plus(LIFETIME),
        decision: None,
    };
    if web.store().create_device_code(&code, MAX_CODES).await? {
        return Ok((code, text));
    }
    let detail = "too many sign-ins of command lines are pending: try again in a minute";
    Err(ApiError::too_many(detail, AGAIN))
}

/// The pending code that a user types, for their decision.
///
/// # Errors
/// The caller has no session, the code is wrong, or the user has tried too many wrong ones.
pub(crate) async fn open(web: &Web, caller: &Caller, typed: &str) -> ApiResult<DeviceCode> {
    if !matches!(caller.via, Via::Session { .. }) {
        return Err(ApiError::forbidden(
            "only a user in a browser may decide this: an API token must not create one that outlives it",
        ));
    }
    // Names at sign-in are in lower case: other people cannot use up these attempts.
    let counted = format!("Device code: {}", caller.user.name);
    sign_in::slow_down(web, &caller.address, &counted)?;
    let found = match plain(typed) {
        Some(code) => web.store().device_code_by_user_code(&code).await?,
        None => None,
    };
    let now = web.now();
    let pending = |code: &DeviceCode| code.decision.is_none() && now < code.expires_at;
    let code = found.filter(pending).ok_or_else(wrong)?;
    web.throttle().was_right(&counted, &network(&caller.address));
    Ok(code)
}

/// Records the caller's answer to the command line with this user code.
pub(crate) async fn decide(web: &Web, caller: &Caller, typed: &str, answer: DeviceAnswer) -> ApiResult<()> {
    let code = open(web, caller, typed).await?;
    let act = Act::of(web, caller);
    let (decision, action) = match answer {
        DeviceAnswer::Allow { scope, project } => {
            // Someone else may have sent the URL: the token must change neither the account nor the platform.
            if scope > Scope::Write {
                let message = "a command line gets the scope `read`, `run` or `write`";
                return Err(ApiError::field("/scope", message));
            }
            let wanted = wanted(&code, scope, project, act.now);
            tokens::check(&act, &caller.user, &wanted).await?;
            let (user_id, project) = (caller.user.id.clone(), wanted.project);
            (DeviceDecision::Approved { user_id, scope, project }, "device.approve")
        }
        DeviceAnswer::Deny => (DeviceDecision::Denied, "device.deny"),
    };
    let entry = act.entry(action, &code.client).after(about(&code, &decision));
    let done = web.store().decide_device_code(&code.id, &decision, &entry).await?;
    if done { Ok(()) } else { Err(wrong()) }
}

/// Creates the token of an approved code, and uses up the code. The text is the token itself.
///
/// # Errors
/// [`Kind::NotGranted`], with the RFC's code of the reason.
pub(crate) async fn redeem(
    web: &Web,
    visitor: &Visitor,
    device_code: &str,
) -> ApiResult<(User, ApiToken, String)> {
    let now = web.now();
    let found = web.store().device_code_by_hash(&secret::hash(device_code)).await?;
    let code = found.filter(|code| now < code.expires_at).ok_or_else(expired)?;
    let (user_id, scope, project) = match code.decision.clone() {
        None if web.polls().too_soon(&code.id, now) => {
            let detail = "you request the token too often: wait 5 seconds longer between two requests";
            return Err(refused("slow_down", detail));
        }
        None => {
            let detail =
                "this sign-in is not confirmed yet: confirm it in a browser, then request the token again";
            return Err(refused("authorization_pending", detail));
        }
        Some(DeviceDecision::Denied) => return Err(denied()),
        Some(DeviceDecision::Approved { user_id, scope, project }) => (user_id, scope, project),
    };
    let user = web.store().user(&user_id).await?.filter(|user| !user.disabled).ok_or_else(denied)?;
    let act = act(web, visitor, &code, &user);
    let prepared = tokens::prepare(&act, &user, wanted(&code, scope, project, act.now)).await;
    let (token, text) = prepared.map_err(|error| match error.kind() {
        // Since the decision, the user has lost the project.
        Kind::Invalid => denied(),
        _ => error,
    })?;
    let entry = tokens::created(&act, &token, &user);
    if web.store().create_token_by_device_code(&token, &code.id, &entry).await? {
        Ok((user, token, text))
    } else {
        Err(expired())
    }
}

/// Context of a command line's action as a user.
fn act<'w>(web: &'w Web, visitor: &Visitor, code: &DeviceCode, user: &User) -> Act<'w> {
    let actor = Actor {
        user_id: Some(user.id.clone()),
        user_name: user.name.clone(),
        via: format!("device {}", code.client),
        address: visitor.address.clone(),
        project: None,
    };
    Act::by(web, actor)
}

fn wanted(code: &DeviceCode, scope: Scope, project: Option<String>, now: Timestamp) -> NewToken {
    let expires_at = Some(now.plus(DAY * TOKEN_DAYS));
    NewToken { name: code.client.clone(), scope, project, expires_at }
}

/// Decision as the audit log records it, never with a code.
fn about(code: &DeviceCode, decision: &DeviceDecision) -> Value {
    let (scope, project) = match decision {
        DeviceDecision::Approved { scope, project, .. } => (Some(scope.as_str()), project.as_deref()),
        DeviceDecision::Denied => (None, None),
    };
    json!({ "client_address": code.address, "scope": scope, "project": project })
}

/// A user code of a random number: `BCDF-GHJK`. 2^64 is so much larger than the 20^8 codes that all are
/// equally likely.
fn user_code(random: u64) -> String {
    let mut rest = random;
    let mut letter = || {
        let at = (rest % LETTERS.len() as u64) as usize;
        rest /= LETTERS.len() as u64;
        char::from(LETTERS[at])
    };
    let first: String = (0..HALF).map(|_| letter()).collect();
    let last: String = (0..HALF).map(|_| letter()).collect();
    format!("{first}-{last}")
}

/// A typed user code as it is stored. Case, spaces and hyphens do not matter. `None` if it cannot be one.
fn plain(typed: &str) -> Option<String> {
    let letters = typed.chars().filter(|letter| !matches!(letter, '-' | ' '));
    let letters: String = letters.map(|letter| letter.to_ascii_uppercase()).collect();
    let (first, last) = letters.split_at_checked(HALF)?;
    let fits = last.len() == HALF && letters.bytes().all(|letter| LETTERS.contains(&letter));
    fits.then(|| format!("{first}-{last}"))
}

/// Whether a character is not seen, or changes the direction of those after it: on the page, a description must
/// look like what it is.
fn is_invisible(letter: char) -> bool {
    let steers = ['\u{200b}'..='\u{200f}', '\u{2028}'..='\u{202e}', '\u{2060}'..='\u{206f}'];
    letter.is_control() || letter == '\u{feff}' || steers.iter().any(|range| range.contains(&letter))
}

fn wrong() -> ApiError {
    let message = "this code is wrong, was used or has expired: check it, or start again on the command line";
    ApiError::field("/user_code", message)
}

fn expired() -> ApiError {
    refused("expired_token", "this device code is unknown, was used or has expired: start again")
}

fn denied() -> ApiError {
    refused("access_denied", "the user denied this sign-in, or may no longer sign in")
}

/// A refusal with its code in RFC 8628, section 3.5.
fn refused(code: &str, detail: &str) -> ApiError {
    ApiError::new(Kind::NotGranted, detail).with("code", code)
}

/// The last poll of each pending code, by its id. Each server counts those that it answers.
pub(crate) struct Polls(Cache<String, Timestamp>);

impl Polls {
    pub(crate) fn new() -> Self {
        Self(Cache::builder().max_capacity(MAX_CODES).time_to_live(LIFETIME).build())
    }

    /// Counts a poll. Returns whether it came too soon after the one before.
    fn too_soon(&self, id: &str, now: Timestamp) -> bool {
        let last = self.0.get(id);
        self.0.insert(id.to_owned(), now);
        last.is_some_and(|last| now.since(last) < SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_codes_are_typed_as_they_come() {
        assert_eq!(user_code(0), "BBBB-BBBB");
        assert_eq!(user_code(1 + 2 * 20), "CDBB-BBBB");
        for typed in ["BCDF-GHJK", "bcdfghjk", " bcdf ghjk ", "B-C-D-F-G-H-J-K"] {
            assert_eq!(plain(typed).as_deref(), Some("BCDF-GHJK"), "{typed}");
        }
        for wrong in ["", "-", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-FGHJ", "BCDF_GHJK", "BCD🦀-GHJK", "8CDF-GHJK"]
        {
            assert_eq!(plain(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn descriptions_show_what_they_have() {
        assert!(!"cubeloom on 笔记本 (ada)".chars().any(is_invisible));
        for hidden in ['\n', '\0', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}'] {
            assert!(is_invisible(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn a_poll_right_after_another_is_too_soon() {
        let polls = Polls::new();
        let at = |seconds: i64| Timestamp(seconds * 1_000_000);
        assert!(!polls.too_soon("one", at(0)));
        assert!(polls.too_soon("one", at(1)));
        assert!(!polls.too_soon("two", at(1)));
        assert!(!polls.too_soon("one", at(6)));
    }
}
