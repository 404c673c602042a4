//! Resources of a project and a user that plans can use, besides pipelines and runs.

use std::collections::BTreeMap;

use cubeloom_domain::belongings::{Registry, VolumePlace};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::quota::tree::Tree;
use cubeloom_domain::quota::{Pool, Queue, QueueRecord};
use cubeloom_store::{Store, StoreError};

use crate::secrets;

/// Built-in volume of every project: its shared folder.
pub const WORKSPACE: &str = "workspace";

/// Adds what a run of `user` in `project` can use to a cluster's facts. These are secrets, volumes,
/// registries, models, pipelines, users, priorities and concurrency limits. The project's volumes override
/// those of the configuration.
pub async fn add_to_facts(
    store: &Store,
    project: &str,
    user: &str,
    facts: &mut Facts,
) -> Result<(), StoreError> {
    let mut names = secrets::names(store, project, user).await?;
    names.extend(std::mem::take(&mut facts.secrets));
    facts.secrets = names.into_iter().collect();
    let accounts = store.registries(project).await?.into_iter().filter(Registry::has_account);
    facts.registries = accounts.map(|registry| registry.host).collect();
    let workspace = (WORKSPACE.to_owned(), VolumePlace::Workspace { path: String::new() });
    let volumes = store.volumes(project).await?.into_iter().map(|volume| (volume.name, volume.place));
    facts.volumes.extend(volumes.chain([workspace]));
    facts.models = Some(store.usable_models(project).await?);
    facts.pipelines = Some(store.pipeline_names(project).await?);
    facts.people = Some(store.people_of(project).await?);
    facts.max_priority = max_priority(&store.queues().await?, project, facts);
    facts.priority_classes = Some(store.priority_classes().await?);
    facts.limits = Some(store.limits().await?.into_iter().map(|limit| limit.name).collect());
    Ok(())
}

/// Maximum priority of a project's tasks on a cluster, by node group.
fn max_priority(queues: &[QueueRecord], project: &str, facts: &Facts) -> BTreeMap<String, i32> {
    let (tree, queue) = (Tree::of(queues), Queue::Project(project.to_owned()));
    let groups = facts.node_groups.iter().cloned().map(Some).chain([None]);
    let most = |node_group: Option<String>| {
        let name = node_group.clone().unwrap_or_default();
        let pool = Pool { cluster: facts.cluster.clone(), node_group };
        Some((name, tree.max_priority(&queue, &pool)?))
    };
    groups.filter_map(most).collect()
}
