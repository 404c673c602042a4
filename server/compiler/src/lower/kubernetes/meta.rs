//! Names, labels and annotations: by them everything that an attempt left on a cluster is found again.

use std::collections::BTreeMap;

use cubeloom_domain::kubernetes::labels;
use serde_json::{Map, Value, json};

use super::Frame;

impl Frame<'_> {
    /// The labels that all of a job's objects and pods have.
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

    /// What is for people to read: names may be longer here than a label allows.
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

    /// The metadata of an object; `suffix` tells several of one kind apart.
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

/// The files that workers are given, by name; none where there are none.
pub fn config_map(frame: &Frame<'_>, files: &BTreeMap<String, String>) -> Option<Value> {
    (!files.is_empty()).then(
        || json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": frame.metadata(None), "data": files}),
    )
}
