//! Each test runs on both databases.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_store::{Lease, Options, Store};
use tempfile::TempDir;

use crate::records::{plan, run};

/// A store of its own for a test.
pub struct Fixture {
    pub store: Store,
    pub url: String,
    _folder: TempDir,
}

/// A new SQLite database.
pub async fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/test.sqlite", folder.path().display());
    let store = Store::open(&Options::new(&url)).await.unwrap();
    Fixture { store, url, _folder: folder }
}

pub const MINUTE: Duration = Duration::from_secs(60);

/// The lease of `owner`.
pub fn lease(owner: &str) -> Lease {
    Lease { owner: owner.into() }
}

/// Creates run `n` of `tasks` tasks, leased by `owner` for a minute from moment 0.
pub async fn leased_run(store: &Store, n: u64, tasks: u32, owner: &str) {
    let record = run(n);
    store.create_run(&record, &plan(&record, tasks)).await.unwrap();
    let held = store.acquire(owner, Timestamp(0), MINUTE, 100).await.unwrap();
    assert!(held.contains(&record.id));
}
