//! URLs that start pipelines. What is in the URL is signed with the server's key over the hook's id and revision: it
//! cannot be guessed, is not stored, and stops holding when the hook changes.

use cubeloom_domain::belongings::Hook;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::state::Web;

/// The whole URL of a hook.
pub(crate) fn url(web: &Web, hook: &Hook) -> String {
    format!("{}/api/v1/hooks/{}?signature={}", web.settings().url, hook.id, signature(web, hook))
}

/// Whether a signature is the hook's present one.
pub(crate) fn holds(web: &Web, hook: &Hook, given: &str) -> bool {
    signature(web, hook).as_bytes().ct_eq(given.as_bytes()).into()
}

/// HMAC-SHA-256, in hexadecimal. What stands before the id keeps it apart from everything else that the key signs.
fn signature(web: &Web, hook: &Hook) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&web.keys().signing).expect("a key of any length will do");
    mac.update(format!("hook.{}.{}", hook.id, hook.revision).as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}
