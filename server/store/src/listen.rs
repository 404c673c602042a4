//! Notifications between servers of one PostgreSQL database. The only PostgreSQL-specific file.

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
/// How many versions a reader of [`Store::saved`] may lag behind.
const BEHIND: usize = 256;
/// The wait before a reconnect.
const AGAIN: Duration = Duration::from_secs(1);

/// A version stored by a server of this database: its project, its pipeline, its number.
type Saved = (String, String, u32);

/// Notifies the other servers when the transaction commits. With SQLite there are none.
pub(crate) async fn notify(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT pg_notify('cubeloom', '')").execute(connection).await?;
    }
    Ok(())
}

impl Store {
    /// Makes the other servers poll the database now.
    pub async fn wake_others(&self) -> Result<(), StoreError> {
        match self.backend() {
            Backend::Sqlite => Ok(()),
            backend => notify(backend, self.writer().await?.get()).await,
        }
    }
}

/// Notifies the other servers of a version when the transaction commits.
pub(crate) async fn notify_saved(
    backend: Backend,
    connection: &mut AnyConnection,
    saved: &Saved,
) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        // Names are short: the payload is far below the limit of 8,000 bytes.
        let mut values = Values::new("notification", 2);
        values.text(SAVED)?.json(saved)?;
        sqlx::query_with("SELECT pg_notify($1, $2)", values.arguments).execute(connection).await?;
    }
    Ok(())
}

/// Listens until it is dropped.
pub(crate) struct Listening {
    task: JoinHandle<()>,
    saved: broadcast::Sender<Option<Saved>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Store {
    /// The pipeline versions that servers of this database store from now on, this server included: project,
    /// pipeline, number. `None`: the connection was lost, and some may be missing. With SQLite there are no
    /// other servers to listen to.
    #[must_use]
    pub fn saved(&self) -> Option<broadcast::Receiver<Option<Saved>>> {
        self.inner._listening.as_ref().map(|listening| listening.saved.subscribe())
    }
}

/// Sends a wake-up for each notification from another server.
pub(crate) async fn start(wakes: watch::Sender<u64>, url: &str) -> Result<Listening, sqlx::Error> {
    let listener = listener(url).await?;
    let saved = broadcast::Sender::new(BEHIND);
    Ok(Listening { task: tokio::spawn(follow(listener, url.to_owned(), wakes, saved.clone())), saved })
}

async fn listener(url: &str) -> Result<PgListener, sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen_all([CHANNEL, SAVED]).await?;
    Ok(listener)
}

async fn follow(
    mut listener: PgListener,
    url: String,
    wakes: watch::Sender<u64>,
    told: broadcast::Sender<Option<Saved>>,
) {
    loop {
        match listener.try_recv().await {
            Ok(Some(said)) if said.channel() == SAVED => match serde_json::from_str(said.payload()) {
                // An error means that there are no receivers.
                Ok(saved) => _ = told.send(Some(saved)),
                Err(error) => tracing::warn!(%error, "a notification of the database cannot be read"),
            },
            Ok(Some(_)) => wakes.send_modify(|count| *count += 1),
            // The connection was lost and re-established.
            Ok(None) => missed(&wakes, &told),
            Err(error) => {
                tracing::warn!(%error, "the database is unreachable; notifications from other servers are missed");
                listener = again(&url).await;
                missed(&wakes, &told);
            }
        }
    }
}

/// Notifications may have been missed: the receivers must poll.
fn missed(wakes: &watch::Sender<u64>, told: &broadcast::Sender<Option<Saved>>) {
    wakes.send_modify(|count| *count += 1);
    _ = told.send(None);
}

/// Reconnects as soon as the database permits: a failed connection may never recover.
async fn again(url: &str) -> PgListener {
    loop {
        match listener(url).await {
            Ok(listener) => return listener,
            Err(error) => tracing::debug!(%error, "the database's notifications are not available yet"),
        }
        tokio::time::sleep(AGAIN).await;
    }
}
