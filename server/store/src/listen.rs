//! Wake-ups between servers of one PostgreSQL database. The only file that is about PostgreSQL alone.

use std::sync::{Arc, Weak};
use std::time::Duration;

use sqlx::AnyConnection;
use sqlx::postgres::PgListener;

use crate::backend::Backend;
use crate::error::StoreError;
use crate::{Inner, Store};

const CHANNEL: &str = "cubeloom";

/// Tells the other servers when the transaction commits. With SQLite there are none.
pub(crate) async fn notify(backend: Backend, connection: &mut AnyConnection) -> Result<(), StoreError> {
    if backend == Backend::Postgres {
        sqlx::query("SELECT pg_notify('cubeloom', '')").execute(connection).await?;
    }
    Ok(())
}

/// Listens for as long as the store is in use.
pub(crate) async fn start(store: &Store, url: &str) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect(url).await?;
    listener.ignore_pool_close_event(true);
    listener.listen(CHANNEL).await?;
    tokio::spawn(follow(listener, Arc::downgrade(&store.inner)));
    Ok(())
}

async fn follow(mut listener: PgListener, store: Weak<Inner>) {
    loop {
        // `None`: the connection was lost and is made again; what was said meanwhile is not known, so it wakes.
        let heard = tokio::time::timeout(Duration::from_secs(5), listener.try_recv()).await;
        let Some(store) = store.upgrade() else { return };
        match heard {
            Ok(Ok(_)) => store.wakes.send_modify(|count| *count += 1),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the database does not answer; wake-ups from other servers are missed");
                drop(store);
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Err(_) => {}
        }
    }
}
