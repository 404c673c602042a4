//! Wake-ups between servers of one PostgreSQL database. The only file that is about PostgreSQL alone.

use std::time::Duration;

use sqlx::AnyConnection;
use sqlx::postgres::PgListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::backend::Backend;
use crate::error::StoreError;

const CHANNEL: &str = "cubeloom";

/// Tells the other servers when the transaction commits. With SQLite there are none.
pub(crate) async fn notify(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT pg_notify('cubeloom', '')").execute(connection).await?;
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
pub(crate) async fn start(wakes: watch::Sender<u64>, url: &str) -> Result<Listening, sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.listen(CHANNEL).await?;
    Ok(Listening(tokio::spawn(follow(listener, wakes))))
}

async fn follow(mut listener: PgListener, wakes: watch::Sender<u64>) {
    loop {
        match listener.try_recv().await {
            // `None`: the connection was lost and is made again; what was said meanwhile is not known, so it wakes.
            Ok(_) => wakes.send_modify(|count| *count += 1),
            Err(error) => {
                tracing::warn!(%error, "the database does not answer; wake-ups from other servers are missed");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}
