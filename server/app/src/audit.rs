//! What the command line changes stands in the audit log too.

use cubeloom_domain::RunId;
use cubeloom_domain::identity::AuditEntry;
use serde_json::Value;

use crate::machine;
use crate::platform::{PROJECT, Platform};

/// An entry about something that the person who calls does now.
///
/// # Errors
/// When the kernel gives no random bits.
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
