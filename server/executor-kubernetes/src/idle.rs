//! GPU metrics of an attempt's workers, from the cluster's monitoring: they show when all GPUs are idle.

use std::io;

use cubeloom_domain::executor::BoxFuture;
use cubeloom_domain::usage::{Quantity, UsageSeries, WorkerUsage};
use cubeloom_domain::{AttemptKey, idle};

use crate::executor::KubernetesExecutor;
use crate::judge;

impl UsageSeries for KubernetesExecutor {
    fn series<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, io::Result<Vec<WorkerUsage>>> {
        Box::pin(async move {
            let object = key.object_name();
            let began = self.cluster.board.find(&object).and_then(|(_, seen)| judge::times(&seen).0);
            let Some((meter, began)) = self.cluster.config.cards.as_ref().zip(began) else {
                return Ok(Vec::new());
            };
            let lines = (meter.lines)(object, (began, self.cluster.clock.now())).await;
            Ok(lines.map_err(io::Error::other)?.into_iter().map(idle::told).collect())
        })
    }

    /// Only GPU metrics are read here; the others are read where they are shown.
    fn never_told(&self) -> &'static [Quantity] {
        &[]
    }
}
