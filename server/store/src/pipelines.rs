//! Pipeline documents: a stored version never changes, and the newest is the one that is used.

use cubeloom_domain::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::Store;
use crate::error::StoreError;
use crate::query::collect;
use crate::values::{Columns, Values};

/// A pipeline in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineSummary {
    /// The project.
    pub project: String,
    /// The name.
    pub name: String,
    /// The newest version, from 1.
    pub version: u32,
    /// Who stored that.
    pub user: String,
    /// When that was stored.
    pub created_at: Timestamp,
}

/// One version of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineVersion {
    /// The version, from 1.
    pub version: u32,
    /// The document as it was written.
    pub document: String,
    /// SHA-256 of what it says, as given by who stored it.
    pub digest: String,
    /// Who stored it.
    pub user: String,
    /// When.
    pub created_at: Timestamp,
}

impl Store {
    /// Stores a document as the newest version of a pipeline, and returns that; the document that is the newest
    /// already (by its digest) is not stored again.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn put_pipeline(
        &self,
        project: &str,
        name: &str,
        document: &str,
        digest: &str,
        user: &str,
        now: Timestamp,
    ) -> Result<u32, StoreError> {
        let mut writer = self.writer().await?;
        let mut transaction = writer.begin(self.backend()).await?;
        let newest = newest(&mut transaction, project, name).await?;
        if let Some((version, stored)) = &newest
            && stored == digest
        {
            return Ok(*version);
        }
        let version = newest.map_or(1, |(version, _)| version + 1);
        let mut values = Values::new("pipeline", 7);
        values
            .text(project)?
            .text(name)?
            .int(version)?
            .text(document)?
            .text(digest)?
            .text(user)?
            .int(now.0)?;
        sqlx::query_with(
            "INSERT INTO pipeline_versions (project, name, version, document, digest, user_name, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            values.arguments,
        )
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        writer.ended();
        Ok(version)
    }

    /// The pipelines of a project, by name.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn pipelines(&self, project: &str) -> Result<Vec<PipelineSummary>, StoreError> {
        let query = sqlx::query(
            "SELECT p.project, p.name, p.version, v.user_name, v.created_at FROM pipelines p \
             JOIN pipeline_versions v ON v.project = p.project AND v.name = p.name AND v.version = p.version \
             WHERE p.project = $1 ORDER BY p.name",
        )
        .bind(project.to_owned());
        collect(&mut *self.inner.pool.acquire().await?, query, summary).await
    }

    /// One version of a pipeline.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn pipeline(
        &self,
        project: &str,
        name: &str,
        version: u32,
    ) -> Result<Option<PipelineVersion>, StoreError> {
        let row = sqlx::query(
            "SELECT version, document, digest, user_name, created_at FROM pipeline_versions \
             WHERE project = $1 AND name = $2 AND version = $3",
        )
        .bind(project.to_owned())
        .bind(name.to_owned())
        .bind(i64::from(version))
        .fetch_optional(&self.inner.pool)
        .await?;
        row.as_ref().map(pipeline_version).transpose()
    }
}

/// The newest version's number and digest. It counts the version up as well: the row makes writers take turns.
async fn newest(
    connection: &mut AnyConnection,
    project: &str,
    name: &str,
) -> Result<Option<(u32, String)>, StoreError> {
    let row = sqlx::query(
        "INSERT INTO pipelines (project, name, version) VALUES ($1, $2, 1) \
         ON CONFLICT (project, name) DO UPDATE SET version = pipelines.version + 1 RETURNING version",
    )
    .bind(project.to_owned())
    .bind(name.to_owned())
    .fetch_one(&mut *connection)
    .await?;
    let newest = row.try_get::<i64, _>(0)? - 1;
    let row = sqlx::query(
        "SELECT version, digest FROM pipeline_versions WHERE project = $1 AND name = $2 AND version = $3",
    )
    .bind(project.to_owned())
    .bind(name.to_owned())
    .bind(newest)
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let mut columns = Columns::of("pipeline", &row);
    Ok(Some((columns.int()?, columns.text()?.into())))
}

fn summary(row: &AnyRow) -> Result<PipelineSummary, StoreError> {
    let mut columns = Columns::of("pipeline", row);
    Ok(PipelineSummary {
        project: columns.text()?.into(),
        name: columns.text()?.into(),
        version: columns.int()?,
        user: columns.text()?.into(),
        created_at: Timestamp(columns.int()?),
    })
}

fn pipeline_version(row: &AnyRow) -> Result<PipelineVersion, StoreError> {
    let mut columns = Columns::of("pipeline", row);
    Ok(PipelineVersion {
        version: columns.int()?,
        document: columns.text()?.into(),
        digest: columns.text()?.into(),
        user: columns.text()?.into(),
        created_at: Timestamp(columns.int()?),
    })
}
