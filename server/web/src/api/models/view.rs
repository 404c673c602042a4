//! Models and their versions, as the API shows them.

use std::collections::BTreeMap;

use cubeloom_domain::JsonMap;
use cubeloom_domain::model::{Model, ModelVersion, NewModelVersion, Origin, ReportedModel};
use cubeloom_store::ModelSummary;
use serde::Serialize;
use utoipa::ToSchema;

use crate::time::Time;

/// A model.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelView {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Which version each alias stands for.
    #[schema(value_type = BTreeMap<String, u32>)]
    pub aliases: BTreeMap<String, u32>,
    /// How many versions it has.
    pub versions: u64,
    /// The newest of them; absent when all were deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<ModelVersionView>,
    /// Since when there is one.
    pub created_at: Time,
    /// When it was last changed, or a version was registered.
    pub updated_at: Time,
    /// Counts its changes; in quotes it is the ETag.
    pub revision: u64,
}

impl From<ModelSummary> for ModelView {
    fn from(summary: ModelSummary) -> Self {
        let ModelSummary { model, versions, newest } = summary;
        Self {
            newest: newest.map(|newest| ModelVersionView::new(newest, &model)),
            name: model.name,
            description: model.description,
            aliases: model.aliases,
            versions,
            created_at: Time(model.created_at),
            updated_at: Time(model.updated_at),
            revision: model.revision,
        }
    }
}

/// A version of a model; it never changes, but for the aliases that stand for it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ModelVersionView {
    /// The model.
    pub model: String,
    /// The version, from 1; a number is given once, also when its version is deleted.
    pub version: u32,
    /// The aliases that stand for it now.
    pub aliases: Vec<String>,
    /// The folder that it lies in, in the volume `workspace`.
    pub path: String,
    /// What kind of file it is: `onnx`, `pytorch`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// A digest of its content, such as `sha256:...`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How large it is, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// How good it is.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub metrics: BTreeMap<String, f64>,
    /// What it was trained with.
    #[schema(value_type = Object)]
    pub parameters: JsonMap,
    /// What it was trained on: paths, URLs, digests.
    pub data: Vec<String>,
    /// What its program said of it.
    pub description: String,
    /// The run that made it; it may have been deleted since.
    pub run: String,
    /// The task.
    pub task: String,
    /// The instance.
    pub instance: u32,
    /// The attempt.
    pub attempt: u32,
    /// The pipeline of the run.
    pub pipeline: String,
    /// Its version, of a pipeline that is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline_version: Option<u32>,
    /// The digest of the pipeline's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Who started the run, or last wanted it to go on.
    pub user: String,
    /// When it was registered.
    pub created_at: Time,
}

impl ModelVersionView {
    /// A version of this model.
    pub fn new(version: ModelVersion, model: &Model) -> Self {
        let ModelVersion { version, made } = version;
        let NewModelVersion { reported, origin, created_at, .. } = made;
        let ReportedModel {
            name, path, format, digest, size, metrics, parameters, data, description, ..
        } = reported;
        let Origin { attempt, pipeline, pipeline_version, code, user } = origin;
        let aliases = model.aliases.iter().filter(|(_, aliased)| **aliased == version);
        Self {
            aliases: aliases.map(|(alias, _)| alias.clone()).collect(),
            model: name,
            version,
            path,
            format,
            digest,
            size,
            metrics,
            parameters,
            data,
            description,
            run: attempt.run.to_string(),
            task: attempt.task,
            instance: attempt.instance,
            attempt: attempt.n,
            pipeline,
            pipeline_version,
            code,
            user,
            created_at: Time(created_at),
        }
    }
}
