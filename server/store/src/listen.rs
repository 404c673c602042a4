//! Wake-ups between servers of one PostgreSQL database. The only file that is about PostgreSQL alone.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::AnyConnection;
use sqlx::postgres::PgListener;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use crate::backend::Backend;
use crate::error::StoreError;
use crate::values::Values;

const CHANNEL: &str = "cubeloom";
const SAVED: &str = "cubeloom_saved";
/// Versions that a reader of [`crate::Store::saved`] may be behind.
const BEHIND: usize = 256;

/// A version that some server of this database has stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedVersion {
    /// The project.
    pub project: String,
    /// The pipeline.
    pub name: String,
    /// The version.
    pub version: u32,
}

/// What is told to those who listen.
#[derive(Clone)]
pub(crate) struct Told {
    /// That there may be something to do.
    pub(crate) wakes: watch::Sender<u64>,
    /// Which versions were stored.
    pub(crate) saved: broadcast::Sender<SavedVersion>,
}

impl Told {
    /// Nobody listens yet.
    pub(crate) fn new() -> Self {
        Self { wakes: watch::Sender::new(0), saved: broadcast::Sender::new(BEHIND) }
    }
}

/// Tells the other servers when the transaction commits. With SQLite there are none.
pub(crate) async fn notify(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT pg_notify('cubeloom', '')").execute(connection).await?;
    }
    Ok(())
}

/// Tells the other servers of a version when the transaction commits.
pub(crate) async fn notify_saved(
    backend: Backend,
    connection: &mut AnyConnection,
    saved: &SavedVersion,
) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        // Names are short: it is far below the 8,000 bytes that a notification can have.
        let mut values = Values::new("notification", 2);
        values.text(SAVED)?.json(saved)?;
        sqlx::query_with("SELECT pg_notify($1, $2)", values.arguments).execute(connection).await?;
    }
    Ok(())
}

/// Listening, for as long as this lives.
pub(crate) struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Wakes whenever another server has notified.
pub(crate) async fn start(told: Told, url: &str) -> Result<Listening, sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen_all([CHANNEL, SAVED]).await?;
    Ok(Listening(tokio::spawn(follow(listener, told))))
}

async fn follow(mut listener: PgListener, told: Told) {
    loop {
        match listener.try_recv().await {
            Ok(Some(said)) if said.channel() == SAVED => match serde_json::from_str(said.payload()) {
                // An error means that nobody listens.
                Ok(saved) => _ = told.saved.send(saved),
                Err(error) => tracing::warn!(%error, "a notification of the database cannot be read"),
            },
            // `None`: the connection was lost and is made again; what was said meanwhile is not known, so it wakes. Of
            // a version that was stored meanwhile, whoever saves the next one is told.
            Ok(_) => told.wakes.send_modify(|count| *count += 1),
            Err(error) => {
                tracing::warn!(%error, "the database does not answer; wake-ups from other servers are missed");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}
