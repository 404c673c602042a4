//! What can go wrong with the database, as sentences for the person who runs the server.

use cubeloom_domain::RunId;
use cubeloom_domain::accounting::{Day, Money, Month};
use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;
use thiserror::Error;

/// Why the store could not do something.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The address is neither of the two kinds.
    #[error("database `{url}`: it must begin with `sqlite:` and a path, or with `postgres://`")]
    BadUrl {
        /// The address, without its password.
        url: String,
    },
    /// The database cannot be reached or opened.
    #[error("database `{url}` cannot be opened: {hint}")]
    CannotOpen {
        /// The address, without its password.
        url: String,
        /// What to look at.
        hint: String,
        /// What the driver said.
        #[source]
        source: sqlx::Error,
    },
    /// A newer program wrote it.
    #[error(
        "the database has schema version {found}, this program knows versions up to {known}: \
         use the newer program that wrote it, or a copy of the database from before the upgrade"
    )]
    NewerSchema {
        /// The version of the database.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// A migration that ran earlier had another text.
    #[error(
        "the database's schema version {version} was made by a different text of the same number: \
         it belongs to another build of this program"
    )]
    ForeignSchema {
        /// Version.
        version: i64,
    },
    /// Nothing can be written.
    #[error("the database is read-only: make its file and folder writable for the server's user")]
    ReadOnly(#[source] sqlx::Error),
    /// Somebody else holds it.
    #[error(
        "the database is locked by another program for too long: end what holds it (a backup, a shell, a second server)"
    )]
    Locked(#[source] sqlx::Error),
    /// No room is left.
    #[error(
        "the disk under the database is full: nothing was written; free some room and it goes on by itself"
    )]
    DiskFull(#[source] sqlx::Error),
    /// The file is not a database, or damaged.
    #[error("the database file is damaged or is not a SQLite database: restore it from a backup")]
    Damaged(#[source] sqlx::Error),
    /// Another server took the run over.
    #[error("run {0} is led by another server now; what was decided here about it was not written")]
    LeaseLost(RunId),
    /// As many runs of its pipeline are active as may be, on all servers together.
    #[error("run {0} cannot begin yet: as many of its pipeline are active as may be; nothing was written")]
    TooManyActive(RunId),
    /// A template version exists with other content.
    #[error(
        "template {name} {version} is stored with different content: give the changed template a new version"
    )]
    TemplateChanged {
        /// The template.
        name: String,
        /// Its version.
        version: String,
    },
    /// A run that does not exist.
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    /// A project that does not exist.
    #[error("there is no project {0}")]
    NoSuchProject(String),
    /// A project that has spent what it may in this month.
    #[error(
        "the budget of project {project} for {month} is spent, {spent} of {amount}: what runs goes on, nothing new \
         starts before the next month, or until an administrator raises it"
    )]
    BudgetSpent {
        /// Project.
        project: String,
        /// The month.
        month: Month,
        /// What is spent.
        spent: Money,
        /// What there was to spend.
        amount: Money,
    },
    /// A price of the same pool that is valid from the same day.
    #[error("this pool has a price from {0} on already: change that one")]
    PriceExists(Day),
    /// A name that a project had which was deleted.
    #[error("there was a project {0}, and its history is kept under that name: choose another name")]
    NameWasUsed(String),
    /// What it would belong to (a project, a person) has just been deleted.
    #[error("what this would belong to does not exist any more; nothing was stored")]
    OwnerGone(#[source] sqlx::Error),
    /// Somebody who does not administer the platform any more.
    #[error("only administrators of the platform may do this, which you no longer are; nothing was stored")]
    NoAdministrator,
    /// A project that something still happens in.
    #[error(
        "project {name} has {runs} runs that have not ended and {pipelines} pipelines: \
         cancel the runs and delete the pipelines first"
    )]
    ProjectInUse {
        /// Project.
        name: String,
        /// Runs that have not ended.
        runs: u64,
        /// Pipelines that are not deleted.
        pipelines: u64,
    },
    /// The platform would have no administrator.
    #[error("this is the last administrator: make somebody else one first")]
    LastAdministrator,
    /// Who somebody is at a provider is known as somebody else here.
    #[error("that account at the provider belongs to somebody here already, or you are connected already")]
    SubjectTaken,
    /// They could not sign in any more.
    #[error(
        "you have no password here and could not sign in any more: ask an administrator for a link first"
    )]
    NoPassword,
    /// Nobody would own the project.
    #[error("this is the last owner of project {0}: make another member an owner first")]
    LastOwner(String),
    /// A one-time link that does not hold.
    #[error("this link was used or has expired: ask for a new one")]
    LinkUsed,
    /// A stored value cannot be read back.
    #[error("stored {what} cannot be read: {reason}")]
    Unreadable {
        /// What kind of row.
        what: &'static str,
        /// Reason.
        reason: String,
    },
    /// A value cannot be stored.
    #[error("{what} cannot be stored: {reason}")]
    Unstorable {
        /// What kind of row.
        what: &'static str,
        /// Reason.
        reason: String,
    },
    /// Anything else that the database refused.
    #[error("the database refused the statement")]
    Database(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let Some(refusal) = error.as_database_error() else { return Self::Database(error) };
        let code = refusal.code().unwrap_or_default().into_owned();
        if refusal.try_downcast_ref::<SqliteError>().is_some() {
            Self::from_sqlite(&code, error)
        } else if refusal.try_downcast_ref::<PgDatabaseError>().is_some() {
            Self::from_postgres(&code, error)
        } else {
            Self::Database(error)
        }
    }
}

impl StoreError {
    /// By SQLite's result codes: the low byte of an extended code is the plain one.
    fn from_sqlite(code: &str, error: sqlx::Error) -> Self {
        match code.parse::<u32>().map(|code| code & 0xff) {
            _ if code == "787" => Self::OwnerGone(error),
            Ok(5 | 6) => Self::Locked(error),
            Ok(8) => Self::ReadOnly(error),
            Ok(11 | 26) => Self::Damaged(error),
            Ok(13) => Self::DiskFull(error),
            // The index of the log could not grow (`SQLITE_IOERR_SHMSIZE`).
            _ if code == "4874" => Self::DiskFull(error),
            _ => Self::Database(error),
        }
    }

    /// By PostgreSQL's SQLSTATE.
    fn from_postgres(code: &str, error: sqlx::Error) -> Self {
        match code {
            "23503" => Self::OwnerGone(error),
            "25006" => Self::ReadOnly(error),
            "53100" => Self::DiskFull(error),
            "55P03" => Self::Locked(error),
            _ => Self::Database(error),
        }
    }
}
