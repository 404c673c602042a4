//! Facts of a Slurm cluster, written by hand for `cubeloom compile`.

use std::collections::BTreeMap;

use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::executor::{Facts, NodeFacts};
use cubeloom_domain::slurm::SlurmFacts;
use serde::Deserialize;

/// A cluster with everything installed.
pub const FULL_CLUSTER: &str = include_str!("full-cluster.yaml");

/// The file. Without a cluster's name, missing nodes or secrets cause no refusal.
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
    volumes: BTreeMap<String, VolumePlace>,
    slurm: SlurmFacts,
}

/// Reads facts, YAML or JSON.
///
/// # Errors
/// A message: the text cannot be parsed, a key is unknown or of the wrong type, or a value is not allowed in
/// a script.
pub fn read_facts(text: &str) -> Result<(Facts, SlurmFacts), String> {
    let value = crate::parse::plain_data(text).map_err(|problem| problem.to_string())?;
    let file: File = serde_json::from_value(value).map_err(|error| error.to_string())?;
    let mistakes: Vec<String> =
        file.slurm.mistakes().into_iter().map(|mistake| format!("slurm.{mistake}")).collect();
    if !mistakes.is_empty() {
        return Err(mistakes.join("; "));
    }
    let facts = Facts {
        cluster: file.cluster,
        kind: "slurm".into(),
        nodes: file.nodes,
        node_groups: file.slurm.node_groups.keys().cloned().collect(),
        secrets: file.secrets,
        volumes: file.volumes,
        slurm: Some(file.slurm.clone()),
        ..Facts::default()
    };
    Ok((facts, file.slurm))
}
