//! A site's database, accessed from outside.

use std::collections::BTreeSet;
use std::process::Command;

use cubeloom_domain::RunId;
use cubeloom_domain::state::RunState;
use cubeloom_store::{Options, Store};

pub struct Database {
    pub url: String,
}

impl Database {
    /// Opens the store for `work`, then closes every connection, so that after a crash the server is the
    /// first to recover the database.
    pub fn with_store<T>(&self, work: impl AsyncFnOnce(&Store) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let store = Store::open(&Options::new(&self.url)).await.expect("the database opens");
            let result = work(&store).await;
            store.close().await;
            result
        })
    }

    pub fn state(&self, run: &RunId) -> RunState {
        let record = self.with_store(async |store| store.run(run).await.expect("the database answers"));
        record.unwrap_or_else(|| panic!("the run {run} is lost")).state
    }

    pub fn runs(&self) -> BTreeSet<RunId> {
        let filter = Default::default();
        let runs = self.with_store(async |store| store.runs(&filter).await.expect("the database answers"));
        runs.into_iter().map(|run| run.id).collect()
    }

    /// SQLite's integrity check of the embedded database; `None` for another database.
    pub fn integrity(&self) -> Option<String> {
        let file = self.url.strip_prefix("sqlite:")?;
        let question = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchone()[0])";
        let output = Command::new("/usr/bin/python3")
            .args(["-I", "-c", question, file])
            .output()
            .expect("Debian's Python");
        Some(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).trim().to_owned())
    }
}
