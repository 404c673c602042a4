//! Cached results, which equal later tasks reuse.

use cubeloom_domain::record::CacheEntry;
use sqlx::AssertSqlSafe;

use crate::Store;
use crate::error::StoreError;
use crate::query::{collect, lists, places};
use crate::rows::{self, CACHE_COLUMNS};

impl Store {
    /// The entries of a project with one of these keys, unordered.
    pub async fn cached(&self, project: &str, keys: &[String]) -> Result<Vec<CacheEntry>, StoreError> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut found = Vec::new();
        let mut connection = self.inner.pool.acquire().await?;
        for list in lists(&keys) {
            let sql = format!(
                "SELECT {CACHE_COLUMNS} FROM cache WHERE project = $1 AND cache_key IN ({})",
                places(2, list.len())
            );
            let mut query = sqlx::query(AssertSqlSafe(sql)).bind(project.to_owned());
            for key in list {
                query = query.bind(key.to_owned());
            }
            found.extend(collect(&mut connection, query, rows::cache_entry).await?);
        }
        Ok(found)
    }

    /// The newest entry of a task: its inputs show what has changed since.
    pub async fn last_cache_entry(
        &self,
        project: &str,
        pipeline: &str,
        task: &str,
    ) -> Result<Option<CacheEntry>, StoreError> {
        let sql = format!(
            "SELECT {CACHE_COLUMNS} FROM cache WHERE project = $1 AND pipeline = $2 AND task_name = $3 \
             ORDER BY created_at DESC LIMIT 1"
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(project.to_owned())
            .bind(pipeline.to_owned())
            .bind(task.to_owned())
            .fetch_optional(&self.inner.pool)
            .await?;
        row.as_ref().map(rows::cache_entry).transpose()
    }
}
