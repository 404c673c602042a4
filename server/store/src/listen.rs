//! Wake-ups between servers of one PostgreSQL database. The only file that is about PostgreSQL alone.

use std::time::Duration;

use sqlx::AnyConnection;
use sqlx::postgres::PgListener;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use crate::Store;
use crate::backend::Backend;
use crate::error::StoreError;
use crate::values::Values;

const CHANNEL: &str = "cubeloom";
const SAVED: &str = "cubeloom_saved";
/// Versions that a reader of [`Store::saved`] may be behind.
const BEHIND: usize = 256;

/// A version that some server of this database has stored: its project, its pipeline, its number.
type Saved = (String, String, u32);

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
    saved: &Saved,
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
pub(crate) struct Listening {
    task: JoinHandle<()>,
    saved: broadcast::Sender<Saved>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Store {
    /// The versions of pipelines that servers of this database store from now on, this one's among them: project,
    /// pipeline, number. With SQLite there are no other servers, and nothing to listen to.
    #[must_use]
    pub fn saved(&self) -> Option<broadcast::Receiver<Saved>> {
        self.inner._listening.as_ref().map(|listening| listening.saved.subscribe())
    }
}

/// Wakes whenever another server has notified.
pub(crate) async fn start(wakes: watch::Sender<u64>, url: &str) -> Result<Listening, sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen_all([CHANNEL, SAVED]).await?;
    let saved = broadcast::Sender::new(BEHIND);
    Ok(Listening { task: tokio::spawn(follow(listener, wakes, saved.clone())), saved })
}

async fn follow(mut listener: PgListener, wakes: watch::Sender<u64>, told: broadcast::Sender<Saved>) {
    loop {
        match listener.try_recv().await {
            Ok(Some(said)) if said.channel() == SAVED => match serde_json::from_str(said.payload()) {
                // An error means that nobody listens.
                Ok(saved) => _ = told.send(saved),
                Err(error) => tracing::warn!(%error, "a notification of the database cannot be read"),
            },
            // `None`: the connection was lost and is made again; what was said meanwhile is not known, so it wakes. Of
            // a version that was stored meanwhile, whoever saves the next one is told.
            Ok(_) => wakes.send_modify(|count| *count += 1),
            Err(error) => {
                tracing::warn!(%error, "the database does not answer; wake-ups from other servers are missed");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}
