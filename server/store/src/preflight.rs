//! Preflight results by node group. They are stored when an attempt's end is first written, so that the
//! normal values need no reads of attempts.

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

/// Cluster and node group; the group may be empty.
type Key = [String; 2];

impl Store {
    /// The normal values for the nodes of each group.
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

/// Adds the preflight results of these ended attempts.
pub(crate) async fn learn(
    backend: Backend,
    connection: &mut AnyConnection,
    attempts: &[&AttemptRecord],
) -> Result<(), StoreError> {
    // Sorted, so that two servers that write the same rows never deadlock.
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
