//! Names, labels and annotations, which identify everything that an attempt leaves on a cluster.

use std::collections::BTreeMap;

use cubeloom_domain::kubernetes::labels;
use serde_json::{Map, Value, json};

use super::Frame;

impl Frame<'_> {
    /// The labels of all manifests and pods of a job.
    pub fn labels(&self) -> Map<String, Value> {
        let key = &self.job.key;
        let mut all = Map::new();
        all.insert(labels::MANAGED_BY.into(), labels::CUBELOOM.into());
        all.insert(labels::RUN.into(), key.run.as_str().into());
        all.insert(labels::ROOT_RUN.into(), self.job.root().as_str().into());
        all.insert(labels::TASK.into(), key.task.as_str().into());
        all.insert(labels::INSTANCE.into(), key.instance.to_string().into());
        all.insert(labels::ATTEMPT.into(), key.n.to_string().into());
        all.insert(labels::JOB.into(), self.name.as_str().into());
        all
    }

    /// Annotations for people: names may be longer here than in a label.
    pub fn annotations(&self) -> Map<String, Value> {
        let job = self.job;
        let mut annotations = Map::new();
        annotations.insert(labels::KEY.into(), job.key.to_string().into());
        annotations.insert("cubeloom/project".into(), job.project.as_str().into());
        annotations.insert("cubeloom/pipeline".into(), job.pipeline.as_str().into());
        annotations.insert("cubeloom/template".into(), job.template.as_str().into());
        annotations.insert("cubeloom/user".into(), job.user.as_str().into());
        annotations
    }

    /// The metadata of a manifest; `suffix` distinguishes several of one kind.
    pub fn metadata(&self, suffix: Option<&str>) -> Value {
        let name = suffix.map_or_else(|| self.name.clone(), |suffix| format!("{}-{suffix}", self.name));
        json!({
            "name": name,
            "namespace": self.facts.namespace,
            "labels": self.labels(),
            "annotations": self.annotations(),
        })
    }
}

/// The workers' files, by name; `None` without files.
pub fn config_map(frame: &Frame<'_>, files: &BTreeMap<String, String>) -> Option<Value> {
    (!files.is_empty()).then(
        || json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": frame.metadata(None), "data": files}),
    )
}
