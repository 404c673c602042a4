//! Removes the objects of jobs that ended some time ago, also of those that an earlier server saw end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kube::api::{Api, DeleteParams, DynamicObject};
use tokio::time::{Instant, interval};

use crate::board::JobName;
use crate::cluster::Cluster;
use crate::roots::RootView;

/// The longest time between two looks.
const LOOK: Duration = Duration::from_secs(30);

/// Looks for as long as the server runs.
pub async fn sweep(cluster: Arc<Cluster>) {
    let keep = cluster.config.keep;
    let mut look = interval((keep / 2).clamp(Duration::from_millis(100), LOOK));
    let mut since: HashMap<JobName, Instant> = HashMap::new();
    loop {
        look.tick().await;
        let ended = cluster.board.ended();
        since.retain(|job, _| ended.contains_key(job));
        for (job, roots) in ended {
            if since.entry(job.clone()).or_insert_with(Instant::now).elapsed() >= keep {
                for root in roots {
                    remove(&cluster, &job.0, &root).await;
                }
            }
        }
    }
}

async fn remove(cluster: &Cluster, namespace: &str, root: &RootView) {
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client().await, namespace, &root.resource);
    let params = DeleteParams::background();
    if let Err(refused) = cluster.ask("removing what has ended", api.delete(&root.name, &params)).await {
        tracing::debug!(name = root.name, why = refused.message(), "what has ended was not removed yet");
    }
}
