//! Platform-wide named definitions of administrators: concurrency limits, priority classes.

use cubeloom_domain::identity::AuditEntry;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::query::execute;
use crate::revision::Target;
use crate::values::{Columns, Values};
use crate::{Change, Store, audit, listen};

/// A definition with a name and a revision, in a table of its own: the columns are `name`, [`Self::COLUMNS`]
/// and `revision`.
pub(crate) trait Defined: Sized {
    /// Its name in errors.
    const WHAT: &'static str;
    const TABLE: &'static str;
    /// The columns between the name and the revision.
    const COLUMNS: &'static [&'static str];

    fn name(&self) -> &str;
    /// Adds the values of [`Self::COLUMNS`].
    fn write(&self, values: &mut Values) -> Result<(), StoreError>;
    /// Reads a row, with the name first and the revision last.
    fn read(columns: &mut Columns<'_>) -> Result<Self, StoreError>;
}

fn select<T: Defined>(rest: &str) -> String {
    format!("SELECT name, {}, revision FROM {} {rest}", T::COLUMNS.join(", "), T::TABLE)
}

fn read<T: Defined>(row: &AnyRow) -> Result<T, StoreError> {
    T::read(&mut Columns::of(T::WHAT, row))
}

fn target<T: Defined>(name: &str, expected: Option<u64>) -> Target<'_, 1> {
    Target { table: T::TABLE, key: [("name", name)], expected }
}

/// Updates all columns of a row but its name, which is `$1`.
fn update<T: Defined>() -> String {
    let columns = T::COLUMNS.iter().chain(&["revision"]);
    let set: Vec<String> = columns.zip(2..).map(|(column, at)| format!("{column} = ${at}")).collect();
    format!("UPDATE {} SET {} WHERE name = $1", T::TABLE, set.join(", "))
}

fn insert<T: Defined>() -> String {
    let values: Vec<String> = (1..=T::COLUMNS.len() + 2).map(|at| format!("${at}")).collect();
    format!(
        "INSERT INTO {} (name, {}, revision) VALUES ({}) ON CONFLICT (name) DO NOTHING",
        T::TABLE,
        T::COLUMNS.join(", "),
        values.join(", ")
    )
}

impl Store {
    /// All of them, by name.
    pub(crate) async fn all_defined<T: Defined>(&self) -> Result<Vec<T>, StoreError> {
        let sql = AssertSqlSafe(select::<T>("ORDER BY name"));
        self.all(sql, Values::new(T::WHAT, 0), read).await
    }

    pub(crate) async fn defined<T: Defined>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let sql = AssertSqlSafe(select::<T>("WHERE name = $1"));
        self.one(sql, Values::texts(T::WHAT, &[name])?, read).await
    }

    /// Creates or changes a definition and assigns its revision. `expected` is 0 for one that must not exist
    /// yet.
    pub(crate) async fn define<T: Defined>(
        &self,
        one: &T,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        self.transact(async |connection| {
            let mut change = target::<T>(one.name(), expected).take(self.backend(), connection).await?;
            let is_new = change == Change::Missing;
            if is_new {
                change = if expected.unwrap_or(0) == 0 { Change::Done(1) } else { Change::Stale(0) };
            }
            let Change::Done(revision) = change else { return Ok(change) };
            let mut values = Values::texts(T::WHAT, &[one.name()])?;
            one.write(&mut values)?;
            values.int(revision)?;
            let sql = if is_new { insert::<T>() } else { update::<T>() };
            if execute(connection, AssertSqlSafe(sql), values).await? == 0 {
                // Another request created it concurrently.
                return Ok(Change::Stale(1));
            }
            audit::write(connection, audit).await?;
            listen::notify(self.backend(), connection).await?;
            Ok(change)
        })
        .await
    }

    pub(crate) async fn undefine<T: Defined>(
        &self,
        name: &str,
        expected: Option<u64>,
        audit: &AuditEntry,
    ) -> Result<Change, StoreError> {
        let notify = async |connection: &mut _| listen::notify(self.backend(), connection).await;
        self.delete_named_with(target::<T>(name, expected), audit, notify).await
    }
}
