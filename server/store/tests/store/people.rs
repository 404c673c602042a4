//! Users and projects for tests.

use std::sync::atomic::{AtomicU64, Ordering};

use cubeloom_domain::identity::{AuditEntry, Keeping, Places, Project, User};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::{JsonMap, RunId, Timestamp};
use cubeloom_store::NewVersion;
use serde_json::json;

static IDS: AtomicU64 = AtomicU64::new(1);

/// A unique id, greater than those before.
pub fn id() -> String {
    let n = IDS.fetch_add(1, Ordering::Relaxed);
    RunId::new(Timestamp(1_700_000_000_000_000 + i64::try_from(n).unwrap() * 1000), u128::from(n)).to_string()
}

/// An entry of the audit log about this action, at moment 100.
pub fn audit(action: &str) -> AuditEntry {
    AuditEntry {
        id: id(),
        at: Timestamp(100),
        user_id: None,
        user_name: "root".into(),
        via: "session".into(),
        address: "127.0.0.1".into(),
        project: Some("shop".into()),
        action: action.into(),
        subject: "thing".into(),
        before: None,
        after: Some(json!({ "n": 1 })),
    }
}

pub fn project(name: &str) -> Project {
    Project {
        name: name.into(),
        label: name.to_uppercase(),
        description: "what it is for".into(),
        keeping: Keeping { objects: Some(60), logs: None },
        places: Places { allowed: vec![Pool::of("prod")], usual: None },
        sizing: Default::default(),
        sizing_chosen: true,
        created_at: Timestamp(7),
        revision: 1,
    }
}

/// A user with a password, who is no administrator.
pub fn user(name: &str) -> User {
    User {
        id: format!("id-of-{name}"),
        name: name.into(),
        display_name: name.to_uppercase(),
        email: Some(format!("{name}@example.org")),
        admin: false,
        disabled: false,
        federated: None,
        created_at: Timestamp(8),
        seen_at: None,
        revision: 1,
        mails: true,
    }
}

/// A version of a pipeline of project `shop`.
pub fn version(name: &str) -> NewVersion {
    NewVersion {
        project: "shop".into(),
        name: name.into(),
        document: "tasks: []".into(),
        digest: "d1".into(),
        code: None,
        message: String::new(),
        description: String::new(),
        labels: JsonMap::new(),
        user: "ada".into(),
        now: Timestamp(7),
    }
}
