//! Audit entries for changes made by the command line.

use cubeloom_domain::RunId;
use cubeloom_domain::identity::AuditEntry;
use serde_json::Value;

use crate::machine;
use crate::platform::{PROJECT, Platform};

/// An entry about an action of the calling user, now.
pub fn entry(
    platform: &Platform,
    action: &str,
    subject: &str,
    after: Option<Value>,
) -> anyhow::Result<AuditEntry> {
    let at = platform.now();
    Ok(AuditEntry {
        id: RunId::new(at, machine::entropy()?).to_string(),
        at,
        user_id: None,
        user_name: machine::user(),
        via: "command line".into(),
        address: String::new(),
        project: Some(PROJECT.into()),
        action: action.into(),
        subject: subject.into(),
        before: None,
        after,
    })
}
