//! Named points at which a test may kill the process.
//!
//! A release build pays one relaxed load per point. `app` installs the hook if an environment variable
//! enables it. The crash test then lists the reached points, kills the server at each of them with `-9`, and
//! checks whether anything was lost or done twice.

use std::sync::OnceLock;

static HOOK: OnceLock<fn(&'static str)> = OnceLock::new();

/// Installs the hook that every [`hit`] calls from now on. The first call wins.
pub fn install(hook: fn(&'static str)) {
    let _ = HOOK.set(hook);
}

/// Marks that the process is at the point `name`, e.g. `engine.commit.before`.
#[inline]
pub fn hit(name: &'static str) {
    if let Some(hook) = HOOK.get() {
        hook(name);
    }
}
