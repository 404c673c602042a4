//! Opening the database: connections, their settings, and the schema.

use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions, install_default_drivers};
use sqlx::{AnyPool, AssertSqlSafe, ConnectOptions, Connection};
use tokio::sync::{Mutex, watch};

use crate::backend::Backend;
use crate::breaks::Breaks;
use crate::error::StoreError;
use crate::writer::Only;
use crate::{Inner, Store, checkpoint, listen, reserve, schema};

/// Connections that read from SQLite; each is a thread.
const SQLITE_READERS: u32 = 3;

#[derive(Clone, Debug)]
pub struct Options {
    /// `sqlite:/path/of/the/file` or `postgres://user:password@host/database`.
    pub url: String,
    /// How long a statement waits for a database that another program has locked.
    pub busy_timeout: Duration,
    /// Maximum number of connections to PostgreSQL.
    pub connections: u32,
    /// Whether users get mail about their own runs: true if the server sends e-mail.
    pub mails: bool,
}

impl Options {
    /// The default options for a URL.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), busy_timeout: Duration::from_secs(5), connections: 10, mails: false }
    }
}

impl Store {
    /// Opens the database, creates the file of a SQLite database, and migrates the schema.
    ///
    /// # Errors
    /// If it is unreachable, read-only or of an unknown version; the message says what to do.
    pub async fn open(options: &Options) -> Result<Self, StoreError> {
        install_default_drivers();
        match Self::open_once(options).await {
            // A server that a full disk ended starts on its reserve.
            Err(StoreError::DiskFull(_)) if given_up(&options.url) => Self::open_once(options).await,
            other => other,
        }
    }

    async fn open_once(options: &Options) -> Result<Self, StoreError> {
        let store = match Backend::of(&options.url) {
            Some(Backend::Sqlite) => open_sqlite(options).await?,
            Some(Backend::Postgres) => open_postgres(options).await?,
            None => return Err(StoreError::BadUrl { url: shown(&options.url) }),
        };
        // Better to fail now than during the first run.
        store.check().await?;
        Ok(store)
    }
}

/// Whether the database had a reserve, which is now released.
fn given_up(url: &str) -> bool {
    Backend::of(url) == Some(Backend::Sqlite) && reserve::remove(Path::new(SqliteFile::of(url).path))
}

async fn open_sqlite(options: &Options) -> Result<Store, StoreError> {
    let file = SqliteFile::of(&options.url);
    let connect = connect_options(&file.url())?;
    let busy = options.busy_timeout.as_millis();
    let settings = format!(
        "PRAGMA busy_timeout = {busy}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -16000; \
         PRAGMA temp_store = MEMORY"
    );
    let mut writer = Only::open(connect.clone(), settings).await.map_err(|error| file.refused(error))?;
    schema::migrate(Backend::Sqlite, writer.connection()).await?;
    let pool = sqlite_readers(connect, busy).await?;
    let inner = Inner {
        backend: Backend::Sqlite,
        pool,
        writer: Some(Mutex::new(writer)),
        wakes: watch::Sender::new(0),
        checkpoints: checkpoint::Pace::default(),
        reserve: OnceLock::new(),
        breaks: Arc::default(),
        file: Some(file.path.into()),
        mails: options.mails,
        _listening: None,
    };
    let store = Store { inner: Arc::new(inner) };
    checkpoint::start(&store);
    Ok(store)
}

async fn sqlite_readers(connect: AnyConnectOptions, busy: u128) -> Result<AnyPool, StoreError> {
    let settings = format!(
        "PRAGMA busy_timeout = {busy}; PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; \
         PRAGMA temp_store = MEMORY"
    );
    let pool = AnyPoolOptions::new()
        .max_connections(SQLITE_READERS)
        .test_before_acquire(false)
        .idle_timeout(Duration::from_secs(60))
        .max_lifetime(None)
        .after_connect(move |connection, _| {
            let settings = settings.clone();
            Box::pin(async move {
                sqlx::raw_sql(AssertSqlSafe(settings)).execute(connection).await?;
                Ok(())
            })
        })
        .connect_with(connect)
        .await?;
    Ok(pool)
}

async fn open_postgres(options: &Options) -> Result<Store, StoreError> {
    let refused = |source| StoreError::CannotOpen {
        url: shown(&options.url),
        hint:
            "check that the server runs at this address, has the database, and accepts the user and password"
                .into(),
        source,
    };
    let connect = connect_options(&options.url)?;
    let breaks = Arc::<Breaks>::default();
    let doubted = Arc::clone(&breaks);
    let pool = AnyPoolOptions::new()
        .max_connections(options.connections)
        .acquire_timeout(Duration::from_secs(10))
        .test_before_acquire(false)
        .before_acquire(move |connection, idle| {
            let breaks = Arc::clone(&doubted);
            Box::pin(async move {
                if !breaks.doubts(idle.idle_for) || connection.ping().await.is_ok() {
                    return Ok(true);
                }
                breaks.found();
                Ok(false)
            })
        })
        .connect_with(connect)
        .await
        .map_err(refused)?;
    let mut connection = pool.acquire().await?;
    schema::migrate(Backend::Postgres, &mut connection).await?;
    drop(connection);
    let wakes = watch::Sender::new(0);
    let listening = listen::start(wakes.clone(), &options.url).await.map_err(refused)?;
    let inner = Inner {
        backend: Backend::Postgres,
        pool,
        writer: None,
        wakes,
        checkpoints: checkpoint::Pace::default(),
        reserve: OnceLock::new(),
        breaks,
        file: None,
        mails: options.mails,
        _listening: Some(listening),
    };
    Ok(Store { inner: Arc::new(inner) })
}

fn connect_options(url: &str) -> Result<AnyConnectOptions, StoreError> {
    match AnyConnectOptions::from_str(url) {
        // A test reads the log of every statement.
        Ok(connect) if cfg!(test) => Ok(connect),
        Ok(connect) => Ok(connect.disable_statement_logging()),
        Err(_) => Err(StoreError::BadUrl { url: shown(url) }),
    }
}

/// The URL without the password.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.into() };
    match rest.rsplit_once('@') {
        Some((login, place)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{place}")
        }
        None => url.into(),
    }
}

/// The parsed URL of a SQLite file.
struct SqliteFile<'u> {
    path: &'u str,
    query: &'u str,
}

impl<'u> SqliteFile<'u> {
    fn of(url: &'u str) -> Self {
        let rest = url.strip_prefix("sqlite:").unwrap_or(url);
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (path, query) = rest.split_once('?').unwrap_or((rest, "mode=rwc"));
        Self { path, query }
    }

    /// The URL for the driver, which decodes it: a path may contain any character but `?`.
    fn url(&self) -> String {
        let path = self.path.replace('%', "%25").replace('#', "%23");
        format!("sqlite:{path}?{}", self.query)
    }

    /// The reason why the file could not be opened: SQLite itself reports none.
    fn refused(&self, source: sqlx::Error) -> StoreError {
        let path = Path::new(self.path);
        let folder = path.parent().unwrap_or(path);
        let hint = if path.is_dir() {
            "this is a folder; write the path of a file".into()
        } else if !folder.is_dir() {
            format!("the folder `{}` does not exist; create it", folder.display())
        } else {
            format!("the file and the folder `{}` must be writable for the server's user", folder.display())
        };
        match StoreError::from(source) {
            StoreError::Database(source) | StoreError::ReadOnly(source) => {
                StoreError::CannotOpen { url: format!("sqlite:{}", self.path), hint, source }
            }
            clear => clear,
        }
    }
}
