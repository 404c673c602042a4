//! Database errors, as messages for the operator of the server.

use cubeloom_domain::RunId;
use cubeloom_domain::accounting::{Day, Money, Month};
use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    /// The URL has neither of the two schemes.
    #[error("database `{url}`: it must begin with `sqlite:` and a path, or with `postgres://`")]
    BadUrl {
        /// The URL, without its password.
        url: String,
    },
    /// The database is unreachable or cannot be opened.
    #[error("database `{url}` cannot be opened: {hint}")]
    CannotOpen {
        /// The URL, without its password.
        url: String,
        /// What to check.
        hint: String,
        /// The driver's error.
        #[source]
        source: sqlx::Error,
    },
    /// A newer program version wrote it.
    #[error(
        "the database has schema version {found}, but this program supports versions up to {known}: use the newer program, or a database backup from before the upgrade"
    )]
    NewerSchema {
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// A migration that ran earlier had a different text.
    #[error(
        "the database's schema version {version} differs from this program's: another build of this program created it"
    )]
    ForeignSchema {
        /// The version of the schema.
        version: i64,
    },
    /// The database is read-only.
    #[error("the database is read-only: make its file and folder writable for the server's user")]
    ReadOnly(#[source] sqlx::Error),
    /// Another program has it locked.
    #[error(
        "another program has locked the database for too long: end that program (a backup, a shell, a second server)"
    )]
    Locked(#[source] sqlx::Error),
    /// The disk is full.
    #[error(
        "the database's disk is full: nothing was written; free some space, and the server continues by itself"
    )]
    DiskFull(#[source] sqlx::Error),
    /// The file is damaged, or not a database.
    #[error("the database file is damaged or is not a SQLite database: restore it from a backup")]
    Damaged(#[source] sqlx::Error),
    /// Another server has taken over the run.
    #[error("another server leads run {0} now; the decisions of this server were not written")]
    LeaseLost(RunId),
    /// The maximum number of active runs of its pipeline is reached, across all servers.
    #[error(
        "run {0} cannot start yet: its pipeline has reached its maximum of active runs; nothing was written"
    )]
    TooManyActive(RunId),
    /// The template version exists with different content.
    #[error(
        "template {name} {version} is stored with different content: use a new version for the changed template"
    )]
    TemplateChanged {
        /// The template's name.
        name: String,
        version: String,
    },
    /// The run does not exist.
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    /// The project does not exist.
    #[error("there is no project {0}")]
    NoSuchProject(String),
    /// The project has spent its budget of this month.
    #[error(
        "the budget of project {project} for {month} is spent, {spent} of {amount}: running jobs continue, no new runs \
         start until next month, or until an administrator raises it"
    )]
    BudgetSpent {
        project: String,
        month: Month,
        spent: Money,
        /// The budget.
        amount: Money,
    },
    /// The node pool already has a price from this day on.
    #[error("this pool already has a price from {0}: change that one")]
    PriceExists(Day),
    /// The name belonged to a deleted project.
    #[error("a deleted project {0} still has its history under this name: choose another name")]
    NameWasUsed(String),
    /// The owning project or user has just been deleted.
    #[error("the object that it belongs to no longer exists; nothing was stored")]
    OwnerGone(#[source] sqlx::Error),
    /// The user is no longer an administrator of the platform.
    #[error("you are no longer an administrator of the platform; nothing was stored")]
    NoAdministrator,
    /// The project is still in use.
    #[error(
        "project {name} has {runs} runs that have not ended and {pipelines} pipelines: \
         cancel the runs and delete the pipelines first"
    )]
    ProjectInUse {
        name: String,
        /// Runs that have not ended.
        runs: u64,
        /// Pipelines that are not deleted.
        pipelines: u64,
    },
    /// The platform would have no administrator.
    #[error("this is the last administrator: appoint another one first")]
    LastAdministrator,
    /// The subject at the identity provider belongs to another user here.
    #[error("that account at the provider already belongs to another user, or you are already connected")]
    SubjectTaken,
    /// The user could no longer sign in.
    #[error("you have no password here, and could no longer sign in: ask an administrator for a link first")]
    NoPassword,
    /// The project would have no owner.
    #[error("this is the last owner of project {0}: make another member an owner first")]
    LastOwner(String),
    /// The one-time link is invalid.
    #[error("this link was used or has expired: request a new one")]
    LinkUsed,
    /// A stored value cannot be read back.
    #[error("stored {what} cannot be read: {reason}")]
    Unreadable {
        /// The kind of row.
        what: &'static str,
        reason: String,
    },
    /// A value cannot be stored.
    #[error("{what} cannot be stored: {reason}")]
    Unstorable {
        /// The kind of row.
        what: &'static str,
        reason: String,
    },
    /// Any other database error.
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
    /// From SQLite's result codes: the low byte of an extended code is the primary one.
    fn from_sqlite(code: &str, error: sqlx::Error) -> Self {
        match code.parse::<u32>().map(|code| code & 0xff) {
            _ if code == "787" => Self::OwnerGone(error),
            Ok(5 | 6) => Self::Locked(error),
            Ok(8) => Self::ReadOnly(error),
            Ok(11 | 26) => Self::Damaged(error),
            Ok(13) => Self::DiskFull(error),
            // The WAL index could not grow (`SQLITE_IOERR_SHMSIZE`).
            _ if code == "4874" => Self::DiskFull(error),
            _ => Self::Database(error),
        }
    }

    /// From PostgreSQL's SQLSTATE.
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
