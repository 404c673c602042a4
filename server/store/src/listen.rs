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
/// How long it takes until a connection is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// A version that some server of this database has stored: its project, its pipeline, its number.
type Saved = (String, String, u32);

/// Tells the other servers when the transaction commits. With SQLite there are none.
pub(crate) async fn notify(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT pg_notify('cubeloom', '')").execute(connection).await?;
    }
    Ok(())
}

impl Store {
    /// Lets the other servers look at the database now, not only at their next look.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn wake_others(&self) -> Result<(), StoreError> {
        match self.backend() {
            Backend::Sqlite => Ok(()),
            backend => notify(backend, self.writer().await?.get()).await,
        }
    }
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
    saved: broadcast::Sender<Option<Saved>>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Store {
    /// The versions of pipelines that servers of this database store from now on, this one's among them: project,
    /// pipeline, number. `None`: the connection was lost, and some may have been missed. With SQLite there are no other
    /// servers, and nothing to listen to.
    #[must_use]
    pub fn saved(&self) -> Option<broadcast::Receiver<Option<Saved>>> {
        self.inner._listening.as_ref().map(|listening| listening.saved.subscribe())
    }
}

/// Wakes whenever another server has notified.
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
                // An error means that nobody listens.
                Ok(saved) => _ = told.send(Some(saved)),
                Err(error) => tracing::warn!(%error, "a notification of the database cannot be read"),
            },
            Ok(Some(_)) => wakes.send_modify(|count| *count += 1),
            // The connection was lost, and is there again.
            Ok(None) => missed(&wakes, &told),
            Err(error) => {
                tracing::warn!(%error, "the database does not answer; wake-ups from other servers are missed");
                listener = again(&url).await;
                missed(&wakes, &told);
            }
        }
    }
}

/// What was said meanwhile is not known: whoever listens looks for themselves.
fn missed(wakes: &watch::Sender<u64>, told: &broadcast::Sender<Option<Saved>>) {
    wakes.send_modify(|count| *count += 1);
    _ = told.send(None);
}

/// Listens again, as soon as the database lets it: a connection that has failed may stay broken for ever.
async fn again(url: &str) -> PgListener {
    loop {
        match listener(url).await {
            Ok(listener) => return listener,
            Err(error) => tracing::debug!(%error, "the database cannot be listened to yet"),
        }
        tokio::time::sleep(AGAIN).await;
    }
}
