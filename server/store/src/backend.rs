//! The few places where the two databases need different words.

/// Which database holds the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A file on this machine.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}

impl Backend {
    /// By the address.
    pub(crate) fn of(url: &str) -> Option<Self> {
        if url.starts_with("sqlite:") {
            Some(Self::Sqlite)
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Some(Self::Postgres)
        } else {
            None
        }
    }

    /// How a writing transaction begins. SQLite takes its write lock at once: one that had read first could not
    /// wait for it any more.
    pub(crate) fn begin(self) -> &'static str {
        match self {
            Self::Sqlite => "BEGIN IMMEDIATE",
            Self::Postgres => "BEGIN",
        }
    }

    /// One of two texts: `sqlite` has a single writer and knows no row locks, `postgres` ends with them.
    pub(crate) fn pick(self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }
}
