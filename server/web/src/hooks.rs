//! URLs that start pipelines. The URL contains a signature of the hook's id and revision with the server's
//! key. It cannot be guessed, is not stored, and becomes invalid when the hook changes.

use cubeloom_domain::belongings::Hook;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::state::Web;

/// Full URL of a hook.
pub(crate) fn url(web: &Web, hook: &Hook) -> String {
    format!("{}/api/v1/hooks/{}?signature={}", web.settings().url, hook.id, signature(web, hook))
}

/// Whether a signature matches the hook's current revision.
pub(crate) fn holds(web: &Web, hook: &Hook, given: &str) -> bool {
    signature(web, hook).as_bytes().ct_eq(given.as_bytes()).into()
}

/// HMAC-SHA-256 in hexadecimal. The prefix separates it from other uses of the key.
fn signature(web: &Web, hook: &Hook) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&web.keys().signing).expect("a key of any length will do");
    mac.update(format!("hook.{}.{}", hook.id, hook.revision).as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}
