//! The few differences between the two databases.

/// The kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A file on this machine.
    Sqlite,
    Postgres,
}

impl Backend {
    /// From the URL.
    pub(crate) fn of(url: &str) -> Option<Self> {
        if url.starts_with("sqlite:") {
            Some(Self::Sqlite)
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Some(Self::Postgres)
        } else {
            None
        }
    }

    /// How a writing transaction begins. SQLite takes its write lock immediately: a transaction that has read
    /// first could not wait for the lock any more.
    pub(crate) fn begin(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN",
        }
    }

    /// One of two SQL texts: `sqlite` has a single writer and no row locks, `postgres` ends with them.
    pub(crate) fn pick(self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }
}
