//! What the tests of workers measured, by node group: kept when an attempt's end is written for the first time, so that nobody
//! reads attempts to know what is normal there.

use std::collections::{BTreeMap, HashMap};

use cubeloom_domain::preflight::{Norm, Tested};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;
use sqlx::AnyConnection;

use crate::Store;
use crate::backend::Backend;
use crate::error::StoreError;
use crate::learned::{Learned, LearnedRow};
use crate::values::{Columns, Values};

static NORMS: Learned<2> = Learned::new("preflight_norms", &["cluster", "node_group", "norm_json"]);

/// Cluster and node group, which is empty for none.
type Key = [String; 2];

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
    let mut known: HashMap<Key, Norm> =
        NORMS.known(backend, connection, &new.keys().collect::<Vec<_>>()).await?;
    let mut rows = Vec::with_capacity(new.len());
    for (key, tested) in new {
        let mut norm = known.remove(&key).unwrap_or_default();
        tested.into_iter().for_each(|one| norm.learn(one));
        rows.push(LearnedRow { key, value: norm });
    }
    NORMS.write(backend, connection, &rows).await
}
