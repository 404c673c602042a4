//! New pipeline versions that other servers of the database have stored.

use std::collections::HashMap;
use std::time::Duration;

use cubeloom_store::{PipelineFilter, PipelineSummary};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;

use crate::api::events::view::SavedPipeline;
use crate::error::ApiResult;
use crate::state::{WeakWeb, Web};
use crate::time::Time;

/// Retry interval after a database error.
const AGAIN: Duration = Duration::from_secs(1);

/// The newest version of each pipeline, by project and name.
type Newest = HashMap<(String, String), u32>;

/// Publishes them while the server runs. After missed notifications, publishes every version newer than the
/// last known one.
pub(super) async fn tell(web: WeakWeb, saved: Receiver<Option<(String, String, u32)>>) {
    // Ends with the server.
    _ = listen(web, saved).await;
}

async fn listen(weak: WeakWeb, mut saved: Receiver<Option<(String, String, u32)>>) -> Option<()> {
    let mut newest: Newest = present(&weak).await?.iter().map(entry).collect();
    loop {
        let heard = saved.recv().await;
        let web = weak.upgrade()?;
        match heard {
            Ok(Some((project, name, version))) => {
                let key = (project.clone(), name.clone());
                match tell_of(&web, project, name, version).await {
                    Ok(()) => {
                        let known = newest.entry(key).or_default();
                        *known = version.max(*known);
                    }
                    // It is published with the missed ones when the database is back.
                    Err(error) => {
                        tracing::warn!(
                            detail = error.detail(),
                            "cannot publish a version of another server yet; retrying"
                        );
                    }
                }
            }
            Ok(None) | Err(RecvError::Lagged(_)) => {
                drop(web);
                catch_up(&weak, &mut newest).await?;
            }
            Err(RecvError::Closed) => return None,
        }
    }
}

/// Publishes versions newer than the last known ones.
async fn catch_up(weak: &WeakWeb, newest: &mut Newest) -> Option<()> {
    for pipeline in present(weak).await? {
        let (key, version) = entry(&pipeline);
        let known = newest.entry(key).or_default();
        if version > *known {
            *known = version;
            let PipelineSummary { project, name, version, user, message, created_at, .. } = pipeline;
            let created_at = Time(created_at);
            weak.upgrade()?.live().saved(SavedPipeline { project, name, version, user, message, created_at });
        }
    }
    Some(())
}

/// Summaries of all pipelines, as soon as the database responds. `None` when the server stops.
async fn present(weak: &WeakWeb) -> Option<Vec<PipelineSummary>> {
    loop {
        let web = weak.upgrade()?;
        match web.store().pipelines(&PipelineFilter::default()).await {
            Ok(pipelines) => return Some(pipelines),
            Err(error) => tracing::debug!(%error, "cannot read the versions of other servers yet; retrying"),
        }
        drop(web);
        sleep(AGAIN).await;
    }
}

fn entry(pipeline: &PipelineSummary) -> ((String, String), u32) {
    ((pipeline.project.clone(), pipeline.name.clone()), pipeline.version)
}

async fn tell_of(web: &Web, project: String, name: String, version: u32) -> ApiResult<()> {
    if let Some(found) = web.store().pipeline(&project, &name, version).await? {
        let (user, message, created_at) = (found.user, found.message, Time(found.created_at));
        web.live().saved(SavedPipeline { project, name, version, user, message, created_at });
    }
    Ok(())
}
