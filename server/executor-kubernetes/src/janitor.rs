//! Deletes the manifests of jobs whose TTL after finish has passed, including jobs that an earlier server saw
//! end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use kube::api::{Api, DeleteParams, DynamicObject};
use tokio::time::interval;

use crate::board::JobName;
use crate::cluster::Cluster;
use crate::roots::RootView;

/// Maximum interval between sweeps.
const LOOK: Duration = Duration::from_secs(30);

/// Sweeps for as long as the server runs.
pub async fn sweep(cluster: Arc<Cluster>) {
    let mut look = interval((cluster.config.keep / 2).clamp(Duration::from_millis(100), LOOK));
    // When to delete the manifests of each job.
    let mut due: HashMap<JobName, Timestamp> = HashMap::new();
    loop {
        look.tick().await;
        let ended = cluster.board.ended();
        due.retain(|job, _| ended.contains_key(job));
        for (job, roots) in ended {
            let now = cluster.clock.now();
            if !due.contains_key(&job) {
                let Some(keep) = keep(&cluster, &roots).await else { continue };
                let ended_at = roots.iter().filter_map(|root| root.ended_at).max();
                due.insert(job.clone(), ended_at.unwrap_or(now).min(now).plus(keep));
            }
            // Until the engine has recorded the end, it may still query it, even after a restart.
            let is_noted =
                roots.iter().filter_map(|root| root.key.as_ref()).all(|key| cluster.folders.is_released(key));
            if is_noted && due.get(&job).is_some_and(|due| *due <= now) {
                for root in roots {
                    remove(&cluster, &job.0, &root).await;
                }
            }
        }
    }
}

/// TTL of a job's manifests: its project's setting, else the cluster's; `None` while the setting is unknown.
async fn keep(cluster: &Cluster, roots: &[RootView]) -> Option<Duration> {
    let (Some(keeps), Some(root)) = (&cluster.config.keeps, roots.first()) else {
        return Some(cluster.config.keep);
    };
    match keeps.of_run(&root.run).await {
        Ok(keeping) => Some(keeping.objects.map_or(cluster.config.keep, Duration::from_secs)),
        Err(message) => {
            tracing::debug!(run = root.run, message, "the TTL of manifests is unknown");
            None
        }
    }
}

async fn remove(cluster: &Cluster, namespace: &str, root: &RootView) {
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client().await, namespace, &*root.resource);
    let params = DeleteParams::background();
    if let Err(refused) = cluster.ask("removing ended jobs", api.delete(&root.name, &params)).await {
        tracing::debug!(name = root.name, why = refused.message(), "an ended job is not removed yet");
    }
}
