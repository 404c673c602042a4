//! References from pipeline versions and runs to code folders. The folders themselves are files.

use std::collections::BTreeSet;

use cubeloom_domain::RunId;
use sqlx::AnyConnection;

use crate::Store;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};

impl Store {
    /// The digests of the code folders that versions and runs of a project refer to.
    pub async fn code_in_use(&self, project: &str) -> Result<BTreeSet<String>, StoreError> {
        let sql = "SELECT code FROM pipeline_versions WHERE project = $1 AND code IS NOT NULL \
                   UNION SELECT code FROM run_code WHERE project = $1";
        let read = |row: &_| Ok(Columns::of("code", row).text()?.to_owned());
        Ok(self.all(sql, Values::texts("code", &[project])?, read).await?.into_iter().collect())
    }

    /// Whether a version or a run of any project refers to the code folder with this digest.
    pub async fn names_code(&self, digest: &str) -> Result<bool, StoreError> {
        let sql = "SELECT code FROM pipeline_versions WHERE code = $1 \
                   UNION SELECT code FROM run_code WHERE code = $1 LIMIT 1";
        Ok(self.one(sql, Values::texts("code", &[digest])?, |_| Ok(())).await?.is_some())
    }
}

/// Records the code folder of a new run.
pub(crate) async fn note(
    connection: &mut AnyConnection,
    run: &RunId,
    project: &str,
    code: Option<&str>,
) -> Result<(), StoreError> {
    let Some(code) = code else { return Ok(()) };
    let sql = "INSERT INTO run_code (run_id, project, code) VALUES ($1, $2, $3)";
    execute(connection, sql, Values::texts("code", &[run.as_str(), project, code])?).await?;
    Ok(())
}
