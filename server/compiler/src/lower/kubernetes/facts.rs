//! Facts of a Kubernetes cluster, written by hand for `cubeloom compile`.

use std::collections::BTreeMap;

use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::executor::{Facts, NodeFacts};
use cubeloom_domain::kubernetes::KubernetesFacts;
use serde::Deserialize;

/// A cluster with everything installed.
pub const FULL_CLUSTER: &str = include_str!("full-cluster.yaml");

/// The file. Without a cluster's name, missing nodes, secrets or volumes cause no refusal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    cluster: String,
    #[serde(default)]
    nodes: Vec<NodeFacts>,
    #[serde(default)]
    secrets: Vec<String>,
    #[serde(default)]
    registries: Vec<String>,
    #[serde(default)]
    volumes: BTreeMap<String, VolumePlace>,
    #[serde(default)]
    kubernetes: KubernetesFacts,
}

/// Reads facts, YAML or JSON.
///
/// # Errors
/// A message: the text cannot be parsed, or a key is unknown or of the wrong type.
pub fn read_facts(text: &str) -> Result<(Facts, KubernetesFacts), String> {
    let value = crate::parse::plain_data(text).map_err(|problem| problem.to_string())?;
    let file: File = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if file.kubernetes.uid == 0 {
        return Err("kubernetes.uid: workers never run as root; write another uid than 0".into());
    }
    let facts = Facts {
        cluster: file.cluster,
        kind: "kubernetes".into(),
        nodes: file.nodes,
        node_groups: file.kubernetes.node_groups.keys().cloned().collect(),
        secrets: file.secrets,
        registries: file.registries,
        volumes: file.volumes,
        models: None,
        pipelines: None,
        people: None,
        limits: None,
        max_priority: BTreeMap::new(),
        priority_classes: None,
        installed_apt: None,
        dedicates_cpus: false,
        kubernetes: Some(file.kubernetes.clone()),
        slurm: None,
    };
    Ok((facts, file.kubernetes))
}
