//! The machine's time. A shim has no injected clock.

use std::time::{SystemTime, UNIX_EPOCH};

use cubeloom_domain::Timestamp;

#[allow(clippy::disallowed_methods, reason = "an executor may ask the machine")]
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
