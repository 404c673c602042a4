//! Each test runs on both databases.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_store::{Lease, Options, Store};
use cubeloom_testkit::postgres::Database;
use tempfile::TempDir;

use crate::people::{audit, project};
use crate::records::{plan, run};

pub struct Fixture {
    /// The store, with the project `shop` at first.
    pub store: Store,
    /// Its URL, for a second server.
    pub url: String,
    _place: Place,
}

/// Resources dropped after the test.
enum Place {
    Folder { _folder: TempDir },
    Database { _database: Database },
}

impl Fixture {
    pub async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}/test.sqlite", folder.path().display());
        Self::open(url, Place::Folder { _folder: folder }).await
    }

    pub async fn postgres() -> Self {
        let database = Database::create();
        Self::open(database.url(), Place::Database { _database: database }).await
    }

    async fn open(url: String, place: Place) -> Self {
        let store = Store::open(&Options::new(&url)).await.unwrap();
        store.create_project(&project("shop"), &audit("project.create")).await.unwrap();
        Self { store, url, _place: place }
    }

    /// Another server on the same database.
    pub async fn second(&self) -> Store {
        Store::open(&Options::new(&self.url)).await.unwrap()
    }
}

/// Creates a test of each function on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::support::Fixture::sqlite().await).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::support::Fixture::postgres().await).await;
            })+
        }
    };
}
pub(crate) use on_both;

pub const MINUTE: Duration = Duration::from_secs(60);

pub fn lease(owner: &str) -> Lease {
    Lease { owner: owner.into() }
}

/// Creates run `n` of `tasks` tasks, leased by `owner` for a minute from moment 0.
pub async fn leased_run(store: &Store, n: u64, tasks: u32, owner: &str) {
    let record = run(n);
    store.create_run(&record, &plan(&record, tasks), None).await.unwrap();
    let held = store.acquire(owner, Timestamp(0), MINUTE, 100).await.unwrap();
    assert!(held.contains(&record.id));
}
