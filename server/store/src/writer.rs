//! Connections for writing: SQLite's only one, or one of PostgreSQL's pool.

use std::mem;

use sqlx::any::AnyConnectOptions;
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AssertSqlSafe, ConnectOptions, Connection, Transaction};
use tokio::sync::MutexGuard;

use crate::backend::Backend;

pub(crate) enum Writer<'s> {
    Only(MutexGuard<'s, Only>),
    Pooled(Pooled),
}

impl Writer<'_> {
    pub(crate) fn get(&mut self) -> &mut AnyConnection {
        match self {
            Self::Only(only) => &mut only.connection,
            Self::Pooled(pooled) => &mut pooled.connection,
        }
    }

    /// Begins a transaction; call [`Writer::ended`] after its end.
    pub(crate) async fn begin(&mut self, backend: Backend) -> Result<Transaction<'_, Any>, sqlx::Error> {
        *self.begun() = true;
        self.get().begin_with(backend.begin()).await
    }

    /// Call it when the transaction is committed or rolled back.
    pub(crate) fn ended(&mut self) {
        *self.begun() = false;
    }

    fn begun(&mut self) -> &mut bool {
        match self {
            Self::Only(only) => &mut only.begun,
            Self::Pooled(pooled) => &mut pooled.begun,
        }
    }
}

/// SQLite's only writing connection.
pub(crate) struct Only {
    connection: AnyConnection,
    /// Whether a transaction was begun and its end is unknown.
    begun: bool,
    connect: AnyConnectOptions,
    settings: String,
}

impl Only {
    /// Opens it; each connection gets the settings first.
    pub(crate) async fn open(connect: AnyConnectOptions, settings: String) -> Result<Self, sqlx::Error> {
        let connection = connected(&connect, &settings).await?;
        Ok(Self { connection, begun: false, connect, settings })
    }

    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }

    /// Reopens it if a transaction has no known end: its future was dropped, or its rollback failed. On a
    /// full disk SQLite rolls back by itself. The driver still counts the transaction, and refuses to begin
    /// another.
    pub(crate) async fn ready(&mut self) -> Result<(), sqlx::Error> {
        if !self.begun {
            return Ok(());
        }
        let fresh = connected(&self.connect, &self.settings).await?;
        let old = mem::replace(&mut self.connection, fresh);
        self.begun = false;
        if let Err(error) = old.close().await {
            tracing::debug!(%error, "a writing connection was closed with an error");
        }
        Ok(())
    }
}

async fn connected(connect: &AnyConnectOptions, settings: &str) -> Result<AnyConnection, sqlx::Error> {
    let mut connection = connect.connect().await?;
    sqlx::raw_sql(AssertSqlSafe(settings.to_owned())).execute(&mut connection).await?;
    Ok(connection)
}

/// A pooled connection. If it is dropped within a transaction, because its future was dropped, it is closed.
/// Back in the pool it would keep its locks until its next use.
pub(crate) struct Pooled {
    connection: PoolConnection<Any>,
    begun: bool,
}

impl Pooled {
    pub(crate) fn new(connection: PoolConnection<Any>) -> Self {
        Self { connection, begun: false }
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        if self.begun {
            self.connection.close_on_drop();
        }
    }
}
