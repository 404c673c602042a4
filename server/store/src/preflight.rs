//! What the tests of workers measured, by node group: kept when an attempt's end is written for the first time, so that nobody
//! reads attempts to know what is normal there.

use std::collections::BTreeMap;

use cubeloom_domain::preflight::{Norm, Tested};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::Store;
use crate::backend::Backend;
use crate::error::StoreError;
use crate::query::collect;
use crate::upsert::{Row, Upsert};
use crate::values::{Columns, Values};

static NORMS: Upsert = Upsert::new("preflight_norms", &["cluster", "node_group", "norm_json"], 2);

/// Cluster and node group, which is empty for none.
type Key = [String; 2];

struct NormRow {
    key: Key,
    norm: Norm,
}

impl Row for NormRow {
    type Key<'a> = &'a Key;

    fn key(&self) -> &Key {
        &self.key
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        for part in &self.key {
            values.text(part)?;
        }
        values.json(&self.norm)?;
        Ok(())
    }
}

impl Store {
    /// What is normal on the nodes of each group.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be read.
    pub async fn preflight_norms(&self) -> Result<Vec<(Pool, Norm)>, StoreError> {
        let sql = "SELECT cluster, node_group, norm_json FROM preflight_norms ORDER BY cluster, node_group";
        self.all(sql, Values::new("norm", 0), |row| {
            let mut columns = Columns::of("norm", row);
            let cluster = columns.text()?.to_owned();
            let node_group = Some(columns.text()?.to_owned()).filter(|name| !name.is_empty());
            Ok((Pool { cluster, node_group }, columns.json()?))
        })
        .await
    }
}

/// Takes in what the workers of these attempts measured, which have ended.
pub(crate) async fn learn(
    backend: Backend,
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
) -> Result<(), StoreError> {
    // In order: two servers that write the same rows wait for each other, and never both.
    let mut new: BTreeMap<Key, Vec<&Tested>> = BTreeMap::new();
    for attempt in attempts {
        let Some(tested) = attempt.preflight.as_ref().and_then(|preflight| preflight.tested.as_ref()) else {
            continue;
        };
        let group = attempt.pool.node_group.clone().unwrap_or_default();
        new.entry([attempt.pool.cluster.clone(), group]).or_default().push(tested);
    }
    let mut rows = Vec::with_capacity(new.len());
    for (key, tested) in new {
        let mut norm = known(backend, connection, &key).await?;
        tested.into_iter().for_each(|one| norm.learn(one));
        rows.push(NormRow { key, norm });
    }
    NORMS.write(backend, connection, &rows).await?;
    Ok(())
}

/// What a row has.
async fn known(backend: Backend, connection: &mut AnyConnection, key: &Key) -> Result<Norm, StoreError> {
    const SQL: &str = "SELECT norm_json FROM preflight_norms WHERE cluster = $1 AND node_group = $2";
    const LOCKED: &str =
        "SELECT norm_json FROM preflight_norms WHERE cluster = $1 AND node_group = $2 FOR UPDATE";
    let sql = match backend {
        Backend::Sqlite => SQL,
        Backend::Postgres => LOCKED,
    };
    let values = Values::texts("norm", &key.each_ref().map(String::as_str))?;
    let read = |row: &AnyRow| Columns::of("norm", row).json::<Norm>();
    Ok(collect(connection, sqlx::query_with(sql, values.arguments), read).await?.pop().unwrap_or_default())
}
