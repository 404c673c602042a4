//! Named moments at which a test may end the process.
//!
//! A product build pays one relaxed load a point. `app` installs the hook when asked to by the environment;
//! the crash test then lists the points that were reached, kills the server at each of them with `-9`, and
//! looks whether anything was lost or done twice.

use std::sync::OnceLock;

static HOOK: OnceLock<fn(&'static str)> = OnceLock::new();

/// Installs the hook that every [`hit`] calls from now on. The first call wins.
pub fn install(hook: fn(&'static str)) {
    let _ = HOOK.set(hook);
}

/// Says that the process is at the point `name`, e.g. `engine.commit.before`.
#[inline]
pub fn hit(name: &'static str) {
    if let Some(hook) = HOOK.get() {
        hook(name);
    }
}
